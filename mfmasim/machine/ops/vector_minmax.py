"""Minimum, maximum and median of floats. Source: CDNA3 ISA manual, V_MIN_F32, V_MAX_F32, V_MED3_F32 and their kin.

Zeros count with their sign: +0 is above -0. Of two NaNs, or a NaN and a number, the manual's order of cases decides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.machine.forms import BY_SIZE
from mfmasim.machine.ieee import entering
from mfmasim.machine.registry import vector

if TYPE_CHECKING:
    from collections.abc import Callable

    from mfmasim.machine.float_mode import FloatMode
    from mfmasim.machine.forms import Form

    U = Any  # an array of the type that the signature names
    Two = Callable[[U, U, FloatMode], U]

__all__ = ["maximum", "maximum3", "minimum", "minimum3", "three", "two"]


def _key(values: U, form: Form) -> U:
    """Integers that are ordered like the numbers, -0 below +0."""
    bits = form.bits(values)
    signed = bits.astype(np.int64)
    size = (bits & ~form.sign).astype(np.int64)
    return np.where(bits & form.sign != 0, -size - 1, size) if form.width < 64 else np.where(signed < 0, ~size, size)


def two(s0: U, s1: U, mode: FloatMode, wanted: Callable[[U, U], U]) -> U:
    """The one that `wanted` prefers; NaN as in the manual, where a signalling one wins in IEEE mode only."""
    form = BY_SIZE[s0.dtype.itemsize]
    a, b = (entering(s, form, mode) for s in (s0, s1))
    out = np.where(wanted(_key(a, form), _key(b, form)), form.bits(a), form.bits(b))
    nan_a, nan_b = np.isnan(a), np.isnan(b)
    if nan_a.any() or nan_b.any():
        out = np.where(nan_a, form.bits(b), np.where(nan_b, form.bits(a), out))
        if mode.ieee:
            out = np.where(form.signalling(b), form.bits(b) | form.quiet, out)
            out = np.where(form.signalling(a), form.bits(a) | form.quiet, out)
    # Denormals are decided by the input mode: what comes in may go out (RDNA4 ISA manual, notes of V_MINIMUM_F32).
    return out.view(form.real)


def minimum(s0: U, s1: U, mode: FloatMode) -> U:
    """V_MIN."""
    return two(s0, s1, mode, np.less)


def maximum(s0: U, s1: U, mode: FloatMode) -> U:
    """V_MAX."""
    return two(s0, s1, mode, np.greater)


def three(pair: Two) -> Callable[[U, U, U, FloatMode], U]:
    """V_MIN3 and V_MAX3: the pair of the first two, then with the third."""
    return lambda s0, s1, s2, mode: pair(pair(s0, s1, mode), s2, mode)


def median(s0: U, s1: U, s2: U, mode: FloatMode) -> U:
    """V_MED3: what is left besides the largest, the larger of it; with a NaN, the minimum of all three."""
    form = BY_SIZE[s0.dtype.itemsize]
    largest = three(maximum)(s0, s1, s2, mode)
    a, b, c = (entering(s, form, mode) for s in (s0, s1, s2))
    rest = [form.bits(maximum(*pair, mode)) for pair in ((s1, s2), (s0, s2), (s0, s1))]
    out = np.where(largest == a, rest[0], np.where(largest == b, rest[1], rest[2]))
    nan = np.isnan(a) | np.isnan(b) | np.isnan(c)
    if nan.any():
        out = np.where(nan, form.bits(three(minimum)(s0, s1, s2, mode)), out)
    return out.view(form.real)


def _propagating(pair: Two) -> Two:
    """V_MINIMUM and V_MAXIMUM of IEEE 754-2019: a NaN wins, a signalling one before a quiet one."""

    def run(s0: U, s1: U, mode: FloatMode) -> U:
        form = BY_SIZE[s0.dtype.itemsize]
        out = form.bits(pair(s0, s1, mode))
        for test in (np.isnan, form.signalling):
            for source in (s1, s0):
                out = np.where(test(source), form.bits(source) | form.quiet, out)
        return out.view(form.real)

    return run


minimum3, maximum3 = three(_propagating(minimum)), three(_propagating(maximum))
for _kind in ("f16", "f32", "f64"):
    for _word, _pair in (("min", minimum), ("max", maximum)):
        vector(f"v_{_word}_{_kind}", f"{_kind} {_kind} mode -> {_kind}")(_pair)
for _kind in ("f16", "f32"):
    _signature = f"{_kind} {_kind} {_kind} mode -> {_kind}"
    vector(f"v_min3_{_kind}", _signature)(three(minimum))
    vector(f"v_max3_{_kind}", _signature)(three(maximum))
    vector(f"v_med3_{_kind}", _signature)(median)
vector("v_minimum3_f32", "f32 f32 f32 mode -> f32")(minimum3)
vector("v_maximum3_f32", "f32 f32 f32 mode -> f32")(maximum3)
