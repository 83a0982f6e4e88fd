"""Loads from global memory to the LDS: which sizes an architecture has, and what to say of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfmasim.architectures import ARCHITECTURES

if TYPE_CHECKING:
    from mfmasim.architectures import Arch


def direct_problem(target: Arch, size: int) -> str:
    """Why a load of `size` bytes a lane to the LDS does not exist, with what does; empty if it exists.

    Args:
        target: the architecture.
        size: bytes per lane.
    """
    sizes = target.lds.direct_bytes
    if not sizes:
        return f"{target.name} has no loads from global memory to LDS: load to registers, then ds_store"
    if size in sizes:
        return ""
    having = [other.name for other in ARCHITECTURES.values() if size in other.lds.direct_bytes]
    hint = f"; {', '.join(having)} has it" if having else ""
    return f"{target.name} has no {size}-byte load to LDS: {', '.join(map(str, sizes))} bytes per lane{hint}"
