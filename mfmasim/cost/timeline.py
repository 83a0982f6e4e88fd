"""The timeline of one unit: its SIMDs and resident waves, in-order issue, pipes, waits, barriers and priorities.

In a SIMD's turn each of its waves may issue its next instruction, and one instruction of each kind may issue. Of
several waves the one with the highest priority goes first, of equal ones the oldest (what the hardware does there is
not public). A wave's instructions issue in order; results come after the latencies of the rates, which are ranges:
`timeline` takes one end of all of them. Memory is a bandwidth and a latency, no more. In a cold start the first touch
of code, scalar data and lines takes the latencies of rows of their own.
"""

from __future__ import annotations

import heapq
from array import array
from dataclasses import dataclass, field

from mfmasim.cost.bound import turns_of
from mfmasim.cost.effects import Rules, issue
from mfmasim.cost.operation import Operation
from mfmasim.cost.pipes import ColdCode, GroupPipes, SimdPipes, latencies
from mfmasim.cost.trace import Trace
from mfmasim.cost.wave import Wave

BARRIER = "barrier"
SLOT = "issue slot"


@dataclass
class Lane:
    """What one wave did when; one entry for each of its instructions."""

    wave: int
    simd: int
    workgroup: int
    issued: array[float] = field(default_factory=lambda: array("d"))
    """When it issued."""
    served: array[float] = field(default_factory=lambda: array("d"))
    """When its pipe began with it."""
    busy: array[float] = field(default_factory=lambda: array("d"))
    """When its pipe was free again."""
    stood: array[float] = field(default_factory=lambda: array("d"))
    """Clocks that the wave stood still before it."""
    reasons: list[str] = field(default_factory=list)
    """What for: a counter, a result, a pipe, an issue slot, a barrier; or nothing."""
    causes: array[int] = field(default_factory=lambda: array("l"))
    """Number of the operation that it waited for; its own where it waited for none's result."""


@dataclass
class Timeline:
    """What happened when."""

    trace: Trace
    end: str
    """End of the latencies' ranges: ``low``, ``value`` or ``high``."""
    lanes: list[Lane]
    clocks: float
    """When the last instruction was complete."""

    def window(self, head: int | None) -> tuple[float, float, int]:
        """First clock and last of the whole turns of the main loop, all their pipes included, and how many they are.

        Args:
            head: address of the main loop's first instruction; None takes everything.
        """
        starts = [turns_of(self.trace, wave, head) if head is not None else [] for wave in self.trace.waves]
        turns = min((len(places) for places in starts), default=0) - 1
        if turns < 1:
            return 0.0, self.clocks, 0
        first = min(lane.issued[places[0]] for lane, places in zip(self.lanes, starts, strict=True))
        last = max(
            max(lane.issued[places[turns]], *lane.busy[places[0] : places[turns]])
            for lane, places in zip(self.lanes, starts, strict=True)
        )
        return first, last, turns

    def turn(self, head: int | None) -> float:
        """Clocks of a turn of the main loop, or of everything where no loop has two; never less than the bound.

        Args:
            head: address of the main loop's first instruction.
        """
        first, last, turns = self.window(head)
        return (last - first) / max(1, turns)

    def standing(self) -> dict[str, float]:
        """Clocks that all waves together stood still, by what for, the longest first."""
        total: dict[str, float] = {}
        for lane in self.lanes:
            for reason, clocks in zip(lane.reasons, lane.stood, strict=True):
                if clocks:
                    total[reason] = total.get(reason, 0.0) + clocks
        return dict(sorted(total.items(), key=lambda item: -item[1]))

    def by_line(self) -> dict[str, float]:
        """Clocks that all waves stood still, by source line or address, the longest first."""
        total: dict[str, float] = {}
        for lane, wave in zip(self.lanes, self.trace.waves, strict=True):
            for number, clocks in zip(wave.operations, lane.stood, strict=True):
                if clocks:
                    op = self.trace.operations[number]
                    line = op.source or hex(op.pc)
                    total[line] = total.get(line, 0.0) + clocks
        return dict(sorted(total.items(), key=lambda item: -item[1]))

    def by_cause(self) -> dict[str, dict[str, float]]:
        """Clocks that waves stood still by the line that caused it, and by the one that waited; the longest first.

        The cause of a wait is the load or access that it waits for, of a missing result what produces it, of a barrier
        what the last wave to arrive had waited for the longest.
        """
        total: dict[str, dict[str, float]] = {}
        operations = self.trace.operations
        for lane, wave in zip(self.lanes, self.trace.waves, strict=True):
            for number, cause, clocks in zip(wave.operations, lane.causes, lane.stood, strict=True):
                if clocks:
                    of, at = operations[cause], operations[number]
                    waits = total.setdefault(of.source or hex(of.pc), {})
                    line = at.source or hex(at.pc)
                    waits[line] = waits.get(line, 0.0) + clocks
        return dict(sorted(total.items(), key=lambda item: -sum(item[1].values())))

    def matrix_share(self, head: int | None) -> float:
        """Part of the main loop's time in which the matrix cores of the SIMDs that have waves are busy."""
        first, last, _ = self.window(head)
        simds = {lane.simd for lane in self.lanes}
        spent = 0.0
        for lane, wave in zip(self.lanes, self.trace.waves, strict=True):
            for number, start, stop in zip(wave.operations, lane.served, lane.busy, strict=True):
                if self.trace.operations[number].matrix and start < last and stop > first:
                    spent += min(stop, last) - max(start, first)
        return spent / ((last - first) * len(simds)) if last > first else 0.0


