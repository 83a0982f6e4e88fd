"""Progress of each wave: memory operations issued and complete according to their counters, and barriers passed.

Operation number n of a class (instructions that complete in program order) is complete after a wait that
leaves fewer operations in flight than it and its successors. Unordered classes are complete only after a wait for 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfmasim.isa.barriers import CLUSTER, barrier_number, of_workgroup
from mfmasim.isa.counters import raised, waited
from mfmasim.observe.ordering.named import ANY

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from mfmasim.architectures import Arch
    from mfmasim.isa import Instruction

Class = tuple[str, str]
"""Counter and order."""


class Step:
    """The effect of one instruction on the progress of the waves that execute it."""

    __slots__ = ("barrier", "cluster", "instruction", "joins", "named", "reads", "signals", "up", "waits")

    def __init__(self, instruction: Instruction, arch: Arch) -> None:
        """Examine an instruction once."""
        self.instruction = instruction
        self.up = raised(arch, instruction.opcode, bool(instruction.dst), instruction.space)
        self.waits = waited(arch, instruction)
        self.reads = instruction.reads_lds_direct
        """Whether it accesses the LDS without a counter."""
        ours = instruction.opcode.barrier in ("whole", "signal", "wait") and of_workgroup(instruction)
        self.signals = ours and instruction.opcode.barrier in ("whole", "signal")
        self.joins = ours and instruction.opcode.barrier in ("whole", "wait")
        kind, number = instruction.opcode.barrier, barrier_number(instruction)
        self.barrier = ANY if number is None or kind == "other" else number
        """Number of the barrier of a barrier instruction, or `ANY`."""
        self.named = kind if kind and self.barrier >= ANY else ""
        """``signal``, ``wait``, ``join`` or ``other`` at a named barrier, which orders some waves of the workgroup."""
        self.cluster = kind if kind in ("signal", "wait") and barrier_number(instruction) == CLUSTER else ""
        """``signal`` or ``wait`` at the barrier of a cluster."""

    @property
    def matters(self) -> bool:
        """Whether the instruction affects progress or accesses memory."""
        return bool(self.up or self.waits or self.signals or self.joins or self.named or self.cluster or self.reads)


class Progress:
    """Counters of all waves of a batch, as arrays over waves."""

    def __init__(self, arch: Arch, waves: int) -> None:
        """Begin with nothing in flight and no barrier passed."""
        self.arch, self.waves = arch, waves
        self.issued: dict[Class, NDArray[np.int32]] = {}
        self.complete: dict[Class, NDArray[np.int32]] = {}
        self.signalled: NDArray[np.int32] = np.zeros(waves, np.int32)
        """Barriers that each wave has signalled."""
        self.joined: NDArray[np.int32] = np.zeros(waves, np.int32)
        """Barriers that each wave has passed."""

    def of(self, key: Class) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Numbers of issued and of complete operations of a class, by wave."""
        if key not in self.issued:
            self.issued[key], self.complete[key] = np.zeros((2, self.waves), np.int32)
        return self.issued[key], self.complete[key]

    def steps(self, instructions: Sequence[Instruction]) -> list[Step]:
        """The steps of a block that matter."""
        return [step for step in (Step(ins, self.arch) for ins in instructions) if step.matters]

    def advance(self, step: Step, waves: NDArray[np.int64], signal: Callable[[NDArray[np.int64]], None]) -> None:
        """Let waves execute a step.

        Args:
            step: the step.
            waves: their numbers in the batch.
            signal: called with the waves after they have signalled a barrier.
        """
        for counter, value in step.waits:
            for key in list(self.issued):
                if key[0] == counter:
                    self._settle(key, value, waves)
        for up in step.up:
            key = up.counter, up.order
            issued, _ = self.of(key)
            issued[waves] += 1
            self._settle(key, up.limit, waves)
        if step.signals:
            self.signalled[waves] += 1
            signal(waves)
        if step.joins:
            self.joined[waves] += 1

    def _settle(self, key: Class, value: int, waves: NDArray[np.int64]) -> None:
        issued, complete = self.of(key)
        if key[1]:
            complete[waves] = np.maximum(complete[waves], issued[waves] - value)
        elif value == 0:
            complete[waves] = issued[waves]
