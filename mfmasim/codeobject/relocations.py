"""Dynamic relocations: the few kinds that a linked code object may have; others are refused by name.

Compilers reach globals and functions by pc-relative adds, so most files have none; pointers in initialised
device variables need them. Source: LLVM's AMDGPU usage guide, "Relocation Records".
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mfmasim.errors import DamagedError, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mfmasim.codeobject.records import Relocation, Segment

# ELF number -> name, of every kind the guide lists.
NAMES: dict[int, str] = {
    0: "R_AMDGPU_NONE",
    1: "R_AMDGPU_ABS32_LO",
    2: "R_AMDGPU_ABS32_HI",
    3: "R_AMDGPU_ABS64",
    4: "R_AMDGPU_REL32",
    5: "R_AMDGPU_REL64",
    6: "R_AMDGPU_ABS32",
    7: "R_AMDGPU_GOTPCREL",
    8: "R_AMDGPU_GOTPCREL32_LO",
    9: "R_AMDGPU_GOTPCREL32_HI",
    10: "R_AMDGPU_REL32_LO",
    11: "R_AMDGPU_REL32_HI",
    13: "R_AMDGPU_RELATIVE64",
    14: "R_AMDGPU_REL16",
}

# Kinds that are applied: bytes written, right shift of (base + value). R_AMDGPU_ABS32 is absent: a 64-bit
# load address does not fit, so a file that needs it cannot be loaded where a device loads it.
KINDS: dict[str, tuple[int, int]] = {
    "R_AMDGPU_ABS32_LO": (4, 0),
    "R_AMDGPU_ABS32_HI": (4, 32),
    "R_AMDGPU_ABS64": (8, 0),
    "R_AMDGPU_RELATIVE64": (8, 0),
}


def kind_name(number: int) -> str:
    """LLVM's name of a relocation number, or the number in words."""
    return NAMES.get(number, f"relocation type {number}")


def check(relocations: Sequence[Relocation], segments: Sequence[Segment], name: str) -> None:
    """Refuse relocations that `apply` does not support.

    Args:
        relocations: of the file.
        segments: what is loaded of it.
        name: the file, for the error.

    Raises:
        MfmasimError: a kind is not among `KINDS`, or its place is not in the data of one segment.
    """
    for relocation in relocations:
        if relocation.kind not in KINDS:
            allowed = ", ".join(KINDS)
            raise UnsupportedError(
                f"{name}: {relocation.kind} at {relocation.address:#x} is not supported; allowed: {allowed}"
            )
        width = KINDS[relocation.kind][0]
        if not any(one.vaddr <= relocation.address and relocation.address + width <= one.end for one in segments):
            raise DamagedError(f"{name}: corrupt relocation: {relocation.address:#x} is in no loaded segment")


def apply(segments: Sequence[Segment], relocations: Sequence[Relocation], base: int) -> tuple[Segment, ...]:
    """Move segments to a load address.

    Args:
        segments: with addresses of the file.
        relocations: checked by `check`.
        base: where the file's address 0 is loaded.

    Returns:
        Segments with absolute addresses and relocated data.
    """
    moved: list[Segment] = []
    for segment in segments:
        data = bytearray(segment.data)
        for relocation in relocations:
            at = relocation.address - segment.vaddr
            width, shift = KINDS[relocation.kind]
            if at >= 0 and at + width <= segment.memsize:
                data.extend(bytes(max(0, at + width - len(data))))
                value = (base + relocation.value) >> shift & ((1 << 8 * width) - 1)
                data[at : at + width] = value.to_bytes(width, "little")
        moved.append(replace(segment, vaddr=segment.vaddr + base, data=bytes(data)))
    return tuple(moved)
