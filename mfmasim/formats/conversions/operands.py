"""Reading sources with their modifiers, and placing results in parts of a register."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.formats.registry import format as lookup

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.architectures import Arch
    from mfmasim.formats.conversions.model import Call
    from mfmasim.formats.modes import Rounding
    from mfmasim.formats.registry import Format

    Bits = NDArray[np.unsignedinteger[Any]]


def named(kind: str, arch: Arch) -> Format:
    """Format that an instruction calls ``fp8``, ``bf8``, ``fp6``, ``bf6``, ``fp4``, ``f16``, ``bf16`` or ``f32``."""
    return lookup({"fp8": arch.fp8_format, "bf8": arch.bf8_format}.get(kind, kind))


def f32_source(call: Call, number: int) -> NDArray[np.uint32]:
    """Source register as f32 bits, after ABS and NEG."""
    return _modified(call, number, call.sources[number].astype(np.uint32, copy=False), 31)


def f16_source(call: Call, number: int) -> NDArray[np.uint32]:
    """Half of a source register that OPSEL chooses as f16 bits, after ABS and NEG."""
    half = (call.sources[number] >> np.uint32(16 * (call.modifiers.op_sel >> number & 1))) & np.uint32(0xFFFF)
    return _modified(call, number, half.astype(np.uint32, copy=False), 15)


def f64_source(call: Call, number: int) -> NDArray[np.uint64]:
    """Source pair of registers as f64 bits, after ABS and NEG."""
    return _modified(call, number, call.sources[number].astype(np.uint64, copy=False), 63)


def _modified(call: Call, number: int, bits: NDArray[Any], sign: int) -> NDArray[Any]:
    mask = bits.dtype.type(1 << sign)
    if call.modifiers.abs >> number & 1:
        bits = bits & ~mask
    if call.modifiers.neg >> number & 1:
        bits = bits ^ mask
    return bits


def flushed(bits: NDArray[Any], fmt: Format, keep: int) -> NDArray[Any]:
    """Turn denormals into zeros of their sign, unless ``keep`` (a bit of MODE.denorm) is set.

    Args:
        bits: codes of the format, any shape.
        fmt: their format.
        keep: bit of MODE.denorm.

    Returns:
        Codes of the same shape.
    """
    if keep:
        return bits
    word = bits.dtype.type
    exponent = bits & word(((1 << fmt.exponent_bits) - 1) << fmt.mantissa_bits)
    return np.where(exponent == 0, bits & word(fmt.sign_bit), bits)


def flushed_half(values: NDArray[Any], half: NDArray[Any], rounding: Rounding, keep: int) -> NDArray[Any]:
    """`flushed` of f16 codes that were rounded from numbers of more bits.

    Also what is tiny: below 2**-14 after rounding to 11 bits with an unbounded exponent (captured on gfx1201:
    bjacob/goc, conversion16_hardware.h, V_CVT_F16_F32 with OMOD).

    Args:
        values: the numbers, float32 or float64.
        half: the f16 codes they were rounded to.
        rounding: how.
        keep: bit of MODE.denorm.
    """
    if keep:
        return half
    sizes, nearest = np.abs(values), rounding == "nearest_even"
    # Half a unit of 11 bits below 2**-14, where a tie is not tiny, or a whole unit.
    below = sizes < 2.0**-14 - 2.0**-26 if nearest else sizes <= 2.0**-14 - 2.0**-25
    tiny = (half & half.dtype.type(0x7FFF) == 0x400) & below
    return flushed(np.where(tiny, half & half.dtype.type(0x8000), half), lookup("f16"), keep)


def quiet(bits: NDArray[Any], fmt: Format) -> NDArray[Any]:
    """Set the quiet bit of signalling NaNs of an ieee format."""
    word = bits.dtype.type
    assert fmt.inf_code is not None
    nan = (bits & word(fmt.mask >> 1)) > word(fmt.inf_code)
    return np.where(nan, bits | word(1 << (fmt.mantissa_bits - 1)), bits)


def clamped(call: Call, bits: NDArray[Any], fmt: Format) -> NDArray[Any]:
    """Apply CLAMP to a floating-point result: into 0 to 1, NaN to 0 under DX10_CLAMP.

    Args:
        call: the call, with its modifiers and modes.
        bits: codes of the result, any shape.
        fmt: an ieee format.

    Returns:
        Codes of the same shape.
    """
    if not call.modifiers.clamp:
        return bits
    word = bits.dtype.type
    assert fmt.inf_code is not None
    nan = (bits & word(fmt.mask >> 1)) > word(fmt.inf_code)
    one = word(fmt.bias << fmt.mantissa_bits)
    # Codes without sign are ordered like their values.
    inside = np.where((bits & word(fmt.sign_bit)) != 0, word(0), np.minimum(bits, one))
    return np.where(nan, word(0) if call.mode.dx10_clamp else bits, inside)


def two_halves(low: Bits, high: Bits) -> NDArray[np.uint32]:
    """Two 16-bit values in one dword."""
    return low.astype(np.uint32) | high.astype(np.uint32) << np.uint32(16)


def place(old: Bits | None, value: Bits, shift: int, width: int) -> NDArray[np.uint32]:
    """Write ``value`` into bits [shift + width - 1 : shift] of ``old`` and keep the rest (zeros without ``old``).

    Args:
        old: the register before, or None.
        value: what to write, in the low bits.
        shift: lowest bit of the field.
        width: bits of the field.

    Returns:
        uint32: the register after.
    """
    field = np.uint32(((1 << width) - 1) << shift)
    shifted = (value.astype(np.uint32) << np.uint32(shift)) & field
    return shifted if old is None else (old.astype(np.uint32, copy=False) & ~field) | shifted


def place_half(call: Call, value: Bits) -> NDArray[np.uint32]:
    """Write a 16-bit result into the half that OPSEL[3] chooses."""
    return place(call.old, value, 16 * (call.modifiers.op_sel >> 3 & 1), 16)
