"""Hypothesis strategies for operands, matrix instructions with modifiers, LDS accesses, swizzles, layouts and grids."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mfmasim.errors import MfmasimError, unknown
from mfmasim.grids import MAPS, layout
from mfmasim.lds import Swizzle, terms_of
from mfmasim.matrix import MatrixInstruction, instruction, instructions
from mfmasim.matrix.modifiers import check
from mfmasim.matrix.request import F8F6F4, Modes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hypothesis.strategies import DrawFn, SearchStrategy
    from numpy.typing import DTypeLike, NDArray

    from mfmasim.grids import Layout

_FIELDS = (
    ("cbsz",), ("abid",), ("blgp",), ("op_sel",), ("neg",), ("neg_hi",), ("scale_a_byte",), ("scale_b_byte",),
    ("scale_a_row",), ("scale_b_row",), ("scale_a_format", "scale_b_format"),
)  # fmt: skip
"""Modifiers in the order in which they are drawn; formats of two scales depend on each other."""


def sparse_changes(
    shape: int | tuple[int, ...], elements: SearchStrategy[Any], dtype: DTypeLike, most: int = 4
) -> SearchStrategy[NDArray[Any]]:
    """Build a strategy of arrays of one value but for a few elements: a failure shrinks to those that matter.

    Args:
        shape: shape of the arrays.
        elements: strategy of their elements, such as `codes`.
        dtype: dtype of the arrays.
        most: most elements that differ from the others.
    """
    from hypothesis import strategies as st

    full = shape if isinstance(shape, tuple) else (shape,)

    @st.composite
    def drawn(draw: DrawFn) -> NDArray[Any]:
        array = np.full(full, draw(elements), dtype)
        place = st.tuples(*(st.integers(0, extent - 1) for extent in full))
        for where, value in draw(st.lists(st.tuples(place, elements), max_size=most)):
            array[where] = value
        return array

    return drawn()


class ModifiedInstruction(NamedTuple):
    """A matrix instruction and the modifiers under which it executes."""

    op: MatrixInstruction
    modes: Modes

    def __repr__(self) -> str:
        """Name, formats and modifiers that are set, for readable failing examples."""
        words = "".join(f" {name}:{value}" for name, value in vars(self.modes).items() if value != vars(Modes())[name])
        return f"{self.op!r}{words}"


def matrix_instructions(arch: str, match: str = "") -> SearchStrategy[ModifiedInstruction]:
    """Build a strategy of matrix instructions with legal modifiers: formats, wave size, CBSZ, ABID, BLGP, OPSEL, NEG.

    Args:
        arch: architecture.
        match: text that the instructions' names contain.

    Returns:
        A strategy that shrinks to the first instruction without modifiers.

    Raises:
        MfmasimError: no instruction matches.
    """
    from hypothesis import strategies as st

    from mfmasim.architectures import arch as find_arch

    names = [name for name in instructions(arch) if match in name]
    if not names:
        raise unknown("instruction", match, instructions(arch), f"on {arch}")

    @st.composite
    def drawn(draw: DrawFn) -> ModifiedInstruction:
        name = draw(st.sampled_from(names))
        choice = "f8f6f4" in name
        a, b = (draw(st.sampled_from(F8F6F4)) if choice else None for _ in "AB")
        op = instruction(arch, name, a, b, draw(st.sampled_from(find_arch(arch).wave_sizes)))
        modes = Modes()
        for fields in _FIELDS:
            modes = draw(st.sampled_from(_legal(op, modes, fields)))
        return ModifiedInstruction(op, modes)

    return drawn()


@cache
def _legal(op: MatrixInstruction, modes: Modes, fields: tuple[str, ...]) -> list[Modes]:
    """Modifiers that are legal with every value of some fields, beside those that were chosen."""
    found = []
    for values in product(range(16 if len(fields) == 1 else 3), repeat=len(fields)):
        changed = Modes(**(vars(modes) | dict(zip(fields, values, strict=True))))
        try:
            check(op, changed)
        except MfmasimError:
            continue
        found.append(changed)
    return found


def lds_accesses(
    choices: Sequence[tuple[str, str]], most: int = 500, *, aligned: bool = False
) -> SearchStrategy[tuple[str, str, NDArray[np.int64], NDArray[np.bool_]]]:
    """Build a strategy of wave accesses to the LDS.

    Args:
        choices: pairs of architecture and instruction, such as ``("gfx942", "ds_read_b64")``.
        most: largest multiple of the access's size, or of 1 or 4 bytes, that an address is.
        aligned: only addresses that are multiples of the access's size (of 16 for 12 bytes).

    Returns:
        A strategy of architecture, instruction, byte addresses of 64 lanes, and whether a lane is active.
    """
    from hypothesis import strategies as st

    @st.composite
    def drawn(draw: DrawFn) -> tuple[str, str, NDArray[np.int64], NDArray[np.bool_]]:
        arch, name = draw(st.sampled_from(list(choices)))
        size = int("".join(filter(str.isdigit, name.rpartition("_")[2]))) // 8
        step = (16 if size == 12 else size) if aligned else draw(st.sampled_from([1, 4, size]))
        numbers = draw(st.lists(st.integers(0, most), min_size=64, max_size=64))
        active = draw(st.lists(st.booleans(), min_size=64, max_size=64))
        return arch, name, np.array(numbers, np.int64) * step, np.array(active)

    return drawn()


def lds_swizzles(alignment: int = 1) -> SearchStrategy[Swizzle]:
    """Build a strategy of tiles whose columns are exclusive-ored with any linear function of the row.

    Args:
        alignment: bytes that stay together, a power of two up to 128.

    Raises:
        MfmasimError: another alignment.
    """
    from hypothesis import strategies as st

    if alignment not in (1, 2, 4, 8, 16, 32, 64, 128):
        raise MfmasimError(f"alignment {alignment}: a power of two from 1 to 128 is expected")
    low = alignment.bit_length() - 1

    @st.composite
    def drawn(draw: DrawFn) -> Swizzle:
        row_bits, column_bits = draw(st.integers(1, 6)), draw(st.integers(max(4, low + 1), 8))
        image = st.integers(0, (1 << column_bits - low) - 1)
        images = draw(st.lists(image, min_size=row_bits, max_size=row_bits))
        terms = terms_of((column_bits + bit, value << low) for bit, value in enumerate(images))
        return Swizzle(1 << row_bits, 1 << column_bits, terms)

    return drawn()


@dataclass(frozen=True)
class CuteLayout:
    """A layout as CuTe writes it; its text is what ``mfmasim lds --layout`` and `mfmasim.lds.layout_offsets` read.

    >>> str(CuteLayout([4, [2, 2]], [1, [8, 4]]))
    '(4, (2, 2)):(1, (8, 4))'
    """

    shape: Any
    """Extents: an integer, or a list of shapes."""
    stride: Any
    """Strides, nested like the shape."""

    def __str__(self) -> str:
        """``SHAPE:STRIDE``."""
        return f"{_written(self.shape)}:{_written(self.stride)}"


def _written(mode: Any) -> str:
    return str(mode) if isinstance(mode, int) else f"({', '.join(map(_written, mode))})"


def cute_layouts(most: int = 300) -> SearchStrategy[CuteLayout]:
    """Build a strategy of layouts of CuTe, with nested modes of 1 to 5 elements.

    Args:
        most: largest stride.
    """
    from hypothesis import strategies as st

    shapes = st.recursive(st.integers(1, 5), lambda modes: st.lists(modes, min_size=1, max_size=3), max_leaves=4)

    @st.composite
    def drawn(draw: DrawFn) -> CuteLayout:
        def strides(mode: Any) -> Any:
            return draw(st.integers(0, most)) if isinstance(mode, int) else [strides(part) for part in mode]

        shape = draw(shapes)
        return CuteLayout(shape, strides(shape))

    return drawn()


def grid_layouts(names: Sequence[str] = (), most: int = 20) -> SearchStrategy[Layout]:
    """Build a strategy of maps from workgroups to tiles, applied to a grid.

    Args:
        names: maps, of `mfmasim.grids.MAPS`; default: those that are permutations of every grid.
        most: most rows and columns of tiles.

    Raises:
        MfmasimError: an unknown map.
    """
    from hypothesis import strategies as st

    for name in names:
        if name not in MAPS:
            raise unknown("map", name, MAPS)
    chosen = list(names) or [name for name, one in MAPS.items() if one.right]
    side, few = st.integers(1, most), st.integers(1, 9)
    return st.builds(layout, st.sampled_from(chosen), side, side, xcds=few, window=few, chunk=few)
