"""Inputs of the fuzzer, a text file per surface: one in a line, its zlib stream in base 85. Lines are only added."""

from __future__ import annotations

import base64
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["FOLDER", "LARGEST", "add", "inputs"]

FOLDER = Path(__file__).with_name("corpus")
LARGEST = 1 << 20
"""Bytes of all files together."""


def inputs(surface: str) -> list[bytes]:
    """The inputs of a surface, in the order in which they were added."""
    path = FOLDER / f"{surface}.txt"
    lines = path.read_text().splitlines() if path.exists() else []
    return [zlib.decompress(base64.b85decode(line)) for line in lines]


def add(surface: str, found: Iterable[bytes]) -> list[bytes]:
    """Add inputs to a surface's file, shortest first, as long as there is room for them.

    Returns:
        Those that were added.
    """
    room = LARGEST - sum(path.stat().st_size for path in FOLDER.glob("*.txt"))
    added = []
    with (FOLDER / f"{surface}.txt").open("a") as file:
        for data in sorted(set(found) - set(inputs(surface)), key=lambda one: (len(one), one)):
            line = base64.b85encode(zlib.compress(data, 9)).decode() + "\n"
            room -= len(line)
            if room < 0:
                break
            file.write(line)
            added.append(data)
    return added
