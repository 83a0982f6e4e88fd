"""The message of a command to a worker, and the worker's answer.

A case is a function of a file, which cannot be sent: a worker finds the tasks anew, from the command's arguments. Files
that the arguments name travel with the folder they lie in, once for each worker; it lays them out below a folder of its
own with the layout of the sender's machine, so that relative paths and messages are equal.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import tempfile
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mfmasim.clusters.data import NotDataError, decode, encode
from mfmasim.clusters.identity import identity
from mfmasim.errors import MfmasimError
from mfmasim.resources import FOLDERS, folder

__all__ = ["Failed", "Order", "attempts", "order_of", "read", "work"]

LARGEST_FILE, LARGEST = 16 << 20, 256 << 20
"""Bytes of a file that travels, and of all of them."""
SOURCES = (".py", ".hip", ".h", ".hpp", ".cuh", ".cpp", ".s", ".ll", ".hsaco", ".co", ".npz", ".npy")
"""Files that decide what a case is; others may be a command's own outputs, but travel as well."""
STAYS = ("json", "sarif", "html", "resume", "jobs", "executor", "into")
"""Arguments that a worker has no use for."""

_laid_out: dict[str, tuple[argparse.Namespace, str, Sequence[Any]]] = {}
"""Of this process, by the order's hash: arguments, the folder that stands for the sender's root, and the tasks."""
_folders: list[tempfile.TemporaryDirectory[str]] = []
_one_at_a_time = threading.Lock()
"""The working folder belongs to the process, and a simulation fills a processor."""


@dataclass(frozen=True)
class Order:
    """A command, without the number of the task."""

    tasks_of: Callable[[argparse.Namespace], Sequence[Any]]
    one: Callable[[argparse.Namespace, Any], Any]
    arguments: dict[str, Any]
    """The verb's, by name."""
    here: str
    """Working folder of the command."""
    files: tuple[tuple[str, bytes], ...]
    """Absolute path and content of every file that travels."""
    digest: str
    """SHA-256 of all of it; of the files, only of those that are `SOURCES` or named by the arguments."""


@dataclass(frozen=True)
class Failed:
    """A task that ended with an error."""

    error: Exception


def attempts(
    one: Callable[[argparse.Namespace, Any], Any],
    args: argparse.Namespace,
    tasks: Sequence[Any],
    numbers: Sequence[int],
) -> list[tuple[int, Any]]:
    """Do tasks.

    Args:
        one: returns the result of a task.
        args: the verb's arguments.
        tasks: all tasks.
        numbers: of the tasks to do.

    Returns:
        The number and the result of each, or `Failed`.

    Raises:
        MemoryError: a task needs more memory than there is.
    """
    found: list[tuple[int, Any]] = []
    for number in numbers:
        try:
            found.append((number, one(args, tasks[number])))
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001 - raised where its place in the order is
            error.add_note(traceback.format_exc())  # the frames stay in this process
            found.append((number, Failed(error)))
    return found


def order_of(
    args: argparse.Namespace,
    tasks_of: Callable[[argparse.Namespace], Sequence[Any]],
    one: Callable[[argparse.Namespace, Any], Any],
    tasks: Sequence[Any],
) -> Order:
    """The message of a command.

    Args:
        args: the verb's arguments.
        tasks_of: a module's function that returns the tasks.
        one: a module's function that returns the result of a task.
        tasks: the tasks; the sources of their cases travel, too.

    Raises:
        MfmasimError: files are too large to travel.
    """
    # A worker only has to know whether there is a page: it counts lines for that.
    kept = {name: (name == "html" and bool(args.html)) or None for name in STAYS if hasattr(args, name)}
    sent = argparse.Namespace(**{**vars(args), **kept})
    files = tuple(_files(sent, tasks))
    total = sum(len(data) for _, data in files)
    if total > LARGEST:
        raise MfmasimError(f"--executor: {total:,} bytes lie in the folders of the files named; {LARGEST:,} may travel")
    here = str(Path.cwd())
    named = {str(path) for path in _named(sent)}
    read = [file for file in files if file[0].endswith(SOURCES) or file[0] in named]
    arguments = dict(sorted(vars(sent).items()))
    content = encode((identity(), tasks_of, one, arguments, here, read))
    return Order(tasks_of, one, arguments, here, files, hashlib.sha256(content).hexdigest())


