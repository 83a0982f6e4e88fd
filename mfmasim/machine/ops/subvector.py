"""Loops over the halves of a wave: S_SUBVECTOR_LOOP_BEGIN and END. Source: RDNA1 and RDNA2 ISA manuals, SOPK and 4.2.1.

RDNA3's manual does not list them; LLVM encodes them for gfx11, which is taken to execute them alike.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mfmasim.isa import Instruction
from mfmasim.machine.binding.operands import scalar_reader, scalar_writer
from mfmasim.machine.events.interface import Bound, Machine
from mfmasim.machine.opcodes.registry import direct
from mfmasim.machine.ops.control import no_code
from mfmasim.machine.state.waves import EXEC, Group

LOW, HIGH = EXEC, EXEC + 1


def _branch(g: Group, instruction: Instruction, machine: Machine, taken: NDArray[np.bool_]) -> None:
    target = instruction.target
    if target is None or (taken.any() and not machine.kernel.code.is_code(target)):
        machine.stop("fetch", no_code(machine, target), instruction.pc, g, int(taken.argmax()))
    else:
        g.pc = np.where(taken, target, instruction.pc + instruction.size)


def _begin(instruction: Instruction, machine: Machine) -> Bound:
    """Skip the loop where no lane is active; else begin with the low half, if it has active lanes."""
    write = scalar_writer(instruction.dst[0], "u32", instruction)
    old = scalar_reader(instruction.dst[0], "u32", instruction)

    def run(g: Group) -> None:
        low, high = g.s(LOW), g.s(HIGH)
        empty, upper = (low | high) == 0, low == 0
        saved = np.where(empty, old(g), np.where(upper, low, high))
        g.write_s(HIGH, np.where(upper, high, np.uint32(0)))
        write(g, saved)
        _branch(g, instruction, machine, empty)

    return run


def _end(instruction: Instruction, machine: Machine) -> Bound:
    """After the low half go on with the high one, if it had active lanes; else restore EXEC."""
    write = scalar_writer(instruction.dst[0], "u32", instruction)
    read = scalar_reader(instruction.dst[0], "u32", instruction)

    def run(g: Group) -> None:
        low, high, saved = g.s(LOW), g.s(HIGH), read(g)
        last = high != 0
        again = ~last & (saved != 0)
        write(g, np.where(again, low, saved))
        g.write_s(LOW, np.where(last, saved, np.where(again, np.uint32(0), low)))
        g.write_s(HIGH, np.where(again, saved, high))
        _branch(g, instruction, machine, again)

    return run


direct("s_subvector_loop_begin", "assumed", writes="exec")(_begin)
direct("s_subvector_loop_end", "assumed", writes="exec")(_end)
