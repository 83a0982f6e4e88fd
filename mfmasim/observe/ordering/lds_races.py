"""races: two waves of a workgroup access the same bytes of the LDS, one of them writes, and no barrier orders them.

The order is that which counters and barriers guarantee, not that of the execution: a wave's access is complete after a
wait for its counter; then the next barrier orders it before later accesses of other waves. Direct-to-LDS
loads write until their own wait, also for the wave that issued them.

Waves that write the same value to the same bytes are information, and so is a read by one of them.

An atomic operation whose result decides a branch orders the accesses of other waves before their writes to its place
(`releases`); so does a loop that only reads until a value changes, and the read before a compare-and-swap of the same
source line. If many lanes, a copy or an arrival at a barrier in the LDS write the flag, all accesses before the end of
the loop are ordered before later accesses of its wave. (Races may be missed, but no correct kernel is reported.)
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.arrays import I64
from mfmasim.isa.barriers import NUMBER
from mfmasim.kernels import PerKernel
from mfmasim.machine.events import passing
from mfmasim.observe.ordering import compiled
from mfmasim.observe.ordering.lds_accesses import LdsAccesses, shaped
from mfmasim.observe.ordering.lds_facts import in_order
from mfmasim.observe.ordering.named import ANY, NamedBarriers
from mfmasim.observe.ordering.progress import Step
from mfmasim.observe.ordering.records import Record, Sort
from mfmasim.observe.ordering.stretch import (
    NO_COUNTER,
    Stretch,
    Together,
    alike_of,
    in_turn,
    stretches,
    touched_together,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mfmasim.isa import Instruction
    from mfmasim.machine.events import AccessEvent, BlockEvent, ValueEvent, Walk
    from mfmasim.machine.launch.launch import Launch
    from mfmasim.observe.check import Check
    from mfmasim.observe.ordering.touched import Touched

FEW = 64
"""Waves whose addresses are compared as a whole."""
TIMES = 4
"""So many times the lanes that pay in C are too many to be looked up."""
STEPS: PerKernel[dict[tuple[int, int, int], list[Stretch]]] = PerKernel(lambda _: {})
"""Stretches of a block, by its first and last address and its length."""


class LdsRaces(LdsAccesses):
    """Follows the LDS of every workgroup."""

    def __init__(self, check: Check, launch: Launch) -> None:
        """Follow a launch; `check` makes the findings."""
        super().__init__(check, launch)
        self.kernel = launch.kernel
        self._selected: I64 | None = None
        """Barrier that M0 selects for each wave that executes the last barrier instruction."""
        self._pending: list[AccessEvent] = []
        self._plain = not (self._flags or self._acquiring or self._joins)
        """Whether barriers alone order waves."""

    def on_access(self, event: AccessEvent) -> None:
        """Hold an access to the LDS until its block is complete."""
        if event.space == "lds":
            # Later instructions of the block may overwrite the registers of the data.
            data = tuple(word.copy() for word in event.data)
            self._pending.append(event._replace(data=data) if data else event)

    def on_block(self, event: BlockEvent) -> None:
        """Replay a block for its waves: accesses, waits and barriers in program order."""
        if event.fresh:
            self._begin(event.total)
        key = event.instructions[0].pc, event.instructions[-1].pc, len(event.instructions)
        known = STEPS.of(self.kernel)
        found = known.get(key)
        if found is None:
            found = known[key] = stretches(self.progress.steps(event.instructions))
        if self._named is not None:
            self._named.passed(event.waves, self._releases.since)
        pending, self._pending = self._pending, []
        folded = self.shadow.groups == 1 < self.groups and any(one.steps or one.end for one in found)
        if folded and not self._lockstep.holds(event.waves):
            self._diverge()  # a barrier or a wait of some workgroups orders nothing in the other workgroups
        place = 0
        for stretch in found:
            accesses = []
            for at, step in enumerate(stretch.steps):
                while place < len(pending) and pending[place].instruction.pc == step.instruction.pc:
                    accesses.append((at, pending[place]))
                    place += 1
            if not accesses or (self._plain and self._together(stretch, accesses, event)):
                stretch.advance(self.progress, event.waves)
            else:
                self._in_turn(stretch, accesses, event)
            if (end := stretch.end) is not None:
                self.progress.advance(end, event.waves, self._signalled)
                if end.named and self._named is not None:
                    self._meet(self._named, end, event.waves)
        self._flying.settle(self.progress)
        self.shadow.forget(self._flying.marks)

    def walk(self, blocks: Sequence[Sequence[Instruction]], waves: int) -> Walk | None:
        """Only accesses, waits and barriers matter; behind named barriers all blocks do."""
        if self._named is not None:
            return None
        return passing(blocks, waves, lambda ins: bool(ins.opcode.memory) or Step(ins, self.progress.arch).matters)

    def _in_turn(self, stretch: Stretch, accesses: list[tuple[int, AccessEvent]], event: BlockEvent) -> None:
        """Examine the accesses of a stretch one after the other, each with the number of its step."""
        place = 0
        for at, (step, counter) in enumerate(zip(stretch.steps, stretch.counters, strict=True)):
            while place < len(accesses) and accesses[place][0] == at:
                access = accesses[place][1]
                place += 1
                if access.instruction.pc in self._flags:
                    self._poll(access, event)
                else:
                    self._access(access, event, counter, self.progress.of(counter)[0][event.waves])
            self.progress.advance(step, event.waves, self._signalled)

    def _together(self, stretch: Stretch, accesses: list[tuple[int, AccessEvent]], event: BlockEvent) -> bool:
        """Examine the accesses of a stretch at once, which nearly all stretches allow; otherwise change nothing."""
        waves, shadow = event.waves, self.shadow
        rows = len(waves)
        if rows > FEW and shadow.groups == 1 < self.groups:  # only the first workgroup's rows are part of the key
            if not all(self._lockstep.holds(waves, *shaped(access, rows)) for _, access in accesses):
                return False
            rows //= self.groups
        if shadow.groups > 1 and compiled.ready(sum(access.addresses.size for _, access in accesses) // TIMES):
            # Each workgroup has its own addresses, which hardly come again: to look them up takes longer.
            return self._recorded(stretch, accesses, event, self._combined(stretch, accesses, waves))
        what = [
            (a.instruction.pc, a.addresses[:rows].tobytes(), b"" if a.active is None else a.active[:rows].tobytes())
            for _, a in accesses
        ]
        key = stretch, shadow.groups, event.total, waves.tobytes(), *what
        found: Together | None
        if key in self.patterns.together:
            found = self.patterns.together[key]
        else:
            found = self._combined(stretch, accesses, waves)
            size = sum(len(addresses) + len(active) for _, addresses, active in what)
            self.patterns.hold(key, found, size + (0 if found is None else found.size))
        return self._recorded(stretch, accesses, event, found)

    def _recorded(
        self, stretch: Stretch, accesses: list[tuple[int, AccessEvent]], event: BlockEvent, found: Together | None
    ) -> bool:
        """Record what the accesses of a stretch touch, if that is known and in order with what was before."""
        if found is None:
            return False
        waves, shadow = event.waves, self.shadow
        of = waves[: found.count]
        joined, progress = self.progress.joined[of], self.progress
        if not shadow.all_ordered(found.reads, found.writes, int(joined.min())):
            since = self._releases.since[of]
            for m, (_, access) in enumerate(accesses):
                if not shadow.ordered(access.kind, found.touched(m), joined, since):
                    return False
        if not all(self._flying.free(one.sort, one.low, one.high, progress.complete) for one in found.alike):
            return False
        number, many = len(self._instructions), len(accesses)
        numbers = np.arange(number, number + many)
        self._instructions.extend(access.instruction for _, access in accesses)
        self._kinds.extend(access.kind for _, access in accesses)
        marks = shadow.marks.add(
            np.tile(of % self.per, many), np.tile(progress.signalled[of], many), np.repeat(numbers, found.count)
        ).reshape(many, -1)
        shadow.put_last(found.reads, found.writes, int(marks[0, 0]))
        for one in found.alike:
            issued = progress.of(one.sort.key)[0][waves]
            records = [
                Record(
                    number + m,
                    accesses[m][1].instruction,
                    one.sort,
                    waves,
                    issued + stretch.before[accesses[m][0]],
                    partial(found.touched, m),
                )
                for m in one.members
            ]
            self._flying.add(records, marks[one.members], one.low, one.high)
        for _, access in accesses:
            if access.kind != "read":
                self._write(access, *shaped(access, len(waves)), waves, None)
        return True

    def _combined(self, stretch: Stretch, accesses: list[tuple[int, AccessEvent]], waves: I64) -> Together | None:
        """The units of the accesses of a stretch; None if the accesses must be examined in turn."""
        kinds = [access.kind for _, access in accesses]
        sorts = [Sort(a.kind, stretch.counters[at], not in_order(a.instruction)) for at, a in accesses]
        if "atomic" in kinds or any(sort.key == NO_COUNTER for sort in sorts):
            return None
        lanes = [shaped(access, len(waves)) for _, access in accesses]
        one = self.shadow.groups == 1 < self.groups
        if one and not all(self._lockstep.holds(waves, *arrays) for arrays in lanes):
            return None
        count = len(waves) // self.groups if one else len(waves)
        sizes, total = [access.size for _, access in accesses], self.progress.waves
        parts = [(addresses[:count], active[:count]) for addresses, active in lanes]
        where = self.shadow.groups, self.per, self.lds_bytes, self.unit
        found = compiled.examined(parts, sizes, kinds, waves[:count], where, total)
        if found is None:
            patterns = [
                self.patterns.of(waves[:count], *part, size, self.shadow.groups, total)
                for part, size in zip(parts, sizes, strict=True)
            ]
            return touched_together(kinds, sorts, patterns, count)
        if not (found.touched.all() and found.apart and in_turn(sorts, found.low, found.high)):
            return None
        kept = [(addresses.copy(), active.copy()) for addresses, active in parts]  # registers may change

        def touched(number: int) -> Touched:
            return self.patterns.of(waves[:count], *kept[number], sizes[number], where[0], total)[0]

        return Together(count, touched, found.reads, found.writes, alike_of(sorts, found.low, found.high))

    def _signalled(self, _: I64) -> None:
        """Waves have signalled a barrier: it does not order their operations in flight."""
        self._flying.signalled(self.progress, self.shadow.marks)

    def _meet(self, named: NamedBarriers, step: Step, waves: I64) -> None:
        """Waves signal or wait at a named barrier; joining or leaving counts as a signal."""
        if step.named == "wait":
            named.wait(waves, step.barrier)
            return
        numbers, self._selected = self._selected, None
        if numbers is None or len(numbers) != len(waves):
            numbers = np.full(len(waves), step.barrier)
        for number in np.unique(numbers).tolist():
            here = waves[numbers == number]
            if step.named == "join":
                named.join(here, number)
            named.signal(
                here,
                number if step.named == "signal" else ANY,
                len(self._instructions),
                self._releases.since,
                self.shadow.groups == 1,
                lambda wave: self._flying.in_flight(wave, self.progress.complete, direct=False),
            )

    def on_value(self, event: ValueEvent) -> None:
        """Record the barrier that M0 selects in each wave."""
        (word,) = event.sources[0]
        self._selected = np.broadcast_to(word[:, 0] & np.uint32(NUMBER), (event.waves,)).astype(np.int64)
