"""Named facts of the built-in knowledge, each as its source has it.

These tests pin what vendors have published; where a vendor amends a page, the claim gets a second wording and the date here stays.
"""

from __future__ import annotations

import re
from datetime import date

import pytest

from compat import Matrix
from compat.hardware import verdict_on_hardware
from compat.hops import hop

GPU_OPERATOR_DOCS = "NVIDIA/cloud-native-docs"


@pytest.mark.parametrize(
    ("one", "other", "expected", "cites"),
    [
        # kubernetes-sigs/kueue v0.15: E2E_K8S_VERSIONS = 1.32.8 1.33.4 1.34.0
        (("kueue", "0.15.0"), ("kubernetes", "1.33"), "tested", "kubernetes-sigs/kueue"),
        # dra-driver-nvidia-gpu PR 534: the chart of 25.3.0 and 25.3.1 renders resource.k8s.io/v1beta1, which 1.34 does not serve
        (("dra-driver", "25.3.0"), ("kubernetes", "1.34"), "broken", "kubernetes-sigs/dra-driver-nvidia-gpu"),
        (("dra-driver", "25.3.2"), ("kubernetes", "1.34"), "declared", "kubernetes-sigs/dra-driver-nvidia-gpu"),
        # GPU Operator release notes: 1.36 came with 26.3.2
        (("gpu-operator", "26.3.1"), ("kubernetes", "1.36"), "unknown", GPU_OPERATOR_DOCS),
        (("gpu-operator", "26.3.2"), ("kubernetes", "1.36"), "tested", GPU_OPERATOR_DOCS),
        # 1.34 came with 25.10.0, 1.33 with 25.3.1
        (("gpu-operator", "25.3.4"), ("kubernetes", "1.34"), "unknown", GPU_OPERATOR_DOCS),
        (("gpu-operator", "25.10.0"), ("kubernetes", "1.34"), "tested", GPU_OPERATOR_DOCS),
        (("gpu-operator", "25.3.0"), ("kubernetes", "1.33"), "unknown", GPU_OPERATOR_DOCS),
        (("gpu-operator", "25.3.1"), ("kubernetes", "1.33"), "tested", GPU_OPERATOR_DOCS),
        # the version skew policy
        (("kubelet", "1.34.9"), ("kubernetes", "1.37.0"), "tested", "kubernetes.io/releases/version-skew-policy"),
        (("kubelet", "1.33.9"), ("kubernetes", "1.37.0"), "broken", "kubernetes.io/releases/version-skew-policy"),
        (("kubelet", "1.37.0"), ("kubernetes", "1.36.0"), "broken", "kubernetes.io/releases/version-skew-policy"),
        # the DRA driver's prerequisites page asks for 1.34.2 from 0.4.0 on, README and chart say 1.32: the worst statement counts
        (("dra-driver", "0.4.0"), ("kubernetes", "1.33"), "broken", "kubernetes-sigs/dra-driver-nvidia-gpu"),
        # containerd RELEASES.md: for 1.36 only 2.2 and 2.3
        (("containerd", "1.7.27"), ("kubernetes", "1.36"), "unknown", "containerd/containerd"),
        (("containerd", "2.3.4"), ("kubernetes", "1.36"), "tested", "containerd/containerd"),
        # NVIDIA: all active data-center production drivers; R570 ended in February 2026, R580 is LTS until 2028
        (("gpu-operator", "26.7.0"), ("nvidia-driver", "570.172.08"), "unknown", GPU_OPERATOR_DOCS),
        (("gpu-operator", "26.7.0"), ("nvidia-driver", "580.65.06"), "declared", GPU_OPERATOR_DOCS),
        (("gpu-operator", "26.7.0"), ("nvidia-driver", "580.173.02"), "tested", GPU_OPERATOR_DOCS),
    ],
)  # fmt: skip
def test_pair(real: Matrix, one: tuple[str, str], other: tuple[str, str], expected: str, cites: str) -> None:
    """Verdict and source of a pair."""
    verdict = real.verdict(one, other)
    assert verdict.grade == expected
    assert any(cites in f"{claim.source.repo} {claim.source.link}" for claim in verdict.claims)


def test_the_amendment_of_2026_09_04(real: Matrix) -> None:
    """cloud-native-docs pull request 488 raised the operator's range to 1.37 on 2026-09-04."""
    pair = (("gpu-operator", "26.7.0"), ("kubernetes", "1.37"))
    assert real.on(date(2026, 9, 3)).verdict(*pair).grade == "unknown"
    assert real.on(date(2026, 9, 4)).verdict(*pair).grade == "tested"


