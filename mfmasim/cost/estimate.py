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


def timelines(recorded: Recorded, *, cold: bool = False) -> dict[str, Timeline]:
    """The timeline at each end of the latencies' ranges; with `cold`, no cache has anything at its beginning."""
    return {end: timeline(recorded.trace, end, cold=cold) for end in ENDS}


@dataclass(frozen=True)
class Estimate:
    """Time of a launch, in milliseconds at the product's peak clock."""

    product: Product
    rounds: int
    """Rounds of workgroups: how often each unit is filled."""
    milliseconds: dict[str, float]
    """By end of the latencies' ranges."""
    memory: float
    """What memory takes to move every operand once."""
    bound: float
    """Of the pipes, for all turns, and of memory; without prologue and epilogue."""

    def record(self) -> dict[str, Any]:
        """As a dictionary that JSON can hold."""
        return {
            "product": self.product.name,
            "rounds": self.rounds,
            "milliseconds": self.milliseconds,
            "memory": self.memory,
            "bound": self.bound,
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
    memory = (recorded.operands if operands is None else operands) / (product.gigabytes * 1e6)
    found = {}
    for end, line in drawn.items():
        clocks = line.clocks + (max(0.0, wanted - done) * line.turn(head) if bound.looped else 0.0)
        found[end] = max(rounds * clocks / hertz, memory)
    least = max(rounds * bound.total * (wanted if bound.looped else 1) / hertz, memory)
    return Estimate(product, rounds, found, memory, least)
