"""The conversions of gfx1250 of 8 or 16 values at once, and the unscaled ones between f16 and FP8.

Source: CDNA5 ISA manual, 7.6 and the opcodes of VOP3. Towards a narrow format the scale is the exponent field of an
f32, as on gfx950 (`mfmasim.formats.conversions.scaled`). From a narrow format it is an E8M0 code, which the instruction
finds in a byte of some lane; the functions here take that code itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.formats.conversions.operands import f16_source, f32_source, named, place, place_half, two_halves
from mfmasim.formats.conversions.scaled import halves, narrow, prng, widen
from mfmasim.formats.conversions.small import round_randomly, source_byte
from mfmasim.formats.packing import pack, unpack
from mfmasim.formats.registry import convert
from mfmasim.formats.registry import format as lookup

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mfmasim.formats.conversions.model import Call
    from mfmasim.formats.modes import Overflow

    Bits = NDArray[np.unsignedinteger[Any]]

HALF, LOW = np.uint32(16), np.uint32(0xFFFF)


def _values(source: str, registers: Bits) -> Bits:
    """The values of consecutive registers, in order, on the leading axis."""
    if source == "f32":
        return registers
    both = np.swapaxes(halves(registers), 0, 1)
    return both.reshape(2 * len(registers), *both.shape[2:])


def _noise(random: Bits, count: int) -> Bits:
    """16 random bits for each value, at the top: two values share a number, of which the first takes the lower half."""
    numbers, current = [], random.astype(np.uint32, copy=False)
    for _ in range(count // 2):
        numbers += [current << HALF, current & ~LOW]
        current = prng(current)
    return np.stack(numbers)


def narrow_block(target: str, source: str, *, random: bool = False) -> Callable[[Call], Bits]:
    """v_cvt_scalef32_[sr_]pk8_* and pk16_*: values of consecutive registers to codes of consecutive registers.

    An infinity becomes NaN, in BF8 only if MODE.FP16_OVFL is set (7.6.2, "±Inf for CVT_SCALE ops").

    Args:
        target: narrow format, as instructions call it.
        source: ``f32``, ``f16`` or ``bf16``.
        random: whether it rounds stochastically.
    """

    def run(call: Call) -> Bits:
        values = _values(source, call.sources[0])
        noise = _noise(call.sources[1], len(values)) if random else None
        codes = narrow(call, values, source, target, call.sources[-1], noise)
        fmt = named(target, call.arch)
        if fmt.nan_code is not None and call.mode.fp16_ovfl:
            infinite = np.isinf(lookup(source).decode(values))
            sign = codes & codes.dtype.type(fmt.sign_bit)
            codes = np.where(infinite, sign | codes.dtype.type(fmt.nan_code), codes)
        out = np.moveaxis(pack(np.moveaxis(codes, 0, -1), fmt), -1, 0)
        return out if len(out) > 1 else out[0]

    return run


def widen_block(target: str, source: str) -> Callable[[Call], Bits]:
    """v_cvt_scale_pk8_* and pk16_*: codes of consecutive registers to values, times 2**(scale - 127).

    Args:
        target: ``f32``, ``f16`` or ``bf16``.
        source: narrow format, as instructions call it.
    """

    def run(call: Call) -> Bits:
        registers, scale = call.sources
        registers = registers if registers.ndim > scale.ndim else registers[None]
        codes = np.moveaxis(unpack(np.moveaxis(registers, 0, -1), named(source, call.arch)), -1, 0)
        field = (scale & np.uint32(0xFF)) << np.uint32(23)
        values = widen(call, codes, source, target, field)
        return values if target == "f32" else two_halves(values[0::2], values[1::2])

    return run


def narrow_f16_pair(kind: str) -> Callable[[Call], Bits]:
    """v_cvt_pk_{fp8,bf8}_f16: two halves to two bytes in the half that OPSEL[3] chooses; ABS and NEG act on both."""

    def run(call: Call) -> Bits:
        word = call.sources[0].astype(np.uint32, copy=False)
        if call.modifiers.abs & 1:
            word = word & np.uint32(0x7FFF7FFF)
        if call.modifiers.neg & 1:
            word = word ^ np.uint32(0x80008000)
        target = named(kind, call.arch)
        low, high = (
            convert(bits, "f16", target, overflow=call.small_overflow).astype(np.uint32)
            for bits in (word & LOW, word >> HALF)
        )
        return place(call.old, low | high << np.uint32(8), 16 * (call.modifiers.op_sel >> 3 & 1), 16)

    return run


def narrow_f16_randomly(kind: str) -> Callable[[Call], Bits]:
    """v_cvt_sr_{fp8,bf8}_f16: the half that OPSEL[0] chooses and random bits to the byte that is named."""

    def run(call: Call) -> Bits:
        wide = convert(f16_source(call, 0), "f16", "f32", overflow="infinity_or_nan", nan="payload")
        code = round_randomly(wide, call.sources[1], "f16", named(kind, call.arch), call.small_overflow)
        byte = call.modifiers.op_sel >> 2 if call.modifiers.byte_sel is None else call.modifiers.byte_sel
        return place(call.old, code, 8 * byte, 8)

    return run


def widen_f16(kind: str) -> Callable[[Call], Bits]:
    """v_cvt_f16_{fp8,bf8}: one byte to f16, in the half that OPSEL[3] chooses."""

    def run(call: Call) -> Bits:
        code = call.sources[0] >> np.uint32(8 * source_byte(call, reversed_op_sel=True)) & np.uint32(0xFF)
        return place_half(call, convert(code, named(kind, call.arch), "f16", overflow=call.half_overflow))

    return run


def widen_f16_pair(kind: str) -> Callable[[Call], Bits]:
    """v_cvt_pk_f16_{fp8,bf8}: the two bytes of the half that OPSEL[0] chooses, to one register."""

    def run(call: Call) -> Bits:
        word = call.sources[0] >> np.uint32(16 * (call.modifiers.op_sel & 1))
        source = named(kind, call.arch)
        low, high = (
            convert(word >> np.uint32(shift) & np.uint32(0xFF), source, "f16", overflow=call.half_overflow)
            for shift in (0, 8)
        )
        return two_halves(low, high)[None]

    return run


def stochastic_pair(target: str) -> Callable[[Call], Bits]:
    """v_cvt_sr_pk_{f16,bf16}_f32: two f32, each with 16 of the random bits, to two halves."""

    def run(call: Call) -> Bits:
        random = call.sources[2].astype(np.uint32, copy=False)
        overflow: Overflow = call.half_overflow if target == "f16" else call.bf16_overflow
        return two_halves(
            *(
                round_randomly(f32_source(call, number), noise, "f32", lookup(target), overflow)
                for number, noise in ((0, random << HALF), (1, random & ~LOW))
            )
        )

    return run
