"""Forks of a process whose other threads launch: the child waits for no lock that such a thread held.

The child has only the thread that forked; a lock of another one is never released in it. Until Python 3.11,
`functools.cached_property` has a lock for all objects of a class, which a thread holds while it computes the
attribute: the child gets new ones. Later versions have none. Attributes that a thread was computing are not there yet,
and are computed anew. Locks of this package's own are renewed where they are.
"""

from __future__ import annotations

import functools
import os
import sys
import threading

_properties: list[functools.cached_property[object]] = []
_seen: dict[str, int] = {}
"""Names that each module had when its classes were looked through."""


def look() -> None:
    """Find the attributes with locks in all modules that are loaded; later calls look at new names only."""
    for name, module in list(sys.modules.items()):
        content = getattr(module, "__dict__", None)
        if not isinstance(content, dict) or _seen.get(name) == len(content):
            continue
        _seen[name] = len(content)
        for one in list(content.values()):
            # isinstance would ask for __class__, and an object of torch warns then
            if issubclass(type(one), type) and one.__module__ == name:
                found = [part for part in list(vars(one).values()) if isinstance(part, functools.cached_property)]
                _properties.extend(part for part in found if part not in _properties)


def _renew() -> None:
    for one in _properties:
        one.lock = threading.RLock()  # type: ignore[attr-defined]


if sys.version_info < (3, 12) and hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(before=look, after_in_child=_renew)
