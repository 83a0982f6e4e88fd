"""Arithmetic on BF16: packed, mixed with f32, and approximations; hyperbolic tangents.

Source: CDNA5 ISA manual, VOP1, VOP3P and 7.7. Packed operations round to nearest even and keep denormals, whatever MODE
says; FP16_OVFL turns an overflow into the largest number. Approximations are those of `vector_approximate`, rounded
once to BF16; 7.2.4 says that 16-bit floats have denormals. That the mixed ones obey FP16_OVFL and keep denormals of
BF16 is assumed, as is how closely V_TANH approximates.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from mfmasim.architectures import Arch
from mfmasim.arrays import U
from mfmasim.formats import Overflow, convert
from mfmasim.isa import Instruction
from mfmasim.machine.numerics import elementary, ieee
from mfmasim.machine.numerics.float_formats import BY_SIZE, F32
from mfmasim.machine.numerics.float_mode import FloatMode
from mfmasim.machine.opcodes.refusal import unsupported
from mfmasim.machine.opcodes.registry import shaped, vector
from mfmasim.machine.opcodes.undefined_rules import parts
from mfmasim.machine.ops.packed_float import halves
from mfmasim.machine.ops.vector_approximate import FUNCTIONS

HALF, SIGN, QUIET, INFINITY = np.uint32(16), np.uint32(0x8000), np.uint32(0x40), np.uint32(0x7F80)


def _half(source: U, high: bool, negative: bool) -> U:
    """The codes of one half of a dword, as uint32."""
    bits = source >> HALF if high else source & np.uint32(0xFFFF)
    return bits ^ SIGN if negative else bits


def _wide(codes: U) -> U:
    """BF16 codes as float64, exact."""
    return (codes << HALF).view(np.float32).astype(np.float64)


def _overflow(mode: FloatMode) -> Overflow:
    return "saturate_finite" if mode.fp16_ovfl else "infinity_or_nan"


def _rounded(values: U, mode: FloatMode) -> U:
    """Codes of float64 numbers, which are exact or rounded to odd."""
    return convert(np.ascontiguousarray(values).view(np.uint64), "f64", "bf16", overflow=_overflow(mode)).astype(
        np.uint32
    )


def _settled(codes: U, *sources: U, negative: bool = False) -> U:
    """NaN rule: the first source that is NaN, quiet; else the default NaN."""
    default = INFINITY | QUIET | (SIGN if negative else np.uint32(0))
    out = np.where(codes & ~SIGN > INFINITY, default, codes)
    for source in reversed(sources):
        out = np.where(source & ~SIGN > INFINITY, source | QUIET, out)
    return out


def _fused(a: U, b: U, c: U, mode: FloatMode) -> U:
    """The sum a * b + c with one rounding: the product is exact in float64, the sum is rounded to odd."""
    total = ieee.sum_to_odd(_wide(a) * _wide(b), _wide(c))
    return _settled(_rounded(total, mode), a, b, c)


def _add(a: U, b: U, mode: FloatMode) -> U:
    return _fused(a, np.broadcast_to(np.uint32(0x3F80), np.shape(a)), b, mode)


def _multiply(a: U, b: U, mode: FloatMode) -> U:
    return _settled(_rounded(_wide(a) * _wide(b), mode), a, b)


def _number(larger: bool) -> Callable[[U, U, FloatMode], U]:
    """The functions minimumNumber and maximumNumber: zeros count with their sign, a number wins against a NaN."""

    def key(codes: U) -> U:
        size = (codes & ~SIGN).astype(np.int64)
        return np.where(codes & SIGN != 0, -size - 1, size)

    def run(a: U, b: U, _mode: FloatMode) -> U:
        first = key(a) > key(b) if larger else key(a) < key(b)
        nan_a, nan_b = (codes & ~SIGN > INFINITY for codes in (a, b))
        out = np.where((first | nan_b) & ~nan_a, a, b)
        return np.where(nan_a & nan_b, a | QUIET, out)

    return run


def _clamped(codes: U) -> U:
    """Into 0 to 1, NaN to 0 (7.2.3.1)."""
    inside = np.where(codes & SIGN != 0, np.uint32(0), np.minimum(codes, np.uint32(0x3F80)))
    return np.where(codes & ~SIGN > INFINITY, np.uint32(0), inside)


PACKED: dict[str, tuple[int, Callable[..., U]]] = {
    "v_pk_add_bf16": (2, _add),
    "v_pk_mul_bf16": (2, _multiply),
    "v_pk_fma_bf16": (3, _fused),
    "v_pk_min_num_bf16": (2, _number(False)),
    "v_pk_max_num_bf16": (2, _number(True)),
}


def _packed(count: int, function: Callable[..., U], instruction: Instruction, _arch: Arch) -> Callable[..., U]:
    picks, clamp = halves(instruction, count), bool(instruction.modifiers.get("clamp"))

    def run(*sources: Any) -> U:
        mode: FloatMode = sources[-1]
        out = []
        for part in range(2):
            values = [_half(s, pick[part], neg[part]) for s, (pick, neg) in zip(sources, picks, strict=False)]
            result = function(*values, mode)
            out.append(_clamped(result) if clamp else result)
        return out[0] | out[1] << HALF

    return run


for _name, (_count, _body) in PACKED.items():
    shaped(_name, f"{'u32 ' * _count}mode -> u32", undefined=parts("half", packed=True))(
        partial(_packed, _count, _body)
    )


# Mixed with f32.


def _mix_source(instruction: Instruction, index: int) -> Callable[[U], U]:
    """A source as f32: op_sel_hi makes it a BF16, of the half that op_sel chooses."""
    operand = instruction.src[index]
    short = instruction.modifiers.get("op_sel_hi", 0) >> index & 1
    high = bool(instruction.modifiers.get("op_sel", 0) >> index & 1)

    def read(source: U) -> U:
        bits = _half(source, high, False) << HALF if short else source
        bits = bits & ~F32.sign if operand.abs else bits
        return (bits ^ F32.sign if operand.neg else bits).view(np.float32)

    return read


def _mix(instruction: Instruction, _arch: Arch) -> Callable[..., U]:
    """V_FMA_MIX_F32_BF16."""
    reads = [_mix_source(instruction, index) for index in range(3)]

    def run(s0: U, s1: U, s2: U, mode: FloatMode) -> U:
        a, b, c = (read(s) for read, s in zip(reads, (s0, s1, s2), strict=True))
        return ieee.fused(a, b, c, mode)

    return run


def _mix_half(up: np.uint32, instruction: Instruction, arch: Arch) -> Callable[..., U]:
    """V_FMA_MIXLO_BF16 and V_FMA_MIXHI_BF16 round the f32 result once more and keep the other half."""
    run, clamp = _mix(instruction, arch), bool(instruction.modifiers.get("clamp"))

    def narrowed(s0: U, s1: U, s2: U, old: U, mode: FloatMode) -> U:
        wide = F32.bits(run(s0, s1, s2, mode))
        code = convert(wide, "f32", "bf16", overflow=_overflow(mode), nan="payload").astype(np.uint32)
        return (_clamped(code) if clamp else code) << up | old & ~(np.uint32(0xFFFF) << up)

    return narrowed


shaped("v_fma_mix_f32_bf16", "u32 u32 u32 mode -> f32", undefined=parts("half"))(_mix)
for _name, _up in (("v_fma_mixlo_bf16", np.uint32(0)), ("v_fma_mixhi_bf16", HALF)):
    shaped(_name, "u32 u32 u32 u32 mode -> u32", "assumed", undefined=parts("half", packed=True))(
        partial(_mix_half, _up)
    )


# Approximations.


def _tanh(x: U) -> U:
    """The hyperbolic tangent of float64 numbers: themselves below 2**-10, and 1 from 8 on, as the manual has it."""
    size = np.minimum(np.abs(x), 8.0)
    power = elementary.exp2(size * (2 / elementary.LN2))
    # Small ones by their series, which loses nothing; 2/15 x**5 is below 2**-52 of x there.
    series = size - size**3 / 3 + 2 * size**5 / 15 - 17 * size**7 / 315
    inner = np.where(size < 2.0**-5, series, (power - 1) / (power + 1))
    out = np.where(size < 2.0**-10, size, np.where(size >= 8, 1.0, inner))
    return np.copysign(np.where(np.isnan(x), x, out), x)


def _tanh_of(s0: U, mode: FloatMode) -> U:
    form = BY_SIZE[s0.dtype.itemsize]
    values = ieee.entering(s0, form, mode)
    out = form.settled(_tanh(values.astype(np.float64)).astype(s0.dtype), values)
    return ieee.limited(out, form, mode, False)


for _kind in ("f16", "f32"):
    vector(f"v_tanh_{_kind}", f"{_kind} mode -> {_kind}", "assumed")(_tanh_of)


def _approximation(function: Callable[[U], U], instruction: Instruction, _arch: Arch) -> Callable[[U, FloatMode], U]:
    """A function of one BF16; the half that op_sel chooses. Clamp is ignored (7.2.3.1)."""
    operand, high = instruction.src[0], bool(instruction.modifiers.get("op_sel", 0) & 1)
    if instruction.modifiers.get("omod"):
        raise unsupported(instruction, "omod on BF16")

    def run(s0: U, mode: FloatMode) -> U:
        codes = _half(s0, high, False)
        codes = codes & ~SIGN if operand.abs else codes
        codes = codes ^ SIGN if operand.neg else codes
        values = _wide(codes)
        found = np.ascontiguousarray(function(values)).view(np.uint64)
        out = convert(found, "f64", "bf16", overflow="infinity_or_nan").astype(np.uint32)
        # The infinite results of zero are exact: FP16_OVFL does not change them.
        over = mode.fp16_ovfl & (out & ~SIGN == INFINITY) & np.isfinite(values) & (values != 0)
        out = np.where(over, out - np.uint32(1), out)
        return _settled(out, codes, negative=True).astype(np.uint16)

    return run


for _word, _function in (*FUNCTIONS.items(), ("tanh", _tanh)):
    shaped(f"v_{_word}_bf16", "u32 mode -> u16", "assumed", undefined=parts("half"))(partial(_approximation, _function))
