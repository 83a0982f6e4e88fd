"""Exponential, logarithm, sine and cosine in float64, of the same bits on every platform.

NumPy's own differ with the processor: with AVX-512 one of 20 values of `np.exp2` has another last bit. Here are
polynomials of additions, multiplications and divisions, which IEEE 754 rounds alike everywhere. Within 3 units in the
last place; exact for whole exponents and for logarithms of powers of two.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mfmasim.arrays import F64

LN2 = 0.6931471805599453
# Powers of the series that matter below 2^-56 at the end of each range.
EXP2 = [LN2**k / math.factorial(k) for k in range(1, 15)]
LOG2 = [2 / ((2 * k + 1) * LN2) for k in range(13)]
SIN = [(-1) ** k / math.factorial(2 * k + 1) for k in range(10)]
COS = [(-1) ** k / math.factorial(2 * k) for k in range(10)]


def _polynomial(coefficients: Sequence[float], x: F64) -> F64:
    total = np.full_like(x, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        total = total * x + coefficient
    return total


def exp2(x: F64) -> F64:
    """2**x."""
    whole = np.rint(np.clip(x, -2000.0, 2000.0))  # beyond, the result is 0 or infinity
    rest = np.where(np.abs(x) < 2000, x - whole, 0.0)
    found = np.ldexp(1 + rest * _polynomial(EXP2, rest), np.where(np.isnan(x), 0, whole).astype(np.int64))
    return np.where(np.isnan(x), x, found)


def log2(x: F64) -> F64:
    """The logarithm of x to base 2; -infinity for zeros, NaN below them."""
    usual = (x > 0) & (x < np.inf)
    part, exponent = np.frexp(np.where(usual, x, 1.0))
    small = part < math.sqrt(0.5)
    part, exponent = np.where(small, 2 * part, part), exponent - small
    # log(m) is 2 artanh((m - 1) / (m + 1)).
    ratio = (part - 1) / (part + 1)
    found = exponent + ratio * _polynomial(LOG2, ratio * ratio)
    beyond = np.where(x == 0, -np.inf, np.where(x > 0, x, np.nan))
    return np.where(usual, found, beyond)


def sin(x: F64) -> F64:
    """The sine of an angle of at most an eighth of a turn."""
    return x * _polynomial(SIN, x * x)


def cos(x: F64) -> F64:
    """The cosine of an angle of at most an eighth of a turn."""
    return _polynomial(COS, x * x)
