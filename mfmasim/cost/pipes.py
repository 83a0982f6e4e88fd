"""Pipes as resources: each is free from some clock on, and the first instruction to come occupies it."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mfmasim.architectures.rates import Rates
    from mfmasim.cost.trace import Access

__all__ = ["GroupPipes", "Latencies", "Served", "SimdPipes", "latencies"]

ENDS = ("low", "value", "high")


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


def latencies(rates: Rates, end: str = "value") -> Latencies:
    """Latencies at one end of their ranges: ``low``, ``value`` or ``high``."""
    k = ENDS.index(end)

    def at(name: str) -> float:
        return rates[name].ends[k]

    return Latencies(
        at("valu latency"), at("transcendental latency"), at("matrix latency"), at("salu latency"), at("branch"),
        at("barrier"), at("lds latency"), at("scalar load"), at("l1 latency"), at("l2 latency"),
    )  # fmt: skip


class SimdPipes:
    """When the pipes of a SIMD are free."""

    __slots__ = ("matrix", "trans", "valu")

    def __init__(self) -> None:
        """All free."""
        self.valu = self.matrix = self.trans = 0.0


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

    The L1 holds the lines that were used last, as many as its size allows, whatever their addresses. Of the levels
    behind it only the bandwidth and latency of the L2 count: a line is always there.
    """

    def __init__(self, rates: Rates, late: Latencies) -> None:
        """All free, the L1 empty."""
        self.rates, self.late = rates, late
        self.lds = self.fill = self.memory = self.l2 = 0.0
        self.ports: dict[int, float] = {}
        self.lines: OrderedDict[int, None] = OrderedDict()
        self.most = max(1, rates.l1_bytes // rates.line_bytes)
        self.l2_clocks = rates.line_bytes / rates["l2"].value

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

    def access_memory(self, access: Access, now: float) -> Served:
        """Serve a vector memory instruction; FLAT accesses of the LDS count as loads straight into it."""
        start = max(now, self.memory)
        busy = self.memory = start + access.memory(self.rates)
        done = busy + self.late.l1
        missed = self._missed(access.lines)
        if missed:
            self.l2 = max(self.l2, start) + missed * self.l2_clocks
            done = max(done, self.l2 + self.late.l2)
        if access.fill:
            done = self.fill = max(self.fill, done) + access.fill
        return Served("memory", start, busy, done)

    def _missed(self, lines: tuple[int, ...]) -> int:
        """Lines that are not in the L1; then they are."""
        held, missed = self.lines, 0
        for line in lines:
            if line in held:
                held.move_to_end(line)
            else:
                missed += 1
                held[line] = None
                if len(held) > self.most:
                    held.popitem(last=False)
        return missed