def _files(args: argparse.Namespace, tasks: Sequence[Any]) -> Iterator[tuple[str, bytes]]:
    """Files in the folders of the files that arguments and cases name; files of the package are everywhere."""
    shipped = [folder(name) for name in FOLDERS]
    named = _named(args) | {source.absolute() for source in _sources(tasks) if source.is_file()}
    folders = {path if path.is_dir() else path.parent for path in named}
    folders = {path for path in folders if not any(path.resolve().is_relative_to(root) for root in shipped)}
    for root in sorted(
        path for path in folders if not any(path != other and path.is_relative_to(other) for other in folders)
    ):
        for path in sorted(root.rglob("*")):
            hidden = any(part.startswith((".", "__pycache__")) for part in path.relative_to(root).parts)
            if not hidden and path.is_file() and path.stat().st_size <= LARGEST_FILE:
                yield str(path), path.read_bytes()


def _named(args: argparse.Namespace) -> set[Path]:
    """Files and folders that arguments name."""
    texts = [text for value in vars(args).values() for text in (value if isinstance(value, list) else [value])]
    return {Path(text).absolute() for text in texts if isinstance(text, str) and text and Path(text).exists()}


def _sources(task: Any) -> set[Path]:
    """Sources of the cases in a task."""
    if isinstance(task, list | tuple):
        return {source for part in task for source in _sources(part)}
    source = getattr(task, "source", None)
    return {source} if isinstance(source, Path) else set()


def work(order: Order, numbers: Sequence[int]) -> bytes:
    """Do tasks; this is the function for the executor. `read` returns their numbers and results."""
    # Dask's own threads draw random numbers while hypothesis watches the module's state.
    warnings.filterwarnings("ignore", message="Do not use the `random` module", category=FutureWarning)
    with _one_at_a_time:
        before = os.getcwd()  # noqa: PTH109 - to come back to it
        try:
            args, root, tasks = _layout(order)
            found = attempts(order.one, args, tasks, numbers)
        finally:
            os.chdir(before)
    return encode([_travelling(*one) for one in found], (lambda text: text.replace(root, "")) if root else None)


def _travelling(number: int, result: Any) -> tuple[int, Any]:
    """A result that can be sent; the reason in place of a result that is no data."""
    try:
        encode(result)
    except NotDataError as error:
        return number, Failed(MfmasimError(f"--executor: a result cannot be sent: {error}"))
    return number, result


def read(content: bytes) -> Any:
    """The results of `work`, with the paths of the sender's machine."""
    return decode(content)


def _layout(order: Order) -> tuple[argparse.Namespace, str, Sequence[Any]]:
    """Go to the command's working folder; the arguments, the folder that stands for the sender's root, the tasks."""
    known = _laid_out.get(order.digest)
    root = known[1] if known else ""
    if not known and not all(_same(Path(path), data) for path, data in order.files):
        _folders.append(tempfile.TemporaryDirectory(prefix="mfmasim-"))  # until this process ends
        root = _folders[-1].name
        for path, data in order.files:
            place = Path(root + path)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
        Path(root + order.here).mkdir(parents=True, exist_ok=True)
    if os.path.isdir(root + order.here):  # noqa: PTH112
        os.chdir(root + order.here)
    if not known:
        args = argparse.Namespace(**{name: _moved(value, root) for name, value in order.arguments.items()})
        _laid_out.clear()
        known = _laid_out[order.digest] = args, root, order.tasks_of(args)
    return known


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
