"""Minimum and maximum of IEEE 754-2019, as gfx12 has them.

Source: RDNA4 ISA manual, the opcodes of V_MIN_NUM, V_MINIMUM and their like.
"""

from __future__ import annotations

from tests.slow.machine import floats as fl
from tests.slow.machine.float_mode import NOW, entering


def _number(wanted):
    """MIN_NUM, MAX_NUM: a number is preferred to a NaN of either kind; two NaNs give the first one, quieted."""

    def run(a, b, form):
        a, b = entering(a, form), entering(b, form)
        if fl.is_nan(a, form):
            return fl.quiet(a, form) if fl.is_nan(b, form) else b
        return a if fl.is_nan(b, form) else fl._select(a, b, form, wanted)

    return run


def _propagating(wanted):
    """MINIMUM, MAXIMUM: a signalling NaN first, quieted, then a quiet one, then the value; -0 is below +0.

    RDNA gives the first NaN of either kind.
    """

    def run(a, b, form):
        a, b = entering(a, form), entering(b, form)
        for test in (fl.is_nan,) if NOW.first_nan else (fl.is_signalling, fl.is_nan):
            for bits in (a, b):
                if test(bits, form):
                    return fl.quiet(bits, form)
        return fl._select(a, b, form, wanted)

    return run


NUMBER = {"min_num": _number(-1), "max_num": _number(1)}
PROPAGATING = {"minimum": _propagating(-1), "maximum": _propagating(1)}
