"""A third, slowest opinion on rounding: rational numbers and NumPy's own float32, nothing of golden's."""

import math
from fractions import Fraction

import ml_dtypes
import numpy as np

DTYPES = {
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "e5m2": ml_dtypes.float8_e5m2,
    "e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "e4m3fn": ml_dtypes.float8_e4m3fn,
    "e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "e3m2fn": ml_dtypes.float6_e3m2fn,
    "e2m3fn": ml_dtypes.float6_e2m3fn,
    "e2m1fn": ml_dtypes.float4_e2m1fn,
    "e8m0fnu": ml_dtypes.float8_e8m0fnu,
}

OVERFLOW = Fraction(2) ** 128 - Fraction(2) ** 103  # half a step above the largest float32: ties to even goes up


def values(codes, name):
    """Codes as float64, by ml_dtypes."""
    with np.errstate(invalid="ignore"):  # signalling NaNs
        return np.ascontiguousarray(codes).view(DTYPES[name]).astype(np.float64)


def nearest_f32(exact):
    """The float32 bits nearest to a Fraction, found by measuring the distance to the neighbours of a guess."""
    if abs(exact) >= OVERFLOW:
        return 0xFF800000 if exact < 0 else 0x7F800000
    largest = np.finfo(np.float32).max
    guess = np.float32(np.clip(float(exact), -float(largest), float(largest)))
    with np.errstate(over="ignore"):
        below, above = (np.nextafter(guess, np.float32(side)) for side in (-math.inf, math.inf))
    candidates = [x for x in (below, guess, above) if np.isfinite(x)]
    best = min(abs(Fraction(float(x)) - exact) for x in candidates)
    closest = [x for x in candidates if abs(Fraction(float(x)) - exact) == best]
    bits = [int(x.view(np.uint32)) for x in closest]
    chosen = bits[0] if len(bits) == 1 else next(b for b in bits if b % 2 == 0)
    if chosen & 0x7FFFFFFF == 0:
        return 0x80000000 if exact < 0 else 0
    return chosen
