"""What a file holds: every code object in it, with its target, also those that are not simulated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mfmasim.codeobject import containers, elf_header
from mfmasim.codeobject.model import CodeObject
from mfmasim.codeobject.reader import read, read_bytes
from mfmasim.errors import MfmasimError


@dataclass(frozen=True)
class Content:
    """One code object of a file."""

    target: str
    """Processor and features, as the bundle names them; empty where the file is the code object itself."""
    size: int
    """In bytes."""
    code: CodeObject | None
    """None where it cannot be read."""
    why: str = ""
    """Why not."""


def contents(path: Path) -> Iterator[Content]:
    """Read every code object of a file.

    Args:
        path: a code object, or what holds some: see `mfmasim.codeobject.read`.

    Yields:
        One row for each, in the file's order.

    Raises:
        MfmasimError: the file cannot be read, or holds no code object.
    """
    data, name = read_bytes(path), str(path)
    if data[:4] == elf_header.ELF_MAGIC and elf_header.read_header(data, name).is_amdgpu:
        yield Content("", len(data), read(data, name))
        return
    entries = [entry for entry in containers.entries(data, name) if not entry.is_host]
    if not entries:
        raise MfmasimError(f"{name}: the bundle holds host code only")
    for entry in entries:
        inside = bytes(entry.data)
        try:
            yield Content(entry.target_id, len(inside), read(inside, f"{name}, {entry.target_id}"))
        except MfmasimError as error:
            yield Content(entry.target_id, len(inside), None, str(error))
