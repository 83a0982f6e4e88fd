"""Watching values: observers receive sources and results of chosen instructions. Without observers it costs nothing.

Writes of all waves replace a register's array, so that values read earlier stay unchanged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfmasim.machine.events import ValueEvent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mfmasim.isa import Instruction, Operand
    from mfmasim.machine.events.interface import Bound, Machine
    from mfmasim.machine.state.waves import Group

Words = tuple["NDArray[np.uint32]", ...]


def _words(g: Group, operand: Operand) -> Words:
    """Registers of an operand, each (1 or waves, 1 or lanes); a constant as dwords; empty for other operands."""
    if operand.kind in ("v", "a"):
        return tuple(g.v(operand.kind, operand.index + k) for k in range(operand.count))
    if operand.kind == "s":
        return tuple(g.s(operand.index + k)[:, None] for k in range(operand.count))
    if operand.kind == "const":
        return tuple(np.full((1, 1), operand.bits >> shift & 0xFFFFFFFF, np.uint32) for shift in (0, 32))
    return ()


def _kept(g: Group, operands: Sequence[Operand]) -> tuple[Words, ...]:
    """Copies of operands' values, independent of later writes."""
    return tuple(tuple(w if g.all else w.copy() for w in _words(g, operand)) for operand in operands)


def watched(machine: Machine, instruction: Instruction, run: Bound) -> Bound:
    """The bound instruction with the hooks of observers behind it, if any watches it.

    Args:
        machine: the machine that executes it.
        instruction: what is executed.
        run: the bound instruction.
    """
    watching = [o.on_value for o in machine.value_observers if o.watches(instruction)]
    if not watching:
        return run

    def step(g: Group) -> None:
        sources = _kept(g, instruction.src)
        run(g)
        waves = g.indices
        event = ValueEvent(
            instruction,
            sources,
            tuple(_words(g, operand) for operand in instruction.dst),
            g.mode,
            lambda: g.active,
            g.count,
            lambda index, lane: machine.place(waves(), index, lane),
            lambda: waves() + machine.first_workgroup * machine.launch.waves_per_workgroup,
        )
        for hook in watching:
            hook(event)

    return step
