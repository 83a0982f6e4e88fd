"""How a kernel adds: what its matrix instructions and dot products keep of a sum."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mfmasim.formats import format as find_format
from mfmasim.isa import MATRIX
from mfmasim.matrix import instruction as find_instruction
from mfmasim.matrix.models import model_for

if TYPE_CHECKING:
    from mfmasim.architectures import Arch
    from mfmasim.matrix.models import Model
    from mfmasim.program import Kernel

__all__ = ["Sums", "sums_of"]

DOT = re.compile(r"v_dot2(c|acc)?_f32_(f16|bf16)")
"""Dot products of one lane; on RDNA they are steps of the matrix instruction (`mfmasim.machine.ops.dot_steps`)."""


@dataclass(frozen=True)
class Sums:
    """What sums of a kernel keep."""

    bits: int
    """Of the narrowest significand in which they are kept."""
    exact: bool
    """Whether every instruction leaves a sum as it is where no step has to round. RDNA3's do not: -13 and zeros make
    -12.9999971 (`Model.keeps_exact_sums`)."""
    flush_factors: bool
    """Whether any takes subnormal factors for zeros."""
    flush_sums: bool
    """Whether any takes subnormal sums for zeros."""


def sums_of(kernel: Kernel, *, wide: bool = False) -> Sums:
    """How a kernel adds.

    Args:
        kernel: its matrix instructions and dot products say it; without any, sums are f32 or f64.
        wide: whether the matrices are f64.
    """
    arch = kernel.arch
    names = {instruction.name for instruction in kernel.decodable}
    matrix = [find_instruction(arch, name) for name in names if name.startswith(MATRIX)]
    dots = [name for name in names if arch.floats.dot_steps and DOT.match(name)]
    models = [operation.model for operation in matrix] + [_step(arch, name) for name in dots]
    formats = [find_format(name) for name in {operation.d for operation in matrix} or {"f64" if wide else "f32"}]
    return Sums(
        bits=min(fmt.bits - 1 if fmt.integer else fmt.mantissa_bits + 1 for fmt in formats),
        exact=all(model.keeps_exact_sums for model in models),
        flush_factors=any(model.flush_inputs for model in models),
        flush_sums=any(model.flush_addend or model.flush_output for model in models),
    )


def _step(arch: Arch, name: str) -> Model:
    """A step of the matrix instruction, one for each lane."""
    kind = name.rpartition("_")[2]
    return model_for(arch, "wmma", kind, kind, "f32", 16)
