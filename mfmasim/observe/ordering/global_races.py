"""races in global memory: unordered accesses of waves to the same bytes, at least one of them a write.

Barriers and waits order accesses within a workgroup. Between workgroups only memory does: a write with its wait, then
an atomic or a store that another workgroup acquires (a ticket, a flag, a lock), and the accesses after the acquire.
A first run finds the bytes that waves share; if there are shared bytes, a second run records their history.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfmasim.machine.events import Place
from mfmasim.observe.finding import Finding
from mfmasim.observe.ordering import kinds
from mfmasim.observe.ordering.history import History
from mfmasim.observe.ordering.pairs import (
    IN_FLIGHT,
    NARROW,
    NEAR,
    NO_BARRIER,
    NO_WAIT,
    NOT_BACK,
    NOTHING,
    SCALAR,
    STALE,
    unordered,
)
from mfmasim.observe.ordering.sharing import Sharing

if TYPE_CHECKING:
    from mfmasim.machine.launch.launch import Launch
    from mfmasim.observe.check import Check
    from mfmasim.observe.ordering.pairs import Pair

KINDS = {
    STALE: kinds.STALE,
    SCALAR: kinds.STALE_SCALAR,
    NEAR: kinds.STALE_NEAR,
    NOT_BACK: kinds.NOT_BACK,
    NARROW: kinds.SCOPE,
    IN_FLIGHT: kinds.NOT_RELEASED,
    NO_WAIT: kinds.GLOBAL_NOT_DONE,
    NOTHING: kinds.WORKGROUPS,
    NO_BARRIER: kinds.GLOBAL_NO_BARRIER,
}
WHY = {
    STALE: "an atomic operation orders them, but the read may hit a stale cache line: an acquire fence is missing "
    "before it",
    SCALAR: "they are ordered, but the scalar cache may hold the line from a scalar load before the write: "
    "s_dcache_inv is missing before this one",
    NEAR: "a barrier orders them, but the workgroup may run on two compute units, and this wave has read the line "
    "before the write: an invalidation of the vector cache is missing between the barrier and the read",
    NOT_BACK: "they are ordered, but the data may stay in the L2 of the workgroup that wrote them: a release fence, "
    "which writes it back, is missing after the first access",
    NARROW: "the atomic operations between them have the scope of a workgroup",
    IN_FLIGHT: "the first access may be in flight at the atomic operation that would order them: a release "
    "fence is missing before it",
    NO_WAIT: "a barrier lies between them, but the first access may be incomplete when its wave passes it: a wait is "
    "missing before the barrier",
    NOTHING: "nothing orders the workgroups",
    NO_BARRIER: "no barrier lies between them",
}
WORDS = {"read": "read", "write": "written", "atomic": "updated by an atomic operation"}
PRIVATE = ("printf buffer", "hostcall buffer", "kernel arguments", "dispatch packet")
"""Buffers of the launch itself, which the kernel does not order."""


class GlobalRaces:
    """Finds races in global memory."""

    def __init__(self, check: Check, launch: Launch) -> None:
        """Prepare for a launch; `check` makes the findings."""
        self.check, self.kernel = check, launch.kernel
        self.per = launch.waves_per_workgroup
        self.clusters = launch.clusters
        self.waves = launch.workgroups * self.per
        memory = launch.memory
        self.sharing = Sharing(memory.base, memory.size)
        self.regions = [(r.name, r.address - memory.base, r.size) for r in memory.regions]
        self.names = launch.names
        self.found: list[Finding] = []
        self.suspects: list[tuple[Finding, tuple[int, int]]] = []
        """Errors among them, with the numbers of both waves in the launch."""
        self.history: History

    def merge(self, other: GlobalRaces) -> None:
        """Add another part of the launch."""
        self.sharing.merge(other.sharing)

    def again(self) -> History | None:
        """The observer of a second run, if one is needed."""
        private = [(start, start + size) for name, start, size in self.regions if name in PRIVATE]
        self.sharing.leave_out(private)
        if not len(self.sharing.shared()):
            return None
        fields = self.kernel.info.descriptor.fields
        one_way = not fields.get("wgp_mode") and not fields.get("tg_split")
        self.history = History(
            self.kernel.arch,
            self.kernel.reachable,
            self.kernel.source_at,
            self.sharing,
            self.waves,
            self.per,
            in_order=one_way,
            cluster=self.clusters.workgroups,
        )
        return self.history

    def take(self) -> None:
        """Analyse the records of the second run."""
        history = self.history
        best: dict[tuple[int, int, bool], Pair] = {}
        for pair in unordered(history):
            near = pair.waves[0] // self.per == pair.waves[1] // self.per
            key = pair.kinds[0], pair.kinds[1], near
            if key not in best or best[key].why < pair.why:
                best[key] = pair
        pairs = sorted(
            ((self._finding(history, pair), pair.waves) for pair in best.values()),
            key=lambda found: (found[0].pc, found[0].message),
        )
        self.found = [finding for finding, _ in pairs]
        self.suspects = [(finding, waves) for finding, waves in pairs if finding.severity == "error"]
        if history.full:
            text = "waves share so much global memory that not every access to it was analysed"
            kind = kinds.NOT_FOLLOWED
            self.found.append(Finding(kind.check, kind.severity, text, kind.id, kernel=self.kernel.name))

    def _finding(self, history: History, pair: Pair) -> Finding:
        first, second = (history.kinds[k] for k in pair.kinds)
        first_wave, second_wave = pair.waves
        harmless = pair.same and pair.why not in (STALE, SCALAR, NEAR)
        why = WHY[pair.why]
        if pair.why == NARROW and first.kind == second.kind == "atomic":
            why = "an operation with the scope of a workgroup may act on a copy that the other workgroup does not see"
        if harmless:
            both = first.kind == second.kind == "write"
            why = "both write the same value" if both else "nothing else is written there, and another write came first"
        near = first_wave // self.per == second_wave // self.per
        if not near or pair.why in (NOTHING, NARROW, IN_FLIGHT, STALE, NOT_BACK):
            who = f"wave {first_wave % self.per} of workgroup {self._workgroup(first_wave)}"
        else:
            who = f"wave {first_wave % self.per}"
        there = first.instruction.pc
        what = self.names.at(pair.unit * history.unit)
        here = f"{WORDS[second.kind]} here{self.kernel.address_at(second.instruction.pc)}"
        message = (
            f"{what} is {here} and {WORDS[first.kind]} by {who} at {self.kernel.line_at(there)} "
            f"({first.instruction.name}): {why}"
        )
        place = Place(self._workgroup(second_wave), second_wave % self.per, pair.lanes[1])
        return self.check.finding(
            kinds.SAME_VALUE if harmless else KINDS[pair.why],
            message,
            second.instruction.pc,
            place,
            instruction=second.instruction.name,
            count=pair.count,
            other=self.kernel.place_at(there),
        )

    def _workgroup(self, wave: int) -> tuple[int, int, int]:
        return self.clusters.place(wave // self.per)
