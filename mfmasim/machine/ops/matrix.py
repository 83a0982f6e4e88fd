"""Matrix instructions: registers in, registers out; the arithmetic is the matrix room's. EXEC is ignored."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.architectures import ARCHITECTURES
from mfmasim.machine.events import MatrixEvent
from mfmasim.machine.refusal import unsupported
from mfmasim.machine.registry import OPERATIONS, Operation
from mfmasim.matrix import instruction as matrix_instruction
from mfmasim.matrix import instructions as matrix_instructions

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mfmasim.isa import Instruction, Operand
    from mfmasim.machine.state import Group
    from mfmasim.matrix import MatrixInstruction

# Formats by the code in cbsz (A) and blgp (B) of the f8f6f4 instructions (CDNA4 ISA manual, table of F8F6F4 formats).
F8F6F4 = ("e4m3fn", "e5m2", "e2m3fn", "e3m2fn", "e2m1fn")
UNSIGNED = re.compile("_iu([48])$")
"""RDNA's integers, which NEG makes signed (RDNA3 ISA manual, 7.9)."""
MODE_FP16_OVFL = 23
MODE_DENORMALS_32 = 4
"""Lowest bit of MODE's FP_DENORM for f32: whether denormal sources are let through."""


def _registers(operand: Operand, instruction: Instruction) -> Callable[[Group], NDArray[np.uint32]]:
    """Read an operand as (waves, registers, lanes)."""
    first, last = operand.index, operand.index + operand.count
    if operand.kind in ("v", "a"):
        kind = operand.kind
        return lambda g: np.stack(np.broadcast_arrays(*[g.v(kind, r) for r in range(first, last)]), axis=1)
    if operand.kind == "const":
        # An inline constant reaches every lane; the upper half of a 64-bit one is its own.
        words = np.array([operand.bits >> 32 * (k % 2) & 0xFFFFFFFF for k in range(operand.count)], np.uint32)
        if operand.type not in ("f64", "i64", "b64"):
            words[:] = operand.bits & 0xFFFFFFFF
        return lambda g: np.broadcast_to(words[None, :, None], (1, operand.count, g.lanes))
    if operand.kind == "s":
        return lambda g: np.broadcast_to(g.s(first)[:, None, None], (len(g.s(first)), 1, g.lanes))
    raise unsupported(instruction, f"matrix operand of kind {operand.kind}")


def _formats(instruction: Instruction) -> tuple[dict[str, str], dict[str, int]]:
    """Formats of A and B, and the modifiers that are left, of an instruction."""
    modifiers = {k: v for k, v in instruction.modifiers.items() if v}
    integers = UNSIGNED.search(instruction.name)
    if integers:
        signed, bits = modifiers.get("neg_lo", 0), integers[1]
        return {side: f"{'ui'[signed >> place & 1]}{bits}" for place, side in enumerate("ab")}, modifiers
    if "f8f6f4" not in instruction.name:
        return {}, modifiers
    codes = modifiers.pop("cbsz", 0), modifiers.pop("blgp", 0)
    if max(codes) >= len(F8F6F4):
        raise unsupported(instruction, f"f8f6f4 format code {max(codes)}")
    return {"a": F8F6F4[codes[0]], "b": F8F6F4[codes[1]]}, modifiers


