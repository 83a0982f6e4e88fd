"""f16 sources and results of operations that compute in f32: V_FMA_MIX, V_INTERP_P*_F16_F32."""

from __future__ import annotations

import numpy as np

from mfmasim.arrays import Array
from mfmasim.formats import convert
from mfmasim.formats.conversions.model import ROUNDINGS
from mfmasim.formats.conversions.operands import flushed_half
from mfmasim.formats.modes import Overflow
from mfmasim.machine.numerics import ieee
from mfmasim.machine.numerics.float_formats import BY_SIZE, F16, F32
from mfmasim.machine.numerics.float_mode import FloatMode


def widened(values: Array, mode: FloatMode) -> Array:
    """f16 to f32, exact; denormals as MODE has them, a NaN quiet."""
    bits = F16.bits(ieee.entering(values, F16, mode)).astype(np.uint32)
    return convert(bits, "f16", "f32", overflow="infinity_or_nan", nan="payload").astype(np.uint32).view(np.float32)


def narrowed(values: Array, mode: FloatMode) -> Array:
    """f32 or f64 to f16 with MODE's rounding, FP16_OVFL and denormals."""
    form, rounding = BY_SIZE[values.dtype.itemsize], ROUNDINGS[mode.rounding(16)]
    overflow: Overflow = "saturate_finite" if mode.fp16_ovfl else "infinity_or_nan"
    code = convert(form.bits(values), f"f{form.width}", "f16", rounding, overflow, nan="payload").astype(np.uint16)
    return flushed_half(values, code, rounding, mode.denormals(16) & 2).view(np.float16)


def fused_half(a: Array, b: Array, c: Array, mode: FloatMode) -> Array:
    """The sum a * b + c of f32 as f16: rounded to f32 first, or once (`FloatRules.mix_rounds_once`).

    Args:
        a: the first factor.
        b: the second factor.
        c: the addend.
        mode: the MODE register.
    """
    wide = ieee.fused(a, b, c, mode)
    out = narrowed(wide, mode)
    if not mode.rules.mix_rounds_once:
        return out
    x, y, z = (ieee.entering(s, F32, mode).astype(np.float64) for s in (a, b, c))
    # The product is exact; rounded to odd, the sum has more bits than a second rounding to f16 needs.
    total = ieee.sum_to_odd(x * y, z)
    return np.where(np.isfinite(total) & (total != 0), narrowed(total, mode), out)
