"""Vector arithmetic on f16, f32 and f64. Source: CDNA3/CDNA4 ISA manuals, VOP2 and VOP3; IEEE 754 results.

Which NaN comes out is said in `mfmasim.machine.numerics.float_formats`.
"""

from __future__ import annotations

import numpy as np

from mfmasim.arrays import U
from mfmasim.machine.numerics import ieee
from mfmasim.machine.numerics.float_formats import F32
from mfmasim.machine.numerics.float_mode import FloatMode
from mfmasim.machine.opcodes.registry import vector


def subtract(s0: U, s1: U, mode: FloatMode) -> U:
    """S0 - S1; a NaN passes with the sign it has."""
    return ieee.add(s0, np.where(np.isnan(s1), s1, -s1), mode)


def reversed_subtract(s0: U, s1: U, mode: FloatMode) -> U:
    """S1 - S0, with S0 as the first operand of the NaN rule."""
    return ieee.add(np.where(np.isnan(s0), s0, -s0), s1, mode)


for _kind in ("f16", "f32", "f64"):
    _two, _three = f"{_kind} {_kind} mode -> {_kind}", f"{_kind} {_kind} {_kind} mode -> {_kind}"
    vector(f"v_add_{_kind}", _two)(ieee.add)
    vector(f"v_mul_{_kind}", _two)(ieee.multiply)
    if _kind != "f16":
        vector(f"v_fma_{_kind}", _three)(ieee.fused)
for _kind in ("f16", "f32"):
    _two = f"{_kind} {_kind} mode -> {_kind}"
    vector(f"v_sub_{_kind}", _two)(subtract)
    vector(f"v_subrev_{_kind}", _two)(reversed_subtract)
vector("v_fmac_f32 v_fmaak_f32 v_fmamk_f32", "f32 f32 f32 mode -> f32")(ieee.fused)
vector("v_fmac_f64 v_fmaak_f64 v_fmamk_f64", "f64 f64 f64 mode -> f64")(ieee.fused)
# On gfx9 a 16-bit result clears the upper half, except for those that say otherwise (CDNA3 ISA manual, notes of VOP3
# opcodes 515 to 519).
vector("v_fma_f16 v_fmac_f16 v_fmaak_f16 v_fmamk_f16", "f16 f16 f16 mode -> f16", keeps_high=True)(ieee.fused)
vector("v_fma_legacy_f16", "f16 f16 f16 mode -> f16")(ieee.fused)


@vector("v_mad_f16", "f16 f16 f16 mode -> f16", "assumed", keeps_high=True)
@vector("v_mad_legacy_f16 v_mac_f16 v_madak_f16 v_madmk_f16", "f16 f16 f16 mode -> f16", "assumed")
def v_mad_f16(s0: U, s1: U, s2: U, mode: FloatMode) -> U:
    """Multiply, then add: 1 ULP and no denormals by the manual; the intermediate rounding is assumed to be to f16."""
    flushing = mode.flushing_16
    return ieee.add(ieee.multiply(s0, s1, flushing), s2, flushing)


@vector("v_mul_legacy_f32 v_mul_dx9_zero_f32", "f32 f32 mode -> f32")
def v_mul_legacy_f32(s0: U, s1: U, mode: FloatMode) -> U:
    """Zero times anything is +0, NaN and infinity included (DX9 rule)."""
    form = F32
    zero = (ieee.entering(s0, form, mode) == 0) | (ieee.entering(s1, form, mode) == 0)
    return np.where(zero, np.float32(0), ieee.multiply(s0, s1, mode))


@vector(
    "v_fma_dx9_zero_f32 v_fmac_dx9_zero_f32 v_fma_legacy_f32 v_fmac_legacy_f32",
    "f32 f32 f32 mode -> f32",
    "assumed",
    flushes=True,
)
def v_fma_dx9_zero_f32(s0: U, s1: U, s2: U, mode: FloatMode) -> U:
    """Zero times anything is +0, to which S2 is added; no denormals (RDNA4 ISA manual, 7.2.4; assumed before).

    The addition is one: MODE rounds its zero, and it quiets S2's NaN (captured on gfx1201: bjacob/goc,
    rdna4_dx9_hardware.h).
    """
    flushing = mode.flushing_32
    zero = (ieee.entering(s0, F32, flushing) == 0) | (ieee.entering(s1, F32, flushing) == 0)
    added = ieee.add(np.broadcast_to(np.float32(0), np.shape(s2)), s2, flushing)
    return np.where(zero, added, ieee.fused(s0, s1, s2, flushing))


@vector("v_mullit_f32", "f32 f32 f32 mode -> f32", "assumed")
def v_mullit_f32(s0: U, s1: U, s2: U, mode: FloatMode) -> U:
    """Product for lighting: the smallest number where S1 is that or less, or S2 is not positive."""
    lowest = np.finfo(np.float32).min
    none = (s1 <= lowest) | np.isnan(s1) | (s2 <= 0) | np.isnan(s2)
    return np.where(none, lowest, v_mul_legacy_f32(s0, s1, mode))


@vector("v_mad_f32 v_mac_f32 v_madak_f32 v_madmk_f32", "f32 f32 f32 mode -> f32", "assumed")
def v_mad_f32(s0: U, s1: U, s2: U, mode: FloatMode) -> U:
    """CDNA2's multiply, then add, without denormals; the product is assumed to be rounded to f32."""
    flushing = mode.flushing_32
    return ieee.add(ieee.multiply(s0, s1, flushing), s2, flushing)


@vector("v_mad_legacy_f32", "f32 f32 f32 mode -> f32", "assumed")
def v_mad_legacy_f32(s0: U, s1: U, s2: U, mode: FloatMode) -> U:
    """The same with zero times anything as +0."""
    flushing = mode.flushing_32
    return ieee.add(v_mul_legacy_f32(s0, s1, flushing), s2, flushing)
