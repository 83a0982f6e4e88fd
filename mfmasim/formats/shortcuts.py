"""Fast roundings for the common pairs of wide formats, for finite results only.

NumPy's cast from float64 to float32, from float32 to float16 and the integer step from f32 to bf16 round once, to
nearest even, subnormals included (IEEE 754; tests compare them with the slow model). Results of Inf or NaN are
left to `mfmasim.formats.rounding`, which applies overflow and NaN rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Bits = NDArray[np.unsignedinteger[Any]]


def _nearest_bf16(bits: Bits) -> Bits:
    """f32 to bf16: add just under half of the last place kept, and its lowest bit."""
    # A NaN whose payload lies in the lower half would carry into something finite: it goes to Inf, and is put right.
    nan = (bits & np.uint32(0x7FFFFFFF)) > np.uint32(0x7F800000)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
    return np.where(nan, np.uint32(0x7F80), rounded).astype(np.uint16)


def _zero_bf16(bits: Bits) -> Bits:
    return (bits >> np.uint32(16)).astype(np.uint16)


def _nearest_f16(bits: Bits) -> Bits:
    with np.errstate(all="ignore"):
        return bits.view(np.float32).astype(np.float16).view(np.uint16)


def _zero_f16(bits: Bits) -> Bits:
    with np.errstate(all="ignore"):
        values = bits.view(np.float32)
        nearest = values.astype(np.float16)
        # One code back where the nearest lies beyond; codes of one sign are ordered like their values.
        return nearest.view(np.uint16) - (np.abs(nearest.astype(np.float32)) > np.abs(values))


def _nearest_f32(bits: Bits) -> Bits:
    with np.errstate(all="ignore"):
        return bits.view(np.float64).astype(np.float32).view(np.uint32)


def _zero_f32(bits: Bits) -> Bits:
    with np.errstate(all="ignore"):
        values = bits.view(np.float64)
        nearest = values.astype(np.float32)
        return nearest.view(np.uint32) - (np.abs(nearest.astype(np.float64)) > np.abs(values))


SHORTCUTS: dict[tuple[str, str, str], Callable[[Bits], Bits]] = {
    ("f32", "bf16", "nearest_even"): _nearest_bf16,
    ("f32", "bf16", "toward_zero"): _zero_bf16,
    ("f32", "f16", "nearest_even"): _nearest_f16,
    ("f32", "f16", "toward_zero"): _zero_f16,
    ("f64", "f32", "nearest_even"): _nearest_f32,
    ("f64", "f32", "toward_zero"): _zero_f32,
}


def odd_single(bits: Bits) -> NDArray[np.uint32]:
    """f64 codes rounded to odd in f32: cut off, with the lowest bit set where anything was lost.

    A second rounding to at most 22 mantissa bits then gives what one rounding would have given.
    """
    with np.errstate(all="ignore"):
        values = bits.view(np.float64)
        nearest = values.astype(np.float32)
        wide = nearest.astype(np.float64)
        cut: NDArray[np.uint32] = nearest.view(np.uint32) - (np.abs(wide) > np.abs(values))
        cut |= wide != values
        return cut
