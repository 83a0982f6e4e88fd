"""Files that are written whole or not at all, and read without trust in what they are; the endings of their names."""

from __future__ import annotations

import errno
import os
import secrets
import stat
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


def write_text(path: Path, text: str) -> None:
    """Write a text in UTF-8 as `write_file` does; bytes of names that are not UTF-8 are spelled out.

    Raises:
        MfmasimError: the file cannot be written; an existing file is unchanged.
    """
    write_file(path, text.encode("utf-8", "backslashreplace"))


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
def replacing(path: Path, *, anything: bool = False) -> Iterator[BinaryIO]:
    """A file to write to, which takes the place of `path` when all is written.

    A symbolic link stays and leads to the new file; a device, a pipe or a descriptor (``/dev/stdout``) is written to.

    Args:
        path: of the file.
        anything: take the place of links, devices and pipes too.

    Raises:
        MfmasimError: it cannot be written; an existing file is unchanged.
    """
    unfinished = None
    try:
        place = path.resolve() if path.is_symlink() and not anything else path
        if not anything and _is_special(path, place):
            with path.open("wb") as file:
                yield file
            return
        place.parent.mkdir(parents=True, exist_ok=True)
        beside = place.with_name(f".mfmasim-{os.getpid()}-{secrets.token_hex(4)}")
        with beside.open("xb") as file:
            unfinished = beside
            if place.is_file() and not anything:
                beside.chmod(stat.S_IMODE(place.stat().st_mode))
            yield file
            file.flush()
            os.fsync(file.fileno())
        beside.replace(place)
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links
        if not isinstance(error, OSError) and unfinished is not None:  # of what is written, not of the file
            raise
        raise MfmasimError(f"{path}: cannot be written: {getattr(error, 'strerror', None) or error}") from None
    finally:
        if unfinished is not None:
            unfinished.unlink(missing_ok=True)


def _is_special(path: Path, place: Path) -> bool:
    """Whether a name stands for something that no file can take the place of."""
    within = any(path.absolute().is_relative_to(each) for each in ("/dev", "/proc"))
    return (within and path.exists()) or (place.exists() and not place.is_file() and not place.is_dir())


def prepare(path: Path, *, folder: bool = False) -> None:
    """Make the folder of a file that is to be written at the end of some work, and refuse what cannot be written.

    Args:
        path: of the file.
        folder: it is itself a folder, of files that are to be written.

    Raises:
        MfmasimError: the path is a folder, or its own folder is a file or is closed to writing.
    """
    try:
        written = path / "file" if folder else path.resolve() if path.is_symlink() else path
        place = written.parent
        if not place.exists():
            place.mkdir(parents=True)
        code = 0 if place.is_dir() else errno.ENOTDIR
        code = errno.EISDIR if path.is_dir() and not folder else code
        held = written if _is_special(path, written) else place  # another file takes the place of one that is there
        code = code or (0 if os.access(held, os.W_OK) else errno.EACCES)
        why = os.strerror(code) if code else ""
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links
        why = getattr(error, "strerror", None) or str(error)
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
