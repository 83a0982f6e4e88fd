"""Writing the MODE register, and priorities.

Source: CDNA3 ISA manual, SOPK S_SETREG; table 4 of 3.5. CDNA5 ISA manual, 3.3.2.3 and SOPP.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from mfmasim.isa import Instruction
from mfmasim.isa.high_registers import MODE_BITS, as_mode
from mfmasim.isa.immediates import MODE, register_field
from mfmasim.machine.binding.operands import scalar_reader
from mfmasim.machine.events.interface import Bound, Machine
from mfmasim.machine.opcodes.registry import direct
from mfmasim.machine.ops.hardware_registers import register_of
from mfmasim.machine.state.waves import CSP, Group

# FP_ROUND and FP_DENORM; DX10_CLAMP and IEEE; EXCP_EN; FP16_OVFL. The other fields have no effect here.
NUMBERS, RULES, EXCEPTIONS, OVERFLOW = 0xFF, 3 << 8, 0x7F << 12, 1 << 23


def written_mode(instruction: Instruction) -> int:
    """Bits of MODE that S_SETREG writes."""
    number, offset, mask = register_field(instruction)
    return mask << offset if number == MODE else 0


def s_setreg_b32(instruction: Instruction, machine: Machine) -> Bound:
    """Write a field of MODE from a scalar register or a literal; bits that have no meaning here stay.

    Writes to other registers have no effect: a program may not write them, or they hold what nothing here depends on.
    """
    number, offset, mask = register_field(instruction)
    rules = machine.arch.floats
    register_of(instruction, machine)
    if number != MODE:
        return lambda g: None  # noqa: ARG005
    writable = NUMBERS | OVERFLOW | (RULES | EXCEPTIONS if rules.mode_bits else 0) | machine.arch.vector_mode
    writable |= CSP if machine.arch.path_stack else 0
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


def _priority(instruction: Instruction, _machine: Machine) -> Bound:
    value = np.array([instruction.src[0].bits & 3], np.uint32)
    return lambda g: g.write_priority(value)


direct("s_setprio")(_priority)


def _group_priority(instruction: Instruction, _machine: Machine) -> Bound:
    """Add to the priority of every wave of the workgroup, modulo 4; each wave that executes it adds once."""
    step = instruction.src[0].bits & 3

    def run(g: Group) -> None:
        waves = g.waves
        times = np.bincount(g.workgroup, minlength=int(waves.workgroup[-1]) + 1)[waves.workgroup]
        waves.priority = (waves.priority + np.uint32(step) * times.astype(np.uint32)) & np.uint32(3)

    return run


direct("s_setprio_inc_wg")(_group_priority)


def _register_bits(instruction: Instruction, _machine: Machine) -> Bound:
    """The bits of MODE above the register fields of vector instructions; blocks are bound for them."""
    keep, value = np.uint32(~MODE_BITS & 0xFFFFFFFF), np.uint32(as_mode(instruction.src[0].bits))
    return lambda g: g.write_mode(g.mode & keep | value)


direct("s_set_vgpr_msb")(_register_bits)
