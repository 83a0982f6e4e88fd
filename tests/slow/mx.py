"""MX quantisation element by element: exact fractions, values of codes by ml_dtypes, nothing of ours."""

import math
from fractions import Fraction
from functools import cache

import ml_dtypes
import numpy as np

DTYPES = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2, "e2m1": ml_dtypes.float4_e2m1fn}
BLOCK = 32


@cache
def finite(target):
    """Value and code of every number that is not negative, in order."""
    half = 8 if target == "e2m1" else 128
    values = np.arange(half, dtype=np.uint8).view(DTYPES[target]).astype(np.float64)
    return [(Fraction(float(v)), code) for code, v in enumerate(values) if math.isfinite(v)]


def floor_log2(value):
    """Exponent of the largest power of two that is not above a positive fraction."""
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    return exponent if Fraction(2) ** exponent <= value else exponent - 1


def scale_code(amax, target, rule):
    """E8M0 code of a block whose largest magnitude is a fraction."""
    if amax == 0:
        return 0
    largest = finite(target)[-1][0]
    top, bits = floor_log2(largest), {"e4m3": 3, "e5m2": 2, "e2m1": 1}[target]
    exponent = floor_log2(amax)
    if rule == "ceil" and amax != Fraction(2) ** exponent:
        exponent += 1
    if rule == "even":  # rounded to the mantissa's bits, ties away from zero
        steps = math.floor(amax / Fraction(2) ** (exponent - bits) + Fraction(1, 2))
        exponent = floor_log2(steps * Fraction(2) ** (exponent - bits))
    exponent -= top
    if rule == "rceil":
        while largest * Fraction(2) ** exponent < amax:
            exponent += 1
        while largest * Fraction(2) ** (exponent - 1) >= amax:
            exponent -= 1
    return min(max(exponent + 127, 0), 254)


def element_code(value, target):
    """Nearest code of a fraction's magnitude, ties to even, the largest one beyond the range."""
    pairs = finite(target)
    return min(pairs, key=lambda pair: (abs(pair[0] - value), pair[1] % 2))[1]


def quantise(lines, target, rule):
    """Codes (one for each element) and scales of finite lines of any length, lists of lists."""
    sign = 8 if target == "e2m1" else 128
    codes, scales = [], []
    for line in lines:
        codes.append([])
        scales.append([])
        for first in range(0, len(line), BLOCK):
            block = [float(x) for x in line[first : first + BLOCK]]
            scales[-1].append(scale_code(max(abs(Fraction(x)) for x in block), target, rule))
            scale = Fraction(2) ** (scales[-1][-1] - 127)
            codes[-1] += [
                element_code(abs(Fraction(x)) / scale, target) + sign * (math.copysign(1, x) < 0) for x in block
            ]
    return codes, scales