def test_the_contradiction_about_the_dra_drivers_minimum_is_shown(real: Matrix) -> None:
    """Both wordings are kept side by side."""
    verdict = real.verdict(("dra-driver", "0.4.1"), ("kubernetes", "1.33"))
    assert "dra-kubernetes-1.34.2-docs-0.4" in [claim.id for claim in verdict.claims]
    assert "dra-readme-kubernetes-1.32" in [claim.id for claim in verdict.contradicted]


def test_device_plugin_and_dra_driver_on_one_node(real: Matrix) -> None:
    """Both offer all GPUs; on different nodes nothing forbids them."""
    pair = (("dra-driver", "0.4.1"), ("device-plugin", "0.18.0"))
    assert real.verdict(*pair, {"node": ("same",), "allocation": ("dra",)}).grade == "broken"
    assert real.verdict(*pair, {"allocation": ("device-plugin",)}).grade != "broken"


@pytest.mark.parametrize(
    ("one", "other", "scope", "expected", "claim"),
    [
        # GKE: nodes at most two minors behind, upstream three
        (("kubelet", "1.33.9"), ("kubernetes", "1.36.0"), {"provider": ("gke",)}, "broken", "gke-node-skew-2"),
        (("kubelet", "1.34.9"), ("kubernetes", "1.36.0"), {"provider": ("gke",)}, "tested", "kubelet-apiserver-skew"),
        (("kubelet", "1.33.9"), ("kubernetes", "1.36.0"), {"provider": ("kubeadm",)}, "tested", "kubelet-apiserver-skew"),
        # GKE: no sharing together with DRA
        (("dra-driver", "0.5.0"), ("kubernetes", "1.36.0"), {"provider": ("gke",), "allocation": ("dra",), "sharing": ("mig",)}, "broken", "gke-dra-no-gpu-sharing"),
        # RKE2: the operator needs containerd 2.0 from 25.10 on
        (("gpu-operator", "25.10.1"), ("containerd", "1.7.27"), {"provider": ("rke2",)}, "broken", "rke2-gpu-operator-25.10-needs-containerd2"),
        # OpenShift 4.20 is Kubernetes 1.33 and nothing else; DRA is generally available from 4.21 on
        (("openshift", "4.20.12"), ("kubernetes", "1.33.5"), {"provider": ("openshift",)}, "declared", "ocp-4.20-kubernetes-1.33"),
        (("openshift", "4.20.12"), ("kubernetes", "1.34.2"), {"provider": ("openshift",)}, "broken", "ocp-4.20-kubernetes-1.33"),
        (("openshift", "4.21.6"), ("kubernetes", "1.33.5"), {"provider": ("openshift",)}, "broken", "ocp-4.21-kubernetes-1.34"),
        (("dra-driver", "25.12.0"), ("openshift", "4.20.12"), {"provider": ("openshift",), "allocation": ("dra",)}, "broken", "ocp-dra-not-in-4.20"),
    ],
)  # fmt: skip
def test_pair_at_a_provider(real: Matrix, one: tuple[str, str], other: tuple[str, str], scope: dict[str, tuple[str, ...]], expected: str, claim: str) -> None:
    """Rules that hold only at a provider count there, and only there."""
    verdict = real.verdict(one, other, scope)
    assert verdict.grade == expected
    assert claim in [cited.id for cited in verdict.claims]


@pytest.mark.parametrize(
    ("day", "start", "end", "rule"),
    [
        # cincinnati-graph-data, build-suggestions/4.21.yaml: minor_min 4.20.13 from 2026-02-02, 4.20.15 from 2026-03-27
        (date(2026, 3, 1), "4.20.12", "4.21.3", "needs-stop"),
        (date(2026, 3, 1), "4.20.13", "4.21.3", "allowed"),
        (date(2026, 4, 1), "4.20.14", "4.21.7", "needs-stop"),
        (date(2026, 4, 1), "4.20.15", "4.21.7", "allowed"),
        (date(2026, 8, 20), "4.20.15", "4.22.9", "forbidden"),
    ],
)
def test_update_edges_of_openshift(real: Matrix, day: date, start: str, end: str, rule: str) -> None:
    """Which patch may be left for the next minor follows the update graph of that day."""
    matrix = real.on(day)
    assert hop(matrix, "openshift", matrix.version("openshift", start), matrix.version("openshift", end)).rule == rule


