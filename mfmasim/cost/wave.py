"""A wave of the timeline: which instruction comes next, from when on it may issue, and what it stands still for."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mfmasim.cost.operation import Operation
    from mfmasim.cost.pipes import Latencies
    from mfmasim.cost.trace import WaveTrace
    from mfmasim.observe.flights import Register


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
        self.cause = -1
        """Number of the operation whose result it waits for; -1 where it waits for none."""
        self.worst = (0.0, -1)
        """The longest that it stood still since the last barrier, and what caused it."""
        self.reason = ""
        """What `ready` is later than `earliest` for."""
        self.retry = 0.0
        self.held = ""
        """What kept it from issuing although it was ready."""
        self.waiting = False
        """At a barrier."""
        self.done = not len(trace.operations)
        self.registers: dict[Register, tuple[float, str, int]] = {}
        """From when on a register may be used, what produces it, and the number of that operation."""
        self.sums: dict[Register, float] = {}
        """The same for a matrix instruction that adds to it."""
        self.flights: dict[str, list[float]] = {}
        """By counter, when what it counts is complete, in ascending order."""
        self.flown: dict[tuple[str, float], int] = {}
        """By counter and when it is complete, the number of an operation that it counts."""
        self.last: dict[tuple[str, str], float] = {}
        """By counter and order, when the last one completes."""
        self.masks: dict[Register, tuple[float, int]] = {}
        """When a vector instruction wrote a scalar register, and its number."""
        self.taken: set[Register] = set()
        """Scalar registers that vector instructions read."""
        self.took = self.vector = self.scalar = self.stored = -inf
        """When the last vector instruction that reads scalar registers issued; the last vector and scalar instruction;
        the last store."""
        self.outside = False
        """Whether the last instruction, those that are free aside, is other than a wait or hint."""
        self.issued = 0.0
        """When it issued."""
        self.delayed: set[int] = set()
        """Places of the instructions that S_DELAY_ALU delays."""
        self.drained = 0.0
        """When its vector instructions are executed."""
        self.phase = 0
        """Barriers that it has signalled."""

    @property
    def next(self) -> Operation:
        """Its next instruction."""
        return self.operations[self.codes[self.place]]

    def produce(self, op: Operation, now: float, late: Latencies, start: float, done: float) -> None:
        """Its instruction's results: when they may be used.

        Args:
            op: the instruction.
            now: when it issues.
            late: the latencies.
            start: when a vector instruction begins to execute.
            done: when a matrix instruction is executed.
        """
        self.delayed.update(self.place + 1 + skipped for skipped in op.delays)
        if not op.free:
            self.issued, self.outside = now, op.slot != "internal"
        if op.slot == "VALU":
            self.vector = start
            self.drained = max(self.drained, done + late.release if op.matrix and late.queue > 1 else done)
            if op.scalars:
                self.took = now
                self.taken.update(op.scalars)
            later = done + late.matrix if op.matrix else start + (late.trans if op.trans else late.valu)
            reason = "matrix result" if op.matrix else "VALU result"
            for register in op.writes:
                self.registers[register] = (later, reason, op.number)
                if op.matrix:
                    self.sums[register] = done
                if register[0] == "s":
                    self.masks[register] = (now, op.number)
        elif op.slot == "scalar" and not op.scalar_load:
            self.scalar = now
            for register in op.writes:
                self.registers[register] = (now + late.salu, "scalar result", op.number)
                self.masks.pop(register, None)
                self.taken.discard(register)
        elif op.stores:
            self.stored = now

    def operands(self, op: Operation) -> float:
        """When the registers that a vector instruction reads are there."""
        when = 0.0
        for register in op.reads:
            found = self.registers.get(register)
            if found is not None and register not in self.masks:
                when = max(when, self.sums.get(register, 0.0) if register in op.chained else found[0])
        return when

    def fly(self, op: Operation, done: float) -> None:
        """Its instruction is in flight until `done`: counters count it."""
        for row in op.raises:
            if row.order:
                key = row.counter, row.order
                done = self.last[key] = max(done, self.last.get(key, 0.0))
            flights = self.flights.setdefault(row.counter, [])
            flights.append(done)
            self.flown[row.counter, done] = op.number
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

    def advance(self, after: float, late: Latencies, *, queued: bool = False) -> None:
        """Go to the next instruction, and find when it may issue.

        Args:
            after: from when on the last one lets it issue.
            late: the latencies.
            queued: vector instructions wait for their operands in the queue, unless S_DELAY_ALU delays their issue.
        """
        self.place += 1
        if self.place >= len(self.codes):
            self.done = True
            return
        op = self.operations[self.codes[self.place]]
        if op.slot == "internal" and not op.free and self.outside:
            after = max(after, self.issued + late.internal)
        ready, reason, cause = after, "", -1
        when, why = self._pipelines(op, late)
        if when > ready:
            ready, reason = when, why
        for counter, value in op.waits:
            when = self.until(counter, value)
            if when > ready:
                ready, reason, cause = when, counter, self.flown[counter, when]
        for row in op.raises:
            when = self.until(row.counter, row.limit - 1)
            if when > ready:
                ready, reason, cause = when, f"{row.counter} full", self.flown[row.counter, when]
        known = self.registers
        waits = not queued or op.slot != "VALU" or self.place in self.delayed
        self.delayed.discard(self.place)
        for register in op.reads if waits else ():
            found = known.get(register)
            if found is not None and found[0] > ready:
                if register in op.chained:
                    when = self.sums.get(register, 0.0)
                    if when > ready:
                        ready, reason, cause = when, "matrix result", found[2]
                elif register not in self.masks:
                    ready, reason, cause = found
            if register in self.masks:
                issued, number = self.masks[register]
                when = issued + (late.carry if op.slot == "VALU" else late.valu_done)
                if when > ready:
                    ready, reason, cause = when, "VALU result", number
        self.earliest, self.ready, self.reason, self.held, self.retry = after, ready, reason, "", 0.0
        self.cause = cause

    def _pipelines(self, op: Operation, late: Latencies) -> tuple[float, str]:
        """What an instruction waits for whatever its registers hold: until when, and for what."""
        slot = op.slot
        if slot in ("LDS", "memory") or op.settles == "vector":
            return self.vector + late.valu_done, "VALU"
        if op.scalar_load or op.on_scc or op.settles == "scalar":
            return self.scalar + late.salu_done, "scalar result"
        if op.ends:
            return max((self.stored + late.end, "stores"), (self.drained, "VALU"))
        if slot == "scalar" and not self.taken.isdisjoint(op.writes):
            return self.took + late.overwrite, "VALU"
        return 0.0, ""
