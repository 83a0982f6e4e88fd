"""What one input may take: seconds and memory. Both are far above what any input of the corpus takes."""

from __future__ import annotations

import resource
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["MEMORY", "SECONDS", "Hang", "bounded_memory", "bounded_time"]

SECONDS = 20
MEMORY = 3 << 30
"""Bytes of address space of a process, with NumPy and everything else that it has loaded."""


class Hang(BaseException):
    """An input took longer than `SECONDS`; no `except Exception` takes it for a refusal."""


@contextmanager
def bounded_time(seconds: float = SECONDS, *, cpu: bool = False) -> Iterator[None]:
    """Raise `Hang` in the main thread after some seconds; of the processor, where others share the machine."""
    number, timer = (signal.SIGPROF, signal.ITIMER_PROF) if cpu else (signal.SIGALRM, signal.ITIMER_REAL)

    def over(*_: object) -> None:
        raise Hang(f"more than {seconds} seconds")

    before = signal.signal(number, over)
    signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        signal.setitimer(timer, 0)
        signal.signal(number, before)


@contextmanager
def bounded_memory(limit: int = MEMORY) -> Iterator[None]:
    """Let allocations beyond a size of this process fail with `MemoryError`."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
