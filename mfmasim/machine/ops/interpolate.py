"""Parameter interpolation (VINTERP): an FMA whose parameters come from lanes of each quad.

Source: RDNA3 ISA manual, 12.3 and 16.13; RDNA4's likewise: lane 0 of a quad holds P0, 1 P10 and 2 P20. The manual
does not say what an inactive lane of a quad gives; here its register, as LDS_PARAM_LOAD fills whole quads: `assumed`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from mfmasim.arrays import Array
from mfmasim.machine.numerics import ieee
from mfmasim.machine.numerics.float_mode import FloatMode
from mfmasim.machine.numerics.mixed import fused_half, widened
from mfmasim.machine.opcodes.registry import vector
from mfmasim.machine.opcodes.undefined_rules import Rule

P0, P10, P20 = 0, 1, 2
TOWARD_ZERO = 0xF
"""FP_ROUND of every width."""


def _of_quad(values: Array, place: int) -> Array:
    """The value of one lane of each quad, in all four."""
    if values.shape[-1:] in ((), (1,)):
        return values
    lanes = np.arange(values.shape[-1])
    return values[..., lanes & ~3 | place]


def _cut(mode: FloatMode, toward_zero: bool) -> FloatMode:
    return replace(mode, bits=mode.bits | TOWARD_ZERO) if toward_zero else mode


def _p10(s0: Array, s1: Array, s2: Array, mode: FloatMode) -> Array:
    """P10 * I + P0."""
    return ieee.fused(_of_quad(s0, P10), s1, _of_quad(s2, P0), mode)


def _p2(s0: Array, s1: Array, s2: Array, mode: FloatMode) -> Array:
    """P20 * J + what P10 gave."""
    return ieee.fused(_of_quad(s0, P20), s1, s2, mode)


def _p10_half(toward_zero: bool, s0: Array, s1: Array, s2: Array, mode: FloatMode) -> Array:
    """The same with parameters in halves of registers."""
    return _p10(widened(s0, mode), s1, widened(s2, mode), _cut(mode, toward_zero))


def _p2_half(toward_zero: bool, s0: Array, s1: Array, s2: Array, mode: FloatMode) -> Array:
    """The sum as f16: of V_FMA_MIXLO, as captures of gfx1201 have it (bjacob/goc, rdna4_interp16_hardware.h)."""
    return fused_half(_of_quad(widened(s0, mode), P20), s1, s2, _cut(mode, toward_zero))


_QUAD = Rule(quad=True)
vector("v_interp_p10_f32", "f32 f32 f32 mode -> f32", "assumed", undefined=_QUAD)(_p10)
vector("v_interp_p2_f32", "f32 f32 f32 mode -> f32", "assumed", undefined=_QUAD)(_p2)
for _word, _toward_zero in (("", False), ("rtz_", True)):
    vector(f"v_interp_p10_{_word}f16_f32", "f16 f32 f16 mode -> f32", "assumed", undefined=_QUAD)(
        partial(_p10_half, _toward_zero)
    )
    vector(f"v_interp_p2_{_word}f16_f32", "f16 f32 f32 mode -> f16", "assumed", undefined=_QUAD)(
        partial(_p2_half, _toward_zero)
    )
