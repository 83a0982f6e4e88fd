"""Packed floats: the same operation on two f16 of a dword, or on two dwords; moves of dwords; mixed precision.

op_sel chooses the half (or dword) of each source that the low result uses, op_sel_hi the one of the high result;
neg_lo and neg_hi turn their signs. Source: CDNA3 ISA manual, 6.7 and VOP3P; CDNA4 ISA manual for V_PK_MINIMUM3_F16.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from mfmasim.architectures import Arch
from mfmasim.arrays import U
from mfmasim.isa import Instruction
from mfmasim.isa.operands import INLINE_FLOATS
from mfmasim.machine.binding.modifiers import clamped
from mfmasim.machine.numerics import ieee
from mfmasim.machine.numerics.float_formats import F16, F32
from mfmasim.machine.numerics.float_mode import FloatMode
from mfmasim.machine.numerics.mixed import fused_half, widened
from mfmasim.machine.opcodes.refusal import unsupported
from mfmasim.machine.opcodes.registry import shaped
from mfmasim.machine.opcodes.undefined_rules import bits, parts
from mfmasim.machine.ops import vector_minmax

HALF = np.uint32(16)


def halves(instruction: Instruction, count: int) -> list[tuple[tuple[bool, bool], tuple[bool, bool]]]:
    """For each source: which part the low and the high result use, and whether its sign turns in either.

    A VOP2 operation in VOP3 has no op_sel; its NEG is neg_lo and its ABS neg_hi (CDNA4 ISA manual, V_DOT2C_F32_BF16).
    """
    m = instruction.modifiers
    if "op_sel" not in m:
        return [((False, True), (x.neg, x.abs)) for x in instruction.src[:count]]
    low, high, neg_low, neg_high = (m.get(name, 0) for name in ("op_sel", "op_sel_hi", "neg_lo", "neg_hi"))
    return [
        ((bool(low >> i & 1), bool(high >> i & 1)), (bool(neg_low >> i & 1), bool(neg_high >> i & 1)))
        for i in range(count)
    ]


def half(source: U, high: bool, negative: bool) -> U:
    """One f16 of a dword."""
    bits = (source >> HALF if high else source).astype(np.uint16)
    return (bits ^ F16.sign if negative else bits).view(np.float16)


def two_halves(low: U, high: U) -> U:
    """A dword of two f16."""
    parts = np.broadcast_arrays(F16.bits(low), F16.bits(high))
    return parts[0].astype(np.uint32) | parts[1].astype(np.uint32) << HALF


PACKED16: dict[str, tuple[int, Callable[..., U]]] = {
    "v_pk_add_f16": (2, ieee.add),
    "v_pk_mul_f16": (2, ieee.multiply),
    "v_pk_fma_f16": (3, ieee.fused),
    "v_pk_fmac_f16": (3, ieee.fused),
    "v_pk_min_f16": (2, vector_minmax.minimum),
    "v_pk_max_f16": (2, vector_minmax.maximum),
    "v_pk_min_num_f16": (2, vector_minmax.minimum_number),
    "v_pk_max_num_f16": (2, vector_minmax.maximum_number),
    "v_pk_minimum_f16": (2, vector_minmax.ieee_minimum),
    "v_pk_maximum_f16": (2, vector_minmax.ieee_maximum),
    "v_pk_minimum3_f16": (3, vector_minmax.minimum3),
    "v_pk_maximum3_f16": (3, vector_minmax.maximum3),
    "v_pk_min3_num_f16": (3, vector_minmax.three(vector_minmax.minimum_number)),
    "v_pk_max3_num_f16": (3, vector_minmax.three(vector_minmax.maximum_number)),
}


def _packed16(count: int, function: Callable[..., U], instruction: Instruction, arch: Arch) -> Callable[..., U]:
    if instruction.modifiers.get("omod"):
        raise unsupported(instruction, "omod on a packed result")
    picks = halves(instruction, count)
    if arch.floats.constant_in_both_halves and "op_sel" not in instruction.modifiers:
        picks = [
            ((False, False) if source.index in INLINE_FLOATS and source.kind == "const" else pick, signs)
            for source, (pick, signs) in zip(instruction.src, picks, strict=False)
        ]
    clamp = bool(instruction.modifiers.get("clamp"))

    def run(*sources: Any) -> U:
        mode: FloatMode = sources[-1]
        out: list[U] = []
        for part in range(2):
            values = [half(s, pick[part], neg[part]) for s, (pick, neg) in zip(sources, picks, strict=False)]
            result = function(*values, mode)
            out.append(clamped(result, mode) if clamp else result)
        return two_halves(*out)

    return run


for _name, (_count, _body) in PACKED16.items():
    shaped(_name, f"{'u32 ' * _count}mode -> u32", undefined=parts("half", packed=True))(
        partial(_packed16, _count, _body)
    )

PACKED32: dict[str, tuple[int, Callable[..., U]]] = {
    "v_pk_add_f32": (2, ieee.add),
    "v_pk_mul_f32": (2, ieee.multiply),
    "v_pk_fma_f32": (3, ieee.fused),
}


def _packed32(count: int, function: Callable[..., U], instruction: Instruction, arch: Arch) -> Callable[..., list[U]]:
    picks = halves(instruction, count)
    if arch.floats.scalar_in_both_dwords:
        picks = [
            (pick if source.kind == "v" else (False, False), signs)
            for source, (pick, signs) in zip(instruction.src, picks, strict=False)
        ]
    clamp = bool(instruction.modifiers.get("clamp"))

    def run(*sources: Any) -> list[U]:
        mode: FloatMode = sources[-1]
        out: list[U] = []
        for part in range(2):
            values = []
            for source, (pick, neg) in zip(sources, picks, strict=False):
                bits = source[pick[part]]
                values.append((bits ^ F32.sign if neg[part] else bits).view(np.float32))
            result = function(*values, mode)
            out.append((clamped(result, mode) if clamp else result).view(np.uint32))
        return out

    return run


for _name, (_count, _body) in PACKED32.items():
    shaped(_name, f"{'pair ' * _count}mode -> pair", undefined=parts("register"))(partial(_packed32, _count, _body))


@shaped("v_pk_mov_b32", "pair pair -> pair", undefined=bits())
def v_pk_mov_b32(instruction: Instruction, _arch: Arch) -> Callable[[U, U], tuple[U, U]]:
    """The low result is a dword of S0, the high one a dword of S1, each chosen by its bit of op_sel."""
    if instruction.modifiers.get("neg_lo") or instruction.modifiers.get("neg_hi") or instruction.modifiers.get("clamp"):
        raise unsupported(instruction, "a modifier of floats on a move")
    chosen = instruction.modifiers.get("op_sel", 0)
    return lambda s0, s1: (s0[chosen & 1], s1[chosen >> 1 & 1])


def _mix_source(instruction: Instruction, index: int) -> Callable[[U, FloatMode], U]:
    """A source as f32: op_sel_hi makes it an f16, of the half that op_sel chooses; exact."""
    operand = instruction.src[index]
    if instruction.modifiers.get("op_sel_hi", 0) >> index & 1:
        high = bool(instruction.modifiers.get("op_sel", 0) >> index & 1)

        read = lambda source, mode: _signed(F32.bits(widened(half(source, high, False), mode)))  # noqa: E731
    else:
        read = lambda source, mode: _signed(source)  # noqa: ARG005, E731

    def _signed(bits: U) -> U:
        if operand.abs:
            bits = bits & ~F32.sign
        return (bits ^ F32.sign if operand.neg else bits).view(np.float32)

    return read


def _mix(instruction: Instruction, _arch: Arch) -> Callable[..., U]:
    """V_FMA_MIX_F32."""
    sources = [_mix_source(instruction, index) for index in range(3)]

    def run(s0: U, s1: U, s2: U, mode: FloatMode) -> U:
        a, b, c = (read(s, mode) for read, s in zip(sources, (s0, s1, s2), strict=True))
        return ieee.fused(a, b, c, mode)

    return run


def _mix_half(up: np.uint32, instruction: Instruction, _arch: Arch) -> Callable[..., U]:
    """V_FMA_MIXLO_F16 and V_FMA_MIXHI_F16 keep the other half."""
    sources = [_mix_source(instruction, index) for index in range(3)]
    clamp = bool(instruction.modifiers.get("clamp"))

    def rounded(s0: U, s1: U, s2: U, old: U, mode: FloatMode) -> U:
        a, b, c = (read(s, mode) for read, s in zip(sources, (s0, s1, s2), strict=True))
        out = fused_half(a, b, c, mode)
        if clamp:
            out = clamped(out, mode)
        bits = F16.bits(out).astype(np.uint32) << up
        return bits | old & ~(np.uint32(0xFFFF) << up)

    return rounded


shaped("v_fma_mix_f32", "u32 u32 u32 mode -> f32", undefined=parts("half"))(_mix)
for _name, _up in (("v_fma_mixlo_f16", np.uint32(0)), ("v_fma_mixhi_f16", HALF)):
    shaped(_name, "u32 u32 u32 u32 mode -> u32", undefined=parts("half", packed=True))(partial(_mix_half, _up))
