"""E8M0 scales of blocks: which power of two a block of numbers is divided by before it is encoded.

Sources: OCP MX 1.0, 6.3 (``ocp``); the names ``floor``, ``ceil``, ``rceil`` and ``even`` are those of torchao's scale
modes.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mfmasim.errors import MfmasimError, unknown
from mfmasim.formats.checks import as_float_bits
from mfmasim.formats.registry import Format, convert
from mfmasim.formats.registry import format as lookup

ScaleRule = Literal["ocp", "floor", "ceil", "rceil", "even"]
"""How the scale of a block follows from its largest magnitude ``amax``, with E the exponent of the element format's
largest value:

* ``ocp`` and ``floor``: 2**(floor(log2 amax) - E). The largest element may exceed the format and then saturates
  (E4M3: from 1.75 times its power of two on).
* ``ceil``: 2**(ceil(log2 amax) - E). Nothing saturates; up to one bit of range is lost.
* ``rceil``: the smallest power of two by which ``amax / max`` fits, 2**ceil(log2(amax / max)).
* ``even``: as ``floor``, after ``amax`` was rounded to the element's mantissa bits, ties away from zero. A value that
  would round up into the next binade takes that binade's scale.
"""


def scale_of(amax: ArrayLike, element: str | Format, rule: ScaleRule = "ocp") -> NDArray[np.uint8]:
    """Choose E8M0 scale codes for blocks.

    Args:
        amax: largest magnitude of each block, float64, float32, float16 or bfloat16; negative numbers count by
            magnitude.
        element: format that the block's elements will be encoded in (a floating-point format with a sign).
        rule: see `ScaleRule`.

    Returns:
        E8M0 codes of the shape of ``amax``, exact for every input. Exponents are clamped to -127 and 127; a block
        of zeros takes code 0 (2**-127), NaN and Inf give 0xFF (NaN).

    Raises:
        MfmasimError: wrong dtype, unknown rule or an element format that has no exponent or no sign.

    >>> [int(code) - 127 for code in scale_of([1.0, 500.0, 448.0], "e4m3fn")]
    [-8, 0, 0]
    """
    if rule not in get_args(ScaleRule):
        raise unknown("scale rule", rule, get_args(ScaleRule))
    element = lookup(element)
    if element.integer or not element.signed:
        raise MfmasimError(f"{element.name} is not an element format of scaled blocks; use a signed float format")
    bits, source = as_float_bits(amax)
    wide = convert(bits, source, "f64", overflow="infinity_or_nan").view(np.int64) & np.int64((1 << 63) - 1)
    exponent, mantissa = _normalise(wide)
    offset = _offset(mantissa, element, rule)
    code = np.clip(exponent + offset - element.max_exponent + 127, 0, 254)
    code = np.where(wide == 0, 0, np.where(wide >= 0x7FF << 52, 255, code))
    return code.astype(np.uint8)


def _normalise(wide: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Exponent of the leading bit, and the 52 bits below it, of positive f64 codes."""
    fraction, exponent = np.frexp(wide.view(np.float64))  # only splits the bits: exact, subnormals included
    mantissa = fraction.view(np.int64) & np.int64((1 << 52) - 1)
    return exponent.astype(np.int64) - 1, mantissa


def _offset(mantissa: NDArray[np.int64], element: Format, rule: ScaleRule) -> NDArray[Any]:
    """Increment of floor(log2 amax) by the rule: 0 or 1."""
    if rule == "ceil":
        return mantissa > 0
    if rule == "rceil":
        return mantissa > _mantissa_of_max(element)
    if rule == "even":
        # Adding half of the last place kept carries out of the 52 bits where amax rounds into the next binade.
        return (mantissa + np.int64(1 << (51 - element.precision))) >> np.int64(52)
    return np.zeros(mantissa.shape, np.int64)


def _mantissa_of_max(element: Format) -> int:
    """Mantissa of the element's largest value, aligned to 52 bits."""
    mantissa = element.max_code & ((1 << element.mantissa_bits) - 1)
    return mantissa << (52 - element.mantissa_bits)
