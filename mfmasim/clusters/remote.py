"""The worker's side: who it is, what was sent once, one call and its sealed result, and its end on request.

All that is sent is bytes until the worker has shown that it runs the same mfmasim. Cases and their results are data
(`mfmasim.clusters.data`). Parts of a launch are pickles: kernels, memory and the state of checks. A worker, which
executes what its scheduler sends in any case, reads both; a command reads pickles only where it asked for parts.
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

from mfmasim.clusters.data import DamagedError, decode, encode
from mfmasim.clusters.identity import identity
from mfmasim.errors import MfmasimError

__all__ = ["LostTaskError", "Reply", "Shared", "Stopped", "call", "keep", "packed", "stopping", "unpacked"]

POLL_SECONDS = 0.25
DATA, PICKLE = b"data\n", b"pickle\n"
"""What begins bytes of either kind."""
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
    """The result, as data or as a pickle."""
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


def sealed(value: Any, *, data: bool) -> bytes:
    """A value as bytes: data, or a pickle.

    Args:
        value: anything that is.
        data: whether it is written as data.
    """
    return DATA + encode(value) if data else PICKLE + pickle.dumps(value, protocol=5)


def opened(content: bytes, *, pickles: bool) -> Any:
    """The value of bytes of `sealed`.

    Args:
        content: from another process.
        pickles: whether a pickle is read, which executes what it names.

    Raises:
        DamagedError: it is neither, or a pickle where none is read.
    """
    if content.startswith(DATA):
        return decode(content[len(DATA) :])
    if pickles and content.startswith(PICKLE):
        return _Unpacking(io.BytesIO(content[len(PICKLE) :])).load()
    raise DamagedError("it is no data")


def packed(function: Callable[..., Any], args: tuple[Any, ...], *, data: bool = False) -> tuple[bytes, set[str]]:
    """A call as bytes, and the hashes of what it needs that was sent once.

    Args:
        function: of a module; of this package, if the call is data.
        args: by position; what `Cluster.share` gave may be one of them, in a pickle also deeper.
        data: whether the call, and its result, are data or pickles.
    """
    if data:
        return sealed((function, args), data=True), {one.digest for one in args if isinstance(one, Shared)}
    out = io.BytesIO()
    packing = _Packing(out)
    packing.dump((function, args))
    return PICKLE + out.getvalue(), packing.shared


def keep(digest: str, data: bytes) -> None:
    """Keep what is sent once; only the last one."""
    if digest not in _kept:
        _kept.clear()
        _kept[digest] = opened(data, pickles=True)


def call(expected: str, number: int, task: bytes, needed: Mapping[str, bytes]) -> Reply | str:
    """Do one call; this is what executors run. A text says why it is refused.

    Args:
        expected: the identity of the command.
        number: of the call; the answer bears it.
        task: a call of `packed`; its result is of the same kind, data or a pickle.
        needed: what was sent once and the call refers to, by hash.
    """
    own = str(identity())
    if own != expected:
        return f"has {own}; the command has {expected}"
    for digest, data in needed.items():
        keep(digest, data)
    function, args = opened(task, pickles=True)
    result = function(*(_kept[one.digest] if isinstance(one, Shared) else one for one in args))
    content = sealed(result, data=task.startswith(DATA))
    return Reply(number, content, hashlib.sha256(content).hexdigest())


def unpacked(reply: Any, number: int, *, data: bool = False) -> Any:
    """The result of a call, once it is sure that it is this one's.

    Args:
        reply: of a worker, or of what took its place.
        number: of the call.
        data: whether the result has to be data.

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
    if not isinstance(found.content, bytes) or hashlib.sha256(found.content).hexdigest() != found.digest:
        raise MfmasimError(f"the executor damaged the result of call {number}")
    try:
        return opened(found.content, pickles=not data)
    except DamagedError as error:
        raise MfmasimError(f"the executor damaged the result of call {number}: {error}") from None


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
