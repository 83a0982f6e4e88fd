"""Binding of an LDS instruction with the modifier `gds`: its active lanes, and the operations that are executed.

Sources: CDNA1 and RDNA3 ISA manuals, as in `mfmasim.machine.ops.gds`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from mfmasim.fidelity import LEVELS
from mfmasim.isa import Instruction
from mfmasim.machine.events.interface import Bound, Spaces
from mfmasim.machine.opcodes.refusal import unsupported
from mfmasim.machine.opcodes.registry import Operation
from mfmasim.machine.state.waves import Group


def one_lane(instruction: Instruction, machine: Spaces) -> bool:
    """Whether only the first active lane acts; a count takes all of EXEC (RDNA3 ISA manual, 13.4.3)."""
    return machine.arch.lds.gds_one_lane and instruction.in_gds and instruction.opcode.kind != "count"


def by_first_lane(step: Bound) -> Bound:
    """Execute a step for the first active lane of each wave."""

    def run(g: Group) -> None:
        active = g.active
        g.mask = active & (np.cumsum(active, axis=1) == 1)
        step(g)
        g.refresh()

    return run


def shared(body: Callable[[Instruction, Spaces], Bound], instruction: Instruction, machine: Spaces) -> Bound:
    """Bind an instruction that accesses the GDS.

    Args:
        body: binds the operation on the LDS
        instruction: the instruction, whose `gds` bit is set
        machine: the memories; `machine.launch.gds` is the global data share, or nothing

    Raises:
        MfmasimError: an operation of the LDS alone, or a launch without a global data share
    """
    if not instruction.opcode.memory or instruction.opcode.reads_m0:  # the manuals: LDS only; M0 has one meaning
        raise unsupported(instruction, "global data share in an operation of the LDS alone:")
    if not machine.launch.gds:
        raise unsupported(instruction, "global data share, outside the instructions of the kernel itself:")
    step = body(instruction, machine)
    return by_first_lane(step) if one_lane(instruction, machine) else step


def through_gds(operation: Operation) -> Operation:
    """An operation on the LDS, for an instruction on the GDS."""
    fidelity = max(operation.fidelity, "assumed", key=LEVELS.index)
    return replace(operation, body=partial(shared, operation.body), fidelity=fidelity)
