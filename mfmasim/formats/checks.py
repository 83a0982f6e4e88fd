"""Checks of the codes and values that callers pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.errors import MfmasimError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from mfmasim.formats.rows import FormatRow


def _native(array: NDArray[Any]) -> NDArray[Any]:
    """The same values in the machine's byte order, as views require."""
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _beyond(code: int, fmt: FormatRow) -> MfmasimError:
    """The error for a code with bits that a format does not have."""
    value = str(code) if code < 0 else f"{code:#x}"
    return MfmasimError(f"code {value} does not fit the {fmt.bits} bits of {fmt.name}; allowed: 0 to {fmt.mask:#x}")


def as_codes(codes: ArrayLike, fmt: FormatRow) -> NDArray[np.unsignedinteger[Any]]:
    """Check codes of a format and return them in an unsigned dtype.

    Raises:
        MfmasimError: not integers, or a code has bits that the format does not have.
    """
    array = _native(np.asarray(codes))
    if array.size == 0 and not isinstance(codes, np.ndarray):
        array = array.astype(fmt.carrier)
    if array.dtype.kind in "fO" and not isinstance(codes, (np.ndarray, np.generic)):
        # NumPy makes floats or objects of Python's integers where no signed type holds all of them.
        exact = np.asarray(codes, dtype=object)
        if all(isinstance(code, (int, np.integer)) for code in exact.flat):
            for code in exact.flat:
                if not 0 <= code <= fmt.mask:
                    raise _beyond(int(code), fmt)
            array = exact.astype(np.uint64)
    if array.dtype.kind not in "ui":
        hint = "; use .view() for its bits" if array.dtype.kind in "fV" else ""
        raise MfmasimError(f"{fmt.name} codes must be unsigned integers, not {array.dtype}{hint}")
    if array.size and (array.dtype.kind == "i" or array.dtype.itemsize * 8 > fmt.bits):
        low, high = int(array.min()), int(array.max())
        if low < 0 or high > fmt.mask:
            raise _beyond(high if high > fmt.mask else low, fmt)
    return array.astype(np.promote_types(fmt.carrier, np.uint8), copy=False) if array.dtype.kind == "i" else array


# Numeric dtypes that carry values, by name: the row that describes their bits.
_VALUE_FORMATS = {"float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16"}


def as_float_bits(values: ArrayLike) -> tuple[NDArray[np.unsignedinteger[Any]], str]:
    """Return the raw bits of an array of floats and the name of their format.

    Raises:
        MfmasimError: an array of another dtype.
    """
    array = _native(np.asarray(values))
    if not isinstance(values, (np.ndarray, np.generic)) and array.dtype.kind in "iuf":
        # Python numbers are doubles; an integer that a double does not hold would round twice.
        exact = array.astype(np.float64)
        if array.dtype.kind in "iu" and array.size and max(-int(array.min()), int(array.max())) > 1 << 53:
            raise MfmasimError("integers above 2**53 are not exact as float64; pass float64 values")
        array = exact
    name = _VALUE_FORMATS.get(array.dtype.name)
    if name is None:
        raise MfmasimError(f"values to encode must be {', '.join(_VALUE_FORMATS)}, not {array.dtype}")
    return array.view(f"u{array.dtype.itemsize}"), name


def as_random(random: ArrayLike | None, rounding: str, shape: tuple[int, ...]) -> NDArray[np.uint32] | None:
    """Check the random bits against the rounding mode and bring them to ``shape``.

    Args:
        random: integers below 2**32, or None.
        rounding: rounding mode, of which only ``stochastic`` takes them.
        shape: shape of the values.

    Returns:
        uint32 of ``shape``; None for every other mode.

    Raises:
        MfmasimError: missing for ``stochastic``, given for another mode, not integers below 2**32, or another shape.
    """
    if rounding != "stochastic":
        if random is not None:
            raise MfmasimError(f"random bits are for rounding='stochastic', not {rounding!r}")
        return None
    if random is None:
        raise MfmasimError("rounding='stochastic' needs random=, integers below 2**32")
    array = _native(np.asarray(random))
    if array.dtype.kind not in "ui" or (array.size and (int(array.min()) < 0 or int(array.max()) >= 1 << 32)):
        raise MfmasimError(f"random must be integers from 0 to 2**32 - 1, not {array.dtype}")
    try:
        return np.broadcast_to(array.astype(np.uint32, copy=False), shape)
    except ValueError:
        raise MfmasimError(f"random of shape {array.shape} does not broadcast to {shape}") from None
