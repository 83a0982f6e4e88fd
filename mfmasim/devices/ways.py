"""Paths of a launch: turns of every loop of the kernel, and the ways of its conditional branches."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mfmasim.devices.loops import graph_of
from mfmasim.kernels import PerKernel
from mfmasim.machine.events import Observer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from mfmasim.isa import Instruction
    from mfmasim.kernels import Kernel
    from mfmasim.machine.events import BlockEvent
    from mfmasim.machine.launch.launch import Launch

GRAPHS: PerKernel[Mapping[int, frozenset[int]]] = PerKernel(
    lambda kernel: {head: frozenset(tails) for head, tails in graph_of(kernel).items()}
)
"""Of every loop of a kernel, by the address of its first instruction, the addresses of the branches back to it."""


class Part(NamedTuple):
    """The loops and branches of a block of instructions."""

    first: int
    last: int
    heads: tuple[int, ...]
    """First instructions of loops behind its own first one: a block may reach over them until a branch is known."""
    conditional: bool
    target: int
    behind: int


@dataclass
class Seen:
    """The control flow of a kernel in all waves of the launches so far."""

    turns: dict[int, int] = field(default_factory=dict)
    """Turns in succession that a wave made at most, by the address of a loop's first instruction."""
    ways: dict[int, set[bool]] = field(default_factory=dict)
    """Whether each conditional branch was taken, by its address."""
    executed: set[int] = field(default_factory=set)
    """Addresses of executed instructions."""

    def add(self, other: Seen) -> None:
        """Add the control flow of other launches of the kernel."""
        for head, turns in other.turns.items():
            self.turns[head] = max(turns, self.turns.get(head, 0))
        for pc, ways in other.ways.items():
            self.ways.setdefault(pc, set()).update(ways)
        self.executed |= other.executed


class Ways(Observer):
    """Counts turns of loops and ways of branches, in all launches that it observes."""

    name = "ways"

    def __init__(self) -> None:
        """Start empty."""
        self.seen = Seen()
        self.kernel: Kernel | None = None
        """Of the last launch."""
        self.steps = 0
        """Instructions that were executed, each of all waves that execute it together once: what a launch costs."""
        self.launches = 0
        self.work = 0
        """Wave-instructions that were executed."""
        self._loops: Mapping[int, frozenset[int]] = {}
        self._parts: dict[tuple[int, int], Part] = {}
        self._last: NDArray[np.int64] = np.zeros(0, np.int64)
        """Address of the last instruction of each wave."""
        self._turns: dict[int, NDArray[np.int64]] = {}
        """Turns of each wave since it entered a loop."""

    def on_start(self, launch: Launch) -> None:
        """Find the kernel's loops."""
        self.kernel, self.launches = launch.kernel, self.launches + 1
        self._loops, self._parts = GRAPHS.of(launch.kernel), {}

    def on_block(self, event: BlockEvent) -> None:
        """Count the way to a block, and the loops that begin in it."""
        instructions, waves = event.instructions, event.waves
        if event.fresh or len(self._last) != event.total:
            self._last, self._turns = np.full(event.total, -1, np.int64), {}
        key = instructions[0].pc, len(instructions)
        part = self._parts.get(key)
        if part is None:
            part = self._parts[key] = self._part(instructions)
        self.steps += len(instructions)
        self.work += len(instructions) * len(waves)
        before = self._last[waves]
        for pc in (before[:1] if (before == before[0]).all() else np.unique(before)).tolist():
            self._went(pc, part.first)
        if part.first in self._loops:
            self._turned(part.first, waves, before)
        for head in part.heads:
            self._entered(head, waves)
        self._last[waves] = part.last

    def _part(self, instructions: Sequence[Instruction]) -> Part:
        """A block that is executed for the first time."""
        self.seen.executed.update(ins.pc for ins in instructions)
        last = instructions[-1]
        conditional = last.opcode.flow == "conditional" and last.target is not None
        if conditional:
            self.seen.ways.setdefault(last.pc, set())
        heads = tuple(ins.pc for ins in instructions[1:] if ins.pc in self._loops)
        target = -1 if last.target is None else last.target
        return Part(instructions[0].pc, last.pc, heads, conditional, target, last.pc + last.size)

    def _went(self, before: int, first: int) -> None:
        """A wave went from a block's last instruction to a block's first one."""
        ways = self.seen.ways.get(before)
        if ways is None or len(ways) == 2 or self.kernel is None:
            return
        branch = self.kernel.code.instruction_at(before, self.kernel.wave)
        ways.add(branch.target == first)
        if branch.target == branch.pc + branch.size:
            ways |= {True, False}  # both ways lead there

    def _turned(self, head: int, waves: NDArray[np.int64], before: NDArray[np.int64]) -> None:
        """Waves are at the first instruction of a loop."""
        back = np.isin(before, list(self._loops[head]))
        if not back.any():
            self._entered(head, waves)
            return
        turns = self._turns.get(head)
        if turns is None:
            turns = self._turns[head] = np.ones(len(self._last), np.int64)
        turns[waves] = np.where(back, turns[waves] + 1, 1)
        self.seen.turns[head] = max(int(turns[waves].max()), self.seen.turns.get(head, 0))

    def _entered(self, head: int, waves: NDArray[np.int64]) -> None:
        """Waves enter a loop."""
        turns = self._turns.get(head)
        if turns is not None:
            turns[waves] = 1
        self.seen.turns.setdefault(head, 1)
