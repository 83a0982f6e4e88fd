"""What a source declares of its kernels: names and types of parameters, and the variables in the LDS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mfmasim.codeobject.ctypes import CType


@dataclass(frozen=True)
class Parameter:
    """One parameter of a kernel."""

    name: str
    type: CType | None


@dataclass(frozen=True)
class Variable:
    """A variable in the LDS, as the compiler is given it."""

    symbol: str
    """What the compiler sorts variables by."""
    name: str
    type: CType
    size: int
    """Bytes; 0 for dynamic LDS."""
    alignment: int


@dataclass(frozen=True)
class LdsVariable:
    """A variable at its place in the workgroup's LDS."""

    name: str
    type: CType
    offset: int
    size: int


@dataclass(frozen=True)
class Declared:
    """A kernel as its source declares it."""

    parameters: tuple[Parameter, ...] = ()
    variables: tuple[Variable, ...] = ()


def lds_layout(variables: Sequence[Variable], total: int) -> tuple[LdsVariable, ...]:
    """Where LLVM puts the LDS variables of a kernel.

    Args:
        variables: those that the kernel uses.
        total: static LDS of the kernel in bytes, from its descriptor.

    Returns:
        The variables by offset; none if they do not add up to `total`: then the compiler removed or shared some.

    LLVM sorts variables by their symbols, raises small alignments (``AMDGPULowerModuleLDSPass``), and lays them out by
    falling alignment and size; bytes that alignment would waste are filled with the largest variable that needs none
    (``performOptimizedStructLayout``).
    """
    static = [v for v in sorted(variables, key=lambda v: v.symbol) if v.size]
    left = sorted(((_alignment(v), v) for v in static), key=lambda pair: (-pair[0], -pair[1].size))
    places: list[LdsVariable] = []
    end = 0
    while left:
        at, chosen = _next(left, end)
        alignment, variable = left.pop(chosen)
        del alignment
        places.append(LdsVariable(variable.name, variable.type, at, variable.size))
        end = at + variable.size
    if not end <= total < end + 16:  # the structure ends at a multiple of its largest alignment
        return ()
    dynamic = [v for v in variables if not v.size]
    for variable in dynamic:  # all of them begin where static LDS ends
        at = -(-end // variable.alignment) * variable.alignment
        places.append(LdsVariable(variable.name, variable.type, at, 0))
    return tuple(places)


def _next(left: list[tuple[int, Variable]], end: int) -> tuple[int, int]:
    """Offset and number of the next variable: the first that needs no padding, else the first that needs least."""
    alignments = sorted({alignment for alignment, _ in left})
    for alignment in alignments:
        at = -(-end // alignment) * alignment
        fits = (n for n, (own, _) in enumerate(left) if at % own == 0)
        found = next(fits, None)
        if found is not None:
            return at, found
    return end, 0


def _alignment(variable: Variable) -> int:
    """The alignment that LLVM gives a variable, so that wide LDS instructions can access it."""
    for size, alignment in ((8, 16), (4, 8), (2, 4), (1, 2)):
        if variable.size > size:
            return max(alignment, variable.alignment)
    return max(1, variable.alignment)
