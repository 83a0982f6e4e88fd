"""The worker's side: who it is, what was sent once, one call and its sealed result, and its end on request.

All that is sent is bytes until the worker has shown that it runs the same mfmasim.
"""

from __future__ import annotations

import ctypes
import hashlib
import io
import os
import pickle
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from mfmasim.clusters.identity import identity
from mfmasim.errors import MfmasimError

__all__ = ["LostTaskError", "Reply", "Shared", "Stopped", "call", "keep", "packed", "stopping", "unpacked"]

POLL_SECONDS = 0.25
_kept: dict[str, Any] = {}
"""Of this process: what was sent once, by its hash."""


class LostTaskError(MfmasimError):
    """A task whose workers ended, each time that it was tried."""

    kind = "device-lost"


class Stopped(BaseException):
    """The task was cancelled."""


@dataclass(frozen=True)
class Shared:
    """Stands in the arguments of a call for what was sent once."""

    digest: str


class Reply(NamedTuple):
    """What a worker answers."""

    number: int
    """Of the call."""
    content: bytes
    """The result pickled."""
    digest: str
    """SHA-256 of the content."""


class _Packing(pickle.Pickler):
    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, protocol=5)
        self.shared: set[str] = set()

    def persistent_id(self, obj: Any) -> Any:
        if not isinstance(obj, Shared):
            return None
        self.shared.add(obj.digest)
        return obj.digest


class _Unpacking(pickle.Unpickler):
    def persistent_load(self, pid: Any) -> Any:
        return _kept[pid]


def packed(function: Callable[..., Any], args: tuple[Any, ...]) -> tuple[bytes, set[str]]:
    """A call as bytes, and the hashes of what it needs that was sent once."""
    out = io.BytesIO()
    packing = _Packing(out)
    packing.dump((function, args))
    return out.getvalue(), packing.shared


def keep(digest: str, data: bytes) -> None:
    """Keep what is sent once; only the last one."""
    if digest not in _kept:
        _kept.clear()
        _kept[digest] = pickle.loads(data)  # noqa: S301 - a command's own words, as all that a cluster runs


def call(expected: str, number: int, task: bytes, needed: Mapping[str, bytes]) -> Reply | str:
    """Do one call; this is what executors run. A text says why it is refused.

    Args:
        expected: the identity of the command.
        number: of the call; the answer bears it.
        task: a call of `packed`.
        needed: what was sent once and the call refers to, by hash.
    """
    own = str(identity())
    if own != expected:
        return f"has {own}; the command has {expected}"
    for digest, data in needed.items():
        keep(digest, data)
    function, args = _Unpacking(io.BytesIO(task)).load()
    content = pickle.dumps(function(*args), protocol=5)
    return Reply(number, content, hashlib.sha256(content).hexdigest())


def unpacked(reply: Any, number: int) -> Any:
    """The result of a call, once it is sure that it is this one's.

    Raises:
        MfmasimError: it is refused, another call's, damaged, or nothing at all.
    """
    if isinstance(reply, str):
        raise MfmasimError(f"a worker {reply}")
    if not isinstance(reply, tuple) or len(reply) != len(Reply._fields):
        raise MfmasimError(f"the executor lost the result of call {number}")
    found = Reply(*reply)
    if found.number != number:
        raise MfmasimError(f"the executor answered call {number} with the result of call {found.number}")
    if hashlib.sha256(found.content).hexdigest() != found.digest:
        raise MfmasimError(f"the executor damaged the result of call {number}")
    return pickle.loads(found.content)  # noqa: S301 - of a worker that runs this user's programs


@contextmanager
def stopping(cancelled: Callable[[], bool]) -> Iterator[None]:
    """Raise `Stopped` within the block, in its thread, soon after it is cancelled: Dask itself lets a task run on."""
    thread, over, lock = threading.get_ident(), threading.Event(), threading.Lock()

    def watch() -> None:
        while not over.wait(POLL_SECONDS):
            if cancelled():
                with lock:
                    if not over.is_set():
                        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(Stopped))
                return

    threading.Thread(target=watch, daemon=True, name=f"mfmasim-{os.getpid()}").start()
    try:
        yield
    finally:
        with lock:
            over.set()
