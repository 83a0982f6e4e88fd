"""Codes of A and B as the quantities of the accumulation models: value, unnormalised exponent, class."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.formats import FORMATS, Format
from mfmasim.matrix.arithmetic.bounds import EMPTY
from mfmasim.matrix.arithmetic.scratch import Scratch

_LOW: Scratch[np.uint32] = Scratch(np.uint32)


@dataclass(frozen=True)
class Factors:
    """Elements of A or B, decoded; the arrays share one shape.

    ``value`` is exact; it is a zero of the right sign for NaN and Inf, whose places ``nan`` and ``inf`` mark (None
    where there is none). ``exponent`` is max(exponent field, 1) - bias; for a zero it is far below every sum of two.
    """

    value: NDArray[Any]
    exponent: NDArray[Any]
    nan: NDArray[np.bool_] | None
    inf: NDArray[np.bool_] | None

    @cached_property
    def wide(self) -> NDArray[np.float64]:
        """Values in float64."""
        wide: NDArray[np.float64] = self.value.astype(np.float64)
        return wide

    @cached_property
    def bounds(self) -> tuple[int, int]:
        """Smallest and largest exponent of the factors that are not zero; (0, 0) if all are."""
        kind = self.exponent.dtype
        low = int(self.exponent.min(initial=np.iinfo(kind).max, where=self.exponent != EMPTY[kind]))
        high = int(self.exponent.max())
        return (0, 0) if low > high else (low, high)

    def map(self, function: Any) -> Factors:
        """Apply a function of arrays (an index, a transpose, a broadcast) to every array."""
        nan = None if self.nan is None else function(self.nan)
        inf = None if self.inf is None else function(self.inf)
        return Factors(function(self.value), function(self.exponent), nan, inf)


def _exponent_type(fmt: Format) -> np.dtype[Any]:
    return np.dtype(np.int8 if fmt.exponent_bits <= 5 else np.int16)


def classes(fmt: Format, codes: NDArray[Any], bits: int | None, flush: str) -> tuple[NDArray[Any], ...]:
    """Value, exponent, is-NaN, is-Inf of codes, after truncation and flushing.

    Args:
        fmt: their format.
        codes: raw codes.
        bits: fraction bits of a wide format that are read; None is all.
        flush: flushing of subnormal factors, as in `Model.flush_inputs`.
    """
    if bits is not None and bits < fmt.mantissa_bits:
        codes = codes & ~codes.dtype.type((1 << (fmt.mantissa_bits - bits)) - 1)
    value = fmt.decode(codes)
    nan, inf = np.isnan(value), np.isinf(value)
    field = codes.astype(np.int32) >> fmt.mantissa_bits & ((1 << fmt.exponent_bits) - 1)
    zero = nan | inf | ((field == 0) if flush else False)
    value = np.where(zero, np.copysign(0.0, value), value)
    if flush == "positive":
        value = np.where(field == 0, 0.0, value)
    kind = _exponent_type(fmt)
    # A NaN or Inf is not a zero product, but its exponent is never used: the result is decided before any arithmetic.
    exponent = np.where(value == 0, EMPTY[kind], np.maximum(field, 1) - fmt.bias).astype(kind)
    return value, exponent, nan, inf


# Below the 13 bits that are zero in the f32 of any format of at most 16 bits (and of xf32), a table entry keeps the
# exponent (plus 512) and the class.
_EXPONENT, _NAN, _INF = 0x07FF, 0x0800, 0x1000


@cache
def _table(name: str, flush: str) -> NDArray[np.uint32]:
    """Value, exponent and class of every code of a format, in one word each: one gather decodes all three."""
    fmt = FORMATS[name]
    value, exponent, nan, inf = classes(fmt, np.arange(1 << fmt.bits, dtype=np.uint32), None, flush)
    words = value.astype(np.float32).view(np.uint32) | (exponent.astype(np.int32) + 512).astype(np.uint32)
    return words | nan * np.uint32(_NAN) | inf * np.uint32(_INF)


def decode(
    name: str, codes: NDArray[Any], bits: int | None = None, flush: str = "", out: Scratch[np.uint32] | None = None
) -> Factors:
    """Decode factors: truncation (xf32), flushing, then classes.

    Args:
        name: format of the codes; 16 bits or fewer, or one whose factors are cut to 10 fraction bits.
        codes: raw codes, any shape.
        bits: fraction bits of a wide format that are read; None is all.
        flush: flushing of subnormal factors, as in `Model.flush_inputs`.
        out: owner of the memory of the values; None for fresh memory.

    Returns:
        The factors, in the shape of the codes; their values are exact in float32.
    """
    fmt = FORMATS[name]
    if fmt.bits > 16:
        value, exponent, nans, infs = classes(fmt, codes, bits, flush)
        return Factors(value.astype(np.float32), exponent, nans if nans.any() else None, infs if infs.any() else None)
    words = np.empty(codes.shape, np.uint32) if out is None else out(codes.shape)
    _table(name, flush).take(codes, out=words, mode="clip")
    low = _LOW(codes.shape)
    np.bitwise_and(words, np.uint32(0x1FFF), out=low)
    np.bitwise_and(words, np.uint32(0xFFFFE000), out=words)
    special = low.size > 0 and int(low.max()) >= _NAN
    nan = inf = None
    if special:
        nan, inf = low & np.uint32(_NAN) != 0, low & np.uint32(_INF) != 0
        nan, inf = nan if nan.any() else None, inf if inf.any() else None
        low &= np.uint32(_EXPONENT)
    kind = _exponent_type(fmt)
    # The lowest 8 or 16 bits of exponent + 512 are, in two's complement, those of the exponent (plus 512 if 16).
    exponent = low.astype(kind)
    if kind.itemsize > 1:
        exponent -= kind.type(512)
    return Factors(words.view(np.float32), exponent, nan, inf)
