"""Which mfmasim a process runs: results must not depend on where they were computed."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
from dataclasses import dataclass
from pathlib import Path

from mfmasim import __version__
from mfmasim.errors import MfmasimError
from mfmasim.resources import FOLDERS, folder

__all__ = ["Identity", "identity"]

PACKAGES = ("numpy", "ml_dtypes")
"""What results depend on beside the package itself."""


@dataclass(frozen=True)
class Identity:
    """Versions of a process, and a hash of the package's files."""

    mfmasim: str
    code: str
    """First digits of the SHA-256 over the names and contents of the package and of the kernels it ships."""
    numpy: str
    ml_dtypes: str

    def __str__(self) -> str:
        """All of it, in a line."""
        return f"mfmasim {self.mfmasim} ({self.code}), NumPy {self.numpy}, ml_dtypes {self.ml_dtypes}"

    def check(self, worker: str) -> None:
        """Refuse to work for a command of another identity.

        Args:
            worker: name of the worker that this process is.

        Raises:
            MfmasimError: this process has another version of something.
        """
        if self != identity():
            raise MfmasimError(f"worker {worker} has {identity()}; the command has {self}")


@functools.cache
def identity() -> Identity:
    """The identity of this process."""
    found = hashlib.sha256()
    for root in (Path(__file__).resolve().parents[2], *(folder(name) for name in FOLDERS)):
        for path in sorted(root.rglob("*")):
            relative = path.relative_to(root)
            if path.is_file() and path.suffix != ".pyc" and "_bundled" not in relative.parts:
                found.update(f"{root.name}/{relative.as_posix()}\0{path.stat().st_size}\0".encode() + path.read_bytes())
    versions = {name: importlib.metadata.version(name) for name in PACKAGES}
    return Identity(__version__, found.hexdigest()[:16], **versions)
