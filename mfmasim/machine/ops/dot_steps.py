"""Dot products of floats on RDNA: one step of the matrix instructions, for every lane.

Source: the models that AMD qualified on gfx1100 and gfx1201 (rocjitsu, PR 12120), as rows in `mfmasim.matrix.models`;
RDNA3 and RDNA4 ISA manuals, V_DOT2_F32_F16, V_DOT2_F16_F16, V_DOT4_F32_FP8_BF8.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.machine.numerics.float_formats import F32
from mfmasim.machine.opcodes.refusal import unsupported
from mfmasim.machine.opcodes.registry import shaped
from mfmasim.machine.opcodes.undefined_rules import parts
from mfmasim.machine.ops.packed_float import halves
from mfmasim.matrix.arithmetic import multiply
from mfmasim.matrix.models import model_for
from mfmasim.matrix.request import Formats, Modes, Operands

if TYPE_CHECKING:
    from collections.abc import Callable

    from mfmasim.architectures import Arch
    from mfmasim.arrays import U
    from mfmasim.isa import Instruction, Operand
    from mfmasim.machine.numerics.float_mode import FloatMode


SIXTEEN = np.uint32(16)
FORMATS = {"fp8": "e4m3fn", "bf8": "e5m2"}


def _sum(arch: Arch, formats: tuple[str, str, str], a: list[U], b: list[U], c: U, *, fp16_ovfl: bool = False) -> U:
    """Products of the elements of `a` and `b` added to `c`, in one step; raw codes of any common shape."""
    model = model_for(arch, "wmma", *formats, 16)
    shape = np.broadcast_shapes(*(np.shape(x) for x in (*a, *b, c)))
    rows = np.stack([np.broadcast_to(x, shape).reshape(-1) for x in a], axis=-1)[:, None, :]
    columns = np.stack([np.broadcast_to(x, shape).reshape(-1) for x in b], axis=-1)[:, :, None]
    addend = np.ascontiguousarray(np.broadcast_to(c, shape)).reshape(-1, 1, 1)
    out = multiply(model, Formats(*formats), Operands(rows, columns, addend), Modes(fp16_ovfl=fp16_ovfl))
    return out.reshape(shape)


def _pair(source: U, pick: tuple[bool, bool], neg: tuple[bool, bool]) -> list[U]:
    """The two 16-bit codes of a dword that OP_SEL chooses, signs turned."""
    out = []
    for high, negative in zip(pick, neg, strict=True):
        bits = (source >> SIXTEEN if high else source).astype(np.uint16)
        out.append(bits ^ np.uint16(0x8000) if negative else bits)
    return out


def _addend(instruction: Instruction, c: U, *, neg_hi_is_abs: bool) -> U:
    """Bits of the f32 addend with its sign."""
    negative, magnitude = (instruction.modifiers.get(name, 0) >> 2 & 1 for name in ("neg_lo", "neg_hi"))
    if magnitude and not neg_hi_is_abs:
        raise unsupported(instruction, "neg_hi of the addend")
    bits = F32.bits(c)
    bits = bits & ~F32.sign if magnitude else bits
    return bits ^ F32.sign if negative else bits


def dot_step(kind: str, instruction: Instruction, arch: Arch) -> Callable[[U, U, U], U]:
    """V_DOT2_F32_F16, V_DOT2_F32_BF16 and their accumulating forms.

    Args:
        kind: format of the factors.
        instruction: what is bound.
        arch: the architecture.

    Returns:
        The function of the arrays of the three sources.
    """
    picks = halves(instruction, 2)
    if instruction.modifiers.get("op_sel", 0) >> 2 & 1:
        raise unsupported(instruction, "op_sel of the addend")
    _addend(instruction, np.zeros(1, np.float32), neg_hi_is_abs=False)

    def run(s0: U, s1: U, s2: U) -> U:
        a, b = (_pair(s, *pick) for s, pick in zip((s0, s1), picks, strict=True))
        return _sum(arch, (kind, kind, "f32"), a, b, _addend(instruction, s2, neg_hi_is_abs=False)).view(np.float32)

    return run


def _signed(source: U, operand: Operand) -> U:
    """ABS, then NEG, of both halves of a dword."""
    bits = source & np.uint32(0x7FFF7FFF) if operand.abs else source
    return bits ^ np.uint32(0x80008000) if operand.neg else bits


def _narrow(kind: str, instruction: Instruction, arch: Arch) -> Callable[..., U]:
    """V_DOT2_F16_F16 and V_DOT2_BF16_BF16: OP_SEL[2] chooses the half of the addend, OP_SEL[3] that of the result.

    ABS and NEG of a packed source act on both halves (captured on gfx1201: bjacob/goc, half_dot_test.cpp).
    """
    up = np.uint32(16 * (instruction.modifiers.get("op_sel", 0) >> 2 & 1))
    both = ((False, True), (False, False))

    def run(s0: U, s1: U, s2: U, mode: FloatMode) -> U:
        first, second, third = (_signed(s, operand) for s, operand in zip((s0, s1, s2), instruction.src, strict=True))
        a, b = _pair(first, *both), _pair(second, *both)
        c = (third >> up).astype(np.uint16)
        return _sum(arch, (kind, kind, kind), a, b, c, fp16_ovfl=mode.fp16_ovfl)

    return run


for _kind in ("f16", "bf16"):
    shaped(f"v_dot2_{_kind}_{_kind}", "u32 u32 u32 mode -> u16", "reference", undefined=parts("half"))(
        partial(_narrow, _kind)
    )


def _eight(first: str, second: str, instruction: Instruction, arch: Arch) -> Callable[[U, U, U], U]:
    """V_DOT4_F32_FP8_BF8 and its kin."""
    for name, allowed in (("op_sel", 0), ("neg_lo", 4), ("neg_hi", 4)):
        if instruction.modifiers.get(name, 0) & ~allowed:
            raise unsupported(instruction, f"{name} on 8-bit floats")

    def run(s0: U, s1: U, s2: U) -> U:
        a, b = ([(s >> np.uint32(8 * i)).astype(np.uint8) for i in range(4)] for s in (s0, s1))
        return _sum(arch, (first, second, "f32"), a, b, _addend(instruction, s2, neg_hi_is_abs=True)).view(np.float32)

    return run


for _a, _first in FORMATS.items():
    for _b, _second in FORMATS.items():
        shaped(f"v_dot4_f32_{_a}_{_b}", "u32 u32 f32 -> f32", "reference")(partial(_eight, _first, _second))
