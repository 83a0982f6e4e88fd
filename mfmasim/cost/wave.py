"""A wave of the timeline: which instruction comes next, from when on it may issue, and what it stands still for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mfmasim.cost.operation import Operation
    from mfmasim.cost.pipes import Latencies
    from mfmasim.cost.trace import WaveTrace
    from mfmasim.observe.flights import Register

__all__ = ["Wave"]


class Wave:
    """State of one wave; times are clocks."""

    def __init__(self, number: int, simd: int, trace: WaveTrace, operations: list[Operation]) -> None:
        """At its first instruction.

        Args:
            number: among the resident waves; the oldest is 0.
            simd: where it runs.
            trace: what it executes.
            operations: of the whole trace, by number.
        """
        self.number, self.simd, self.workgroup = number, simd, trace.workgroup
        self.codes, self.accesses = trace.operations, trace.accesses
        self.operations = operations
        self.place = 0
        self.priority = 0
        self.ready = 0.0
        """From when on its next instruction may issue, as far as the wave itself is concerned."""
        self.earliest = 0.0
        """The same without waiting: when the instruction before it lets it."""
        self.reason = ""
        """What `ready` is later than `earliest` for."""
        self.retry = 0.0
        self.held = ""
        """What kept it from issuing although it was ready."""
        self.waiting = False
        """At a barrier."""
        self.done = not len(trace.operations)
        self.registers: dict[Register, tuple[float, str]] = {}
        """From when on a register may be used, and what produces it."""
        self.sums: dict[Register, float] = {}
        """The same for a matrix instruction that adds to it."""
        self.flights: dict[str, list[float]] = {}
        """By counter, when what it counts is complete, in ascending order."""
        self.last: dict[tuple[str, str], float] = {}
        """By counter and order, when the last one completes."""
        self.phase = 0
        """Barriers that it has signalled."""

    @property
    def next(self) -> Operation:
        """Its next instruction."""
        return self.operations[self.codes[self.place]]

    def produce(self, op: Operation, now: float, late: Latencies) -> None:
        """Its instruction's results: when they may be used.

        Args:
            op: the instruction.
            now: when it issues.
            late: the latencies.
        """
        if op.matrix:
            done = now + op.matrix
            later = done + late.matrix
            for register in op.writes:
                self.registers[register] = (later, "matrix result")
                self.sums[register] = done
        elif op.slot == "VALU":
            done = now + (late.trans if op.trans else late.valu)
            for register in op.writes:
                self.registers[register] = (done, "VALU result")
        elif op.slot == "scalar" and not op.scalar_load:
            for register in op.writes:
                self.registers[register] = (now + late.salu, "scalar result")

    def fly(self, op: Operation, done: float) -> None:
        """Its instruction is in flight until `done`: counters count it."""
        for row in op.raises:
            if row.order:
                key = row.counter, row.order
                done = self.last[key] = max(done, self.last.get(key, 0.0))
            flights = self.flights.setdefault(row.counter, [])
            flights.append(done)
            if len(flights) > 1 and flights[-2] > done:
                flights.sort()

    def until(self, counter: str, value: int) -> float:
        """When a counter has fallen to a value."""
        flights = self.flights.get(counter)
        if not flights or len(flights) <= value:
            return 0.0
        when = flights[len(flights) - value - 1]
        self.flights[counter] = flights[len(flights) - value :] if value else []
        return when

    def advance(self, after: float) -> None:
        """Go to the next instruction, which the last one lets issue at `after`, and find when it may issue."""
        self.place += 1
        if self.place >= len(self.codes):
            self.done = True
            return
        op = self.operations[self.codes[self.place]]
        ready, reason = after, ""
        for counter, value in op.waits:
            when = self.until(counter, value)
            if when > ready:
                ready, reason = when, counter
        for row in op.raises:
            when = self.until(row.counter, row.limit - 1)
            if when > ready:
                ready, reason = when, f"{row.counter} full"
        known = self.registers
        for register in op.reads:
            found = known.get(register)
            if found is not None and found[0] > ready:
                if register in op.chained:
                    when = self.sums.get(register, 0.0)
                    if when > ready:
                        ready, reason = when, "matrix result"
                else:
                    ready, reason = found
        self.earliest, self.ready, self.reason, self.held, self.retry = after, ready, reason, "", 0.0
