"""Pipes as resources: each is free from some clock on, and the first instruction to come occupies it."""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mfmasim.architectures.rates import Rates
    from mfmasim.cost.operation import Operation
    from mfmasim.cost.trace import Access

ENDS = ("low", "value", "high")
PORTION, SECTOR = 128, 64
"""Bytes of the rows of the L2, and those that a store of a part of a line takes at least."""


@dataclass(frozen=True)
class Latencies:
    """One value of each latency."""

    valu: float
    trans: float
    matrix: float
    salu: float
    branch: float
    barrier: float
    lds: float
    scalar: float
    l1: float
    l2: float
    miss: float
    l2_clocks: float
    """For `PORTION` bytes of the L2."""
    stores: float
    """For `PORTION` bytes that a unit stores."""
    shared: bool
    """Whether workgroups find in the L1 what others loaded: at the low end only, where they run in step."""
    carry: float
    valu_done: float
    overwrite: float
    salu_done: float
    internal: float
    through: float
    end: float
    cold_scalar: float
    cold_load: float
    cold_code: float
    release: float
    queue: int
    """Places of the vector queue: many at the low end, few at the high one."""


def latencies(rates: Rates, end: str = "value") -> Latencies:
    """Latencies at one end of their ranges: ``low``, ``value`` or ``high``."""
    k = ENDS.index(end)

    def at(name: str) -> float:
        return rates[name].ends[k]

    return Latencies(
        at("valu latency"),
        at("transcendental latency"),
        at("matrix latency"),
        at("salu latency"),
        at("branch"),
        at("barrier"),
        at("lds latency"),
        at("scalar load"),
        at("l1 latency"),
        at("l2 latency"),
        at("miss latency"),
        at("l2 sustained"),
        at("l2 stores"),
        not k,
        at("carry latency"),
        at("valu completion"),
        at("scalar overwrite"),
        at("salu completion"),
        at("internal"),
        at("fall through"),
        at("wave end"),
        at("cold scalar load"),
        at("cold load"),
        at("cold code"),
        at("queue release"),
        int(rates["vector queue"].ends[2 - k]),
    )


class SimdPipes:
    """When the pipes of a SIMD are free, and its queue of vector instructions.

    With a queue an instruction issues although those before it still execute, as long as the queue has a place; they
    execute in order. It stands at the entrance until it is accepted, and the wave's next one issues after that.
    """

    __slots__ = ("executed", "matrix", "queue", "trans", "valu")

    def __init__(self) -> None:
        """All free."""
        self.valu = self.matrix = self.trans = 0.0
        self.executed = 0.0
        """When the last instruction of the queue has executed."""
        self.queue: deque[float] = deque()
        """When each instruction leaves the queue, in order."""

    def send(
        self, op: Operation, ready: float, now: float, period: float, late: Latencies, *, on_valu: bool
    ) -> tuple[float, float, float]:
        """Issue a vector instruction.

        Args:
            op: the instruction.
            ready: when its operands are there; without a queue it issues after that.
            now: when it issues.
            period: of issue.
            late: the latencies.
            on_valu: matrix instructions occupy the vector ALU.

        Returns:
            When its wave may go on, when it starts to execute, when it is executed.
        """
        needs = op.cycles
        cycles = max(needs.get("matrix", 0.0), needs.get("VALU", 0.0), needs.get("transcendental", 0.0))
        accepted, start, busy = now, now, now + cycles
        if late.queue > 1:
            beyond = late.release if op.matrix else 0.0
            executed = op.matrix or needs["VALU"]
            accepted, start, busy = self.accept(executed, beyond, ready, now, late.queue)
            busy = max(busy, start + cycles)
            self.valu = max(accepted, now + (period if op.matrix else needs["VALU"]))
        elif op.matrix:
            self.matrix = now + op.matrix
            self.valu = now + (op.matrix if on_valu else op.shadow or period)
        else:
            self.valu = now + needs["VALU"]
        if op.trans:
            self.trans = now + needs["transcendental"]
        return accepted, start, busy

    def accept(self, cycles: float, beyond: float, ready: float, now: float, places: int) -> tuple[float, float, float]:
        """Send an instruction to the queue.

        Args:
            cycles: that it executes.
            beyond: clocks until it leaves the queue after that.
            ready: when its operands are there.
            now: when it issues.
            places: of the queue, without the one that executes.

        Returns:
            When it is accepted, starts to execute and is executed.
        """
        while self.queue and self.queue[0] <= now:
            self.queue.popleft()
        accepted = max(now, self.queue[-places]) if len(self.queue) >= places else now
        start = max(accepted, ready, self.executed)
        self.executed = start + cycles
        self.queue.append(max(self.executed + beyond, self.queue[-1] if self.queue else 0.0))
        return accepted, start, self.executed


@dataclass(frozen=True, slots=True)
class Served:
    """How an access was served."""

    pipe: str
    start: float
    """When its pipe begins with it."""
    busy: float
    """Until when the pipe is occupied."""
    done: float
    """When its result is there."""


