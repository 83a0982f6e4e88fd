"""How a kernel adds: the precision in which its matrix instructions and dot products keep a sum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mfmasim.formats import format as find_format
from mfmasim.matrix import instruction as find_instruction
from mfmasim.matrix.models import model_for

if TYPE_CHECKING:
    from mfmasim.kernels import Kernel

PAIRS = {"pk_f16": "f16", "pk_bf16": "bf16"}
"""Factors of dot products of one lane; on RDNA those with a sum in f32, and no other operation of these operands, are
steps of the matrix instruction (`mfmasim.machine.ops.dot_steps`)."""


@dataclass(frozen=True)
class Sums:
    """Precision of a kernel's sums."""

    bits: int
    """Bits of the narrowest significand in which they are kept."""
    exact: bool
    """Whether every instruction gives the exact sum where no step has to round. RDNA3's do not: -13 plus zeros gives
    -12.9999971 (`Model.keeps_exact_sums`)."""
    flush_factors: bool
    """Whether any instruction flushes subnormal factors to zero."""
    flush_sums: bool
    """Whether any instruction flushes subnormal sums to zero."""


def sums_of(kernel: Kernel, *, wide: bool = False) -> Sums:
    """How a kernel adds.

    Args:
        kernel: its matrix instructions and dot products decide; without any, sums are f32 or f64.
        wide: whether the matrices are f64.
    """
    arch = kernel.arch
    single = [operation for instruction in kernel.decodable for operation in instruction.halves or (instruction,)]
    to_f32 = [operation for operation in single if operation.dst and operation.dst[0].type == "f32"]
    factors = (
        {operand.type for operation in to_f32 for operand in operation.src[:1]} if arch.floats.dot_steps else set()
    )
    kinds = [kind for pair, kind in PAIRS.items() if pair in factors]
    matrix = [find_instruction(arch, name) for name in matrix_names(kernel)]
    models = [operation.model for operation in matrix]
    models += [model_for(arch, "wmma", kind, kind, "f32", 16) for kind in kinds]
    formats = [find_format(name) for name in {operation.d for operation in matrix} or {"f64" if wide else "f32"}]
    return Sums(
        bits=min(fmt.bits - 1 if fmt.integer else fmt.mantissa_bits + 1 for fmt in formats),
        exact=all(model.keeps_exact_sums for model in models),
        flush_factors=any(model.flush_inputs for model in models),
        flush_sums=any(model.flush_addend or model.flush_output for model in models),
    )


def matrix_names(kernel: Kernel) -> set[str]:
    """Names of the matrix instructions that a kernel and the functions it calls have."""
    return {instruction.name for instruction in kernel.reachable if instruction.opcode.matrix}
