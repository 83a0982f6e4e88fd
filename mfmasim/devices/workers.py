"""Worker processes that end with the process that started them, in every case."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from types import TracebackType
from typing import Any

_PR_SET_PDEATHSIG = 1  # Linux, prctl(2)
_POLL_SECONDS = 0.5


class _Pool(ProcessPoolExecutor):
    """Ends its processes when an error or a signal leaves the block that it belongs to, and waits for none of them."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        if kind is not None:
            for process in list((self._processes or {}).values()):
                process.kill()
        return super().__exit__(kind, error, trace)


def available() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):  # not on Windows and macOS
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def pool(
    count: int, method: str | None = None, begin: Callable[..., None] | None = None, given: tuple[Any, ...] = ()
) -> ProcessPoolExecutor:
    """An executor of processes, none of which survives this one, even if this one is killed.

    Args:
        count: number of processes.
        method: how they are started; None for the system's default.
        begin: called in each process before its first task.
        given: arguments of ``begin``.
    """
    context = multiprocessing.get_context(method)
    return _Pool(count, context, initializer=_begin, initargs=(os.getpid(), begin, given))


def _begin(owner: int, begin: Callable[..., None] | None, given: tuple[Any, ...]) -> None:
    follow(owner)
    if begin is not None:
        begin(*given)


def follow_parent(number: int | None = None) -> None:
    """Let Linux send this process a signal (None: SIGKILL) when its parent ends; elsewhere nothing happens."""
    if sys.platform == "linux":
        number = int(signal.SIGKILL) if number is None else number
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0)


def follow(owner: int) -> None:
    """End this process when its parent ends; for the start of a worker.

    The signal comes at once, also in the middle of NumPy. The thread serves other systems, and start methods by which
    the parent is not the owner but a server of processes, which lives as long as its workers do: each has a copy of
    the pipe by which the server notices its owner's end.

    Args:
        owner: process that the worker works for.
    """
    parent = os.getppid()
    follow_parent()
    try:
        os.kill(owner, 0)  # the parent may have ended before the request of the signal
    except ProcessLookupError:
        os._exit(1)
    threading.Thread(target=_watch, args=(parent,), daemon=True, name="parent").start()


def _watch(parent: int) -> None:
    owner = multiprocessing.parent_process()
    while os.getppid() == parent and (owner is None or owner.is_alive()):
        time.sleep(_POLL_SECONDS)
    os._exit(1)
