"""Memory of a launch: fewer garbage collections while it runs, and memory that the C library keeps.

Decoded instructions and tables are permanent objects, and a launch makes many that live until its end: Python's
collector traverses all of them repeatedly (a fifth of the time of a small launch with all checks), and finds
no garbage.

glibc returns every freed array of megabytes to the system, and the next array costs a page fault for each 4 KiB, ten
times the arithmetic on it. With the thresholds of mallopt(3) set here glibc keeps the memory. It would raise them
itself after a block of 32 MiB is freed, but not if the environment sets one of them, as Dask does in its
workers (``MALLOC_TRIM_THRESHOLD_``).

Registers, memory and checks of a launch that ended refer to each other: they are few objects of many bytes, so that
Python rarely looks for them. With what glibc keeps between arrays in use they would become gigabytes over some hundred
launches: before a launch, `rare_collections` returns both if the process has grown much.
"""

from __future__ import annotations

import ctypes
import gc
import os
from contextlib import contextmanager
from mmap import PAGESIZE
from threading import Lock, local
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

OBJECTS = 50_000
"""Objects that are made, less those that end, before the youngest are looked through; Python's default is 700."""
LARGEST = 32 << 20
"""Bytes of the largest array whose memory is kept when it is freed; glibc allows no more."""
GROWTH = 192 << 20
"""Bytes by which the process may have grown before what is unused is returned to the system."""
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # malloc.h
_lock = Lock()
_inside = 0
_own = local()
"""`depth`: launches of this thread, one within another."""
_before = (0, 0, 0)
_least = LARGEST << 10
"""Resident bytes after the last return, or fewer since."""


def _glibc() -> ctypes.CDLL | None:
    """The C library with its thresholds set; None for another C library."""
    try:
        library = ctypes.CDLL(None)
        library.mallopt(_MMAP_THRESHOLD, LARGEST)
        library.mallopt(_TRIM_THRESHOLD, 2 * LARGEST)
        library.malloc_trim.argtypes = [ctypes.c_size_t]
    except (AttributeError, OSError, TypeError):
        return None
    return library


_library = _glibc()


def resident() -> int:
    """Bytes of this process in memory, under Linux."""
    with open("/proc/self/statm", "rb") as file:  # noqa: PTH123 - after every launch
        return int(file.read().split()[1]) * PAGESIZE


def _return_unused() -> None:
    """Return unused memory to the system if the process has grown by `GROWTH` since the last time."""
    global _least  # noqa: PLW0603
    if _library is None:
        return
    try:
        now = resident()
        if now > _least + GROWTH:
            for generation in (1, 2):  # a launch's garbage is usually young; old generations are large
                gc.collect(generation)
                _library.malloc_trim(0)
                if resident() < now - GROWTH // 2:  # most of it is returned; the rest counts as the new base
                    break
            _least = now = resident()
    except OSError:  # no /proc
        return
    _least = min(_least, now)


@contextmanager
def rare_collections() -> Iterator[None]:
    """Collections are rare in the block. The last of several threads to leave restores the program's settings."""
    global _inside, _before  # noqa: PLW0603
    depth = getattr(_own, "depth", 0)
    try:
        with _lock:
            if not _inside:
                _return_unused()
                _before = gc.get_threshold()
                if 0 < _before[0] < OBJECTS:
                    gc.set_threshold(OBJECTS, *_before[1:])
            _inside += 1
            _own.depth = depth + 1
        yield
    finally:
        with _lock:
            if getattr(_own, "depth", 0) > depth:  # else a signal came before
                _own.depth = depth
                _inside -= 1
                if not _inside:
                    gc.set_threshold(*_before)


def _forked() -> None:
    """A child has only the thread that forked, without other threads' launches and lock."""
    global _lock, _inside  # noqa: PLW0603
    _lock = Lock()
    others, _inside = _inside, getattr(_own, "depth", 0)
    if others and not _inside:
        gc.set_threshold(*_before)


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_forked)
