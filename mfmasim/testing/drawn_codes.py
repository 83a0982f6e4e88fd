"""Hypothesis strategies for codes of number formats, by the classes in which kernels and models tend to fail.

Each strategy shrinks towards zero and towards earlier classes, and prints codes in hexadecimal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.errors import MfmasimError, unknown
from mfmasim.formats import convert
from mfmasim.formats import format as lookup

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hypothesis.strategies import SearchStrategy
    from numpy.typing import NDArray

    from mfmasim.formats import Format

CODE_KINDS = ("zero", "subnormal", "one", "max", "midpoint", "inf", "nan", "uniform")
"""Classes of codes: zeros; the smallest and largest subnormal and the smallest normal, with their neighbours; 1 and
its neighbours; the largest finite values; midpoints of a narrower format, one ulp to either side included;
infinities; NaN with every payload; uniform bits. Classes that the format lacks are skipped."""


class Code(int):
    """An integer that prints in hexadecimal, for readable failing examples."""

    def __repr__(self) -> str:
        return hex(self)


def codes(
    fmt: str | Format, kinds: Sequence[str] = CODE_KINDS, near: str | Format | None = None
) -> SearchStrategy[Code]:
    """Build a strategy of single codes.

    Args:
        fmt: format of the codes.
        kinds: classes to draw from, of `CODE_KINDS`.
        near: narrower format whose midpoints form the class ``midpoint``; without it that class is empty.

    Returns:
        A hypothesis strategy of `Code`.

    Raises:
        MfmasimError: an unknown class, or classes that are all empty for this format.

    >>> from hypothesis import find
    >>> find(codes("f32", ["midpoint"], near="e2m1fn"), lambda code: 0x40000000 < code < 0x80000000)
    0x401fffff
    """
    from hypothesis import strategies as st

    fmt = lookup(fmt)
    parts: list[SearchStrategy[int]] = []
    for kind in kinds:
        if kind not in CODE_KINDS:
            raise unknown("class of codes", kind, CODE_KINDS)
        if kind == "uniform":
            parts.append(st.integers(0, fmt.mask))
            continue
        magnitudes = _magnitudes(fmt, kind, None if near is None else lookup(near))
        if kind == "nan" and fmt.inf_code is not None:
            parts.append(_signed(fmt, st.integers(fmt.inf_code + (1 << fmt.unread_bits), fmt.mask >> 1)))
        elif kind == "zero" and magnitudes and fmt.negative_zero_code is None:
            parts.append(st.sampled_from(magnitudes))
        elif magnitudes:
            parts.append(_signed(fmt, st.sampled_from(magnitudes)))
    if not parts:
        raise MfmasimError(f"{fmt.name} has no codes of the classes {', '.join(kinds)}")
    return st.one_of(parts).map(Code)


def _signed(fmt: Format, magnitudes: SearchStrategy[int]) -> SearchStrategy[int]:
    """Codes with either sign, for formats with a separate sign bit."""
    from hypothesis import strategies as st

    if not fmt.signed or fmt.integer:
        return magnitudes
    return st.tuples(st.sampled_from((0, fmt.sign_bit)), magnitudes).map(lambda pair: pair[0] | pair[1])


def _magnitudes(fmt: Format, kind: str, near: Format | None) -> list[int]:
    """Codes of one class without their sign (integers: with it), in shrinking order."""
    step = 1 << fmt.unread_bits
    if kind == "midpoint":
        return [] if near is None else _midpoints(fmt, near)
    special: dict[str, int | None] = {"zero": fmt.zero_code, "inf": fmt.inf_code, "nan": fmt.nan_code}
    if kind in special:
        code = special[kind]
        return [] if code is None else [code]
    top = fmt.max_code
    if kind == "max":
        lowest = [fmt.sign_bit, fmt.sign_bit + 1] if fmt.special == "signed" else []
        return [top, top - step, *lowest]
    if kind == "one":
        one = 1 if fmt.integer else fmt.bias << fmt.mantissa_bits
        return [code for code in (one, one - step, one + step) if 0 < code <= top]
    if fmt.integer or fmt.special == "scale":
        return []
    normal = 1 << fmt.mantissa_bits
    return sorted({code for code in (step, normal - step, normal, normal + step, normal // 2) if 0 < code <= top})


def _midpoints(fmt: Format, near: Format) -> list[int]:
    """Codes at the midpoints of a narrow format, and next to them."""
    if near.bits > 16 or near.integer:
        raise MfmasimError(f"midpoints are those of a floating-point format of at most 16 bits, not {near.name}")
    values = near.decode(np.arange(near.max_code + 1))
    middle = (values[1:] + values[:-1]) / 2
    exact = convert(middle.view(np.uint64), "f64", fmt).astype(object)
    found = {int(code) + delta for code in exact for delta in (-1, 0, 1)}
    return sorted(code for code in found if 0 <= code <= fmt.max_code)


def code_arrays(
    fmt: str | Format, shape: int | tuple[int, ...], kinds: Sequence[str] = CODE_KINDS, near: str | Format | None = None
) -> SearchStrategy[NDArray[np.unsignedinteger[Any]]]:
    """Build a strategy of arrays of codes, in the format's ``carrier`` dtype.

    Args:
        fmt: format of the codes.
        shape: shape of the arrays.
        kinds: classes to draw from, of `CODE_KINDS`.
        near: narrower format whose midpoints form the class ``midpoint``.
    """
    from hypothesis import strategies as st

    fmt = lookup(fmt)
    size = int(np.prod(shape))
    lists = st.lists(codes(fmt, kinds, near), min_size=size, max_size=size)
    return lists.map(lambda drawn: np.array(drawn, fmt.carrier).reshape(shape))


def cancellation_pairs(fmt: str | Format) -> SearchStrategy[tuple[Code, Code]]:
    """Build a strategy of two finite codes whose sum cancels: a value and its negative, or one ulp off.

    Raises:
        MfmasimError: the format has no sign, or is an integer.
    """
    from hypothesis import strategies as st

    fmt = lookup(fmt)
    if not fmt.signed or fmt.integer:
        raise MfmasimError(f"{fmt.name} has no negative codes to cancel with")
    top = fmt.max_code
    first = st.integers(1, top - 1)

    def pair(drawn: tuple[int, int, int]) -> tuple[Code, Code]:
        code, beside, sign = drawn
        return Code(code | sign), Code(min(max(code + beside, 1), top) | (sign ^ fmt.sign_bit))

    return st.tuples(first, st.sampled_from((0, 1, -1)), st.sampled_from((0, fmt.sign_bit))).map(pair)
