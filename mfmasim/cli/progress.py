"""Progress of a command above two seconds, on standard error where that is a terminal."""

from __future__ import annotations

import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType

    from rich.status import Status

SILENT = 2.0
"""Seconds before it is shown."""
REFRESH = 0.5
"""Seconds between two updates."""


def words(done: int, total: int, instructions: int, seconds: float, workers: int = 0) -> str:
    """What is done and what is left, in words.

    Args:
        done: cases that are done.
        total: all cases.
        instructions: wave-instructions that they executed.
        seconds: since the start.
        workers: of an executor; none are not shown.

    >>> words(5, 20, 1234567, 10.0)
    '5 of 20 done, 15 left; 1,234,567 wave-instructions; 10 s, about 30 s left'
    >>> words(0, 20, 0, 3.4)
    '0 of 20 done, 20 left; 3 s'
    >>> words(5, 20, 0, 10.0, workers=4)
    '5 of 20 done, 15 left; 4 workers, 0.5 a second; 10 s, about 30 s left'
    """
    parts = [f"{done:,} of {total:,} done, {total - done:,} left"]
    if instructions:
        parts.append(f"{instructions:,} wave-instructions")
    if workers:
        parts.append(f"{workers} workers, {done / max(seconds, REFRESH):.2g} a second")
    left = f", about {_time(seconds / done * (total - done))} left" if 0 < done < total else ""
    return "; ".join([*parts, f"{_time(seconds)}{left}"])


def _time(seconds: float) -> str:
    whole = int(seconds)
    return f"{whole} s" if whole < 120 else f"{whole // 60} min {whole % 60:02} s"


class Progress:
    """A line that is shown while cases run; a context manager."""

    def __init__(self, total: int) -> None:
        """Count to `total`."""
        self.total, self.done, self.instructions = total, 0, 0
        self.workers: Callable[[], int] = lambda: 0
        """How many workers an executor has."""
        self._shown: Status | None = None
        self._start = time.monotonic()
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._hidden = False
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        """Begin to wait."""
        if sys.stderr is not None and sys.stderr.isatty():
            self._thread = threading.Thread(target=self._follow, daemon=True, name="progress")
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Clear the line."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()
        self._clear()

    def step(self, instructions: int = 0) -> None:
        """One more is done."""
        self.done += 1
        self.instructions += instructions

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Clear the line while something is printed."""
        with self._lock:
            self._hidden = True
            self._clear()
        try:
            yield
        finally:
            self._hidden = False

    def _clear(self) -> None:
        if self._shown is not None:
            self._shown.stop()
            self._shown = None

    def _follow(self) -> None:
        from mfmasim.visible import console

        on = console(stderr=True)
        self._over.wait(SILENT)
        while not self._over.is_set():
            text = words(self.done, self.total, self.instructions, time.monotonic() - self._start, self.workers())
            with self._lock:
                if not self._hidden:
                    if self._shown is None:
                        self._shown = on.status(text)
                        self._shown.start()
                    else:
                        self._shown.update(text)
            self._over.wait(REFRESH)
