"""barrier: waves of one workgroup that wait at different barriers, pass unequal numbers of them, or signal twice.

The check also reports a wave that executes a barrier for a part of its work-items.

The hardware counts arrivals and ignores where a wave waits, so that such waves continue together (CDNA3 ISA manual,
S_BARRIER; RDNA4 ISA manual 5.6.1); it does not wait for ended waves. Such code terminates, but is rarely intended:
in HIP a ``__syncthreads()`` that only some threads reach is undefined.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.isa.barriers import of_workgroup
from mfmasim.machine.events import passing
from mfmasim.observe.check import Check
from mfmasim.observe.finding import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mfmasim.arrays import I64
    from mfmasim.isa import Instruction
    from mfmasim.machine.events import BlockEvent, Place, ValueEvent, Walk
    from mfmasim.machine.launch.launch import Launch
    from mfmasim.observe.finding import Finding


DIFFERENT = Kind(
    "barrier-different",
    "warning",
    "Waves of a workgroup wait at different barriers",
    "The hardware counts arrivals and lets all waves continue, but the barrier no longer separates what it was "
    "written to separate.",
    "if (wave == 0) __syncthreads(); else __syncthreads();",
    "Move the barrier to a place that all waves execute.",
    place="wave",
)
UNEVEN = Kind(
    "barrier-uneven",
    "warning",
    "Waves of a workgroup execute different numbers of barriers",
    "The hardware does not wait for waves that have ended, so the surplus barriers complete. If waves work in turns, "
    "one half is one barrier late or early from some point on.",
    "if (half == 1) barrier(); ... // and no matching barrier for the other half at the end",
    "Give every path through the kernel the same number of barriers.",
    place="wave",
)
TWICE = Kind(
    "barrier-signalled-twice",
    "warning",
    "A wave signals a barrier again before it waits",
    "gfx12 counts signals, not waves: the second signal may count for a wave that has not arrived.",
    "s_barrier_signal -1; s_barrier_signal -1; s_barrier_wait -1",
    "Wait between two signals.",
    place="wave",
)
DEADLOCK = Kind(
    "barrier-deadlock",
    "error",
    "A barrier that never completes",
    "Waves wait for waves that never arrive.",
    "a split barrier that one wave never signals",
    "Let every wave signal, or end.",
    place="wave",
)
DIVERGENT = Kind(
    "barrier-divergent",
    "warning",
    "A wave executes a barrier for a part of its work-items",
    "EXEC has others of the wave's work-items off: they have left, or are not in this branch. The barrier counts waves "
    "and ignores EXEC, so that it completes, but those work-items have neither done nor seen what it separates. In HIP "
    "a __syncthreads() that only some threads reach is undefined.",
    "if (threadIdx.x < 40) { tile[threadIdx.x] = x; __syncthreads(); }",
    "Move the barrier out of the branch; replace an early return by a guard around what follows.",
    place="wave",
)
NONE = -1


@dataclass
class Seen:
    """Occurrences of one kind at one pair of instructions."""

    place: Place
    count: int
    words: str
    """The part of the message about the first place."""


class _Batch:
    """Arrivals of the workgroups in flight; the last two barriers of each wave and workgroup."""

    def __init__(self, event: BlockEvent, per: int) -> None:
        waves, groups = event.total, event.total // per
        self.place = cache(event.place_of)
        self.arrived, self.waited, self.end = np.zeros((3, waves), np.int64)
        """Barriers arrived at and waited for, by wave; address of the instruction that ended the wave."""
        self.pc, self.number = np.full((2, waves, 2), NONE, np.int64)
        self.first, self.of = np.full((2, groups, 2), NONE, np.int64)
        self.differs = np.zeros((groups, 2), np.bool_)


class Barriers(Check):
    """Collects findings, one for each pair of instructions."""

    name = "barrier"
    about = "waves of a workgroup that wait at different barriers, or pass different numbers of them"
    kinds = (DIFFERENT, UNEVEN, TWICE, DEADLOCK, DIVERGENT)

    def __init__(self, launch: Launch) -> None:
        """Count the barriers of every wave."""
        super().__init__(launch)
        self.per = launch.waves_per_workgroup
        self._items = math.prod(launch.block)
        self._lanes = launch.kernel.wave
        self._seen: dict[tuple[Kind, int, int], Seen] = {}
        self._batch: _Batch | None = None

    def on_block(self, event: BlockEvent) -> None:
        """Count barriers; a barrier ends a block, as the end of a wave does."""
        if event.fresh:
            self._close()
            self._batch = _Batch(event, self.per)
        batch, ins, waves = self._batch, event.instructions[-1] if event.instructions else None, event.waves
        if ins is None or batch is None:
            return
        if ins.opcode.flow == "end":
            batch.end[waves] = ins.pc
        elif ins.opcode.barrier and not of_workgroup(ins):
            return  # not all waves need to take part
        elif ins.opcode.barrier == "wait":
            batch.waited[waves] += 1
        elif ins.opcode.barrier in ("whole", "signal"):
            if ins.opcode.barrier == "signal":
                self._signal(batch, waves, ins.pc)
            self._arrive(batch, waves, ins.pc)

    def walk(self, blocks: Sequence[Sequence[Instruction]], waves: int) -> Walk:
        """Only barriers and ends of waves matter."""
        return passing(blocks, waves, lambda ins: bool(ins.opcode.barrier) or ins.opcode.flow == "end")

    def watches(self, instruction: Instruction) -> bool:
        """Barriers at which a wave arrives for the workgroup."""
        return instruction.opcode.barrier in ("whole", "signal") and of_workgroup(instruction)

    def on_value(self, event: ValueEvent) -> None:
        """Compare EXEC at a barrier with the work-items of each wave."""
        active = event.active()
        if active.all():
            return
        first = event.numbers() % self.per * self._lanes
        there = np.arange(self._lanes) < self._items - first[:, None]
        absent = there & ~active
        for row in np.flatnonzero(absent.any(axis=1)).tolist():
            off = np.flatnonzero(absent[row])
            words = f"EXEC has {len(off)} of its {int(there[row].sum())} work-items off, the first in lane {off[0]}"
            pc = event.instruction.pc
            self._add(DIVERGENT, pc, pc, event.place(row, None), 1, words)

    def _signal(self, batch: _Batch, waves: I64, pc: int) -> None:
        """A signal while an earlier one has not been waited for."""
        twice = waves[batch.arrived[waves] > batch.waited[waves]]
        if len(twice):
            before = int(batch.pc[twice[0], (batch.arrived[twice[0]] - 1) & 1])
            self._add(TWICE, pc, before, batch.place(int(twice[0])), len(twice), "")

    def _arrive(self, batch: _Batch, waves: I64, pc: int) -> None:
        number, group = batch.arrived[waves], waves // self.per
        if (number == number[0]).all():
            self._arrive_together(batch, waves, group, int(number[0]), pc)
            return
        slot = number & 1
        new = batch.of[group, slot] != number
        if new.any():
            for index in np.unique(group[new & batch.differs[group, slot]]):
                self._differ(batch, int(index))
            batch.differs[group[new], slot[new]] = False
            batch.first[group[new], slot[new]] = pc
            batch.of[group[new], slot[new]] = number[new]
        differing = batch.first[group, slot] != pc
        if differing.any():
            batch.differs[group[differing], slot[differing]] = True
        batch.pc[waves, slot], batch.number[waves, slot] = pc, number
        batch.arrived[waves] += 1

    def _arrive_together(self, batch: _Batch, waves: I64, group: I64, number: int, pc: int) -> None:
        """`_arrive` for waves that have arrived at equal numbers of barriers.

        Args:
            batch: the workgroups in flight.
            waves: their numbers in the batch.
            group: workgroup of each wave.
            number: barriers at which each wave has arrived.
            pc: address of the barrier.
        """
        slot = number & 1
        first, of, differs = batch.first[:, slot], batch.of[:, slot], batch.differs[:, slot]
        new = group[of[group] != number]
        if len(new):
            for index in np.unique(new[differs[new]]):
                self._differ(batch, int(index))
            differs[new], first[new], of[new] = False, pc, number
        differing = group[first[group] != pc]
        if len(differing):
            differs[differing] = True
        batch.pc[waves, slot], batch.number[waves, slot] = pc, number
        batch.arrived[waves] = number + 1

    def _differ(self, batch: _Batch, group: int) -> None:
        """Waves of a workgroup were at different barriers at one time: compare with its first wave."""
        first = group * self.per
        members = slice(first, first + self.per)
        for slot in np.flatnonzero(batch.differs[group]).tolist():
            at = zip(batch.pc[members, slot].tolist(), batch.number[members, slot].tolist(), strict=True)
            number, waves = int(batch.of[group, slot]), dict[int, list[int]]()
            for wave, (pc, arrived) in enumerate(at, first):
                if arrived == number:
                    waves.setdefault(pc, []).append(wave)
            other, *further = waves
            for pc in sorted(further):
                self._add(DIFFERENT, pc, other, batch.place(waves[pc][0]), len(waves[pc]), "")
        batch.differs[group] = False

    def _close(self) -> None:
        """A batch is complete, or the launch has ended."""
        batch = self._batch
        if batch is None:
            return
        for group in np.flatnonzero(batch.differs.any(axis=1)):
            self._differ(batch, int(group))
        grid = batch.arrived.reshape(-1, self.per)
        most = np.repeat(grid.max(axis=1), self.per)
        for wave in np.flatnonzero((batch.end != 0) & (batch.arrived < most)):
            group = wave // self.per
            last = group * self.per + int(grid[group].argmax())
            pc = int(batch.pc[last, (batch.arrived[last] - 1) & 1])
            words = (
                f"after {batch.arrived[wave]} barriers, while wave {last - group * self.per} of its workgroup executes "
                f"{most[wave]}"
            )
            self._add(UNEVEN, int(batch.end[wave]), pc, batch.place(int(wave)), 1, words)
        self._batch = None

    def _add(self, kind: Kind, pc: int, other: int, place: Place, count: int, words: str) -> None:
        """Keep the first wave in the order of the grid, not in the order of execution."""
        old = self._seen.get((kind, pc, other))
        if old is None:
            self._seen[kind, pc, other] = Seen(place, count, words)
            return
        old.count += count
        if place.order < old.place.order:
            old.place, old.words = place, words

    def __getstate__(self) -> dict[str, Any]:
        """The state for another process: the findings."""
        self._close()
        return self.__dict__

    def merge(self, other: Barriers) -> None:
        """Add the findings of another part of the same launch."""
        other._close()
        for (kind, pc, there), seen in other._seen.items():
            self._add(kind, pc, there, seen.place, seen.count, seen.words)

    def findings(self) -> list[Finding]:
        """The findings, in address order."""
        self._close()
        return [self._finding(*key) for key in sorted(self._seen, key=lambda key: (key[1], key[2], key[0].id))]

    def _finding(self, kind: Kind, pc: int, other: int) -> Finding:
        seen = self._seen[kind, pc, other]
        there = self.kernel.source_at(other)
        at = f"{other:#x}" + (f" ({there})" if there else "")
        waves = f"{seen.count} wave{'s' * (seen.count != 1)} in all"
        messages = {
            DIFFERENT: f"this wave waits here while others of its workgroup wait at {at}; {waves}, the "
            "hardware counts arrivals and lets them continue",
            UNEVEN: f"this wave ends {seen.words}, the last at {at}; {waves}, an ended wave counts as arrived",
            TWICE: f"this wave signals here before it has waited for the barrier that it signalled "
            f"at {at}; {waves}, the hardware counts signals, so a barrier may complete although a wave has not "
            "arrived",
            DIVERGENT: f"this wave executes the barrier for a part of its work-items: {seen.words}; {waves}, the "
            "barrier does not wait for work-items that EXEC has off",
        }
        return self.finding(kind, messages[kind], pc, seen.place, count=seen.count, other="" if other == pc else there)