def resolve(instruction: Instruction, arch: Any, wave: int) -> tuple[MatrixInstruction, dict[str, int]]:
    """The operation of a matrix instruction for waves of so many lanes, and the modifiers that it is executed with."""
    formats, modifiers = _formats(instruction)
    operation = matrix_instruction(arch, instruction.name, a=formats.get("a"), b=formats.get("b"), wave=wave)
    extra: dict[str, int] = {}
    if operation.scale_A is not None:
        low, high = modifiers.pop("op_sel", 0), modifiers.pop("op_sel_hi", 0)
        for i, side in enumerate("ab"):
            extra[f"scale_{side}_byte"] = (low >> i & 1) | (high >> i & 1) << 1
    if "neg" in modifiers:  # the f64 forms use the bits of BLGP to negate A, B and C
        modifiers["blgp"] = modifiers.pop("neg")
    if instruction.encoding == "WMMA":  # RDNA's; OP_SEL_HI means nothing to them
        modifiers.pop("op_sel_hi", None)
        if "index_key" in modifiers:  # which set of indices, in the place of OP_SEL
            modifiers["op_sel"] = modifiers.pop("index_key")
        given = {
            "op_sel": modifiers.pop("op_sel", 0),
            "neg": modifiers.pop("neg_lo", 0),
            "neg_hi": modifiers.pop("neg_hi", 0),
        }
        extra |= {name: value for name, value in given.items() if value}
    extra |= {name: modifiers.pop(name) for name in ("cbsz", "abid", "blgp", "clamp") if name in modifiers}
    if modifiers:
        raise unsupported(instruction, f"modifiers {', '.join(modifiers)} of a matrix instruction")
    return operation, extra


def bind_matrix(instruction: Instruction, machine: Any) -> Callable[[Group], None]:
    """Bind a matrix instruction of any family."""
    operation, extra = resolve(instruction, machine.arch, machine.kernel.wave)
    sources = [_registers(operand, instruction) for operand in instruction.src]
    a, b, c = sources[:3]
    if operation.sparse:  # the third operand is the index; C is read from D's registers
        index, c = sources[2:4]
    target = instruction.dst[0]
    old, halves = _registers(target, instruction), not operation.D.full
    filled = operation.operand("D", op_sel=extra.get("op_sel", 0) if halves else 0).mask
    scales = sources[3:5] if operation.scale_A is not None else []
    machine.outcome.fidelity[instruction.name] = operation.fidelity
    per = machine.launch.waves_per_workgroup

    def run(g: Group) -> None:
        # Operands that are the same in every wave come with one wave, and are multiplied once.
        operands = [read(g) for read in (a, b, c, *scales)]
        before = [old(g)] if halves else []
        waves = g.count if machine.matrix_listeners else max(map(len, [*operands, *before]))
        av, bv, cv, *sv = [np.broadcast_to(x, (waves, *x.shape[1:])) for x in operands]
        keywords: dict[str, Any] = dict(extra)
        if sv:
            keywords |= {"scale_a": sv[0], "scale_b": sv[1]}
        if operation.sparse:
            keywords["index"] = index(g)
        if mode_bit(g, MODE_FP16_OVFL, instruction):
            keywords["fp16_ovfl"] = True
        if not mode_bit(g, MODE_DENORMALS_32, instruction):
            keywords["denormals"] = False
        if halves:  # 16-bit results fill one half of their registers, the other stays
            keywords["d_regs"] = np.broadcast_to(before[0], (waves, target.count, g.lanes))
        out = operation.execute(av, bv, cv, **keywords)
        if machine.matrix_listeners:
            indices = g.indices()
            event = MatrixEvent(
                instruction, operation, machine.first_workgroup * per + indices, av, bv, cv,
                sv[0] if sv else None, sv[1] if sv else None, extra,
                lambda i, lane: machine.place(indices, i, lane),
            )  # fmt: skip
            out = machine.matrix(event, out)
            if halves:
                out = out & filled | keywords["d_regs"] & ~filled
        for register in range(target.count):
            g.write_all_lanes(target.kind, target.index + register, out[:, register])

    return run


def mode_bit(g: Group, bit: int, instruction: Instruction) -> bool:
    """One bit of MODE, which has to be the same in all waves of the group."""
    values = g.mode >> np.uint32(bit) & np.uint32(1)
    if values.any() and not values.all():
        raise unsupported(instruction, f"waves of one group with different MODE bit {bit}")
    return bool(values.any())


def _register() -> None:
    """One entry per matrix instruction; its row says the fidelity at binding."""
    for arch in ARCHITECTURES:
        for name in matrix_instructions(arch):
            OPERATIONS.setdefault(name, Operation(name, "direct", (), (), bind_matrix, "assumed"))


_register()
