"""Reading and writing the MODE register. Source: CDNA3 ISA manual, SOPK S_GETREG and S_SETREG; table 4 of 3.5."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.machine.operands import scalar_reader, scalar_writer, unsupported
from mfmasim.machine.registry import direct

if TYPE_CHECKING:
    from collections.abc import Callable

    from mfmasim.isa import Instruction
    from mfmasim.machine.state import Group

MODE = 1
# FP_ROUND, FP_DENORM, DX10_CLAMP, IEEE; EXCP_EN; FP16_OVFL. What the others switch on does not exist here.
WRITABLE = 0x3FF | 0x7F << 12 | 1 << 23


def _field(instruction: Instruction) -> tuple[int, int]:
    """Offset and mask (at bit 0) of the field that hwreg(...) names."""
    operand = next(x for x in (*instruction.src, *instruction.dst) if x.type == "hwreg")
    number, offset, size = operand.bits & 63, operand.bits >> 6 & 31, (operand.bits >> 11 & 31) + 1
    if number != MODE:
        raise unsupported(instruction, f"hardware register {number}")
    return offset, (1 << min(size, 32 - offset)) - 1


def s_getreg_b32(instruction: Instruction, _machine: Any) -> Callable[[Group], None]:
    """A field of MODE, at bit 0."""
    offset, mask = _field(instruction)
    write = scalar_writer(instruction.dst[0], "u32", instruction)
    return lambda g: write(g, g.mode >> np.uint32(offset) & np.uint32(mask))


direct("s_getreg_b32")(s_getreg_b32)


def s_setreg_b32(instruction: Instruction, _machine: Any) -> Callable[[Group], None]:
    """Write a field of MODE from a scalar register or a literal; bits that have no meaning here stay."""
    offset, mask = _field(instruction)
    field = np.uint32(mask << offset & WRITABLE)
    read = scalar_reader(next(x for x in instruction.src if x.type != "hwreg"), "u32", instruction)
    return lambda g: g.write_mode(g.mode & ~field | read(g) << np.uint32(offset) & field)


direct("s_setreg_b32 s_setreg_imm32_b32")(s_setreg_b32)
