"""Files that are written whole or not at all, and read without trust in what they are; the endings of their names."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import BinaryIO

from mfmasim.errors import MfmasimError

LIMIT = 1 << 29
"""Most bytes of a file that is read, and of the arrays of an archive together, decompressed."""
SOURCES = frozenset((".hip", ".cu", ".cpp", ".cc", ".cxx", ".c++", ".C", ".cp", ".CPP"))
"""Endings of sources that hipcc compiles as HIP."""
OBJECTS = frozenset((".hsaco", ".co", ".o"))
"""Endings of code objects."""


def is_source(name: str | PurePath) -> bool:
    """Whether a file's name is that of a HIP source.

    >>> is_source("a/gemm.hip"), is_source("gemm.cxx"), is_source("gemm.hsaco")
    (True, True, False)
    """
    return PurePath(name).suffix in SOURCES


def is_object(name: str | PurePath) -> bool:
    """Whether a file's name is that of a code object.

    >>> is_object("gemm.hsaco"), is_object("gemm.hip")
    (True, False)
    """
    return PurePath(name).suffix in OBJECTS


def write_file(path: Path, data: bytes) -> None:
    """Write a file; an existing one is replaced only when the new one is on disk.

    Raises:
        MfmasimError: the file cannot be written; an existing file is unchanged.
    """
    with replacing(path) as file:
        file.write(data)


def brief(place: str) -> str:
    """A source line as a table shows it: the path from the current folder, or the file's name where it lies elsewhere.

    >>> brief("/opt/lib/triton/standard.py:216"), brief("kernels/gemm.hip:12")
    ('standard.py:216', 'kernels/gemm.hip:12')
    """
    if not place.startswith("/"):
        return place
    path = Path(place)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else path.name


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to write to, which takes the place of `path` when all is written.

    Raises:
        MfmasimError: it cannot be written; an existing file is unchanged.
    """
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with unfinished.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except OSError as error:
        raise MfmasimError(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        unfinished.unlink(missing_ok=True)


def prepare(path: Path) -> None:
    """Make the folder of a file that is to be written at the end of some work, and refuse what cannot be written.

    Raises:
        MfmasimError: the path is a folder, or its own folder is a file or is closed to writing.
    """
    place = path.parent
    try:
        if not place.exists():
            place.mkdir(parents=True)
        code = 0 if place.is_dir() else errno.ENOTDIR
        code = errno.EISDIR if path.is_dir() else code
        code = code or (0 if os.access(path if path.exists() else place, os.W_OK) else errno.EACCES)
        why = os.strerror(code) if code else ""
    except OSError as error:
        why = error.strerror or str(error)
    if why:
        raise MfmasimError(f"{path}: cannot be written: {why}")


def read_file(path: Path, limit: int = LIMIT) -> bytes:
    """The bytes of a regular file.

    Raises:
        MfmasimError: it cannot be read, is not a regular file, or is larger than `limit`.
    """
    try:
        if path.exists() and not path.is_file():
            raise MfmasimError(f"{path}: cannot be read: not a regular file")
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except OSError as error:
        raise MfmasimError(f"{path}: cannot be read: {error.strerror or error}") from None
    if len(data) > limit:
        raise MfmasimError(f"{path}: more than the {limit:,} bytes that are read")
    return data
