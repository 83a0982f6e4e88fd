"""Fewer garbage collections while a launch runs.

Decoded instructions and tables are objects that stay, and a launch makes many that live until it ends: Python's
collector goes through all of them again and again (a fifth of the time of a small launch with all checks), and finds
nothing.
"""

from __future__ import annotations

import gc
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

OBJECTS = 50_000
"""Objects that are made, less those that end, before the youngest are looked through; Python's default is 700."""
_lock = Lock()
_inside = 0
_before = (0, 0, 0)


@contextmanager
def rare_collections() -> Iterator[None]:
    """Inside, collections are rare. The last of several threads to leave restores what the program had chosen."""
    global _inside, _before  # noqa: PLW0603
    with _lock:
        if not _inside:
            _before = gc.get_threshold()
            if 0 < _before[0] < OBJECTS:
                gc.set_threshold(OBJECTS, *_before[1:])
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if not _inside:
                gc.set_threshold(*_before)
