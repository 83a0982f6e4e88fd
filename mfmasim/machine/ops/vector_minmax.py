"""Minimum, maximum and median of floats.

Sources: CDNA3 ISA manual, V_MIN_F32, V_MAX_F32, V_MED3_F32 and their kin; RDNA4 ISA manual, V_MIN_NUM_F32,
V_MINIMUM_F32 and theirs; RDNA3 ISA manual, V_MINMAX_F32.

Zeros count with their sign: +0 is above -0. Of two NaNs, or a NaN and a number, the manual's order of cases decides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfmasim.machine.numerics.float_formats import BY_SIZE
from mfmasim.machine.numerics.ieee import entering
from mfmasim.machine.opcodes.registry import vector

if TYPE_CHECKING:
    from collections.abc import Callable

    from mfmasim.arrays import U
    from mfmasim.machine.numerics.float_formats import Form
    from mfmasim.machine.numerics.float_mode import FloatMode

    Two = Callable[[U, U, FloatMode], U]


def _turned(values: U, form: Form) -> U:
    """Integers that are ordered like the numbers, -0 below +0; and back, as the sign stays."""
    signed = form.bits(values).view(f"i{form.width // 8}")
    largest = signed.dtype.type((1 << (form.width - 1)) - 1)
    return ((signed >> signed.dtype.type(form.width - 1)) & largest) ^ signed


def _certain(out: U, *sources: U) -> bool:
    """Whether NumPy's smallest or largest of some sources is the machine's: no NaN, and -0 cannot meet +0.

    NumPy propagates NaN, and of two zeros takes either.
    """
    if not out.size:
        return True
    lowest = np.minimum.reduce(out, axis=None)
    return bool(lowest == lowest) and sum(bool((source == 0).any()) for source in sources) < 2  # noqa: PLR0124


def two(s0: U, s1: U, mode: FloatMode, wanted: Callable[[U, U], U]) -> U:
    """The one that `wanted`, NumPy's minimum or maximum, prefers.

    NaN as in the manual, where a signalling one wins in IEEE mode only.
    """
    form = BY_SIZE[s0.dtype.itemsize]
    a, b = (entering(s, form, mode) for s in (s0, s1))
    # Halves are compared more quickly as integers.
    if form.width > 16 and _certain(plain := wanted(a, b), a, b):
        return plain
    out = form.bits(_turned(wanted(_turned(a, form), _turned(b, form)).view(form.real), form))
    nan_a, nan_b = np.isnan(a), np.isnan(b)
    if nan_a.any() or nan_b.any():
        first, second = ((nan_b, a), (nan_a, b)) if mode.rules.first_nan else ((nan_a, b), (nan_b, a))
        out = np.where(first[0], form.bits(first[1]), np.where(second[0], form.bits(second[1]), out))
        if mode.ieee:
            out = np.where(form.signalling(b), form.bits(b) | form.quiet, out)
            out = np.where(form.signalling(a), form.bits(a) | form.quiet, out)
    # Only the input mode decides about denormals: one that is read may be returned (RDNA4 ISA manual, V_MINIMUM_F32).
    return out.view(form.real)


def minimum(s0: U, s1: U, mode: FloatMode) -> U:
    """V_MIN."""
    return two(s0, s1, mode, np.minimum)


def maximum(s0: U, s1: U, mode: FloatMode) -> U:
    """V_MAX."""
    return two(s0, s1, mode, np.maximum)


def three(pair: Two) -> Callable[[U, U, U, FloatMode], U]:
    """V_MIN3 and V_MAX3: the pair of the first two, then with the third."""
    return lambda s0, s1, s2, mode: pair(pair(s0, s1, mode), s2, mode)


def median(low: Two, high: Two, *, ordered: bool = False) -> Callable[[U, U, U, FloatMode], U]:
    """V_MED3: the larger of the two that are not the largest; with a NaN, the minimum of all three.

    Args:
        low: the smaller of two.
        high: the larger of two.
        ordered: whether -0 is not the largest beside +0; else zeros are equal, as the manuals' pseudocode compares.
    """

    def run(s0: U, s1: U, s2: U, mode: FloatMode) -> U:
        form = BY_SIZE[s0.dtype.itemsize]
        a, b, c = (entering(s, form, mode) for s in (s0, s1, s2))
        if form.width > 16:
            plain = np.maximum(np.minimum(a, b), np.minimum(np.maximum(a, b), c))
            if _certain(plain, a, b, c):
                return plain
        largest = three(high)(s0, s1, s2, mode)
        rest = [form.bits(high(*pair, mode)) for pair in ((s1, s2), (s0, s2), (s0, s1))]
        top, *others = (form.bits(value) if ordered else value for value in (largest, a, b))
        out = np.where(top == others[0], rest[0], np.where(top == others[1], rest[1], rest[2]))
        nan = np.isnan(a) | np.isnan(b) | np.isnan(c)
        if nan.any():
            out = np.where(nan, form.bits(three(low)(s0, s1, s2, mode)), out)
        return out.view(form.real)

    return run


def _propagating(pair: Two) -> Two:
    """V_MINIMUM and V_MAXIMUM of IEEE 754-2019: a NaN wins, a signalling one before a quiet one.

    So says the manual; gfx1201 gives the first NaN of either kind (AMD's rocjitsu, valu_fp_mode_test.cpp).
    """

    def run(s0: U, s1: U, mode: FloatMode) -> U:
        form = BY_SIZE[s0.dtype.itemsize]
        chosen = pair(s0, s1, mode)
        if not (np.isnan(s0).any() or np.isnan(s1).any()):
            return chosen
        out = form.bits(chosen)
        for test in (np.isnan,) if mode.rules.first_nan else (np.isnan, form.signalling):
            for source in (s1, s0):
                out = np.where(test(source), form.bits(source) | form.quiet, out)
        return out.view(form.real)

    return run


def _number(pair: Two) -> Two:
    """V_MIN_NUM and V_MAX_NUM of IEEE 754-2019: a number wins; of two NaNs the first, quiet."""

    def run(s0: U, s1: U, mode: FloatMode) -> U:
        form = BY_SIZE[s0.dtype.itemsize]
        nan = np.isnan(s0) & np.isnan(s1)
        out = pair(s0, s1, mode)
        return np.where(nan, form.bits(s0) | form.quiet, form.bits(out)).view(form.real) if nan.any() else out

    return run


def _then(first: Two, second: Two) -> Callable[[U, U, U, FloatMode], U]:
    """V_MINMAX and V_MAXMIN: one of the first two, then the other with the third."""
    return lambda s0, s1, s2, mode: second(first(s0, s1, mode), s2, mode)


ieee_minimum, ieee_maximum = _propagating(minimum), _propagating(maximum)
minimum3, maximum3 = three(ieee_minimum), three(ieee_maximum)
minimum_number, maximum_number = _number(minimum), _number(maximum)
# Words of the smaller and of the larger one, what follows them in a mnemonic, and the pair of functions.
PAIRS: tuple[tuple[str, str, str, Two, Two], ...] = (
    ("min", "max", "", minimum, maximum),
    ("min", "max", "_num", minimum_number, maximum_number),
    ("minimum", "maximum", "", ieee_minimum, ieee_maximum),
)
for _kind in ("f16", "f32", "f64"):
    for _low, _high, _tail, _least, _most in PAIRS:
        vector(f"v_{_low}{_tail}_{_kind}", f"{_kind} {_kind} mode -> {_kind}")(_least)
        vector(f"v_{_high}{_tail}_{_kind}", f"{_kind} {_kind} mode -> {_kind}")(_most)
for _kind in ("f16", "f32"):
    _signature = f"{_kind} {_kind} {_kind} mode -> {_kind}"
    for _low, _high, _tail, _least, _most in PAIRS:
        vector(f"v_{_low}3{_tail}_{_kind}", _signature)(three(_least))
        vector(f"v_{_high}3{_tail}_{_kind}", _signature)(three(_most))
        vector(f"v_{_low}{_high}{_tail}_{_kind}", _signature)(_then(_least, _most))
        vector(f"v_{_high}{_low}{_tail}_{_kind}", _signature)(_then(_most, _least))
    vector(f"v_med3_{_kind}", _signature)(median(minimum, maximum))
    # Ordered on an RX 9070 (bjacob/goc, half_minmax_test.cpp).
    vector(f"v_med3_num_{_kind}", _signature)(median(minimum_number, maximum_number, ordered=True))
