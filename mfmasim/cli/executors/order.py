"""What a command sends to a worker, and what the worker answers.

A case is a function of a file, which cannot be sent: a worker finds the tasks anew, from the command's arguments. Files
that the arguments name travel with the folder they lie in, once for each worker; it lays them out below a folder of its
own as they lay on the sender's machine, so that relative paths and messages stay the same.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import os
import pickle
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from mfmasim.cli.executors.identity import Identity, identity
from mfmasim.errors import MfmasimError
from mfmasim.resources import FOLDERS, folder

__all__ = ["Answer", "Order", "order_of", "work"]

LARGEST_FILE, LARGEST = 16 << 20, 256 << 20
"""Bytes of a file that travels, and of all of them."""
SOURCES = (".py", ".hip", ".h", ".hpp", ".cuh", ".cpp", ".s", ".ll", ".hsaco", ".co", ".npz", ".npy")
"""Files that decide what a case is; others may be a command's own outputs, but travel as well."""
STAYS = ("json", "sarif", "html", "resume", "jobs", "executor", "into")
"""Arguments that a worker has no use for."""

_tasks: dict[str, Sequence[Any]] = {}
"""Of this process: tasks by the order's hash."""
_one_at_a_time = threading.Lock()
"""The working folder belongs to the process, and a simulation fills a processor."""


@dataclass(frozen=True)
class Order:
    """A command, without the number of the task."""

    identity: Identity
    tasks_of: Callable[[argparse.Namespace], Sequence[Any]]
    one: Callable[[argparse.Namespace, Any], Any]
    args: argparse.Namespace
    here: str
    """Working folder of the command."""
    files: tuple[tuple[str, bytes], ...]
    """Absolute path and content of every file that travels."""
    digest: str
    """SHA-256 of all of it; of the files, only of those that are `SOURCES`."""


@dataclass(frozen=True)
class Answer:
    """What a worker found for a task."""

    number: int
    order: str
    content: bytes
    """The result pickled, with paths as on the sender's machine."""
    digest: str

    def result(self, number: int, order: Order) -> Any:
        """The result, once it is sure that it belongs to the task.

        Raises:
            MfmasimError: it is another task's, or damaged.
        """
        if (self.number, self.order) != (number, order.digest):
            raise MfmasimError(f"the executor answered task {number} with the result of task {self.number}")
        if hashlib.sha256(self.content).hexdigest() != self.digest:
            raise MfmasimError(f"the executor damaged the result of task {number}")
        return _Reader(io.BytesIO(self.content)).load()


def order_of(
    args: argparse.Namespace,
    tasks_of: Callable[[argparse.Namespace], Sequence[Any]],
    one: Callable[[argparse.Namespace, Any], Any],
) -> Order:
    """What a command sends.

    Args:
        args: the verb's arguments.
        tasks_of: a module's function that gives the tasks.
        one: a module's function that gives the result of a task.

    Raises:
        MfmasimError: files are too large to travel.
    """
    sent = argparse.Namespace(**{name: value for name, value in vars(args).items() if name not in STAYS})
    for name in STAYS:
        if hasattr(args, name):
            setattr(sent, name, None)
    files = tuple(_files(sent))
    total = sum(len(data) for _, data in files)
    if total > LARGEST:
        raise MfmasimError(f"--executor: {total:,} bytes lie in the folders of the files named; {LARGEST:,} may travel")
    here = str(Path.cwd())
    read = [file for file in files if file[0].endswith(SOURCES)]
    content = pickle.dumps((identity(), tasks_of, one, sorted(vars(sent).items(), key=str), here, read))
    return Order(identity(), tasks_of, one, sent, here, files, hashlib.sha256(content).hexdigest())


def _files(args: argparse.Namespace) -> Iterator[tuple[str, bytes]]:
    """Files in the folders of those that the arguments name; what the package ships is everywhere."""
    shipped = [folder(name) for name in FOLDERS]
    texts = [text for value in vars(args).values() for text in (value if isinstance(value, list) else [value])]
    named = {Path(text).absolute() for text in texts if isinstance(text, str) and text and Path(text).exists()}
    folders = {path if path.is_dir() else path.parent for path in named}
    folders = {path for path in folders if not any(path.resolve().is_relative_to(root) for root in shipped)}
    for root in sorted(
        path for path in folders if not any(path != other and path.is_relative_to(other) for other in folders)
    ):
        for path in sorted(root.rglob("*")):
            hidden = any(part.startswith((".", "__pycache__")) for part in path.relative_to(root).parts)
            if not hidden and path.is_file() and path.stat().st_size <= LARGEST_FILE:
                yield str(path), path.read_bytes()


def work(order: Order, number: int) -> Answer:
    """Do one task; this is the function given to the executor."""
    order.identity.check(f"{os.uname().nodename}:{os.getpid()}" if hasattr(os, "uname") else str(os.getpid()))
    # Dask's own threads draw random numbers while hypothesis watches the module's state.
    warnings.filterwarnings("ignore", message="Do not use the `random` module", category=FutureWarning)
    with _one_at_a_time, _laid_out(order) as (args, root):
        if order.digest not in _tasks:
            _tasks.clear()
            _tasks[order.digest] = order.tasks_of(args)
        found = order.one(args, _tasks[order.digest][number])
        out = io.BytesIO()
        _Writer(out, root).dump(found)
    content = out.getvalue()
    return Answer(number, order.digest, content, hashlib.sha256(content).hexdigest())


@contextmanager
def _laid_out(order: Order) -> Iterator[tuple[argparse.Namespace, str]]:
    """The arguments and the folder that stands for the sender's root; meanwhile in the command's working folder."""
    root = ""
    if not all(_same(Path(path), data) for path, data in order.files):
        root = str(Path(tempfile.gettempdir()) / f"mfmasim-{os.getpid()}-{order.digest[:16]}")
        for path, data in order.files:
            place = Path(root + path)
            if not _same(place, data):
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(data)
        Path(root + order.here).mkdir(parents=True, exist_ok=True)
    args = argparse.Namespace(**{name: _moved(value, root) for name, value in vars(order.args).items()})
    before = os.getcwd()  # noqa: PTH109 - to come back to it
    if os.path.isdir(root + order.here):  # noqa: PTH112
        os.chdir(root + order.here)
    try:
        yield args, root
    finally:
        os.chdir(before)


def _same(path: Path, data: bytes) -> bool:
    try:
        return path.stat().st_size == len(data) and path.read_bytes() == data
    except OSError:
        return False


def _moved(value: object, root: str) -> Any:
    """An argument with absolute paths that lie below the root."""
    if isinstance(value, list):
        return [_moved(part, root) for part in value]
    if root and isinstance(value, str) and os.path.isabs(value) and os.path.exists(root + value):  # noqa: PTH110, PTH117
        return root + value
    return value


class _Writer(pickle.Pickler):
    """Writes strings and paths as they are on the sender's machine."""

    def __init__(self, file: io.BytesIO, root: str) -> None:
        super().__init__(file, protocol=5)
        self._root = root

    def persistent_id(self, obj: object) -> Any:
        if not self._root or not isinstance(obj, str | PurePath) or self._root not in str(obj):
            return None
        return isinstance(obj, PurePath), str(obj).replace(self._root, "")


class _Reader(pickle.Unpickler):
    def persistent_load(self, pid: Any) -> Any:
        is_path, text = pid
        return Path(text) if is_path else text
