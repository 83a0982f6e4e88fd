"""Accesses of waves to the LDS, examined one after the other."""

from __future__ import annotations

from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.arrays import I64
from mfmasim.observe.ordering.lds_facts import LDS_FACTS, in_order
from mfmasim.observe.ordering.lds_findings import LdsFindings
from mfmasim.observe.ordering.named import NamedBarriers
from mfmasim.observe.ordering.progress import Progress
from mfmasim.observe.ordering.records import Flying, Record, Sort
from mfmasim.observe.ordering.releases import Releases
from mfmasim.observe.ordering.shadow import WRITER, Shadow
from mfmasim.observe.ordering.stretch import NO_COUNTER
from mfmasim.observe.ordering.touched import Lockstep, patterns_of
from mfmasim.observe.ordering.values import Values, Write, words

if TYPE_CHECKING:
    from collections.abc import Callable

    from mfmasim.isa import Instruction
    from mfmasim.machine.events import AccessEvent, BlockEvent
    from mfmasim.machine.launch.launch import Launch
    from mfmasim.observe.check import Check
    from mfmasim.observe.ordering.touched import Touched

__all__ = ["LdsAccesses", "shaped"]

ALL_WAVES = np.uint32(0xFFFFFFFF)
BATCH = "progress", "shadow", "values", "_flying", "_instructions", "_kinds", "_lockstep", "_named", "_releases"
"""Attributes that begin anew with each batch of workgroups."""


@lru_cache
def everyone(waves: int, lanes: int) -> NDArray[np.bool_]:
    """All lanes of some waves, (waves, lanes)."""
    return np.broadcast_to(True, (waves, lanes))


def shaped(access: AccessEvent, waves: int) -> tuple[I64, NDArray[np.bool_]]:
    """Addresses and activity of all lanes of an access, (waves, lanes)."""
    shape = waves, access.addresses.shape[-1]
    addresses = access.addresses if len(access.addresses) == waves else np.broadcast_to(access.addresses, shape)
    return addresses, everyone(*shape) if access.active is None else np.broadcast_to(access.active, shape)


