"""An FP8 cast that knows nothing of ours: every code's value by ml_dtypes, the nearest by exact fractions."""

import math
from fractions import Fraction
from functools import cache

import ml_dtypes
import numpy as np

DTYPES = {
    "e4m3fn": ml_dtypes.float8_e4m3fn,
    "e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "e5m2": ml_dtypes.float8_e5m2,
    "e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
}


@cache
def positive(fmt):
    """Value and code of every finite number that is not negative, in order; the step after the largest."""
    codes = np.arange(128, dtype=np.uint8)
    values = codes.view(DTYPES[fmt]).astype(np.float64)
    pairs = [(Fraction(float(v)), int(c)) for v, c in zip(values, codes, strict=True) if math.isfinite(v)]
    return pairs, 2 * pairs[-1][0] - pairs[-2][0]


def encode(value, fmt, saturate):
    """Code of one number: nearest, ties to the even code; beyond the range the largest, or Inf or NaN."""
    fnuz, negative = fmt.endswith("fnuz"), math.copysign(1.0, value) < 0
    sign = 0x80 if negative else 0
    nan = 0x80 if fnuz else sign | 0x7F
    if math.isnan(value):
        return nan
    pairs, after = positive(fmt)
    beyond = sign | pairs[-1][1] if saturate else sign | 0x7C if fmt == "e5m2" else nan
    if math.isinf(value):
        return beyond
    size = abs(Fraction(value))
    # The step after the largest takes part, as if the format went on; its code would be even or odd by turns.
    code = min([*pairs, (after, pairs[-1][1] + 1)], key=lambda pair: (abs(pair[0] - size), pair[1] % 2))[1]
    if code > pairs[-1][1]:
        return beyond
    return 0 if fnuz and code == 0 else sign | code
