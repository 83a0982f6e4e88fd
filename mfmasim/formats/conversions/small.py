"""FP8 and BF8 without scale: v_cvt_pk_fp8_f32, v_cvt_sr_fp8_f32, v_cvt_f32_fp8, v_cvt_pk_f32_fp8 and the BF8 twins.

Sources: CDNA3 ISA manual, 7.2; CDNA4 ISA manual, 7.3; RDNA4 ISA manual, 7.6. Overflow is decided after rounding: the
counts that ROCm/rocm-systems #9556 published from gfx942 and gfx950 come out, those of the other reading do not. The
stochastic forms add the top bits of
the random operand right below the last mantissa bit kept and truncate. The manuals' pseudocode would then round to
nearest and lose the carry; their prose (truncation), AMD's HIP header (amd_hip_ocp_host.hpp) and ROCm/llvm-project
#3275 (the carry counts) agree on what is done here. For results in the subnormal range the HIP header cuts the
significand at the precision of the source first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.formats.conversions.operands import f32_source, named, place
from mfmasim.formats.registry import convert
from mfmasim.formats.registry import format as lookup
from mfmasim.formats.rounding import round_codes

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mfmasim.formats.conversions.model import Call
    from mfmasim.formats.modes import Overflow
    from mfmasim.formats.registry import Format

    Bits = NDArray[np.unsignedinteger[Any]]


def pack_two(kind: str) -> Callable[[Call], Bits]:
    """v_cvt_pk_{fp8,bf8}_f32: two f32 to two bytes in the half of the destination that OPSEL[3] chooses."""

    def run(call: Call) -> Bits:
        target = named(kind, call.arch)
        sources = [f32_source(call, number) for number in (0, 1)]
        low, high = (
            _settled(call, source, convert(source, "f32", target, overflow=call.small_overflow)) for source in sources
        )
        return place(call.old, low | high << np.uint32(8), 16 * (call.modifiers.op_sel >> 3 & 1), 16)

    return run


def _settled(call: Call, source: Bits, code: Bits) -> Bits:
    """Codes of 8 bits of f32 sources, with the NaN that the architecture gives."""
    code = code.astype(np.uint32)
    if not call.arch.conversions.negative_nan:
        return code
    nan = source & np.uint32(0x7FFFFFFF) > np.uint32(0x7F800000)
    out: Bits = np.where(nan, code | np.uint32(0x80), code)
    return out


def stochastic(kind: str) -> Callable[[Call], Bits]:
    """v_cvt_sr_{fp8,bf8}_f32: one f32 and 32 random bits to the byte that OPSEL[3:2] or ``byte_sel`` names."""

    def run(call: Call) -> Bits:
        target = named(kind, call.arch)
        source = f32_source(call, 0)
        code = _settled(call, source, round_randomly(source, call.sources[1], "f32", target, call.small_overflow))
        byte = call.modifiers.op_sel >> 2 if call.modifiers.byte_sel is None else call.modifiers.byte_sel
        return place(call.old, code, 8 * byte, 8)

    return run


def round_randomly(bits: Bits, random: Bits, source: str, target: Format, overflow: Overflow) -> Bits:
    """Round f32 bits as the hardware's stochastic adder does.

    Args:
        bits: f32 codes whose value was in the format ``source`` before any scaling.
        random: uint32, of which the top bits count: as many as ``source`` has mantissa bits beyond the target's.
        source: ``f32``, ``f16`` or ``bf16``.
        target: format of the result.
        overflow: what becomes of values beyond the largest.
    """
    random_bits = lookup(source).mantissa_bits - target.mantissa_bits
    bits, random = np.broadcast_arrays(bits, random.astype(np.uint32, copy=False))
    return round_codes(bits, lookup("f32"), target, "stochastic", overflow, "canonical", random, random_bits)


def source_byte(call: Call, reversed_op_sel: bool) -> int:
    """Byte that a widening instruction reads.

    Without ``byte_sel``, OPSEL[1:0] counts; gfx12 has its two bits the other way round (RDNA4 ISA manual,
    V_CVT_F32_FP8).
    """
    if call.modifiers.byte_sel is not None:
        return call.modifiers.byte_sel
    bits = call.modifiers.op_sel & 3
    return bits >> 1 | (bits & 1) << 1 if reversed_op_sel else bits


def widen_one(kind: str) -> Callable[[Call], Bits]:
    """v_cvt_f32_{fp8,bf8}: one byte to f32."""

    def run(call: Call) -> Bits:
        code = call.sources[0] >> np.uint32(8 * source_byte(call, reversed_op_sel=True)) & np.uint32(0xFF)
        return convert(code, named(kind, call.arch), "f32", overflow="infinity_or_nan")

    return run


def widen_two(kind: str) -> Callable[[Call], Bits]:
    """v_cvt_pk_f32_{fp8,bf8}: two bytes of the chosen half to two registers of f32."""

    def run(call: Call) -> Bits:
        word = call.modifiers.op_sel & 1 if call.modifiers.byte_sel is None else call.modifiers.byte_sel
        half = call.sources[0] >> np.uint32(16 * word)
        codes = np.stack([half & np.uint32(0xFF), half >> np.uint32(8) & np.uint32(0xFF)])
        return convert(codes, named(kind, call.arch), "f32", overflow="infinity_or_nan")

    return run
