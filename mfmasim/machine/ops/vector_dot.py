"""Dot products of the elements of a dword, added to a 32-bit number.

Source: CDNA3 and CDNA4 ISA manuals, V_DOT2, V_DOT4, V_DOT8 of VOP3P and VOP2. Integers are exact and wrap, or saturate
with clamp. Floats: by 6.4 MODE's rounding and denormals do not matter, and denormal inputs and results become zeros,
except that gfx950 was seen to keep denormal f16 factors (`FloatRules.dot_keeps_f16`); the order of the additions is
that of the manual's expression, each rounded to f32 to nearest even, which no published capture confirms: ``assumed``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from mfmasim.architectures import Arch
from mfmasim.arrays import U
from mfmasim.isa import Instruction
from mfmasim.machine.numerics.float_formats import F16, F32, FORMS
from mfmasim.machine.opcodes.refusal import unsupported
from mfmasim.machine.opcodes.registry import shaped
from mfmasim.machine.opcodes.undefined_rules import parts
from mfmasim.machine.ops.dot_steps import dot_step
from mfmasim.machine.ops.packed_float import halves

INTEGERS: dict[str, tuple[int, bool]] = {
    # mnemonic: bits of an element, signed
    "v_dot2_i32_i16": (16, True),
    "v_dot2_u32_u16": (16, False),
    "v_dot4_i32_i8": (8, True),
    "v_dot4_u32_u8": (8, False),
    "v_dot8_i32_i4": (4, True),
    "v_dot8_u32_u4": (4, False),
    "v_dot2c_i32_i16": (16, True),
    "v_dot4c_i32_i8": (8, True),
    "v_dot8c_i32_i4": (4, True),
}
# The same where NEG says of each source whether it is signed (RDNA3 and RDNA4 ISA manuals, V_DOT4_I32_IU8).
MIXED = {"v_dot4_i32_iu8": 8, "v_dot8_i32_iu4": 4}


def _elements(source: U, bits: int, signed: bool, order: list[int]) -> list[U]:
    out = []
    for place in order:
        part = (source >> np.uint32(bits * place) & np.uint32((1 << bits) - 1)).astype(np.int64)
        out.append((part ^ 1 << bits - 1) - (1 << bits - 1) if signed else part)
    return out


def _third_is_plain(instruction: Instruction) -> None:
    for name in ("op_sel", "neg_lo", "neg_hi"):
        if instruction.modifiers.get(name, 0) >> 2:
            raise unsupported(instruction, f"{name} of the addend")


def _integer(bits: int, signed: bool, instruction: Instruction, _arch: Arch) -> Callable[[U, U, U], U]:
    modifiers = instruction.modifiers
    _third_is_plain(instruction)
    if modifiers.get("neg_lo") or modifiers.get("neg_hi"):
        raise unsupported(instruction, "neg on integers")
    orders = [list(range(32 // bits))] * 2
    if bits == 16 and "op_sel" in modifiers:
        orders = [[int(part) for part in pick] for pick, _ in halves(instruction, 2)]
    clamp = bool(modifiers.get("clamp"))
    low, high = (-(1 << 31), (1 << 31) - 1) if signed else (0, (1 << 32) - 1)

    def run(s0: U, s1: U, s2: U) -> U:
        total = s2.view(np.int32).astype(np.int64) if signed else s2.astype(np.int64)
        pairs = zip(
            *[_elements(s, bits, signed, order) for s, order in zip((s0, s1), orders, strict=True)], strict=True
        )
        for a, b in pairs:
            total = total + a * b
        return (np.clip(total, low, high) if clamp else total).astype(np.uint32)

    return run


def _mixed(bits: int, instruction: Instruction, _arch: Arch) -> Callable[[U, U, U], U]:
    modifiers = instruction.modifiers
    signs = modifiers.get("neg_lo", 0)
    if modifiers.get("neg_hi") or signs >> 2:
        raise unsupported(instruction, "neg of the addend")
    clamp, order = bool(modifiers.get("clamp")), list(range(32 // bits))

    def run(s0: U, s1: U, s2: U) -> U:
        total = s2.view(np.int32).astype(np.int64)
        first, second = (_elements(s, bits, bool(signs >> i & 1), order) for i, s in enumerate((s0, s1)))
        for a, b in zip(first, second, strict=True):
            total = total + a * b
        return (np.clip(total, -(1 << 31), (1 << 31) - 1) if clamp else total).astype(np.uint32)

    return run


for _name, _bits in MIXED.items():
    shaped(_name, "u32 u32 u32 -> u32")(partial(_mixed, _bits))
for _name, (_bits, _signed) in INTEGERS.items():
    _rule = parts("half" if _bits == 16 else "operand")
    shaped(_name, "u32 u32 u32 -> u32", undefined=_rule)(partial(_integer, _bits, _signed))


def _widened(source: U, kind: str, high: bool, negative: bool, keep: bool) -> U:
    """An f16 or bf16 of a dword as f32; exact, denormals as zeros unless those of f16 are kept."""
    bits = (source >> np.uint32(16) if high else source) & np.uint32(0xFFFF)
    if kind == "bf16":
        value = F32.flushed((bits << np.uint32(16)).view(np.float32))
    else:
        narrow = bits.astype(np.uint16).view(np.float16)
        value = (narrow if keep else F16.flushed(narrow)).astype(np.float32)
    out = F32.bits(value)
    return (out ^ F32.sign if negative else out).view(np.float32)


def _float(kind: str, addend_first: bool, instruction: Instruction, arch: Arch) -> Callable[[U, U, U], U]:
    if arch.floats.dot_steps:
        return dot_step(kind, instruction, arch)
    _third_is_plain(instruction)
    picks = halves(instruction, 2)
    form, keep = FORMS["f32"], arch.floats.dot_keeps_f16

    def run(s0: U, s1: U, s2: U) -> U:
        operands = [
            [_widened(s, kind, pick[part], neg[part], keep) for s, (pick, neg) in zip((s0, s1), picks, strict=True)]
            for part in range(2)
        ]
        products = [form.flushed(a * b) for a, b in operands]
        addend = form.flushed(s2)
        parts = [addend, *products] if addend_first else [*products, addend]
        total = parts[0]
        for part in parts[1:]:
            total = form.flushed(total + part)
        return form.settled(total, operands[0][0], operands[0][1], operands[1][0], operands[1][1], s2)

    return run


#   mnemonics, kind of the products' factors, whether the addend comes before the products
for _names, _kind, _addend_first in (
    ("v_dot2_f32_f16 v_dot2c_f32_f16 v_dot2acc_f32_f16", "f16", True),
    ("v_dot2c_f32_bf16 v_dot2acc_f32_bf16", "bf16", True),
    ("v_dot2_f32_bf16", "bf16", False),
):
    shaped(_names, "u32 u32 f32 -> f32", "assumed", undefined=parts("half"))(partial(_float, _kind, _addend_first))
