"""A launch spread over an executor: workers run parts of the grid, and their results are merged here.

Every part starts from the initial memory of the launch. Its reads and writes are recorded; the parts together
are the launch only if no part wrote bytes that another part read or wrote (an atomic operation does both). Otherwise,
and if a part did not complete, no part is used, and the launch runs here as without an
executor: the result is always the same.
"""

from __future__ import annotations

import mmap
import os
import sys
from concurrent.futures import CancelledError, ProcessPoolExecutor
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.errors import MfmasimError
from mfmasim.machine.execution.run import Machine, Outcome
from mfmasim.machine.launch.argument_segment import Buffers
from mfmasim.machine.state.memory import BASE, Memory
from mfmasim.machine.state.touched_bytes import Runs, Touched

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Executor

    from numpy.typing import NDArray

    from mfmasim.machine.events import Observer
    from mfmasim.machine.launch.launch import Launch
    from mfmasim.machine.state.memory import Region
    from mfmasim.observe.check import Check


@dataclass(frozen=True)
class SharedMemory:
    """A reference by which a process finds a memory."""

    path: str
    base: int
    regions: Sequence[Region]

    def memory(self) -> Memory:
        """The shared memory; pages that this process writes become private.

        Raises:
            OSError: the system does not let this process map it.
        """
        with Path(self.path).open("rb") as file:
            pages = mmap.mmap(file.fileno(), 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE)
        return Memory.over(self.base, np.frombuffer(pages, np.uint8), self.regions)


@contextmanager
def shared(memory: Memory, executor: Executor) -> Iterator[SharedMemory | None]:
    """Share a memory with an executor's workers, if they are processes of this machine.

    The file has no name and ends with this process in any case (Linux, memfd_create(2)); a process that has mapped it
    keeps its bytes.
    """
    if not isinstance(executor, ProcessPoolExecutor) or sys.platform != "linux":
        yield None
        return
    with os.fdopen(os.memfd_create("mfmasim"), "wb") as file:
        file.write(memory.arena.data)
        file.flush()
        yield SharedMemory(f"/proc/{os.getpid()}/fd/{file.fileno()}", memory.base, memory.regions)


PARTS = 2 * (os.cpu_count() or 1)
"""Parts of a launch by default."""
NO_BYTES = np.empty(0, np.uint8)


@dataclass(frozen=True)
class Task:
    """A part of a launch for a worker."""

    launch: Launch
    """Without the caller's arrays: the memory holds their bytes."""
    mapping: SharedMemory | None
    """Where the worker finds them instead."""
    first: int
    count: int
    """Workgroups."""
    checks: tuple[Check, ...]
    budget: int
    max_waves: int | None


@dataclass(frozen=True)
class Part:
    """The result of a part."""

    first: int
    """Its first workgroup."""
    outcome: Outcome
    checks: tuple[Check, ...]
    read: Runs
    written: Runs
    data: NDArray[np.uint8]
    """The written bytes, run after run."""
    error: str = ""
    """Error about what it could not execute, if anything."""


def wrong(part: Part, checks: Sequence[Check], size: int) -> str:
    """The defect of a part's result, in words; empty if `execute` may have made it.

    Args:
        part: from an executor, which is not trusted.
        checks: the checks of the task.
        size: bytes of memory.
    """
    runs = part.read, part.written
    if not isinstance(part.outcome, Outcome) or not all(isinstance(one, Runs) for one in runs):
        return "its outcome, or what it read and wrote"
    if not isinstance(part.checks, tuple) or [type(one) for one in part.checks] != [type(one) for one in checks]:
        return "its checks"
    if any(len(one.starts) and (one.starts.min() < 0 or one.ends.max() > size) for one in runs):
        return "addresses outside the memory"
    written = int((part.written.ends - part.written.starts).sum())
    if not isinstance(part.data, np.ndarray) or part.data.dtype != np.uint8 or part.data.shape != (written,):
        return f"its data, of which {written} bytes are expected"
    return ""


def execute(task: Task) -> Part:
    """Run a part; this is the function given to the executor."""
    try:
        # An executor of threads passes the same object to every part.
        memory = copy(task.launch.memory) if task.mapping is None else task.mapping.memory()
    except OSError as problem:
        nothing = Touched(0)
        return Part(
            task.first, Outcome(), task.checks, nothing.read, nothing.written, NO_BYTES, f"its memory: {problem}"
        )
    touched = memory.touched = Touched(memory.size)
    machine = Machine(replace(task.launch, memory=memory), task.checks, task.budget, task.max_waves)
    error = ""
    try:
        machine.run(task.first, task.count)
    except MfmasimError as problem:
        error = str(problem)
    written = touched.written
    return Part(task.first, machine.outcome, task.checks, touched.read, written, written.take(memory.arena), error)


def check_executor(
    executor: object, parts: int | None, observers: Sequence[Observer], listening: Sequence[Check]
) -> None:
    """Refuse options that an executor does not support.

    Args:
        executor: a ``concurrent.futures.Executor``.
        parts: how many it is given, or None.
        observers: of the launch.
        listening: its checks.

    Raises:
        MfmasimError: the object is no executor, or an observer or check needs the whole launch.
    """
    if not callable(getattr(executor, "submit", None)):
        raise MfmasimError(
            f"executor {executor!r}: a concurrent.futures.Executor is expected, such as ProcessPoolExecutor() or "
            "dask.distributed's Client().get_executor()"
        )
    if parts is not None and (not isinstance(parts, int) or isinstance(parts, bool) or parts < 1):
        raise MfmasimError(f"parts {parts!r}: a positive number of parts is expected")
    whole = [check.name for check in listening if not check.by_parts]
    others = ",".join(check.name for check in listening if check.by_parts) or "none"
    if whole:
        raise MfmasimError(
            f"executor: {', '.join(whole)} need the whole launch; leave them out (checks='{others}'), or run "
            "without an executor"
        )
    if observers:
        names = ", ".join(str(getattr(observer, "name", type(observer).__name__)) for observer in observers)
        raise MfmasimError(f"executor: observers ({names}) need the launch in this process; run without an executor")


