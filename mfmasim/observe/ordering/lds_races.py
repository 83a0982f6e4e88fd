"""races: two waves of a workgroup touch the same bytes of the LDS, one of them writes, and no barrier orders them.

The order is what counters and barriers guarantee, not the one that was executed: a wave's access is complete after a
wait for its counter, and only then does the next barrier order it before later accesses of other waves. Direct-to-LDS
loads write until their own wait, also for the wave that issued them.

Waves that write the same value to the same bytes are information, and so is a read by one of them.

A loop that only reads until a value changes counts as waiting for a flag: what was executed before the loop ended is
ordered before later accesses of its wave; the read before a compare-and-swap of the same source line likewise. A wait
at a named barrier, too: which waves have signalled it is not followed. (This may miss races: no correct kernel is
reported.)
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.isa.counters import SPELLING
from mfmasim.observe.ordering.flags import flag_reads
from mfmasim.observe.ordering.kinds import NO_BARRIER, NOT_DONE, OWN, SAME_VALUE
from mfmasim.observe.ordering.progress import Progress, Step
from mfmasim.observe.ordering.records import MOST, Record, Touched
from mfmasim.observe.ordering.shadow import Clash, Shadow
from mfmasim.observe.ordering.values import Values, Write, words

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mfmasim.isa import Instruction
    from mfmasim.machine.events import AccessEvent, BlockEvent, Place
    from mfmasim.machine.launch import Launch
    from mfmasim.observe.check import Check
    from mfmasim.observe.finding import Finding, Kind

__all__ = ["LdsRaces"]


def in_order(instruction: Instruction) -> bool:
    """Whether one wave's accesses to the LDS happen in program order; direct-to-LDS loads do not.

    Compilers rely on it and place no wait between such accesses (LLVM).
    """
    return instruction.opcode.unit == "LDS" or instruction.opcode.space == "flat"


class LdsRaces:
    """Follows the LDS of every workgroup."""

    def __init__(self, check: Check, launch: Launch) -> None:
        """Follow a launch; `check` makes the findings."""
        self.check, self.kernel, self.arch = check, launch.kernel, launch.kernel.arch
        self.names = launch.names
        self.lds_bytes, self.per = launch.lds_bytes, launch.waves_per_workgroup
        instructions = self.kernel.reachable
        narrow = any(in_order(ins) and ins.opcode.narrow for ins in instructions)
        self.unit = 1 if narrow else 4
        self._steps: dict[tuple[int, int, int], list[Step]] = {}
        self._flags = flag_reads(instructions, self.kernel.source_at)
        self._since: NDArray[np.int32]
        """First record that is not ordered before each wave by a flag that it has waited for."""
        self._waiting: NDArray[np.bool_]
        """Waves that have come to a named barrier in their last block."""
        self._arrived: NDArray[np.int32]
        """First record of each wave behind which no copy or tensor instruction arrives at a barrier in the LDS."""
        self._pending: list[AccessEvent] = []
        self._flying: list[Record] = []
        self._instructions: list[Instruction] = []
        """Instruction of each record, by its number."""
        self._kinds: list[str] = []
        self._found: dict[tuple[int, int, str], Finding] = {}
        self._alike: dict[tuple[int, int, str], Finding] = {}
        """Accesses without an order that does not matter."""
        self.waves: dict[tuple[int, int, str], tuple[Place, int]] = {}
        """One wave of a race, and the other's number in the workgroup."""
        self.progress: Progress
        self.shadow: Shadow
        self.values: Values
        self.groups = 0

    def on_access(self, event: AccessEvent) -> None:
        """Hold an access to the LDS until its block is complete."""
        if event.space == "lds":
            # Later instructions of the block may overwrite the registers that the data lies in.
            self._pending.append(replace(event, data=tuple(word.copy() for word in event.data)))

    def on_block(self, event: BlockEvent) -> None:
        """Replay a block for its waves: accesses, waits and barriers in program order."""
        if event.fresh:
            self.progress = Progress(self.arch, event.total)
            self.groups = event.total // self.per
            # One row stands for all workgroups as long as they do the same.
            self.shadow = Shadow(-(-self.lds_bytes // self.unit))
            self.values = Values(self.groups, self.shadow.units, self.unit)
            self._flying.clear()
            self._since = np.zeros(event.total, np.int32)
            self._waiting = np.zeros(event.total, np.bool_)
            self._arrived = np.zeros(event.total, np.int32)
        key = event.instructions[0].pc, event.instructions[-1].pc, len(event.instructions)
        steps = self._steps.get(key)
        if steps is None:
            steps = self._steps[key] = self.progress.steps(event.instructions)
        if self._waiting.any():  # those that run again have passed the named barrier at which they stopped
            passed = event.waves[self._waiting[event.waves]]
            self._since[passed], self._waiting[passed] = len(self._instructions), False
        pending, self._pending = self._pending, []
        place = 0
        for step in steps:
            accesses = []
            while place < len(pending) and pending[place].instruction.pc == step.instruction.pc:
                accesses.append(pending[place])
                place += 1
            before = {(u.counter, u.order): self.progress.of((u.counter, u.order))[0][event.waves] for u in step.up}
            for access in accesses:
                if access.instruction.pc in self._flags:
                    self._since[event.waves] = len(self._instructions)
                else:
                    self._access(access, event, before)
            self.progress.advance(step, event.waves, self._signalled)
            if step.named:
                self._waiting[event.waves] = True
        if self._flying:
            complete = self.progress.complete
            self._flying = [r for r in self._flying if (complete[r.key][r.waves] <= r.order).any()]

    def _signalled(self, waves: NDArray[np.int64]) -> None:
        """Waves have signalled a barrier: it does not order their operations in flight."""
        here = np.zeros(self.progress.waves, np.bool_)
        here[waves] = True
        for record in self._flying:
            late = (self.progress.complete[record.key][record.waves] <= record.order) & here[record.waves]
            if not late.any():
                continue
            signalled = self.progress.signalled[record.waves]
            for wave, touched in record.touched.items():
                for one in touched:
                    affected = late[one.index]
                    if affected.any():
                        at = one.rows[affected], one.units[affected]
                        self.shadow.still(record.kind, wave, *at, signalled[one.index[affected]], record.number)

    def _access(self, access: AccessEvent, event: BlockEvent, before: dict[tuple[str, str], NDArray[np.int32]]) -> None:
        """One access of all waves of a group."""
        waves, lanes = event.waves, access.addresses.shape[-1]
        shape = len(waves), lanes
        addresses = np.broadcast_to(access.addresses, shape)
        active = np.broadcast_to(True if access.active is None else access.active, shape)
        chosen = self._representatives(waves, addresses, active)
        direct = not in_order(access.instruction)
        number = len(self._instructions)
        if access.kind == "atomic" and direct:  # an arrival at a barrier in the LDS, after what was issued before
            self._arrived[waves] = number
            return
        self._instructions.append(access.instruction)
        self._kinds.append(access.kind)
        # FLAT raises two counters, that of the LDS last: it is the one that shows when the LDS was reached.
        key = next(reversed(before), ("", ""))
        record = Record(
            number, access.instruction, access.kind, key, waves, before.get(key, np.zeros(len(waves), np.int32)), {}
        )
        local, incomplete = waves % self.per, self._incomplete(access, key if direct else None)
        row, _, touched = self._units(addresses[chosen], active[chosen], access.size)
        each = chosen[row]
        by_wave = local[each]
        size = sum(word.nbytes for word in access.data) + addresses.nbytes
        for wave in np.unique(local[chosen]).tolist():
            same = self._same(access, wave, waves, addresses, active, chosen[local[chosen] == wave], size)
            mine = by_wave == wave
            index, units = np.repeat(each[mine], touched.shape[1]), touched[mine].ravel()
            of = waves[index]
            rows = of // self.per if self.shadow.groups > 1 else np.zeros(len(index), np.int64)
            if not len(units):
                continue
            self._own(access, event, wave, rows, units, incomplete)
            ordered = self.progress.signalled[of], self.progress.joined[of], self._since[of]
            for clash in self.shadow.access(access.kind, wave, rows, units, *ordered, number, same):
                self._race(clash, access, event, int(index[rows == clash.group][0]))
            record.touched[wave] = [Touched(rows, units, index)]
        if record.touched and before:
            self._flying.append(record)

    def _same(
        self, access: AccessEvent, wave: int, waves: NDArray[np.int64], addresses: NDArray[np.int64],
        active: NDArray[np.bool_], chosen: NDArray[np.int64], size: int,
    ) -> Callable[[], NDArray[np.uint32]]:  # fmt: skip
        """Waves that wrote what a wave writes or has itself written, a bit for each, by unit of the chosen workgroups.

        None if that differs in one of the workgroups that a chosen one stands for.
        """

        def places() -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
            index = np.flatnonzero(waves % self.per == wave)
            row, lanes, touched = self._units(addresses[index], active[index], access.size)
            return index[row], lanes, np.repeat(index[row], touched.shape[1]), touched.ravel()

        def write() -> Write:
            row, lanes, each, units = places()
            return Write(wave, waves[each] // self.per, units, words(access, row, lanes, self.unit))

        if access.kind != "read":
            self.values.write(write, size // self.per)

        @cache
        def answer() -> NDArray[np.uint32]:
            _, _, each, units = places()
            if access.kind == "read":
                alike = self.values.own(wave, waves[each] // self.per, units)
            else:
                alike = self.values.written()
            if self.shadow.groups == 1 < self.groups:
                differs = np.zeros(self.shadow.units, np.bool_)
                differs[units[alike == 0]] = True
                alike[differs[units]] = 0
            return alike[np.isin(each, chosen)]

        return answer

    def _representatives(
        self, waves: NDArray[np.int64], addresses: NDArray[np.int64], active: NDArray[np.bool_]
    ) -> NDArray[np.int64]:
        """Waves of the group to examine: those of the first workgroup while all workgroups do the same."""
        everyone = np.arange(len(waves))
        if self.shadow.groups > 1 or self.groups == 1:
            return everyone
        each = len(waves) // self.groups
        if each * self.groups == len(waves):
            grid = waves.reshape(self.groups, each)
            same = (grid - grid[:, :1] // self.per * self.per == grid[0]).all()
            if same:
                place = addresses.reshape(self.groups, each, -1)
                mask = active.reshape(self.groups, each, -1)
                if (place == place[0]).all() and (mask == mask[0]).all():
                    return everyone[:each]
        self._widen()
        return everyone

    def _widen(self) -> None:
        """Workgroups diverge: each gets its own row, and operations in flight are in flight in each."""
        self.shadow.widen(self.groups)
        for record in self._flying:
            where = {int(w): i for i, w in enumerate(record.waves)}
            for wave, touched in record.touched.items():
                wider = []
                for one in touched:
                    units, first = one.units, record.waves[one.index]
                    for group in range(self.groups):
                        moved = np.array([where.get(int(w) + group * self.per, -1) for w in first])
                        fine = moved >= 0
                        wider.append(Touched(np.full(int(fine.sum()), group), units[fine], moved[fine]))
                record.touched[wave] = wider

    def _units(
        self, addresses: NDArray[np.int64], active: NDArray[np.bool_], size: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Row of `addresses` and lane of every access inside the allocation, (n,), and the units it touches, (n, m)."""
        inside = active & (addresses >= 0) & (addresses <= self.lds_bytes - size)
        row, lane = np.nonzero(inside)
        chosen, shift = addresses[inside], self.unit.bit_length() - 1  # units are 1 or 4 bytes
        first, last = chosen >> shift, (chosen + (size - 1)) >> shift
        most = int((last - first).max(initial=0)) + 1
        return row, lane, np.minimum(first[:, None] + np.arange(most), last[:, None])

    def _incomplete(self, access: AccessEvent, key: tuple[str, str] | None) -> list[tuple[Record, NDArray[np.bool_]]]:
        """Direct-to-LDS loads, and reads, that an access of the same wave is not in order with; which are in flight.

        `key` is the class of an access that is not in order with the others, as these loads are.
        """
        direct = key is not None
        out = []
        for record in self._flying:
            other_direct = not in_order(record.instruction)
            if record.kind == "read" and access.kind == "read":
                continue
            if other_direct == direct and (not direct or record.key == key):
                continue  # in order with each other
            # It arrives at a barrier in the LDS, and its wave has waited for one since.
            waited_for = record.number < np.minimum(self._arrived[record.waves], self._since[record.waves])
            late = (self.progress.complete[record.key][record.waves] <= record.order) & ~waited_for
            if late.any():
                out.append((record, late))
        return out

    def _own(
        self, access: AccessEvent, event: BlockEvent, wave: int, rows: NDArray[np.int64], units: NDArray[np.int64],
        incomplete: list[tuple[Record, NDArray[np.bool_]]],
    ) -> None:  # fmt: skip
        """A wave accesses bytes that its own direct-to-LDS load, or its own read, may still be accessing."""
        low, high = (int(units.min()), int(units.max())) if incomplete else (MOST, -1)
        for record, flying in incomplete:
            for one in record.touched.get(wave, ()):
                first, last = one.span
                if last < low or high < first:
                    continue
                late, index = flying[one.index], one.index
                if not late.any():
                    continue
                theirs = np.zeros((self.shadow.groups, self.shadow.units), np.bool_)
                theirs[one.rows[late], one.units[late]] = True
                both = theirs[rows, units]
                if both.any():
                    left = int(
                        (self.progress.of(record.key)[0][record.waves[index[late]]] - record.order[index[late]]).min()
                    )
                    self._in_flight(record, access, event, int(units[both.argmax()]), left - 1)

    def _in_flight(self, record: Record, access: AccessEvent, event: BlockEvent, unit: int, most: int) -> None:
        key = record.instruction.pc, access.instruction.pc, "flight"
        if key in self._found:
            return
        verb = {"read": "is read", "write": "is written", "atomic": "is changed"}[access.kind]
        theirs = "reading" if record.kind == "read" else "writing"
        wait = SPELLING[record.key[0]].format(max(most, 0))
        self._found[key] = self._finding(
            OWN, access, event, 0,
            f"LDS byte {unit * self.unit} {verb} while the wave's own {record.instruction.name} "
            f"({self._where(record.instruction)}) may still be {theirs} it: {wait} is missing before it",
            self._where(record.instruction),
        )  # fmt: skip

    def _race(self, clash: Clash, access: AccessEvent, event: BlockEvent, index: int) -> None:
        earlier = self._instructions[clash.earlier]
        kind = self._kinds[clash.earlier]
        key = earlier.pc, access.instruction.pc, kind
        found = self._alike if clash.same else self._found
        if key in found:
            return
        verbs = {"read": "read", "write": "written", "atomic": "updated by an atomic operation"}
        if clash.same:
            kind_of_race = SAME_VALUE
            both = access.kind == kind == "write"
            why = "both write the same value" if both else "the wave that reads has written the same value"
        elif clash.waited_for:
            kind_of_race = NOT_DONE
            why = (
                "a barrier lies between them, but the first access may be incomplete when its wave passes it: a wait "
                "is missing before the barrier"
            )
        else:
            kind_of_race = NO_BARRIER
            why = "no barrier lies between them"
        if not clash.same:
            self.waves[key] = event.place(index, None), clash.wave
        what = self.names.lds(clash.unit * self.unit)
        found[key] = self._finding(
            kind_of_race, access, event, index,
            f"{what} is {verbs[access.kind]} here and {verbs[kind]} by wave {clash.wave} at "
            f"{self._where(earlier)} ({earlier.name}): {why}",
            self._where(earlier),
        )  # fmt: skip

    def _where(self, instruction: Instruction) -> str:
        return self.kernel.source_at(instruction.pc) or f"{instruction.pc:#x}"

    def _finding(
        self, kind: Kind, access: AccessEvent, event: BlockEvent, index: int, message: str, other: str
    ) -> Finding:
        ins = access.instruction
        return self.check.finding(kind, message, ins.pc, event.place(index, None), instruction=ins.name, other=other)

    def merge(self, other: LdsRaces) -> None:
        """Add what another part of the same launch found; parts come in the order of the grid."""
        for key, found in other._found.items():
            self._found.setdefault(key, found)
        for key, found in other._alike.items():
            self._alike.setdefault(key, found)
        for key, waves in other.waves.items():
            self.waves.setdefault(key, waves)

    def suspects(self) -> list[tuple[Finding, Place, int]]:
        """Races between two waves, with their numbers in the launch."""
        return [(self._found[key], *self.waves[key]) for key in sorted(self.waves)]

    def findings(self) -> list[Finding]:
        """The findings, in address order; of two accesses the worse one."""
        found = self._alike | self._found
        return [found[key] for key in sorted(found)]
