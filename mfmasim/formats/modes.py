"""Names of the rounding modes and overflow rules, and the checks of them."""

from __future__ import annotations

from typing import Literal, get_args

from mfmasim.errors import unknown

Rounding = Literal["nearest_even", "toward_zero", "up", "down", "stochastic"]
"""``up`` is toward +infinity, ``down`` toward -infinity; ``stochastic`` adds random bits below the last kept one."""

Overflow = Literal["saturate", "saturate_finite", "infinity_or_nan"]
"""What a value beyond the largest finite one becomes.

``saturate`` gives the largest finite value of its sign, for an infinite source too; ``saturate_finite`` leaves an
infinite source infinite (what MODE.FP16_OVFL does to f16 results). ``infinity_or_nan`` gives Inf,
or NaN in a format without Inf; a format with neither saturates, and a directed rounding that points towards zero
stops at the largest finite value (IEEE 754-2019, 7.4).
"""

NanRule = Literal["canonical", "payload"]
"""``canonical`` writes one quiet NaN of the source's sign; ``payload`` keeps the upper mantissa bits that fit."""


def check_modes(rounding: str, overflow: str, nan: str = "canonical") -> None:
    """Refuse modes that do not exist, naming those that do.

    Args:
        rounding: a `Rounding`.
        overflow: an `Overflow`.
        nan: a `NanRule`.

    Raises:
        MfmasimError: an unknown mode.
    """
    if rounding not in get_args(Rounding):
        raise unknown("rounding", rounding, get_args(Rounding))
    if overflow not in get_args(Overflow):
        raise unknown("overflow rule", overflow, get_args(Overflow))
    if nan not in get_args(NanRule):
        raise unknown("NaN rule", nan, get_args(NanRule))