def spread(
    launch: Launch,
    executor: Executor,
    listening: Sequence[Check],
    make: Callable[[], Sequence[Check]],
    budget: int,
    max_waves: int | None,
    parts: int | None = None,
) -> tuple[Outcome, list[str]]:
    """Run a launch by parts.

    Args:
        launch: checked and laid out; its memory receives the parts' writes.
        executor: runs `execute`.
        listening: checks of the whole launch, into which those of the parts are merged.
        make: makes the checks of a part.
        budget: instructions a wave may execute.
        max_waves: waves in flight in each worker.
        parts: number of parts; None means `PARTS`.

    Returns:
        The outcome, and a note when the launch had to run here.

    Raises:
        MfmasimError: the executor failed, or the launch did.
    """
    results = _all_parts(
        launch, executor, make, budget, max_waves, min(parts or PARTS, launch.workgroups // launch.clusters.workgroups)
    )
    why = next((part.error or part.outcome.stopped for part in results if part.error or part.outcome.stopped), "")
    most, total = launch.meter.quota.instructions, sum(part.outcome.executed.total() for part in results)
    if not why and most is not None and total > most:
        why = f"{total:,} wave-instructions"  # each part is within the quota; the run here names the place
    why = f"a part ended early ({why})" if why else _shared(launch, results)
    if why:
        outcome = Machine(launch, listening, budget, max_waves).run()
        return outcome, [f"executor: {why}, so the launch was run in one process"]
    arena = launch.memory.arena
    for part in results:
        part.written.put(arena, part.data)
        for whole, other in zip(listening, part.checks, strict=True):
            whole.merge(other)
    return _together(launch, [part.outcome for part in results]), []


def _all_parts(
    launch: Launch,
    executor: Executor,
    make: Callable[[], Sequence[Check]],
    budget: int,
    max_waves: int | None,
    parts: int,
) -> list[Part]:
    together = launch.clusters.workgroups
    cuts = [launch.workgroups // together * number // parts * together for number in range(parts + 1)]
    travelling = replace(launch, buffers=Buffers())
    futures: list[Any] = []
    sent: list[tuple[Check, ...]] = []
    try:
        with shared(launch.memory, executor) as mapping:
            if mapping is not None:
                travelling = replace(travelling, memory=Memory.over(mapping.base, NO_BYTES, mapping.regions))
            if hasattr(executor, "share"):  # a cluster sends the memory once to each worker
                travelling = executor.share(travelling)
            for first, last in pairwise(cuts):
                sent.append(tuple(make()))
                task = Task(travelling, mapping, first, last - first, sent[-1], budget, max_waves)
                futures.append(executor.submit(execute, task))
            results: list[Any] = [future.result() for future in futures]
            for first, part, checks in zip(cuts, results, sent, strict=False):
                if not isinstance(part, Part) or part.first != first:
                    found = f"that from {part.first}" if isinstance(part, Part) else "nothing"
                    raise MfmasimError(f"executor: the part from workgroup {first} was answered with {found}")  # noqa: TRY301
                if text := wrong(part, checks, launch.memory.size):
                    raise MfmasimError(f"executor: the part from workgroup {first} is damaged: {text}")  # noqa: TRY301
            return results
    except MfmasimError:
        raise
    except (Exception, CancelledError, SystemExit) as error:
        for future in futures:
            future.cancel()
        what = f"{type(error).__name__} {str(error).partition(chr(10))[0]}".strip()
        raise MfmasimError(f"executor {type(executor).__name__} failed: {what}") from error


def _shared(launch: Launch, parts: list[Part]) -> str:
    """Why the parts are not independent; empty if they are."""
    for number, part in enumerate(parts):
        if (twice := _common(part.written, [other.written for other in parts[:number]])) is not None:
            return f"workgroups of several parts write {_where(launch, twice)}"
    for part in parts:
        others = [other.written for other in parts if other is not part]
        if (from_others := _common(part.read, others)) is not None:
            return f"workgroups of one part read what those of another write, {_where(launch, from_others)}"
    return ""


def _common(some: Runs, others: list[Runs]) -> int | None:
    """The first byte that some runs share with others, if any."""
    return min((at for other in others if (at := some.common(other)) is not None), default=None)


def _where(launch: Launch, offset: int) -> str:
    region = launch.memory.region_at(BASE + offset)
    return f"byte {BASE + offset - region.address} of {region.name}" if region is not None else "the same byte"


def _together(launch: Launch, outcomes: list[Outcome]) -> Outcome:
    """The outcome of all parts."""
    whole = Outcome()
    for outcome in outcomes:
        whole.waves += outcome.waves
        whole.batches += outcome.batches
        whole.executed.update(outcome.executed)
        whole.fidelity.update(outcome.fidelity)
    whole.arrange(launch.kernel.code, launch.kernel.wave)
    return whole
