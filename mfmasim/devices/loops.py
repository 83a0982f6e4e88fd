"""Loops of a kernel, from what was executed: a branch that goes back, and what runs between its target and it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mfmasim.devices.coverage import family_of
from mfmasim.errors import MfmasimError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mfmasim.isa import Instruction
    from mfmasim.program import Kernel

__all__ = ["Loop", "loops_of", "main_loop"]


@dataclass(frozen=True)
class Loop:
    """One loop. Counts are averages of a wave and a turn."""

    first: int
    """Address of the first instruction."""
    last: int
    """Address of the branch that goes back."""
    turns: int
    """Turns of all waves together."""
    counts: dict[str, float]
    """Instructions by mnemonic."""
    mix: dict[str, float]
    """Instructions by family."""
    source: str
    """Source line of the branch."""

    def record(self) -> dict[str, Any]:
        """As a dictionary that JSON can hold."""
        return vars(self)


def loops_of(kernel: Kernel, executed: Mapping[int, int]) -> list[Loop]:
    """Every loop that was executed, in address order; of several branches to one place the last one counts.

    Args:
        kernel: its instructions.
        executed: wave-instructions by address.
    """
    try:
        instructions: Sequence[Instruction] = kernel.instructions
    except MfmasimError:  # data among the code
        instructions = kernel.decodable
    backwards: dict[int, int] = {}
    for ins in instructions:
        if ins.target is not None and ins.target <= ins.pc and executed.get(ins.pc):
            backwards[ins.target] = ins.pc
    return [_loop(kernel, instructions, executed, first, last) for first, last in sorted(backwards.items())]


def _loop(
    kernel: Kernel, instructions: Sequence[Instruction], executed: Mapping[int, int], first: int, last: int
) -> Loop:
    counts: Counter[str] = Counter()
    mix: Counter[str] = Counter()
    for ins in instructions:
        if first <= ins.pc <= last and executed.get(ins.pc):
            counts[ins.name] += executed[ins.pc]
            mix[family_of(ins)] += executed[ins.pc]
    turns = max(executed[last], executed.get(first, 0))
    return Loop(
        first, last, turns,
        {name: count / turns for name, count in counts.most_common()},
        {name: count / turns for name, count in mix.most_common()},
        kernel.source_at(last),
    )  # fmt: skip


def main_loop(loops: Sequence[Loop]) -> Loop | None:
    """The loop in which most matrix instructions were executed, or, without any, most instructions; the inner one."""

    def weight(loop: Loop) -> tuple[float, float, int]:
        return loop.mix.get("MATRIX", 0) * loop.turns, sum(loop.mix.values()) * loop.turns, loop.first - loop.last

    return max(loops, key=weight, default=None)
