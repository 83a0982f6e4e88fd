"""Codes of A and B as the quantities that the accumulation models speak of: value, unnormalised exponent, class."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.errors import MfmasimError, unknown
from mfmasim.formats.rows import ROWS, FormatRow
from mfmasim.matrix.arithmetic.arrays import scratch

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mfmasim.matrix.models import Model

__all__ = ["FACTORS", "Codes", "Factors", "check_codes", "decode", "empty_below", "row"]

_BY_NAME: dict[str, FormatRow] = {row.name: row for row in ROWS}

FACTORS = (
    "f64",
    "f32",
    "xf32",
    "f16",
    "bf16",
    "e4m3fn",
    "e4m3fnuz",
    "e5m2",
    "e5m2fnuz",
    "e2m3fn",
    "e3m2fn",
    "e2m1fn",
)
"""Float formats that matrix instructions multiply."""

# Exponent of a zero significand. Low enough that the sum with any exponent stays below the sum of two smallest ones,
# so that a maximum over products sees zero products last; still inside int8 (int16 for 8-bit exponents).
_EMPTY = {"int8": -48, "int16": -400}


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

    def map(self, function: Any) -> Factors:
        """Apply a function of arrays (an index, a transpose, a broadcast) to every array."""
        nan = None if self.nan is None else function(self.nan)
        inf = None if self.inf is None else function(self.inf)
        return Factors(function(self.value), function(self.exponent), nan, inf)


@dataclass(frozen=True)
class Codes:
    """Raw codes of a batch of tiles (tiles, rows, columns) and how to decode them."""

    array: NDArray[Any]
    read: Callable[[NDArray[Any]], Factors]

    def factors(self) -> Factors:
        """Decode in the order of the codes."""
        return self.read(self.array)


def row(name: str) -> FormatRow:
    """Row of a float format that can be multiplied.

    Raises:
        MfmasimError: the format is not one of `FACTORS`.
    """
    if name not in FACTORS:
        raise unknown("matrix element format", name, FACTORS)
    return _BY_NAME[name]


def check_codes(name: str, fmt: str, codes: Any, bits: int) -> NDArray[Any]:
    """Return codes as an unsigned array and refuse floats, signed negatives and codes that do not fit.

    Raises:
        MfmasimError: not an integer array, or a code needs more bits than the format has.
    """
    array = np.asarray(codes)
    if array.dtype.kind not in "ui":
        raise MfmasimError(f"{name} must be raw {fmt} codes in an unsigned integer array, not {array.dtype}")
    if array.dtype.itemsize * 8 > bits or array.dtype.kind == "i":
        if array.size and (int(array.max()) >> bits or int(array.min()) < 0):
            bad = array[(array < 0) | (array >> bits != 0)].flat[0]
            raise MfmasimError(f"{name} holds {int(bad)}, which is no code of {fmt} ({bits} bits)")
        array = array.astype(np.dtype(f"u{max(1, bits // 8)}"))
    return array


def empty_below(exponents: NDArray[Any]) -> int:
    """Sums of exponents below this came from a product with a zero factor."""
    return -32 if exponents.dtype == np.int8 else -254


def _parts(fmt: FormatRow, codes: NDArray[Any], kept: int | None, flush: str) -> tuple[NDArray[Any], ...]:
    """Sign, significand, exponent, is-NaN, is-Inf of codes, after truncation and flushing."""
    bits = codes.astype(np.int64)
    if kept is not None and kept < fmt.mantissa_bits:
        bits &= ~((1 << (fmt.mantissa_bits - kept)) - 1)
    fraction = bits & ((1 << fmt.mantissa_bits) - 1)
    field = (bits >> fmt.mantissa_bits) & ((1 << fmt.exponent_bits) - 1)
    negative = (bits >> (fmt.bits - 1)) & 1 != 0
    top = field == (1 << fmt.exponent_bits) - 1
    none = np.zeros(bits.shape, np.bool_)
    nan, inf = none, none
    if fmt.special == "ieee":
        nan, inf = top & (fraction != 0), top & (fraction == 0)
    elif fmt.special == "fn":
        nan = top & (fraction == (1 << fmt.mantissa_bits) - 1)
    elif fmt.special == "fnuz":
        nan = negative & (field == 0) & (fraction == 0)
    significand = np.where(field != 0, fraction | (1 << fmt.mantissa_bits), fraction)
    if flush:
        tiny = field == 0
        significand = np.where(tiny & ~nan, 0, significand)
        if flush == "positive":
            negative = negative & ~tiny
    significand = np.where(nan | inf, 0, significand)
    exponent = np.maximum(field, 1) - fmt.bias
    return negative, significand, exponent, nan, inf


def _exponent_type(fmt: FormatRow) -> str:
    return "int8" if fmt.exponent_bits <= 5 else "int16"


def _decode(fmt: FormatRow, codes: NDArray[Any], kept: int | None, flush: str) -> tuple[NDArray[Any], ...]:
    negative, significand, exponent, nan, inf = _parts(fmt, codes, kept, flush)
    value = np.ldexp(np.where(negative, -1.0, 1.0) * significand, (exponent - fmt.mantissa_bits).astype(np.int32))
    kind = _exponent_type(fmt)
    # A NaN or Inf is no zero product, but its exponent is never used: the result is decided before any arithmetic.
    exponent = np.where(significand == 0, _EMPTY[kind], exponent).astype(kind)
    return value, exponent, nan, inf


# Below the 13 bits that are zero in the f32 of any format of at most 16 bits (and of xf32), a table entry keeps the
# exponent (plus 512) and the class.
_EXPONENT, _NAN, _INF = 0x07FF, 0x0800, 0x1000


@lru_cache(maxsize=64)
def _table(name: str, kept: int | None, flush: str) -> NDArray[np.uint32]:
    """Value, exponent and class of every code of a format, in one word each: one gather decodes all three."""
    fmt = _BY_NAME[name]
    value, exponent, nan, inf = _decode(fmt, np.arange(1 << fmt.bits, dtype=np.uint32), kept, flush)
    words = value.astype(np.float32).view(np.uint32) | (exponent.astype(np.int32) + 512).astype(np.uint32)
    return words | nan * np.uint32(_NAN) | inf * np.uint32(_INF)


def decode(model: Model, name: str, codes: NDArray[Any], *, denormals: bool = True, place: str = "") -> Factors:
    """Decode factors for a model: truncation (xf32), flushing, then classes.

    Args:
        model: its ``input_mantissa_bits``, ``flush_inputs`` and ``mode_denormals`` apply.
        name: format of the codes; 16 bits or fewer, or one whose factors the model cuts to 10 fraction bits.
        codes: raw codes, any shape.
        denormals: MODE.denorm lets subnormal inputs through.
        place: name of the scratch memory that holds the values until the next use of that name; "" for fresh memory.

    Returns:
        The factors, in the shape of the codes; their values are exact in float32.
    """
    fmt = _BY_NAME[name]
    flush = model.flush_inputs
    if model.mode_denormals and not denormals:
        flush = flush or "signed"
    if fmt.bits > 16:
        value, exponent, nans, infs = _decode(fmt, codes, model.input_mantissa_bits, flush)
        return Factors(value.astype(np.float32), exponent, nans if nans.any() else None, infs if infs.any() else None)
    words = scratch(f"{place} words", codes.shape, np.uint32) if place else np.empty(codes.shape, np.uint32)
    _table(name, None, flush).take(codes, out=words, mode="clip")
    low = scratch("low", codes.shape, np.uint32)
    np.bitwise_and(words, np.uint32(0x1FFF), out=low)
    np.bitwise_and(words, np.uint32(0xFFFFE000), out=words)
    special = low.size > 0 and int(low.max()) >= _NAN
    nan = inf = None
    if special:
        nan, inf = low & np.uint32(_NAN) != 0, low & np.uint32(_INF) != 0
        nan, inf = nan if nan.any() else None, inf if inf.any() else None
        low &= np.uint32(_EXPONENT)
    kind = np.dtype(_exponent_type(fmt))
    # The lowest 8 or 16 bits of exponent + 512 are, in two's complement, those of the exponent (plus 512 if 16).
    exponent = low.astype(kind)
    if kind.itemsize > 1:
        exponent -= kind.type(512)
    return Factors(words.view(np.float32), exponent, nan, inf)
