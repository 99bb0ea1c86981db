"""Planning many clusters, on all cores.

Workers are new processes that open the compiled store themselves, since that is faster than to send it. A worker that is killed costs the
cluster that it was planning and no other. Workers end with this process, however it ends.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from compat.errors import CompatError, DocumentError, InputError, printable

if TYPE_CHECKING:
    from compat import Matrix
    from planner.fleet import Outcome

__all__ = ["Request", "cores", "plan_files", "plan_one"]

IN_PROCESS = 4
"""With fewer files, starting processes takes longer than it saves."""


@dataclass(frozen=True)
class Request:
    """What is asked for every cluster."""

    load: Callable[[], Matrix]
    """Opens the knowledge; each process calls it once."""
    to: str
    nodes: str
    prefer: str
    accept: tuple[str, ...]
    given: Mapping[str, str]
    """Versions that replace those of the states."""
    allocation: Mapping[str, str]
    """Pool -> how it is to allocate its GPUs in the end."""
    provider: str | None


def cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def plan_one(request: Request, matrix: Matrix, path: Path) -> Outcome:
    """Plan for one state file; whatever goes wrong is part of the outcome."""
    from planner.assume import with_components
    from planner.fleet import Outcome
    from planner.planning import plan
    from planner.state import ClusterState

    name = printable(path, 200)
    try:
        state = with_components(matrix, ClusterState.load(path), request.given)
        if request.provider is not None:
            state = replace(state, provider=request.provider)
        options = {"nodes": request.nodes, "prefer": request.prefer}
        found = plan(matrix, state, request.to, accept=request.accept, allocation=request.allocation, **options)
        return Outcome(file=name, plan=found)
    except DocumentError as error:
        return Outcome(file=name, errors=tuple(printable(fault, 400) for fault in error.faults))
    except InputError as error:
        return Outcome(file=name, errors=tuple(f"{name}: {printable(line, 600)}" for line in str(error).splitlines()))
    except (CompatError, OSError) as error:
        return Outcome(file=name, errors=(f"{name}: {printable(error, 400)}",), internal=True)
    except Exception as error:
        what = f"internal error: {type(error).__name__}: {printable(error, 300)}; plan this file alone with COMPAT_DEBUG=1 and please report it"
        return Outcome(file=name, errors=(f"{name}: {what}",), internal=True)


def plan_files(request: Request, matrix: Matrix, files: Sequence[Path], workers: int) -> Iterator[tuple[int, Outcome]]:
    """Plan for every file; yields the place of each and what came of it, in the order in which they are done."""
    if len(files) < IN_PROCESS or workers < 2:
        for place, path in enumerate(files):
            yield place, plan_one(request, matrix, path)
        return
    left = dict(enumerate(files))
    while left:
        for place, outcome in _in_pool(request, left, min(workers, len(left))):
            del left[place]
            yield place, outcome
        for place in list(left)[: 2 * workers + 1]:  # a worker was killed: one at a time shows by which of those that were under way
            path = left.pop(place)
            yield next(iter(_in_pool(request, {place: path}, 1)), (place, _killed(path)))


def _in_pool(request: Request, files: Mapping[int, Path], workers: int) -> Iterator[tuple[int, Outcome]]:
    """Plan in other processes until all is done or one of them is killed."""
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_begin, initargs=(request,))
    try:
        with _deaf_to_interrupts():  # for the processes, which are started here and inherit it; this one reports what is done
            futures: dict[Future[Outcome], int] = {pool.submit(_work, path): place for place, path in files.items()}
        for future in as_completed(futures):
            try:
                outcome = future.result()
            except BrokenProcessPool:
                return
            yield futures[future], outcome
        pool.shutdown()
    finally:
        for child in multiprocessing.active_children():  # none, unless this ends early
            child.terminate()
        pool.shutdown(cancel_futures=True)


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _killed(path: Path) -> Outcome:
    from planner.fleet import Outcome

    name = printable(path, 200)
    return Outcome(file=name, errors=(f"{name}: the process that planned it was killed; is there enough memory?",), internal=True)


# -- in the other processes

_own: dict[str, tuple[Request, Matrix]] = {}


def _begin(request: Request) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _own["work"] = (request, request.load())


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(path: Path) -> Outcome:
    request, matrix = _own["work"]
    return plan_one(request, matrix, path)
