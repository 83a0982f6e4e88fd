"""From one unit to a whole launch: rounds of workgroups, turns that were not simulated, and what memory takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mfmasim.cost.timeline import timeline

if TYPE_CHECKING:
    from mfmasim.architectures.rates import Product
    from mfmasim.cost.bound import Bound
    from mfmasim.cost.resident import Recorded
    from mfmasim.cost.timeline import Timeline

ENDS = ("low", "value", "high")
LAUNCH = 2.1e-3
"""Milliseconds from one launch to the next of a kernel that does nothing: BENCH, gpu-small-kernels, on an MI210."""


def timelines(recorded: Recorded, *, cold: bool = False) -> dict[str, Timeline]:
    """The timeline at each end of the latencies' ranges; with `cold`, no cache has anything at its beginning."""
    return {end: timeline(recorded.trace, end, cold=cold) for end in ENDS}


def megahertz(product: Product, busy: float, end: str) -> float:
    """The clock at which a launch runs.

    Power is taken as proportional to the clock and to the time in which matrix cores are busy: where this exceeds what
    the product sustains in a long product, the clock falls. At the low end it is the peak clock, as of a short launch
    or of data that hardly toggle; at the high one it falls from the peak on, since loads and the LDS need power, too.

    Args:
        product: the GPU.
        busy: part of the time in which matrix cores are busy.
        end: of the ranges: ``low``, ``value`` or ``high``.
    """
    peak, (loaded, share) = product.megahertz, product.loaded
    if end == "low" or not loaded:
        return peak
    if end == "high":
        peak -= (peak - loaded) * min(1.0, busy / share)
    return min(peak, loaded * share / busy) if busy else peak


@dataclass(frozen=True)
class Estimate:
    """Time of a launch, in milliseconds.

    The low end is that of the latencies' ranges at the peak clock; the others take the clock under load, the memory
    bandwidth that a copy reaches, and what a launch costs.
    """

    product: Product
    rounds: int
    """Rounds of workgroups: how often each unit is filled."""
    milliseconds: dict[str, float]
    """By end of the latencies' ranges."""
    memory: float
    """What memory takes to move every operand once."""
    bound: float
    """Of the pipes, for all turns, and of memory; without prologue and epilogue."""
    megahertz: dict[str, float]
    """Clock by end."""

    def record(self) -> dict[str, Any]:
        """As a dictionary that JSON can hold."""
        return {
            "product": self.product.name,
            "rounds": self.rounds,
            "milliseconds": self.milliseconds,
            "memory": self.memory,
            "bound": self.bound,
            "megahertz": self.megahertz,
        }


def turns_for(bound: Bound, recorded: int, wanted: int, step: int) -> float:
    """Turns of the main loop of a sum that was recorded with fewer elements; 1 where no loop was found.

    Args:
        bound: of the recorded turns.
        recorded: length of the recorded sum.
        wanted: length of the sum.
        step: what a turn takes of it is a multiple of this.
    """
    turns = bound.turns + 1
    each = step * max(1, round(recorded / turns / step))
    return turns + (wanted - recorded) / each


def estimate(
    recorded: Recorded,
    bound: Bound,
    drawn: dict[str, Timeline],
    product: Product,
    *,
    turns: float | None = None,
    workgroups: int | None = None,
    operands: int | None = None,
) -> Estimate:
    """Estimate a launch.

    Args:
        recorded: what one unit holds.
        bound: of the main loop's turns.
        drawn: its timelines by end.
        product: the GPU.
        turns: turns of the main loop in the launch, where fewer were recorded.
        workgroups: workgroups of the launch, where it is larger than the one that was recorded.
        operands: bytes that memory has to move once, likewise.
    """
    total = recorded.workgroups if workgroups is None else workgroups
    rounds = max(1, -(-total // (product.units * recorded.resident)))
    head = recorded.head
    done = bound.turns + 1 if bound.looped else 1
    wanted = done if turns is None else turns
    hertz = product.megahertz * 1e3
    moved = recorded.operands if operands is None else operands
    memory = moved / (product.gigabytes * 1e6)
    found, clock = {}, {}
    for end, line in drawn.items():
        looped = wanted * line.turn(head) if bound.looped else 0.0
        clocks = line.clocks + (max(0.0, wanted - done) * line.turn(head) if bound.looped else 0.0)
        busy = line.matrix_share(head) * (min(1.0, looped / clocks) if bound.looped and clocks else 1.0)
        clock[end] = megahertz(product, busy, end)
        reached = memory if end == "low" else moved / ((product.sustained or product.gigabytes) * 1e6)
        found[end] = max(rounds * clocks / (clock[end] * 1e3), reached) + (0.0 if end == "low" else LAUNCH)
    least = max(rounds * bound.total * (wanted if bound.looped else 1) / hertz, memory)
    return Estimate(product, rounds, found, memory, least, clock)
