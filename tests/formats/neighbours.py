"""A third model of rounding, vectorised: the table of all values of a narrow format, and the two neighbours.

It is independent of the package's fast paths (its table comes from the slow model), and exact in float64 for sources
of at most 24 significant bits: midpoints of narrow formats are float64 numbers, and comparisons do not round.
"""

from __future__ import annotations

import numpy as np

from tests.slow import formats as slow


def magnitudes(row):
    """Values of the codes 0 .. largest, which grow with the code, and the value one step beyond."""
    values = [slow.decode(row, code).magnitude for code in range(slow.largest(row) + 1)]
    step = values[-1] - values[-2] if row.special != "scale" else values[-1]
    return np.array([float(v) for v in [*values, values[-1] + step]])


def encode(row, values, rounding, overflow):
    """Codes of finite, infinite and NaN float64 values."""
    table = magnitudes(row)
    top = len(table) - 2
    size = np.abs(values)
    negative = np.signbit(values)
    finite = np.isfinite(values)
    size = np.where(finite, size, 0.0)
    low = np.clip(np.searchsorted(table, size, side="right") - 1, 0, top)
    middle = (table[low] + table[low + 1]) / 2
    away = {
        "nearest_even": (size > middle) | ((size == middle) & (low % 2 == 1)),
        "toward_zero": np.zeros(size.shape, bool),
        "up": (size > table[low]) & ~negative,
        "down": (size > table[low]) & negative,
    }[rounding]
    away |= size >= table[top + 1]
    code = low + away
    sign = 1 << (row.bits - 1)
    infinity = slow.encode(row, slow.Number(False, "inf"), rounding, overflow)
    beyond = slow.encode(row, slow.Number(False, slow.Fraction(2) ** 200), rounding, overflow)
    beyond_negative = slow.encode(row, slow.Number(True, slow.Fraction(2) ** 200), rounding, overflow)
    if row.special in {"scale", "fnu"}:
        code = np.where(code > top, beyond, code)
        code = np.where(values < 0, 255, np.where(np.isposinf(values), infinity, code))
        return np.where(np.isnan(values), 255, code)
    if row.special == "fnuz":
        negative = negative & (code != 0)
    out = np.where(code > top, np.where(negative, beyond_negative, beyond), code + sign * negative)
    out = np.where(np.isinf(values), np.where(np.signbit(values), infinity | sign, infinity), out)
    nans = [slow.encode(row, slow.Number(s, "nan")) for s in (False, True)]
    return np.where(np.isnan(values), np.where(np.signbit(values), nans[1], nans[0]), out)
