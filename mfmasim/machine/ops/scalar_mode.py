"""Reading and writing the MODE register. Source: CDNA3 ISA manual, SOPK S_GETREG and S_SETREG; table 4 of 3.5."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.machine.operands import scalar_reader, scalar_writer
from mfmasim.machine.refusal import unsupported
from mfmasim.machine.registry import direct

if TYPE_CHECKING:
    from mfmasim.isa import Instruction
    from mfmasim.machine.interface import Bound, Machine
    from mfmasim.machine.state import Group

MODE, SCHED_MODE = 1, 26
# FP_ROUND and FP_DENORM; DX10_CLAMP and IEEE; EXCP_EN; FP16_OVFL. The other fields have no effect here.
NUMBERS, RULES, EXCEPTIONS, OVERFLOW = 0xFF, 3 << 8, 0x7F << 12, 1 << 23


def _field(instruction: Instruction) -> tuple[int, int, int]:
    """Number, offset and mask (at bit 0) of the field that hwreg(...) names."""
    operand = next(x for x in (*instruction.src, *instruction.dst) if x.type == "hwreg")
    number, offset, size = operand.bits & 63, operand.bits >> 6 & 31, (operand.bits >> 11 & 31) + 1
    return number, offset, (1 << min(size, 32 - offset)) - 1


def written_mode(instruction: Instruction) -> int:
    """Bits of MODE that S_SETREG writes."""
    number, offset, mask = _field(instruction)
    return mask << offset if number == MODE else 0


def s_getreg_b32(instruction: Instruction, machine: Machine) -> Bound:
    """A field of MODE or of the clock, at bit 0."""
    number, offset, mask = _field(instruction)
    write = scalar_writer(instruction.dst[0], "u32", instruction)
    if number == MODE:
        return lambda g: write(g, g.mode >> np.uint32(offset) & np.uint32(mask))
    clock = next((row[1:] for row in machine.arch.clock_registers if row[0] == number), None)
    if clock is None:
        raise unsupported(instruction, f"hardware register {number}")
    first, size = clock

    def ticks(g: Group) -> None:
        value = machine.ticks(g, instruction.pc) >> np.uint64(first) & np.uint64((1 << size) - 1)
        write(g, (value >> np.uint64(offset) & np.uint64(mask)).astype(np.uint32))

    return ticks


direct("s_getreg_b32")(s_getreg_b32)


def s_setreg_b32(instruction: Instruction, machine: Machine) -> Bound:
    """Write a field of MODE from a scalar register or a literal; bits that have no meaning here stay."""
    number, offset, mask = _field(instruction)
    rules = machine.arch.floats
    if number == SCHED_MODE and not rules.mode_bits:
        return lambda g: None  # noqa: ARG005 - how waves are scheduled
    if number != MODE:
        raise unsupported(instruction, f"hardware register {number}")
    writable = NUMBERS | OVERFLOW | (RULES | EXCEPTIONS if rules.mode_bits else 0) | machine.arch.vector_mode
    field = np.uint32(mask << offset & writable)
    read = scalar_reader(next(x for x in instruction.src if x.type != "hwreg"), "u32", instruction)
    return lambda g: g.write_mode(g.mode & ~field | read(g) << np.uint32(offset) & field)


direct("s_setreg_b32 s_setreg_imm32_b32")(s_setreg_b32)


def _immediate_mode(shift: int, instruction: Instruction, _machine: Machine) -> Bound:
    """FP_ROUND or FP_DENORM from an immediate of four bits (RDNA3 and RDNA4 ISA manuals, SOPP)."""
    field, value = np.uint32(15 << shift), np.uint32((instruction.src[0].bits & 15) << shift)
    return lambda g: g.write_mode(g.mode & ~field | value)


direct("s_round_mode")(partial(_immediate_mode, 0))
direct("s_denorm_mode")(partial(_immediate_mode, 4))