@pytest.mark.parametrize(
    ("driver", "product", "sharing", "broken"),
    [
        # architecture matrix: R580 is the last branch for Volta
        ("580.95.05", "Tesla-V100-SXM2-32GB", "none", False),
        ("595.71.05", "Tesla-V100-SXM2-32GB", "none", True),
        # MIG guide: H200 from 550.90.07 on, and no MIG on L40S
        ("535.183.01", "NVIDIA-H200", "mig", True),
        ("570.172.08", "NVIDIA-H200", "mig", False),
        ("570.172.08", "NVIDIA-L40S", "none", False),
        ("570.172.08", "NVIDIA-L40S", "mig", True),
    ],
)
def test_driver_on_a_gpu(real: Matrix, driver: str, product: str, sharing: str, broken: bool) -> None:
    """What a driver drives, and what it can partition, follows NVIDIA's tables."""
    verdict = verdict_on_hardware(real, ("nvidia-driver", driver), "gpu-product", product, {"sharing": (sharing,)})
    assert (verdict.grade == "broken") is broken


@pytest.mark.parametrize(
    ("gate", "stages"),
    [
        # kubernetes/kubernetes, versioned_feature_list.yaml at the code freeze of 1.37
        ("DynamicResourceAllocation", {"1.32": ("beta", False), "1.34": ("stable", True)}),
        ("DRAExtendedResource", {"1.34": ("alpha", False), "1.36": ("beta", True), "1.37": ("stable", True)}),
        ("GenericWorkload", {"1.35": ("alpha", False), "1.37": ("beta", False)}),
        ("CompositePodGroup", {"1.37": ("alpha", False)}),
        ("HPAScaleToZero", {"1.16": ("alpha", False), "1.37": ("beta", True)}),
        # pkg/features of the scheduler: beta and off in 1.37
        ("DRAWorkloadResourceClaims", {"1.36": ("alpha", False), "1.37": ("beta", False)}),
        # switched off again before 1.37 by kubernetes/kubernetes pull request 141209
        ("PodLevelResourceManagers", {"1.36": ("alpha", False), "1.37": ("beta", False)}),
    ],
)
def test_feature_stages(real: Matrix, gate: str, stages: dict[str, tuple[str, bool]]) -> None:
    """A gate's stages and defaults are those of the release."""
    claims = [claim for claim in real.about("kubernetes", "feature") if claim.detail.get("gate") == gate]
    assert len(claims) == 1
    told = {stage["from"]: (stage["stage"], stage.get("default")) for stage in claims[0].detail["stages"]}
    assert {release: told.get(release) for release in stages} == stages


def test_ai_conformance_lists(real: Matrix) -> None:
    """docs/AIConformance-1.33.yaml to 1.37.yaml: DRA was a SHOULD, then a MUST, then left to Kubernetes' own conformance tests."""
    rules = real.about("ai-conformance", "require")

    def at(release: str, severity: str) -> set[str]:
        version = real.version("ai-conformance", release)
        return {claim.object for claim in rules if version in claim.subject_range and claim.severity == severity} - {"kubernetes-conformance"}

    assert [severity for release in ("1.33", "1.34", "1.35", "1.36") for severity in ("must", "should") if "dra_support" in at(release, severity)] == [
        "should",
        "must",
        "must",
    ]
    assert len(at("1.37", "must")) == 8
    assert at("1.37", "should") - at("1.36", "should") == {"workload_sandboxing"}


def test_unfixed_and_fixed_advisories(real: Matrix) -> None:
    """NVIDIA's bulletin of May 2026 has a fix for R580 and none for R570."""

    def advisories(component: str, version: str) -> set[str]:
        asked = real.version(component, version)
        return {
            claim.id for claim in real.about(component, "upgrade") if claim.detail.get("cve") and asked in claim.subject_range and asked not in claim.to_range
        }

    assert "driver-security-r570-none-2026-05" in advisories("nvidia-driver", "570.211.01")
    assert not {name for name in advisories("nvidia-driver", "580.178.04") if "2026-05" in name}


def test_every_claim_has_a_source_a_date_and_a_summary(real: Matrix) -> None:
    """What `kb check` cannot know: no claim is from the future, every tested one has a link, no summary is empty."""
    newest = date.fromisoformat(real.store.meta["as_of"])
    for claim in real.store.claims():
        assert claim.known_from <= newest, claim.id
        assert claim.summary.strip(), claim.id
        assert claim.grade != "tested" or claim.source.link.startswith("https://"), claim.id
        assert not re.search(r"[{}]", claim.summary.replace("{{", "")), claim.id


def test_no_claim_is_unreachable(real: Matrix) -> None:
    """Every subject of a claim is a subject; every object is a subject or a known word."""
    objects = {*real.subjects, *real.store.objects()}
    assert {claim.subject for claim in real.store.claims()} <= set(real.subjects)
    assert {claim.object for claim in real.store.claims()} - {""} <= objects
