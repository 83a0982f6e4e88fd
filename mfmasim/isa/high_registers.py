"""VGPRs above v255: the bits of MODE that extend the eight bits of an instruction's register fields.

S_SET_VGPR_MSB and S_SETREG write four fields of two bits, for source 0, 1, 2 and the destination; a table maps the
fields of encodings to them. A decoded instruction names v0 to v255. `raised` sets the registers that it
accesses in a mode, and its text then names both, as llvm-objdump prints them: ``v1 /*v257*/``.

Sources: CDNA5 ISA manual, 3.3.2.3 and 3.4.3; for what the manual's table leaves out (VOPD, FLAT) llvm-objdump 22.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mfmasim.isa.immediates import MODE, register_field

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mfmasim.isa.instruction import Instruction, Operand

SOURCE2, DESTINATION = 2, 3
_PLACES = {
    **dict.fromkeys(("src0", "src0x", "src0y", "addr", "vaddr"), 0),
    **dict.fromkeys(("src1", "src1x", "src1y", "vsrc1", "vsrc1x", "vsrc1y", "data", "data0", "vsrc"), 1),
    **dict.fromkeys(("src2", "src2x", "src2y", "vsrc2", "vsrc2x", "vsrc2y", "data1"), SOURCE2),
    **dict.fromkeys(("vdst", "vdstx", "vdsty", "vdata"), DESTINATION),
}
"""Field of an encoding to the number of its bits; others have none (the scales of a WMMA, a sampler)."""
_SHIFTS = (14, 16, 18, 12)
"""Lowest bit of each field in MODE."""
MODE_BITS = 0xFF << 12
"""All of them in MODE."""


def as_mode(immediate: int) -> int:
    """The bits of MODE that S_SET_VGPR_MSB writes, of its immediate; the upper byte, the mode before, has no effect."""
    return sum((immediate >> 2 * place & 3) << shift for place, shift in enumerate(_SHIFTS))


def fields_of_mode(mode: int) -> int:
    """The immediate of S_SET_VGPR_MSB that writes these bits of MODE; the inverse of `as_mode`."""
    return sum((mode >> shift & 3) << 2 * place for place, shift in enumerate(_SHIFTS))


def _place(instruction: Instruction, operand: Operand, number: int) -> int | None:
    """Which of the four fields extends an operand, the source of that number (-1: a destination)."""
    if operand.kind != "v":
        return None
    if not operand.field:  # V_SWAP also writes its source; a source that no field names is the destination
        return 0 if number < 0 else DESTINATION
    place = _PLACES.get(operand.field)
    if place == 1 and number == SOURCE2 and instruction.src[1].field == "literal":
        return SOURCE2  # the addend of V_FMAMK stands in the field of source 1
    if instruction.opcode.scaled and instruction.opcode.matrix and number >= len(instruction.src) - 2:
        return None
    return place


def _raised(instruction: Instruction, operand: Operand, number: int, fields: int) -> Operand:
    place = _place(instruction, operand, number)
    above = 0 if place is None else fields >> 2 * place & 3
    return replace(operand, index=operand.index + 256 * above) if above else operand


def raised(instruction: Instruction, fields: int) -> Instruction:
    """The instruction with the registers that it accesses.

    Args:
        instruction: as decoded.
        fields: the mode, as the low byte of S_SET_VGPR_MSB.
    """
    if not fields or instruction.opcode.scalar:
        return instruction
    return replace(
        instruction,
        dst=tuple(_raised(instruction, operand, -1, fields) for operand in instruction.dst),
        src=tuple(_raised(instruction, operand, number, fields) for number, operand in enumerate(instruction.src)),
        halves=tuple(raised(half, fields) for half in instruction.halves),
    )


def after(instruction: Instruction, modes: frozenset[int]) -> frozenset[int] | None:
    """The modes in which a wave may be behind an instruction.

    Args:
        instruction: the instruction.
        modes: modes before it, as low bytes of S_SET_VGPR_MSB.

    Returns:
        The modes; None if a register decides.
    """
    if instruction.opcode.kind == "msb":
        return frozenset({instruction.src[0].bits & 0xFF})
    if instruction.opcode.kind != "setreg":
        return modes
    register, offset, mask = register_field(instruction)
    bits = mask << offset & MODE_BITS
    if register != MODE or not bits:
        return modes
    value = next(operand for operand in instruction.src if operand.type != "hwreg")
    if value.kind not in ("const", "imm"):
        return None
    kept, written = ~fields_of_mode(bits), fields_of_mode(value.bits << offset & bits)
    return frozenset(mode & kept | written for mode in modes)


def listed(instructions: Iterable[Instruction]) -> Iterator[Instruction]:
    """Instructions in address order, each with the registers that the last S_SET_VGPR_MSB before it selects.

    Behind a branch or the end of a program that is none, as in llvm-objdump: compilers clear the mode at the end of
    each basic block. The registers that a wave accesses depend on its path, which the machine follows.
    """
    fields = 0
    for instruction in instructions:
        opcode = instruction.opcode
        if opcode.kind == "msb":
            fields = instruction.src[0].bits & 0xFF
        yield raised(instruction, fields)
        if opcode.flow or instruction.target is not None:
            fields = 0
