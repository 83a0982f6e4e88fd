"""Registers of a memory instruction's address and data, and the spaces that it may access."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mfmasim.machine.binding.operands import read_dword
from mfmasim.machine.definedness.keys import GLOBAL, LDS, SCRATCH, SGPR, keys_of, set_of
from mfmasim.machine.ops.global_memory import pointer
from mfmasim.machine.ops.spaces import lds_address

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from mfmasim.isa import Instruction, Operand
    from mfmasim.machine.ops.global_memory import Addresses
    from mfmasim.machine.state.waves import Group

# Operands of the address, by encoding; operands of the data follow.
ADDRESSES = {"DS": 1, "FLAT": 2, "GLOBAL": 2, "SCRATCH": 2, "MUBUF": 3, "MTBUF": 3, "SMEM": 2, "VIMAGE": 4}
REACHES = {"lds": (LDS,), "flat": (GLOBAL, LDS, SCRATCH), "global": (GLOBAL,), "scratch": (SCRATCH,)}


@dataclass(frozen=True)
class Places:
    """Registers and spaces of a memory instruction; the launches of a kernel share the record."""

    data: tuple[Operand, ...]
    """Operands that are stored."""
    address: tuple[int, ...]
    """Keys of the registers that make the address."""
    stored: tuple[int, ...]
    loaded: tuple[int, ...]
    spaces: int
    """Spaces of memory, as a set."""
    registers: int
    """Registers, as a set."""
    renamed: Instruction
    """The instruction with its data in registers behind those of the wave."""
    pointer: Addresses | None
    """Function of its addresses, if it moves data between VGPRs and global memory, each lane at its own address."""
    span: Callable[[Group], NDArray[np.int64]] | None
    """Function of its addresses, if each lane loads bytes of the LDS from its own address on."""


def places_of(instruction: Instruction, m0: int, vectors: int) -> Places:
    """Separate addresses from data.

    Args:
        instruction: a memory instruction.
        m0: number of M0 on the architecture.
        vectors: vector registers of a wave.
    """
    opcode = instruction.opcode
    to_lds = opcode.to_lds or bool(instruction.modifiers.get("lds"))
    by_lane = opcode.unit == "LDS" and (opcode.reads_m0 or opcode.kind == "count")  # the address is M0 and the lane
    count = 0 if by_lane else ADDRESSES[instruction.encoding]
    if opcode.counter == "async" and opcode.unit == "VMEM":
        count = len(instruction.src)  # a register holds the address in the LDS
    data = instruction.src[count:]
    address = [key for operand in instruction.src[:count] for key in keys_of(operand)]
    by_m0 = opcode.reads_m0 or instruction.modifiers.get("lds")
    if by_m0 or by_lane or opcode.chosen or instruction.in_gds:
        address.append(SGPR + m0)
    stored = tuple(key for operand in data for key in keys_of(operand))
    loaded = tuple(key for operand in instruction.dst for key in keys_of(operand))
    spaces = REACHES[instruction.space]
    if to_lds or opcode.from_lds:
        spaces = (*spaces, LDS)
    operands = []
    for operand in data:
        operands.append(replace(operand, kind="v", index=vectors))
        vectors += operand.count
    renamed = replace(instruction, src=(*instruction.src[:count], *operands)) if data else instruction
    moved = instruction.dst or data
    plain = (
        instruction.encoding == "GLOBAL"
        and spaces == (GLOBAL,)
        and (opcode.access == "load" or (opcode.access == "store" and not opcode.narrow))
        and instruction.src[0].kind == "v"
        and not (opcode.chosen or by_m0 or opcode.counter == "async")
        and len(moved) == 1
        and moved[0].kind in ("v", "a")
    )
    registers = set_of([*address, *stored, *loaded])
    addresses = pointer(instruction) if plain else None
    span = None
    if spaces == (LDS,) and opcode.access == "load" and instruction.encoding == "DS" and not (by_lane or by_m0):
        span = _span(instruction)
    return Places(data, tuple(address), stored, loaded, set_of(spaces), registers, renamed, addresses, span)


def _span(instruction: Instruction) -> Callable[[Group], NDArray[np.int64]] | None:
    """Addresses of a load from the LDS; None if it has two, or if other registers determine them."""
    one_place = "offset1" not in instruction.modifiers and not (instruction.opcode.chosen or instruction.in_gds)
    if not one_place or len(instruction.src) != 1:
        return None
    base, offset = read_dword(instruction.src[0], 0, instruction), instruction.modifiers.get("offset", 0)
    return lambda g: lds_address(base(g), offset)