class GroupPipes:
    """The LDS, its ports and the vector memory unit of a group of SIMDs, in the order in which accesses come.

    The L1 holds the lines that were used last, as many as its size allows, whatever their addresses. Which workgroups
    meet on a unit, and whether they run in step, is not known: they share lines at the low end only. Behind it count
    the bandwidth of the L2, as sustained while all units ask, and two latencies: of lines that the unit asked for
    before, which the L2 has, and of others, which come from behind it.
    """

    def __init__(self, rates: Rates, late: Latencies, *, cold: bool = False) -> None:
        """All free, the L1 empty; with `cold`, of lines that were never touched no cache has any."""
        self.cold = cold
        self.arrives: dict[int, float] = {}
        """When a line that no cache had is there."""
        self.rates, self.late = rates, late
        self.lds = self.fill = self.memory = self.l2 = self.stores = 0.0
        self.ports: dict[int, float] = {}
        self.lines: OrderedDict[tuple[int, int], None] = OrderedDict()
        self.touched: set[int] = set()
        """Lines that this unit asked for before."""
        self.most = max(1, rates.l1_bytes // rates.line_bytes)
        self.l2_clocks = late.l2_clocks * rates.line_bytes / PORTION

    def access_lds(self, access: Access, pair: int, now: float) -> Served:
        """Serve an LDS instruction.

        Args:
            access: what it needs.
            pair: of SIMDs, whose port it takes.
            now: when it issues.
        """
        start = max(now, self.lds, self.ports.get(pair, 0.0))
        self.lds, self.ports[pair] = start + access.lds, start + access.port
        busy = start + max(access.lds, access.port)
        return Served("LDS", start, busy, busy + self.late.lds)

    def access_memory(self, access: Access, workgroup: int, now: float) -> Served:
        """Serve a vector memory instruction; FLAT accesses of the LDS count as loads straight into it.

        Args:
            access: what it needs.
            workgroup: whose it is.
            now: when it issues.
        """
        start = max(now, self.memory)
        busy = self.memory = start + access.memory(self.rates)
        if access.write:  # through the L1 to the L2, in sectors
            stored = max(access.bytes, SECTOR * len(access.lines)) * self.late.stores / PORTION
            self.stores = max(self.stores, start) + stored
            return Served("memory", start, busy, max(busy, self.stores) + self.late.l2)
        done = busy + self.late.l1
        missed = self._missed(access.lines, 0 if self.late.shared else workgroup)
        if missed:
            self.l2 = max(self.l2, start) + missed * self.l2_clocks
            known = self.touched.issuperset(access.lines)
            self.touched.update(access.lines)
            far = self.late.l2 if known else self.late.miss
            done = max(done, self.l2 + far, self.first_touch(access.lines, start, self.late.cold_load))
        if access.fill:
            done = self.fill = max(self.fill, done) + access.fill
        return Served("memory", start, busy, done)

    def first_touch(self, lines: Iterable[int], now: float, latency: float) -> float:
        """When lines that no cache had at the beginning are there; 0 in a warm start.

        Args:
            lines: their numbers.
            now: when they are touched.
            latency: of those that nothing touched before.
        """
        if not self.cold:
            return 0.0
        return max((self.arrives.setdefault(line, now + latency) for line in lines), default=0.0)

    def _missed(self, lines: tuple[int, ...], owner: int) -> int:
        """Lines of an owner that are not in the L1; then they are."""
        held, missed = self.lines, 0
        for line in lines:
            if (owner, line) in held:
                held.move_to_end((owner, line))
            else:
                missed += 1
                held[owner, line] = None
                if len(held) > self.most:
                    held.popitem(last=False)
        return missed


class ColdCode:
    """Code that no cache had: by blocks of 256 bytes, each asked for when the one before is entered."""

    SIZE = 256

    def __init__(self) -> None:
        """Nothing is there but what comes with a wave: the block of its first instruction."""
        self.arrives: dict[int, float] = {}

    def fetch(self, op: Operation, follower: Operation, now: float, latency: float) -> float:
        """When the whole of the next instruction is there.

        Args:
            op: what issues.
            follower: the next one.
            now: when it issues.
            latency: of a block.
        """
        here, there = op.pc // self.SIZE, (follower.pc + follower.size - 1) // self.SIZE
        self.arrives.setdefault(here, now)
        self.arrives.setdefault(here + 1, now + latency)
        return self.arrives.setdefault(there, now + latency)


def branched(op: Operation, follower: Operation, now: float, period: float, late: Latencies) -> float:
    """From when on the next instruction may issue as far as a branch lets it.

    Args:
        op: what issues.
        follower: what is executed next.
        now: when it issues.
        period: of issue.
        late: the latencies.
    """
    if not op.flow or op.ends:
        return now
    return now + (late.through if follower.pc == op.next_pc else period + late.branch)
