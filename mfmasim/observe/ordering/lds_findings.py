"""Findings of the check `races` about the LDS: one for two instructions, of the first workgroup."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfmasim.isa.counters import SPELLING
from mfmasim.observe.ordering.kinds import NO_BARRIER, NOT_DONE, OWN, SAME_VALUE

if TYPE_CHECKING:
    from mfmasim.isa import Instruction
    from mfmasim.machine.events import AccessEvent, BlockEvent, Place
    from mfmasim.machine.launch.launch import Launch
    from mfmasim.observe.check import Check
    from mfmasim.observe.finding import Finding, Kind
    from mfmasim.observe.ordering.records import Record
    from mfmasim.observe.ordering.shadow import Clash

    Key = tuple[int, int, str]
    """Addresses of both instructions, and what the first one was."""

VERBS = {"read": "read", "write": "written", "atomic": "updated by an atomic operation"}


class LdsFindings:
    """Collects findings, of the first workgroup in the order of the grid."""

    def __init__(self, check: Check, launch: Launch, unit: int) -> None:
        """Collect for a launch.

        Args:
            check: makes the findings.
            launch: the launch.
            unit: bytes of a unit of the LDS.
        """
        self.check, self.kernel, self.names, self.unit = check, launch.kernel, launch.names, unit
        self.per = launch.waves_per_workgroup
        self.batch = 0
        """Number of the current batch of workgroups."""
        self.errors: dict[Key, Finding] = {}
        self.harmless: dict[Key, Finding] = {}
        """Unordered accesses whose order does not matter, as their values are equal."""
        self.waves: dict[Key, tuple[Place, int]] = {}
        """One wave of a race, and the other wave's number in the workgroup."""
        self._of: dict[tuple[int, int, str, bool], tuple[int, int]] = {}
        """Batch and workgroup of each finding."""

    def _first(self, key: Key, event: BlockEvent, index: int, *, same: bool = False) -> bool:
        """Whether a finding is the first one of its key, in the order of the grid."""
        at = self.batch, int(event.waves[index]) // self.per
        if self._of.get((*key, same), (at[0] + 1, 0)) <= at:
            return False
        self._of[*key, same] = at
        return True

    def in_flight(
        self, record: Record, access: AccessEvent, event: BlockEvent, index: int, unit: int, most: int
    ) -> None:
        """A wave accesses a unit that its own operation in flight accesses.

        Args:
            record: the operation.
            access: the further access.
            event: its block.
            index: of the wave in the event.
            unit: of the LDS.
            most: largest value of the operation's counter.
        """
        key = record.instruction.pc, access.instruction.pc, "flight"
        if not self._first(key, event, index):
            return
        verb = {"read": "is read", "write": "is written", "atomic": "is changed"}[access.kind]
        theirs = "reading" if record.sort.kind == "read" else "writing"
        wait = SPELLING[record.sort.key[0]].format(max(most, 0))
        self.errors[key] = self._finding(
            OWN,
            access,
            event,
            index,
            f"LDS byte {unit * self.unit} {verb} while the wave's own {record.instruction.name} "
            f"({self._where(record.instruction)}) may still be {theirs} it: {wait} is missing before it",
            self.kernel.place_at(record.instruction.pc),
            unit,
        )

    def race(
        self, clash: Clash, first: tuple[Instruction, str], access: AccessEvent, event: BlockEvent, index: int
    ) -> None:
        """Two waves access a unit without an order.

        Args:
            clash: the two accesses.
            first: the earlier instruction, and the kind of its access.
            access: the later access.
            event: its block.
            index: of the wave in the event.
        """
        earlier, kind = first
        key = earlier.pc, access.instruction.pc, kind
        if not self._first(key, event, index, same=clash.same):
            return
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
        here = f"{VERBS[access.kind]} here{self.kernel.address_at(access.instruction.pc)}"
        found = self.harmless if clash.same else self.errors
        found[key] = self._finding(
            kind_of_race,
            access,
            event,
            index,
            f"{what} is {here} and {VERBS[kind]} by wave {clash.wave} at "
            f"{self._where(earlier)} ({earlier.name}): {why}",
            self.kernel.place_at(earlier.pc),
            clash.unit,
        )

    def _where(self, instruction: Instruction) -> str:
        return self.kernel.line_at(instruction.pc)

    def _finding(
        self, kind: Kind, access: AccessEvent, event: BlockEvent, index: int, message: str, other: str, unit: int
    ) -> Finding:
        ins = access.instruction
        place = event.place(index, self._lane(access, index, unit))
        return self.check.finding(kind, message, ins.pc, place, instruction=ins.name, other=other)

    def _lane(self, access: AccessEvent, index: int, unit: int) -> int | None:
        """The first lane of the event's wave that accesses a unit of its workgroup's LDS."""
        row = index if len(access.addresses) > 1 else 0
        first = access.addresses[row].astype(np.int64)
        here = (first < (unit + 1) * self.unit) & (first + access.size > unit * self.unit)
        if access.active is not None:
            here = here & access.active[index if len(access.active) > 1 else 0]
        return int(here.argmax()) if here.any() else None

    def merge(self, other: LdsFindings) -> None:
        """Add the findings of another part of the same launch; parts come in the order of the grid."""
        for key, found in other.errors.items():
            self.errors.setdefault(key, found)
        for key, found in other.harmless.items():
            self.harmless.setdefault(key, found)
        for key, waves in other.waves.items():
            self.waves.setdefault(key, waves)

    def suspects(self) -> list[tuple[Finding, Place, int]]:
        """Races between two waves, with their numbers in the launch."""
        return [(self.errors[key], *self.waves[key]) for key in sorted(self.waves)]

    def findings(self) -> list[Finding]:
        """The findings, in address order; the worse one for each pair of accesses."""
        found = self.harmless | self.errors
        return [found[key] for key in sorted(found)]
