"""Which mfmasim a process runs: results must not depend on where they were computed."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
from pathlib import Path

import mfmasim
from mfmasim.resources import FOLDERS, folder

__all__ = ["identity"]

PACKAGES = {"NumPy": "numpy", "ml_dtypes": "ml_dtypes"}
"""What results depend on beside the package itself."""


@functools.cache
def identity() -> str:
    """Versions of this process, and the first digits of the SHA-256 over all files of the package and its kernels."""
    found = hashlib.sha256()
    for root in (Path(__file__).resolve().parents[1], *(folder(name) for name in FOLDERS)):
        for path in sorted(root.rglob("*")):
            relative = path.relative_to(root)
            if path.is_file() and path.suffix != ".pyc" and "_bundled" not in relative.parts:
                found.update(f"{root.name}/{relative.as_posix()}\0{path.stat().st_size}\0".encode() + path.read_bytes())
    versions = ", ".join(f"{name} {importlib.metadata.version(package)}" for name, package in PACKAGES.items())
    return f"mfmasim {mfmasim.__version__} ({found.hexdigest()[:16]}), {versions}"
