"""Operands of floating-point results by halves of registers, for instructions that add, round or copy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mfmasim.isa import Instruction, Operand

Place = tuple[str, int, int]
"""Register file, register, and half of the register."""


@dataclass(frozen=True)
class Flow:
    """One result of an instruction: an F32, in both halves of a register, or one half."""

    results: tuple[Place, ...]
    sources: tuple[tuple[Place, bool], ...]
    """The operands, an F32 by its upper half; True for a summand or a copied value, False for factors and others."""
    adds: bool = False
    """The result is a sum in F32."""
    products: bool = False
    """The result is a sum of products of lanes or words: a dot product, a matrix instruction."""
    narrows: str = ""
    """The format to which it is rounded: ``F16 BF16``, or empty."""


_SUMS = ("v_add_f32", "v_sub_f32", "v_subrev_f32")
_FUSED = ("v_fma_f32", "v_fmac_f32", "v_mac_f32", "v_mad_f32")
_OTHERS = ("v_fmaak_f32", "v_fmamk_f32", "v_madak_f32", "v_madmk_f32")
_FACTORS = ("v_mul_f32",)
_PACKED = ("v_pk_add_f32", "v_pk_fma_f32", "v_pk_mul_f32")
_MIXED = {
    f"v_{name}_mix{part}_{kind}": (part, kind)
    for name in ("fma", "mad")
    for part, kinds in (("", ("f32", "f32_bf16")), ("lo", ("f16", "bf16")), ("hi", ("f16", "bf16")))
    for kind in kinds
}
_NARROW = {"f16": "F16", "f16_rtz": "F16", "bf16": "BF16"}
_STOCHASTIC = {f"v_cvt_sr_{pack}{kind}_f32": kind.upper() for kind in ("f16", "bf16") for pack in ("", "pk_")}
"""Conversions with stochastic rounding; their last source is the random number."""
_WIDER = ("v_cvt_f32_f16", "v_cvt_f32_bf16")
_BITS = ("v_or_b32", "v_and_or_b32", "v_bfi_b32")
"""Operations that leave every bit in its place."""


def flows(instruction: Instruction) -> tuple[Flow, ...]:
    """The results of an instruction with their operands; empty for other operations.

    Args:
        instruction: any instruction; both operations of a dual instruction count.
    """
    return tuple(flow for part in instruction.halves or (instruction,) if part.dst for flow in _flows(part))


def _flows(ins: Instruction) -> Iterator[Flow]:
    opcode, name = ins.opcode, ins.opcode.name
    if opcode.unit != "VALU" or ins.dst[0].kind not in ("v", "a"):
        return
    if opcode.matrix or opcode.dot:
        if ins.dst[0].type == "f32":
            yield from _products(ins)
    elif name in _MIXED:
        yield _mixed(ins, *_MIXED[name])
    elif opcode.narrows in _NARROW or name in _STOCHASTIC:
        yield from _narrowed(ins, _NARROW.get(opcode.narrows) or _STOCHASTIC[name])
    elif name in _PACKED:
        yield from _packed(ins)
    elif name in (*_SUMS, *_FUSED, *_OTHERS, *_FACTORS):
        addends = range(2) if name in _SUMS else (len(ins.src) - 1,) if name in _FUSED else ()
        sources = tuple((_whole(one), number in addends) for number, one in enumerate(ins.src) if _vector(one))
        yield Flow(_both(ins.dst[0]), sources, adds=name not in _FACTORS)
    elif name in _WIDER:
        if _vector(ins.src[0]):
            yield Flow(_both(ins.dst[0]), ((_half(ins, 0), True),))
    else:
        yield from _moved(ins)


def _products(ins: Instruction) -> Iterator[Flow]:
    """Dot products and matrix instructions: each register of D is a sum with the register of C."""
    addend = ins.src[3 if ins.opcode.sparse and len(ins.src) > 3 else 2] if len(ins.src) > 2 else ins.src[-1]
    for number in range(ins.dst[0].count):
        held = ((_whole(addend, number), True),) if _vector(addend) and addend.type == "f32" else ()
        yield Flow(_both(ins.dst[0], number), held, adds=True, products=True)


def _mixed(ins: Instruction, part: str, kind: str) -> Flow:
    """A fused operation whose sources are F32, F16 or BF16."""
    sources = []
    for number, operand in enumerate(ins.src[:3]):
        if _vector(operand):
            plain = number == 2 or ins.src[1 - number].kind == "const"
            sources.append((_whole(operand) if operand.type == "f32" else _half(ins, number), plain))
    results = _both(ins.dst[0]) if not part else ((ins.dst[0].kind, ins.dst[0].index, int(part == "hi")),)
    return Flow(results, tuple(sources), adds=True, narrows=kind.upper() if part else "")


def _narrowed(ins: Instruction, kind: str) -> Iterator[Flow]:
    """A conversion of one F32, or of two F32 to both halves."""
    result = ins.dst[0]
    operands = [one for one in ins.src if one.type == "f32" and one.printed]
    packs = result.type.startswith("pk_")
    upper = ins.modifiers.get("op_sel", 0) & 8 or ins.modifiers.get("dst_sel", 6) == 5
    for number, operand in enumerate(operands[: 2 if packs else 1]):
        if _vector(operand):
            half = number if packs else int(bool(upper))
            yield Flow(((result.kind, result.index, half),), ((_whole(operand), True),), narrows=kind)


def _packed(ins: Instruction) -> Iterator[Flow]:
    """Two F32 results, each of the registers that OP_SEL selects."""
    factors = ins.opcode.name == "v_pk_mul_f32"
    low, high = ins.modifiers.get("op_sel", 0), ins.modifiers.get("op_sel_hi", 7)
    for number, chosen in enumerate((low, high)):
        sources = tuple(
            (_whole(one, chosen >> k & 1), ins.opcode.name == "v_pk_add_f32" or k == 2)
            for k, one in enumerate(ins.src)
            if _vector(one)
        )
        yield Flow(_both(ins.dst[0], number), sources, adds=not factors)


def _moved(ins: Instruction) -> Iterator[Flow]:
    """Copies, selections, shifts by a half, and packs of two halves."""
    opcode, name, result = ins.opcode, ins.opcode.name, ins.dst[0]
    operands = [one for one in ins.src if one.printed]
    moves: list[tuple[int, Operand, int]] = []
    if opcode.copies or opcode.selects or opcode.lane == "permlane" or name in _BITS:
        for number in range(result.count):
            for operand in operands:
                if _vector(operand) and number < operand.count:
                    for half in (0, 1):
                        place = operand.kind, operand.index + number, half
                        yield Flow(((result.kind, result.index + number, half),), ((place, True),))
        return
    if name in ("v_max_f32", "v_max_num_f32") and _same(operands):  # compilers quiet a NaN by this
        yield Flow(_both(result), ((_whole(operands[0]), True),))
    elif name in ("v_max_f16", "v_max_num_f16") and _same(operands):
        upper = int(bool(ins.modifiers.get("op_sel", 0) & 8))
        yield Flow(((result.kind, result.index, upper),), ((_half(ins, 0), True),))
    elif name == "v_mov_b16":
        if _vector(operands[0]):
            upper = int(bool(ins.modifiers.get("op_sel", 0) & 8))
            yield Flow(((result.kind, result.index, upper),), ((_half(ins, 0), True),))
    elif name == "v_pack_b32_f16":
        for number, operand in enumerate(operands):
            if _vector(operand):
                yield Flow(((result.kind, result.index, number),), ((_half(ins, number), True),))
    elif name == "v_perm_b32":
        moves = [(half, one, of) for half in (0, 1) for one in operands[:2] for of in (0, 1)]
    elif name == "v_lshlrev_b32" and operands[0].kind == "const" and operands[0].bits == 16:
        moves = [(1, operands[1], 0)]
    elif name == "v_lshrrev_b32" and operands[0].kind == "const" and operands[0].bits == 16:
        moves = [(0, operands[1], 1)]
    elif name == "v_and_b32" and (mask := [one.bits for one in operands if one.kind == "const"]):
        kept = {0xFFFF: 0, 0xFFFF0000: 1}.get(mask[0])
        moves = [] if kept is None else [(kept, one, kept) for one in operands]
    elif name == "v_lshl_or_b32" and operands[1].kind == "const" and operands[1].bits == 16:
        moves = [(1, operands[0], 0), (0, operands[2], 0), (1, operands[2], 1)]
    for half, operand, of in moves:
        if _vector(operand):
            yield Flow(((result.kind, result.index, half),), (((operand.kind, operand.index, of), True),))


def _vector(operand: Operand) -> bool:
    return operand.kind in ("v", "a")


def _same(operands: list[Operand]) -> bool:
    """Whether both operands are the same register."""
    return _vector(operands[0]) and all((o.kind, o.index) == (operands[0].kind, operands[0].index) for o in operands)


def _both(operand: Operand, number: int = 0) -> tuple[Place, ...]:
    """Both halves of a register of an operand."""
    return tuple((operand.kind, operand.index + number, half) for half in (0, 1))


def _whole(operand: Operand, number: int = 0) -> Place:
    """An F32 as its upper half, which has the exponent."""
    return operand.kind, operand.index + number, 1


def _half(ins: Instruction, number: int) -> Place:
    """The half of a register that a 16-bit source is in."""
    operand = ins.src[number]
    upper = ins.modifiers.get("op_sel", 0) >> number & 1 or operand.sel == 5
    return operand.kind, operand.index, int(bool(upper))
