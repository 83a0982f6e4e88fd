"""Rounding to integers, fractions, exponents and scaling by powers of two.

Source: CDNA3 ISA manual, VOP1 (V_FLOOR, V_CEIL, V_TRUNC, V_RNDNE, V_FRACT, V_FREXP), V_LDEXP, V_TRIG_PREOP_F64.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.machine.numerics import ieee
from mfmasim.machine.numerics.float_formats import BY_SIZE, F64
from mfmasim.machine.opcodes.registry import vector

if TYPE_CHECKING:
    from collections.abc import Callable

    from mfmasim.arrays import U
    from mfmasim.machine.numerics.float_mode import FloatMode


def _rounding(function: np.ufunc) -> Callable[[U, FloatMode], U]:
    def run(s0: U, mode: FloatMode) -> U:
        form = BY_SIZE[s0.dtype.itemsize]
        s0 = ieee.entering(s0, form, mode)
        return form.settled(function(s0), s0)

    return run


ROUNDINGS = {
    "floor": _rounding(np.floor), "ceil": _rounding(np.ceil), "trunc": _rounding(np.trunc), "rndne": _rounding(np.rint),
}  # fmt: skip


def fract(s0: U, mode: FloatMode) -> U:
    """S0 - floor(S0), below 1 even when that rounds to 1; of infinity NaN."""
    form = BY_SIZE[s0.dtype.itemsize]
    s0 = ieee.entering(s0, form, mode)
    out = ieee.add(s0, -np.floor(s0), mode)
    below_one = np.nextafter(form.real(1), form.real(0))
    return np.where(out >= 1, below_one, out)


def mantissa(s0: U, mode: FloatMode) -> U:
    """Significand in [0.5, 1) with its sign; zero, infinity and NaN (quieted) as they are."""
    form = BY_SIZE[s0.dtype.itemsize]
    s0 = ieee.entering(s0, form, mode)
    out = np.frexp(s0.astype(np.float64))[0].astype(s0.dtype)  # a significand is exact in any of the formats
    return form.settled(np.where(np.isfinite(s0), out, s0), s0)


def exponent(s0: U, mode: FloatMode) -> U:
    """Exponent that belongs to `mantissa`; 0 for zero, infinity and NaN."""
    form = BY_SIZE[s0.dtype.itemsize]
    s0 = ieee.entering(s0, form, mode)
    return np.where(np.isfinite(s0), np.frexp(s0.astype(np.float64))[1], 0).astype(np.int32)


for _kind in ("f16", "f32", "f64"):
    _one = f"{_kind} mode -> {_kind}"
    for _word, _body in ROUNDINGS.items():
        vector(f"v_{_word}_{_kind}", _one)(_body)
    vector(f"v_fract_{_kind}", _one)(fract)
    vector(f"v_frexp_mant_{_kind}", _one)(mantissa)
# CLAMP and OMOD have no effect: captured of the f16 form on gfx1201 (bjacob/goc, half_exponent_test.cpp).
vector("v_frexp_exp_i32_f32", "f32 mode -> i32")(exponent)
vector("v_frexp_exp_i32_f64", "f64 mode -> i32")(exponent)
vector("v_frexp_exp_i16_f16", "f16 mode -> i16")(lambda s0, mode: exponent(s0, mode).astype(np.int16))
vector("v_ldexp_f32", "f32 i32 mode -> f32")(ieee.scale)
vector("v_ldexp_f64", "f64 i32 mode -> f64")(ieee.scale)


@vector("v_ldexp_f16", "f16 i16 mode -> f16")
def v_ldexp_f16(s0: U, s1: U, mode: FloatMode) -> U:
    return ieee.scale(s0, s1.astype(np.int32), mode)


PLACES = 1201
"""Bits of 2/pi after the binary point (all ISA manuals; fewer: `FloatRules.places_of_two_over_pi`)."""


@cache
def _two_over_pi() -> int:
    """2/pi times 2**1201, cut off; pi by Machin's formula in integers."""
    guard = 1 << (PLACES + 64)

    def arctan_of_reciprocal(n: int) -> int:
        total = term = guard // n
        k, sign = 3, -1
        while term:
            term //= n * n
            total += sign * (term // k)
            k, sign = k + 2, -sign
        return total

    pi = 4 * (4 * arctan_of_reciprocal(5) - arctan_of_reciprocal(239))
    return (2 * guard << PLACES) // pi


@vector("v_trig_preop_f64", "f64 u32 mode -> f64")
def v_trig_preop_f64(s0: U, s1: U, mode: FloatMode) -> U:
    """53 places of 2/pi, chosen by S1 and by the size of S0; scaled up for huge S0.

    Only a denormal could round, and it rounds toward zero. Places beyond those that the unit holds are zeros.
    """
    power = (F64.bits(s0) >> np.uint64(52) & np.uint64(0x7FF)).astype(np.int64)
    shift = (s1 & np.uint32(31)).astype(np.int64) * 53 + np.maximum(power - 1077, 0)
    scale = np.where(power >= 1968, 128, 0) - 53 - shift
    cut = PLACES - mode.rules.places_of_two_over_pi
    places = _two_over_pi() >> cut << cut
    shifts, index = np.unique(shift, return_inverse=True)
    # The whole part of 2/pi * 2**(shift + 53), its lowest 53 places.
    segments = [places << int(n) >> (PLACES - 53) & ((1 << 53) - 1) for n in shifts]
    found = np.array(segments, np.uint64)[index].reshape(np.shape(shift))
    lost = np.clip(-1074 - scale, 0, 63).astype(np.uint64)
    leading = (found >> lost << lost).astype(np.float64)  # 53 bits: exact
    return ieee.leaving(np.ldexp(leading, scale.astype(np.int32)), F64, mode)
