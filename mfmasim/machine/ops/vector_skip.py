"""VSKIP: while bit 28 of MODE is set, vector instructions are not issued. Source: CDNA3 ISA manual, 3.5, S_SETVSKIP.

Blocks are bound for a value of the bit: those with it consist of the scalar instructions alone, so that nothing that is
skipped counts as executed, uses a wait counter, or reaches an observer.
"""

from __future__ import annotations

import numpy as np

from mfmasim.architectures import Arch
from mfmasim.isa import Instruction
from mfmasim.machine.binding.operands import scalar_reader
from mfmasim.machine.events.interface import Bound, Machine
from mfmasim.machine.opcodes.registry import direct
from mfmasim.machine.ops.scalar_mode import written_mode
from mfmasim.machine.state.waves import Group

VSKIP = np.uint32(1 << 28)


def sets_vector_mode(instruction: Instruction, arch: Arch) -> bool:
    """Whether S_SETREG writes bits of MODE that decide how the next vector instruction executes."""
    return instruction.opcode.kind == "setreg" and bool(written_mode(instruction) & arch.vector_mode)


def _setvskip(instruction: Instruction, _machine: Machine) -> Bound:
    """VSKIP = S0[S1[4:0]]."""
    value, place = (scalar_reader(operand, "u32", instruction) for operand in instruction.src)

    def run(g: Group) -> None:
        bit = value(g) >> (place(g) & np.uint32(31)) & np.uint32(1)
        g.write_mode(g.mode & ~VSKIP | bit * VSKIP)

    return run


direct("s_setvskip")(_setvskip)
