"""Comparison of outputs, with a failure message that shows where and how they differ."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.errors import MfmasimError
from mfmasim.verify.arrays import Array
from mfmasim.verify.plain import compare_array
from mfmasim.verify.tolerance import Tolerance

SHOWN = 8
FORMATS = {"f2": "f16", "f4": "f32", "f8": "f64"}


def assert_same_bits(actual: object, expected: object, *, format: str = "", shown: int = SHOWN, **bounds: Any) -> None:  # noqa: A002
    """Fail unless two arrays hold the same bits, or values within a bound; any NaN equals any NaN.

    Args:
        actual: the kernel's output.
        expected: the expected output, of the same shape and dtype.
        format: number format of codes, such as ``"e4m3fn"`` or ``"bf16"``; by default that of the dtype.
        shown: number of differing elements to show.
        bounds: ``ulp``, allowed difference of finite values of the same sign in units in the last place; ``absolute``,
            ``relative`` and ``close`` as for `mfmasim.verify.Out`.

    Raises:
        AssertionError: they differ; the text has the number of differences, and bits, values and distance of the first.
        MfmasimError: shapes or dtypes differ.

    >>> assert_same_bits(np.float32([1, 2]), np.float32([1, 2]))
    >>> assert_same_bits(np.float32([1, 2]), np.float32([1, 2.0000002]))
    Traceback (most recent call last):
    AssertionError: 1 of 2 elements differ, by at most 1 ulp
      place     expected                        actual                          ulp
      [1]       0x40000001 (2.00000024)         0x40000000 (2)                    1
    """
    text = difference(actual, expected, format=format, shown=shown, **bounds)
    if text:
        raise AssertionError(text)


def difference(actual: object, expected: object, *, format: str = "", shown: int = SHOWN, **bounds: Any) -> str:  # noqa: A002
    """The failure message of `assert_same_bits`; empty if nothing differs.

    Args:
        actual: the kernel's output.
        expected: the expected output, of the same shape and dtype.
        format: number format of codes; by default that of the dtype.
        shown: number of differing elements to show.
        bounds: as for `assert_same_bits`.

    Raises:
        MfmasimError: shapes or dtypes differ.
    """
    have, want = np.asarray(actual), np.asarray(expected)
    if have.shape != want.shape or have.dtype != want.dtype:
        raise MfmasimError(f"actual is {have.dtype} {have.shape}, expected is {want.dtype} {want.shape}")
    name = format or FORMATS.get(have.dtype.str[1:], f"{'u' if have.dtype.kind in 'ub' else 'i'}{8 * have.itemsize}")
    array = Array("out", name, have.shape or (1,), tolerance=Tolerance.of("output", name, **bounds))
    if array.dtype.itemsize != have.itemsize:
        raise MfmasimError(f"{name} has {8 * array.dtype.itemsize} bits per element, the array {8 * have.itemsize}")
    have, want = (np.ascontiguousarray(side).reshape(array.shape).view(array.dtype) for side in (have, want))
    compared = compare_array(array, have, want)
    if not compared.mismatches:
        return ""
    lines = [f"{compared.mismatches} of {have.size} elements differ, by at most {compared.max_ulp} ulp"]
    lines += [] if compared.bounded is None else [f"  {compared.worst(have, want)}, at {list(compared.place)}"]
    pattern = _pattern(have, want, compared.wrong)
    lines += [pattern] if pattern else []
    lines.append(f"  {'place':<9} {'expected':<31} {'actual':<31} ulp")
    places = np.argwhere(compared.wrong)
    for place in places[:shown]:
        index = tuple(int(i) for i in place)
        one = compare_array(Array("out", name, (1,)), have[index][None], want[index][None]).max_ulp
        texts = [_words(array, side[index]) for side in (want, have)]
        lines.append(f"  {list(index)!s:<9} {texts[0]:<31} {texts[1]:<31} {one:>3}")
    if len(places) > shown:
        lines.append(f"  and {len(places) - shown} more")
    return "\n".join(lines)


def _words(array: Array, value: Any) -> str:
    code = int(value.view(f"u{value.dtype.itemsize}"))
    digits = f"{code:#0{2 * value.dtype.itemsize + 2}x}"
    fmt = array.number_format
    number = int(value) if fmt is None else f"{float(fmt.decode(np.asarray(code, fmt.carrier))):.9g}"
    return f"{digits} ({number})"


def _pattern(have: NDArray[Any], want: NDArray[Any], wrong: NDArray[np.bool_]) -> str:
    """A pattern that explains all differences, as text; empty if no known pattern does."""
    if have.ndim == 2 and have.shape[0] == have.shape[1] and np.array_equal(have.T, want, equal_nan=False):
        return "  all of them: rows and columns are exchanged"
    if (have.view(np.uint8) == 0xA5).reshape(*have.shape, -1).all(axis=-1)[wrong].all():
        return "  all of them were never written (0xa5 is poison)"
    for axis, name in enumerate(("row", "column") if have.ndim == 2 else ()):
        chosen = np.unique(np.nonzero(wrong)[axis])
        if len(chosen) < wrong.shape[axis]:
            span = f"{name} {chosen[0]}" if len(chosen) == 1 else f"{name}s {chosen[0]} to {chosen[-1]}"
            if len(chosen) == chosen[-1] - chosen[0] + 1:
                return f"  all of them in {span}"
    return ""
