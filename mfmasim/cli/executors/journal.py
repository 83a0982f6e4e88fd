"""``--resume FILE``: results that a command finished, so that it goes on where it was interrupted."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

from mfmasim.errors import MfmasimError

__all__ = ["Journal"]

MAGIC = b"mfmasim results 1\n"


class Journal:
    """A file of results: a line, the order's hash, then a pickle for each result.

    A pickle can execute code, so that a file that others may write to is refused.
    """

    def __init__(self, path: str, digest: str) -> None:
        """Read what is finished, or begin a new file.

        Args:
            path: the file.
            digest: hash of the order: arguments, files, versions.

        Raises:
            MfmasimError: the file is something else, another command's, or not this user's alone.
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
        about = self._path.stat()
        if not self._path.is_file():
            raise MfmasimError(f"--resume {path}: a file is expected")
        if hasattr(os, "getuid") and (about.st_uid != os.getuid() or about.st_mode & 0o022):
            raise MfmasimError(f"--resume {path}: others may write to it; it would be executed")
        with self._path.open("rb") as file:
            head = file.read(len(self._head))
            if not head.startswith(MAGIC):
                raise MfmasimError(
                    f"--resume {path}: not a file of results; name a new file, or one that --resume made"
                )
            if head != self._head:
                raise MfmasimError(f"--resume {path}: made by other arguments, other files or another version")
            end = file.tell()
            while True:
                try:
                    number, result = pickle.load(file)  # noqa: S301 - this user's own file
                except (EOFError, pickle.UnpicklingError, ValueError):
                    break  # the last one was not finished
                self.done[number] = result
                end = file.tell()
        os.truncate(path, end)

    def add(self, number: int, result: object) -> None:
        """Keep a result."""
        with self._path.open("ab") as file:
            pickle.dump((number, result), file, protocol=5)
