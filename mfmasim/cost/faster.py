"""Matrix instructions that multiply the same formats at a higher rate than those that a kernel executes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from mfmasim.errors import MfmasimError
from mfmasim.matrix import instruction, instructions

if TYPE_CHECKING:
    from mfmasim.architectures import Arch
    from mfmasim.matrix import MatrixInstruction


@dataclass(frozen=True)
class Faster:
    """One executed instruction, and the fastest one of its formats."""

    executed: str
    fastest: str
    a: str
    b: str
    rate: int
    """Operations that the executed instruction does in a clock and unit (`MatrixInstruction.ops_per_cycle`)."""
    peak: int
    """The same of the fastest one."""

    def record(self) -> dict[str, Any]:
        """As a dictionary that JSON can hold."""
        return asdict(self)

    @property
    def line(self) -> str:
        """In words."""
        formats = self.a if self.a == self.b else f"{self.a} and {self.b}"
        return (
            f"{self.executed} does {self.rate:,} operations in a clock and unit, {self.rate / self.peak:.0%} of the "
            f"peak of {formats}: {self.fastest} does {self.peak:,}"
        )


def faster(arch: Arch, wave: int, names: Iterable[str]) -> list[Faster]:
    """The instructions that another one of the same formats outdoes, each once.

    Instructions with a choice of formats are left out: they are the fast ones.

    Args:
        arch: the architecture.
        wave: lanes of a wave.
        names: matrix instructions that are executed.
    """
    found = []
    for name in dict.fromkeys(names):
        own = _made(arch, name, None, None, wave)
        if own is None or own.sparse:
            continue
        others = [_made(arch, other, own.a, own.b, wave) for other in instructions(arch.name)]
        alike = [one for one in others if one is not None and _alike(one, own)]
        best = max(alike, key=lambda one: one.ops_per_cycle, default=own)
        if best.ops_per_cycle > own.ops_per_cycle:
            found.append(Faster(name, best.name, own.a, own.b, own.ops_per_cycle, best.ops_per_cycle))
    return found


def _alike(one: MatrixInstruction, other: MatrixInstruction) -> bool:
    """Whether two instructions give the same products: formats of A, B and D, dense, no block scales, one block."""
    kinds = [(each.a, each.b, each.d, each.sparse, each.blocks) for each in (one, other)]
    return kinds[0] == kinds[1] and one.scale_A is None


def _made(arch: Arch, name: str, a: str | None, b: str | None, wave: int) -> MatrixInstruction | None:
    """An instruction with formats that it may choose; None where it has another, or needs a choice."""
    try:
        return instruction(arch.name, name, a, b, wave)
    except MfmasimError:
        return None