class LdsAccesses:
    """The accesses of a launch's waves to the LDS, and which of them are not ordered before the next access."""

    def __init__(self, check: Check, launch: Launch) -> None:
        """Follow a launch; `check` makes the findings."""
        self.arch = launch.kernel.arch
        self.lds_bytes, self.per = launch.lds_bytes, launch.waves_per_workgroup
        self.unit, self._flags, self._acquiring, self._joins, self.selects = LDS_FACTS.of(launch.kernel)
        self.found = LdsFindings(check, launch, self.unit)
        self.patterns = patterns_of(launch.kernel, self.lds_bytes, self.unit, self.per)
        self.progress: Progress
        self.shadow: Shadow
        self.values: Values
        self.groups = 0
        self._lockstep: Lockstep
        self._flying: Flying
        self._instructions: list[Instruction]
        """Instruction of each record, by its number."""
        self._kinds: list[str]
        self._releases: Releases
        self._named: NamedBarriers | None
        """Named barriers, if the kernel has any."""

    def _begin(self, waves: int) -> None:
        """A batch of workgroups begins.

        Args:
            waves: number of its waves.
        """
        self.found.batch += 1
        self.progress = Progress(self.arch, waves)
        self.groups = waves // self.per
        # One row represents all workgroups as long as they execute in lockstep.
        self.shadow = Shadow(-(-self.lds_bytes // self.unit))
        self.values = Values(self.groups, self.shadow.units, self.unit)
        self._flying, self._instructions, self._kinds = Flying(), [], []
        self._lockstep = Lockstep(self.groups, self.per)
        self._releases = Releases(waves, self.per)
        self._named = NamedBarriers(waves, self.per) if self._joins else None

    def _access(self, access: AccessEvent, event: BlockEvent, key: tuple[str, str], order: NDArray[np.int32]) -> None:
        """One access of all waves of a group."""
        waves = event.waves
        addresses, active = shaped(access, len(waves))
        count = self._examined(waves, addresses, active)
        direct = not in_order(access.instruction)
        number = len(self._instructions)
        self._instructions.append(access.instruction)
        self._kinds.append(access.kind)
        if access.kind == "atomic" and (direct or access.instruction.opcode.counter == "async"):
            at, released = self._pairs(access, addresses, active, waves), partial(self._released, ordered=key)
            first = np.zeros(len(at[0]), np.bool_)
            self._releases.access(*at, number, first=first, acquires=False, released=released)
            return
        of = waves[:count]
        touched, low, high = self.patterns.of(
            of, addresses[:count], active[:count], access.size, self.shadow.groups, self.progress.waves
        )
        marks = self.shadow.marks.add(of % self.per, self.progress.signalled[of], number)
        if not len(touched.units):
            return
        if self._named is not None:
            self._named.accessed(of, number)
        kind = access.kind
        flags = (self._acquiring or self._flags) and kind != "read" and not direct
        if flags:
            at = self._pairs(access, addresses, active, waves)
            if kind == "write" and self._releases.frees(*at):
                self._kinds[-1] = kind = "atomic"
            first = self.shadow.first(self._places(*at))
        record = Record(number, access.instruction, Sort(access.kind, key, direct), waves, order, lambda: touched)
        self._own(access, event, touched, self._around(record.sort, low, high))
        joined, since = self.progress.joined[of], self._releases.since[of]
        if self.shadow.ordered(kind, touched, joined, since):
            if kind != "read":
                self._write(access, addresses, active, waves, None)
            self.shadow.put(kind, touched, marks[touched.index])
        else:
            self._one_by_one(access, kind, event, addresses, active, touched, marks[touched.index], joined, since)
        if key != NO_COUNTER:
            self._flying.add([record], marks[None], low[None], high[None])
        if flags:  # the units may be flags, or tickets
            self._releases.access(
                *at, number, first=first, acquires=access.instruction.pc in self._acquiring, released=self._released
            )

    def _released(self, wave: int, ordered: tuple[str, str] = NO_COUNTER) -> int:
        """The first record of a wave that may be incomplete when its next access to the LDS is executed.

        Args:
            wave: its number in the batch.
            ordered: class of operations that are complete before the access: copies and tensor instructions arrive at
                a barrier in the LDS after earlier operations of their class.
        """
        flying = self._flying.in_flight(wave, self.progress.complete, direct=True)
        left = (number for number in flying if self._flying.records[number].sort.key != ordered)
        return min(left, default=len(self._instructions))

    def _pairs(self, access: AccessEvent, addresses: I64, active: NDArray[np.bool_], waves: I64) -> tuple[I64, I64]:
        """The waves of an access, by their numbers in the batch, and the units that they access, (n,) and (n,).

        Args:
            access: the access.
            addresses: of all waves, (waves, lanes).
            active: likewise.
            waves: their numbers in the batch.
        """
        row, _, units = self.patterns.units(addresses, active, access.size)
        return np.repeat(waves[row], units.shape[1]), units.ravel()

    def _places(self, waves: I64, units: I64) -> I64:
        """Places in the shadow of the units of waves, (n,)."""
        return units + (waves // self.per * self.shadow.units if self.shadow.groups > 1 else 0)

    def _poll(self, access: AccessEvent, event: BlockEvent) -> None:
        """Waves read a possible flag. Its initialising write has to be ordered before the read."""
        addresses, active = shaped(access, len(event.waves))
        waves, units = self._pairs(access, addresses, active, event.waves)
        places = self._places(waves, units)
        written = self.shadow.marks.record.take(self.shadow.last[: WRITER + 1, places]).max(axis=0)
        self._releases.poll(waves, units, len(self._instructions), written)
        for wave in np.unique(waves).tolist() if len(units) else ():
            mine = np.flatnonzero(waves == wave)
            mine = mine[[self._releases.initial(wave // self.per, unit) for unit in units[mine].tolist()]]
            number = np.full(len(mine), wave)
            joined, since = self.progress.joined[number], self._releases.since[number]
            none = np.zeros(len(mine), np.uint32)  # the read may return another value before the initialising write
            clashes = self.shadow.clashes("read", wave % self.per, places[mine], joined, since, partial(np.copy, none))
            for clash in clashes:
                earlier = self._instructions[clash.earlier], self._kinds[clash.earlier]
                self.found.race(clash, earlier, access, event, int((event.waves == wave).argmax()))

    def _one_by_one(
        self,
        access: AccessEvent,
        kind: str,
        event: BlockEvent,
        addresses: I64,
        active: NDArray[np.bool_],
        touched: Touched,
        marks: NDArray[np.int32],
        joined: NDArray[np.int32],
        since: NDArray[np.int32],
    ) -> None:
        """Examine the access wave by wave, as some access is unordered.

        Args:
            access: the access.
            kind: the kind as which it counts.
            event: its block.
            addresses: of all waves, (waves, lanes).
            active: likewise.
            touched: the examined units.
            marks: the access's mark, by element of `touched`.
            joined: barriers passed, by examined wave.
            since: first record of each wave that no flag orders before the access, by examined wave.
        """
        for wave in np.unique(touched.wave).tolist():
            mine = touched.wave == wave
            same = self._same(access, wave, event.waves, addresses, active, touched.places[mine])
            rows, index = touched.rows[mine], touched.index[mine]
            units = touched.places[mine], marks[mine], joined[index], since[index]
            for clash in self.shadow.access(kind, wave, *units, same):
                earlier = self._instructions[clash.earlier], self._kinds[clash.earlier]
                self.found.race(clash, earlier, access, event, int(index[rows == clash.group][0]))

    def _write(
        self, access: AccessEvent, addresses: I64, active: NDArray[np.bool_], waves: I64, wave: int | None
    ) -> None:
        """Record the writes of an access.

        Args:
            access: the access.
            addresses: of all waves, (waves, lanes).
            active: likewise.
            waves: their numbers in the batch.
            wave: the wave of each workgroup whose writes are recorded; None means all waves.
        """

        def write() -> Write:
            index = np.arange(len(waves)) if wave is None else np.flatnonzero(waves % self.per == wave)
            row, lanes, touched = self.patterns.units(addresses[index], active[index], access.size)
            of = np.repeat(waves[index[row]], touched.shape[1])
            return Write(of % self.per, of // self.per, touched.ravel(), words(access, index[row], lanes, self.unit))

        size = sum(word.nbytes for word in access.data) + addresses.nbytes
        self.values.write(write, size if wave is None else size // self.per)

    def _same(
        self, access: AccessEvent, wave: int, waves: I64, addresses: I64, active: NDArray[np.bool_], places: I64
    ) -> Callable[[], NDArray[np.uint32]]:
        """Waves that wrote the value that a wave writes, or has written, a bit for each, by examined unit.

        None if the waves differ between the workgroups that the examined workgroup represents.

        Args:
            access: the access.
            wave: the wave of each workgroup.
            waves: numbers of all waves in the batch.
            addresses: of all waves, (waves, lanes).
            active: likewise.
            places: the examined units, (n,).
        """
        if access.kind != "read":
            self._write(access, addresses, active, waves, wave)

        @cache
        def answer() -> NDArray[np.uint32]:
            index = np.flatnonzero(waves % self.per == wave)
            row, _, touched = self.patterns.units(addresses[index], active[index], access.size)
            rows, units = np.repeat(waves[index[row]] // self.per, touched.shape[1]), touched.ravel()
            equal = self.values.own(wave, rows, units) if access.kind == "read" else self.values.written()
            # By place: the number of units of a lane depends on the waves that are examined together.
            every = np.full(self.shadow.last.shape[1], ALL_WAVES)
            np.bitwise_and.at(every, units + (rows * self.shadow.units if self.shadow.groups > 1 else 0), equal)
            return every[places]

        return answer

    def _examined(self, waves: I64, addresses: I64, active: NDArray[np.bool_]) -> int:
        """Number of waves to examine: those of the first workgroup in lockstep, else all waves."""
        if self.shadow.groups > 1 or self.groups == 1:
            return len(waves)
        if self._lockstep.holds(waves, addresses, active):
            return len(waves) // self.groups
        self._diverge()
        return len(waves)

    def _diverge(self) -> None:
        """Workgroups diverge: each gets its own row, with the operations in flight."""
        self._flying.widen(self.groups, self.shadow.units, self.per, self.shadow.marks.count)
        self.shadow.widen(self.groups)
        if self._named is not None:
            self._named.widen(self.groups)

    def _around(self, sort: Sort, low: I64, high: I64) -> list[tuple[int, int]]:
        """Waves of the workgroup with an access in flight whose units surround a further access out of order with it.

        Args:
            sort: of the further access.
            low: its first unit by wave of the batch.
            high: its last unit, likewise.

        Returns:
            The wave and the number of the earlier record, in ascending order.
        """
        found = self._flying.close(sort, low, high, self.progress.complete, self._releases.own())
        return sorted({(wave % self.per, number) for wave, number in found})

    def _own(self, access: AccessEvent, event: BlockEvent, touched: Touched, around: list[tuple[int, int]]) -> None:
        """Waves access bytes that a direct-to-LDS load or a read of the same wave may still be accessing.

        Args:
            access: the access.
            event: its block.
            touched: the units.
            around: pairs of wave of the workgroup and record to examine.
        """
        for wave, number in around:
            record = self._flying.records[number]
            mine = touched.wave == wave
            places, units = touched.places[mine], touched.units[mine]
            issued, complete = self.progress.of(record.sort.key)
            late = (complete[record.waves] <= record.order) & (number >= self._releases.own()[record.waves])
            for one in record.touched:
                here = (one.wave == wave) & late[one.index]
                theirs = np.zeros(self.shadow.last.shape[1], np.bool_)
                theirs[one.places[here]] = True
                both = theirs[places]
                if both.any():
                    first = int(both.argmax())
                    row = touched.rows[mine][first]
                    index = one.index[here & (one.rows == row)]
                    left = int((issued[record.waves[index]] - record.order[index]).min())
                    at = int(touched.index[mine][first])
                    self.found.in_flight(record, access, event, at, int(units[first]), left - 1)

    def __getstate__(self) -> dict[str, Any]:
        """The state for another process: all but that of the last batch of workgroups."""
        return {name: value for name, value in self.__dict__.items() if name not in BATCH}
