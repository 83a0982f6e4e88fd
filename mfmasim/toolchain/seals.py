"""Seals of built libraries: whether a file is the one that was built."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def seal_of(path: Path) -> str:
    """SHA-256 of a file, which its seal holds."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def whole(path: Path, seal: Path) -> bool:
    """Whether a library is the one that was built: a full disk or a crash may have cut it."""
    try:
        return seal.read_text() == seal_of(path)
    except (OSError, ValueError):
        return False
