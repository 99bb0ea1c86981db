"""Running Fast Downward and clingo on a problem document, each in a process of its own with a time limit."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from scripts.problem_document import Cost, Document
from scripts.problem_to_asp import asp
from scripts.problem_to_pddl import pddl, scale

__all__ = ["Outcome", "clingo", "fast_downward", "missing"]

Status = Literal["optimal", "none", "unfinished"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a solver said, and what it took."""

    status: Status
    """``optimal``: proven; ``none``: proven that there is no path; ``unfinished``: the time or memory was over before."""
    cost: Cost | None
    total: float
    """Seconds from the start of the process to its end, reading and grounding included."""
    search: float | None
    """Processor seconds, as the solver says: of the search (Fast Downward), of everything (clingo)."""
    expanded: int | None
    """States expanded (Fast Downward) or choices made (clingo)."""


def missing(module: str) -> str:
    """Why a solver cannot run here; empty if it can."""
    if importlib.util.find_spec(module) is None:
        return f"{module} is not installed; the test extra brings it where it has a wheel for the platform"
    return ""


def fast_downward(document: Document, seconds: float, components: int | None = None, search: str = "astar(lmcut())") -> Outcome:
    """Solve with Fast Downward; the cost has the first *components* of the objective, all by default.

    Raises:
        RuntimeError: if it fails other than by the limit.
        scripts.problem_document.DocumentError: if the cost does not fit its integers.
    """
    chosen = scale(document, components)
    found = importlib.util.find_spec("up_fast_downward")
    assert found is not None
    assert found.origin is not None
    driver = Path(found.origin).parent / "downward" / "fast-downward.py"
    with tempfile.TemporaryDirectory() as scratch:
        for name, text in zip(("domain.pddl", "task.pddl"), pddl(document, chosen), strict=True):
            (Path(scratch) / name).write_text(text, encoding="utf-8")
        line = [sys.executable, str(driver), "domain.pddl", "task.pddl", "--search", search]
        out, total = _run(line, scratch, seconds)
    if out is None:
        return Outcome("unfinished", None, total, None, None)
    cost, took, expanded = (re.search(pattern, out) for pattern in (r"Plan cost: (\d+)", r"Search time: ([\d.]+)s", r"Expanded (\d+) state"))
    spent = None if took is None else float(took[1])
    count = None if expanded is None else int(expanded[1])
    if cost is not None:
        return Outcome("optimal", chosen.vector(int(cost[1])), total, spent, count)
    if "no solution" in out or "unsolvable" in out.lower():
        return Outcome("none", None, total, spent, count)
    if re.search("memory limit|out of memory|bad_alloc", out, re.IGNORECASE):
        return Outcome("unfinished", None, total, None, None)
    raise RuntimeError(f"Fast Downward failed:\n{out[-2000:]}")


def clingo(document: Document, seconds: float) -> Outcome:
    """Solve with clingo, by unsatisfiable cores; all components count.

    Raises:
        RuntimeError: if it fails other than by the limit.
    """
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / "problem.lp").write_text(asp(document), encoding="utf-8")
        line = [sys.executable, "-m", "clingo", "problem.lp", "--outf=2", "--quiet=2,2", "--stats=1", "--opt-strategy=usc"]
        out, total = _run(line, scratch, seconds)
    if out is None:
        return Outcome("unfinished", None, total, None, None)
    try:
        report = json.loads(out[out.index("{") :])
        result = report["Result"]
    except (ValueError, KeyError) as error:
        raise RuntimeError(f"clingo failed:\n{out[-2000:]}") from error
    spent, choices = float(report["Time"]["CPU"]), int(report["Stats"]["Core"]["Choices"])
    if result == "OPTIMUM FOUND":
        return Outcome("optimal", tuple(report["Models"]["Costs"]), total, spent, choices)
    if result == "UNSATISFIABLE":
        return Outcome("none", None, total, spent, choices)
    raise RuntimeError(f"clingo says {result}")


def _run(line: list[str], folder: str, seconds: float) -> tuple[str | None, float]:
    """Output and seconds; no output if the time was over. Whatever the process started ends with it."""
    begun = time.perf_counter()
    with subprocess.Popen(line, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True) as process:
        try:
            out, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return None, time.perf_counter() - begun
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return out, time.perf_counter() - begun
