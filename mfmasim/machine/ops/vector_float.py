"""Vector arithmetic on f32 and its packed form. Source: CDNA3 ISA manual, VOP2/VOP3/VOP3P; IEEE 754 results.

NumPy's float32 operations are IEEE and keep denormals, as MODE does in every kernel a HIP compiler emits. The payload
of a NaN result is the host's, which is why the fidelity is `specified` for numbers only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mfmasim.machine.registry import vector

U = Any  # an array of the type that the signature names


@vector("v_add_f32", "f32 f32 -> f32")
def v_add_f32(s0: U, s1: U) -> U:
    return s0 + s1


@vector("v_sub_f32", "f32 f32 -> f32")
def v_sub_f32(s0: U, s1: U) -> U:
    return s0 - s1


@vector("v_subrev_f32", "f32 f32 -> f32")
def v_subrev_f32(s0: U, s1: U) -> U:
    return s1 - s0


@vector("v_mul_f32", "f32 f32 -> f32")
def v_mul_f32(s0: U, s1: U) -> U:
    return s0 * s1


def fma_f32(a: U, b: U, c: U) -> U:
    """Fused multiply-add of float32 arrays with one rounding.

    The product of two float32 is exact in float64. The sum with c is made exact by a second float64 (TwoSum), whose
    sign nudges an even last bit to odd, so that the final conversion rounds as if from the exact value.
    """
    wide: Any = np.float64
    product = a.astype(wide) * b.astype(wide)
    addend = np.asarray(c).astype(wide)
    total = product + addend
    back = total - product
    error = (product - (total - back)) + (addend - back)
    bits = np.ascontiguousarray(total).view(np.int64)
    inexact = np.isfinite(total) & (error != 0) & ((bits & 1) == 0)
    # Round to odd: step towards the exact value's side by setting the last bit of the truncated sum.
    toward_zero = (error < 0) != (total < 0)
    odd = np.where(toward_zero, bits - 1, bits + 1)
    return np.where(inexact, odd, bits).view(wide).astype(np.float32)


@vector("v_fma_f32", "f32 f32 f32 -> f32")
def v_fma_f32(s0: U, s1: U, s2: U) -> U:
    return fma_f32(s0, s1, s2)


@vector("v_fmac_f32", "f32 f32 f32 -> f32")
def v_fmac_f32(s0: U, s1: U, d: U) -> U:
    return fma_f32(s0, s1, d)