def timeline(trace: Trace, end: str = "value", *, cold: bool = False) -> Timeline:
    """Simulate what was executed.

    Args:
        trace: of the resident workgroups.
        end: end of the latencies' ranges: ``low``, ``value`` or ``high``.
        cold: no cache has anything, as in the first launch of a kernel.
    """
    return _Unit(trace, end, cold=cold).run()


class _Unit:
    """The state of a unit."""

    def __init__(self, trace: Trace, end: str, *, cold: bool) -> None:
        rates = trace.arch.rates
        self.code = ColdCode() if cold else None
        self.trace, self.end = trace, end
        self.period = rates["issue"].value
        self.late = latencies(rates, end)
        self.rules = Rules(self.late, self.period, rates.matrix_on_valu)
        self.simds = [SimdPipes() for _ in range(4)]
        self.groups = [GroupPipes(rates, self.late, cold=cold) for _ in range(4 // rates.lds_simds)]
        self.group_of = [self.groups[simd // rates.lds_simds] for simd in range(4)]
        self.waves = [
            Wave(number, trace.simd_of(number), each, trace.operations) for number, each in enumerate(trace.waves)
        ]
        self.on_simd = [[wave for wave in self.waves if wave.simd == simd] for simd in range(4)]
        self.lanes = [Lane(w.number, w.simd, w.workgroup) for w in self.waves]
        self.signalled: dict[int, int] = {}
        """Waves of a workgroup that have signalled its barrier."""
        self.opened: dict[int, int] = {}
        """Barriers of a workgroup that have opened."""
        self.released: dict[int, tuple[float, int]] = {}
        """When the last barrier of a workgroup lets its waves go on, and what caused that."""
        self.events: list[tuple[float, int]] = []
        self.due = [float("inf")] * 4
        self.last = 0.0

    def run(self) -> Timeline:
        for simd in range(4):
            self.wake(simd, 0.0)
        while self.events:
            now, simd = heapq.heappop(self.events)
            if now == self.due[simd]:
                self.due[simd] = float("inf")
                self.turn(simd, now)
        return Timeline(self.trace, self.end, self.lanes, self.last)

    def wake(self, simd: int, when: float) -> None:
        """A SIMD's next turn, at `when` or, as SIMDs take turns, a little later."""
        period = self.period
        first = simd % period if period > 1 else 0.0
        turns = -(-(when - first) // period)
        at = first + max(0.0, turns) * period
        if at < self.due[simd]:
            self.due[simd] = at
            heapq.heappush(self.events, (at, simd))

    def turn(self, simd: int, now: float) -> None:
        """The waves of a SIMD issue what they can."""
        able = [w for w in self.on_simd[simd] if not w.done and not w.waiting and w.ready <= now and w.retry <= now]
        if len(able) > 1:
            able.sort(key=lambda w: (-w.priority, w.number))
        used: set[str] = set()
        pipes = self.simds[simd]
        for wave in able:
            while not wave.done and wave.next.free and wave.ready <= now:
                self.issue(wave, wave.next, now)
            if wave.done or wave.ready > now:
                continue
            op = wave.next
            slot = op.slot
            if slot == "internal":
                self.issue(wave, op, now)
                continue
            if slot in used:
                wave.held = wave.held or SLOT
                continue
            if slot == "VALU":
                free, pipe = pipes.valu, "VALU"
                if op.matrix and not self.rules.queued and pipes.matrix > free:
                    free, pipe = pipes.matrix, "matrix core"
                if op.trans and pipes.trans > free:
                    free, pipe = pipes.trans, "transcendental"
                if free > now:
                    wave.retry, wave.held = free, wave.held or pipe
                    continue
            used.add(slot)
            self.issue(wave, op, now)
        later = float("inf")
        for wave in self.on_simd[simd]:
            if not wave.done and not wave.waiting:
                later = min(later, max(wave.ready, wave.retry))
        if later < float("inf"):
            self.wake(simd, max(later, now + self.period))

    def issue(self, wave: Wave, op: Operation, now: float) -> None:
        """A wave issues its next instruction."""
        lane = self.lanes[wave.number]
        stood = now - wave.earliest
        # Turns come every period: less than one is no waiting.
        lane.stood.append(stood if stood >= self.period else 0.0)
        lane.reasons.append((wave.reason or wave.held) if stood >= self.period else "")
        cause = wave.cause if wave.cause >= 0 and wave.reason else op.number
        lane.causes.append(cause)
        if stood > wave.worst[0]:
            wave.worst = stood, cause
        done = issue(self.trace, wave, self.simds[wave.simd], self.group_of[wave.simd], now, self.rules)
        lane.issued.append(now)
        lane.served.append(done.start)
        lane.busy.append(done.busy)
        self.last = max(self.last, done.busy, done.done)
        if op.priority is not None:
            wave.priority = op.priority
        if op.signals:
            wave.phase += 1
            self.signalled[wave.workgroup] = self.signalled.get(wave.workgroup, 0) + 1
        wave.advance(done.after, self.late, queued=self.rules.queued)
        if self.code is not None and not wave.done:
            there = self.code.fetch(op, wave.next, now, self.late.cold_code)
            if there > wave.ready:
                wave.ready, wave.reason = there, "code"
        if op.awaits and not wave.done and self.opened.get(wave.workgroup, 0) < wave.phase:
            wave.waiting = True
        elif op.awaits and not wave.done:
            self.release(wave, *self.released[wave.workgroup])
        if op.signals or wave.done:
            self.arrive(wave, op, now)

    def arrive(self, last: Wave, op: Operation, now: float) -> None:
        """Open the barrier of a wave's workgroup if all of them have signalled it or ended."""
        workgroup = last.workgroup
        mine = [wave for wave in self.waves if wave.workgroup == workgroup]
        opened = self.opened.get(workgroup, 0)
        running = [wave for wave in mine if not wave.done]
        if not running or any(wave.phase <= opened for wave in running):
            return
        self.opened[workgroup] = opened + 1
        at, cause = self.released[workgroup] = now + self.late.barrier, last.worst[1] if last.worst[0] else op.number
        for wave in running:
            wave.worst = 0.0, -1
            if wave.waiting and wave.phase <= opened + 1:
                wave.waiting = False
                self.release(wave, at, cause)
                self.wake(wave.simd, wave.ready)

    def release(self, wave: Wave, at: float, cause: int) -> None:
        """A wave goes on behind a barrier."""
        if at > wave.ready:
            wave.ready, wave.reason, wave.cause = at, BARRIER, cause
