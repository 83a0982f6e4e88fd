"""Packed operations of gfx1251 on two numbers of 64 bits, in four registers.

Source: LLVM pull requests 203382 and 203418 (names, registers, modifiers); that each half is the operation of one
number, as its name says, is assumed: no manual of gfx1251 is public.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from mfmasim.architectures import Arch
from mfmasim.arrays import U
from mfmasim.isa import Instruction
from mfmasim.machine.binding.modifiers import clamped
from mfmasim.machine.numerics import ieee
from mfmasim.machine.numerics.float_formats import F64
from mfmasim.machine.numerics.float_mode import FloatMode
from mfmasim.machine.opcodes.registry import shaped
from mfmasim.machine.opcodes.undefined_rules import parts
from mfmasim.machine.ops import vector_integer, vector_minmax

UP = np.uint64(32)


def numbers(instruction: Instruction, number: int, dwords: U) -> list[U]:
    """Both numbers of a source, as uint64; a constant stands for both."""
    twice = instruction.src[number].kind == "const"
    pairs = ((0, 1), (0, 1) if twice else (2, 3))
    return [dwords[low].astype(np.uint64) | dwords[high].astype(np.uint64) << UP for low, high in pairs]


def registers(results: list[U]) -> list[U]:
    """The four dwords of two results."""
    return [part for result in results for part in (result.astype(np.uint32), (result >> UP).astype(np.uint32))]


FLOATS: dict[str, tuple[int, Callable[..., U]]] = {
    "v_pk_add_f64": (2, ieee.add),
    "v_pk_mul_f64": (2, ieee.multiply),
    "v_pk_fma_f64": (3, ieee.fused),
    "v_pk_min_num_f64": (2, vector_minmax.minimum_number),
    "v_pk_max_num_f64": (2, vector_minmax.maximum_number),
}


def _floats(count: int, function: Callable[..., U], instruction: Instruction, _arch: Arch) -> Callable[..., list[U]]:
    signs = [instruction.modifiers.get(name, 0) for name in ("neg_lo", "neg_hi")]
    clamp = bool(instruction.modifiers.get("clamp"))

    def run(*sources: Any) -> list[U]:
        mode: FloatMode = sources[-1]
        values = [numbers(instruction, number, dwords) for number, dwords in enumerate(sources[:count])]
        out: list[U] = []
        for part, negative in enumerate(signs):
            own = [value[part] ^ F64.sign if negative >> i & 1 else value[part] for i, value in enumerate(values)]
            result = function(*(bits.view(np.float64) for bits in own), mode)
            out.append(F64.bits(clamped(result, mode) if clamp else result))
        return registers(out)

    return run


for _name, (_count, _body) in FLOATS.items():
    shaped(_name, f"{'b32x4 ' * _count}mode -> b32x4", "assumed", undefined=parts("operand"))(
        partial(_floats, _count, _body)
    )


def _integers(combine: Callable[[U, U], U], instruction: Instruction, _arch: Arch) -> Callable[[U, U], list[U]]:
    def run(s0: U, s1: U) -> list[U]:
        pairs = zip(numbers(instruction, 0, s0), numbers(instruction, 1, s1), strict=True)
        return registers([combine(a, b) for a, b in pairs])

    return run


shaped("v_pk_add_nc_u64", "b32x4 b32x4 -> b32x4", "assumed", undefined=parts("operand"))(
    partial(_integers, lambda a, b: a + b)
)
shaped("v_pk_sub_nc_u64", "b32x4 b32x4 -> b32x4", "assumed", undefined=parts("operand"))(
    partial(_integers, lambda a, b: a - b)
)


@shaped("v_pk_lshl_add_u64", "b32x4 b32x2 b32x4 -> b32x4", "assumed", undefined=parts("operand"))
def v_pk_lshl_add_u64(instruction: Instruction, _arch: Arch) -> Callable[[U, U, U], list[U]]:
    """Each number shifted by its own count, as V_LSHL_ADD_U64 does it, and added."""
    same = instruction.src[1].kind == "const"

    def run(s0: U, s1: U, s2: U) -> list[U]:
        counts = (s1[0], s1[0] if same else s1[1])
        first, last = numbers(instruction, 0, s0), numbers(instruction, 2, s2)
        return registers([vector_integer.v_lshl_add_u64(a, b, c) for a, b, c in zip(first, counts, last, strict=True)])

    return run
