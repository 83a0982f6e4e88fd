"""``--resume FILE``: finished results of a command, so that it continues after an interruption."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import IO, Any

from mfmasim.clusters.data import DamagedError, NotDataError, decode, encode
from mfmasim.errors import MfmasimError
from mfmasim.resources import is_own

__all__ = ["Journal"]

MAGIC = b"mfmasim results 2\n"
LENGTH, HASH = 8, 32
"""Bytes in front of each result: how many it has, little endian, and its SHA-256."""


class Journal:
    """A file of results: a line, the order's hash, then each result as data (`mfmasim.clusters.data`).

    Nothing in it is executed. It decides verdicts, so that a file which other users may write is refused.
    """

    def __init__(self, path: str, digest: str) -> None:
        """Read finished results, or begin a new file.

        Args:
            path: the file.
            digest: hash of the order: arguments, files, versions.

        Raises:
            MfmasimError: the file is no journal, belongs to another command, or is writable by other users.
        """
        self.done: dict[int, Any] = {}
        self._path, self._head = Path(path), MAGIC + digest.encode() + b"\n"
        try:
            if self._path.exists():
                self._read(path)
            else:
                descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                with os.fdopen(descriptor, "wb") as file:
                    file.write(self._head)
        except OSError as error:
            raise MfmasimError(f"--resume {path}: {error.strerror}") from None

    def _read(self, path: str) -> None:
        size = self._path.stat().st_size
        if not self._path.is_file():
            raise MfmasimError(f"--resume {path}: a file is expected")
        if not is_own(self._path):
            raise MfmasimError(
                f"--resume {path}: others may write to it, and its results would be taken for this command's"
            )
        with self._path.open("rb") as file:
            head = file.read(len(self._head))
            if not head.startswith(MAGIC):
                raise MfmasimError(
                    f"--resume {path}: not a file of results; name a new file, or one that --resume made"
                )
            if head != self._head:
                raise MfmasimError(f"--resume {path}: made by other arguments, other files or another version")
            end = file.tell()
            while (found := _next(file, size)) is not None:
                number, result = found
                self.done[number] = result
                end = file.tell()
        os.truncate(path, end)

    def add(self, number: int, result: object) -> None:
        """Store a result; a result that is no data is computed again when the command continues."""
        try:
            content = encode((number, result))
        except NotDataError:
            return
        with self._path.open("ab") as file:
            file.write(len(content).to_bytes(LENGTH, "little") + hashlib.sha256(content).digest() + content)


def _next(file: IO[bytes], size: int) -> tuple[int, Any] | None:
    """The next result; None at the end, and for an incomplete last one."""
    head = file.read(LENGTH + HASH)
    length = int.from_bytes(head[:LENGTH], "little")
    if len(head) < LENGTH + HASH or length > size:
        return None
    content = file.read(length)
    if hashlib.sha256(content).digest() != head[LENGTH:]:
        return None
    try:
        number, result = decode(content)
    except (DamagedError, TypeError, ValueError):
        return None
    return (number, result) if isinstance(number, int) else None
