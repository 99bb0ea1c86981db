"""compat: the compatibility matrix of Kubernetes clusters that run AI workloads on GPUs."""

from compat.claims import Claim, Release, Source, Subject
from compat.errors import CompatError, InputError
from compat.matrix import Matrix
from compat.verdicts import Verdict
from compat.versions import Version

__all__ = ["Claim", "CompatError", "InputError", "Matrix", "Release", "Source", "Subject", "Verdict", "Version"]
