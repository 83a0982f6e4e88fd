"""The output modifiers omod and clamp of floating-point results. Source: CDNA3 ISA manual, 6.2.2 and 3.5.

OMOD acts on the rounded result: a tiny result becomes +0, then the exponent moves. Captures of gfx1201 and
gfx1100 agree (bjacob/goc, fma_omod_hardware.h, conversion16_hardware.h, fp64_output_hardware.h; AMD's rocjitsu,
valu_fp_mode_test.cpp); for CDNA this is assumed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.machine.numerics.float_formats import BY_SIZE
from mfmasim.machine.opcodes.refusal import unsupported

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.architectures.model import FloatRules
    from mfmasim.isa import Instruction
    from mfmasim.machine.numerics.float_mode import FloatMode
    from mfmasim.machine.opcodes.registry import Operation

FACTORS = {1: 2.0, 2: 4.0, 3: 0.5}


def clamped(values: NDArray[Any], mode: FloatMode) -> NDArray[Any]:
    """Clamp to 0 to 1; a NaN becomes 0 under DX10_CLAMP, and stays otherwise.

    On CDNA -0 is not below 0 and stays, as LLVM folds the modifier on constants; the manual does not say. RDNA's
    manuals (7.2.3.1, 7.7) say that it becomes +0.
    """
    form = BY_SIZE[values.dtype.itemsize]
    bits = form.bits(values)
    one = form.word(form.bias << form.fraction)
    zero = form.word(0) if mode.rules.clamp_positive_zero else form.sign
    # Codes of non-negative values have the order of the values.
    inside = np.where(bits > form.sign, form.word(0), np.where(bits == form.sign, zero, np.minimum(bits, one)))
    out: NDArray[Any] = np.where(np.isnan(values), form.word(0) if mode.dx10_clamp else bits, inside).view(form.real)
    return out


def _multiplied(values: NDArray[Any], mode: FloatMode, factor: float, nearest: bool) -> NDArray[Any]:
    """Move the exponent.

    Zeros and tiny values become +0, a result below the range is a zero with its sign, and beyond the range FP_ROUND and
    FP16_OVFL decide; for an operation that always rounds to `nearest`, FP16_OVFL alone.
    """
    form = BY_SIZE[values.dtype.itemsize]
    out = values * form.real(factor)
    size = np.abs(values)
    out = np.where(size < form.smallest / form.real(min(factor, 1)), np.copysign(form.real(0), values), out)
    out = np.where(size < form.smallest, form.real(0), out)
    beyond = np.isinf(out) & np.isfinite(values)
    if beyond.any():
        rounding, ovfl = 0 if nearest else mode.rounding(form.width), form.width == 16 and mode.fp16_ovfl
        infinite = np.where(values < 0, rounding in (0, 2), rounding in (0, 1)) & (not ovfl)
        out = np.where(beyond & ~infinite, np.copysign(np.finfo(form.real).max, values), out)
    return form.settled(out, values, quiet=mode.quiets)


@dataclass(frozen=True)
class OutputModifiers:
    """The output modifiers of an instruction, a function of a result and MODE."""

    width: int
    """Bits of the result."""
    omod: int
    clamp: bool
    flushes: bool
    """The operation never gives denormals, as V_RCP_F32 and V_FMA_DX9_ZERO_F32."""
    nearest: bool = False
    """Executed by the transcendental unit, which does not read FP_ROUND: captures of V_RCP_F16 on gfx1201."""

    def acts(self, mode: FloatMode) -> bool:
        """Whether OMOD has an effect.

        OMOD has no effect in IEEE mode and with denormal results; on gfx12 it always has (RDNA4 ISA manual, 7.2.3.1).
        """
        denormals = not self.flushes and mode.denormals(self.width) & 2
        return bool(self.omod) and (mode.rules.omod_flushes or not (mode.ieee or denormals))

    def before(self, mode: FloatMode) -> FloatMode:
        """MODE for the operation: tiny results are flushed before OMOD."""
        return mode.without_tiny_results(self.width) if self.acts(mode) else mode

    def __call__(self, values: NDArray[Any], mode: FloatMode) -> NDArray[Any]:
        """The result after OMOD, then CLAMP."""
        out = values
        if self.acts(mode):
            out = _multiplied(out, mode, FACTORS[self.omod], self.nearest)
        return clamped(out, mode) if self.clamp else out


def output_modifiers(instruction: Instruction, operation: Operation, rules: FloatRules) -> OutputModifiers | None:
    """The effect of omod and clamp on a result, or None without an effect.

    A shaped operation handles clamp itself if its result is not a float. Integers that cannot overflow do not change,
    and a comparison with clamp only signals NaNs, which the machine does not model. Dot products of floats on RDNA
    ignore both (RDNA4 ISA manual, 7.2.3.1).

    Args:
        instruction: the instruction.
        operation: its operation.
        rules: the architecture's rules of floats.
    """
    if rules.dot_steps and instruction.opcode.dot:
        return None
    omod, clamp = instruction.modifiers.get("omod", 0), bool(instruction.modifiers.get("clamp", 0))
    width = {"f16": 16, "f32": 32, "f64": 64}.get(operation.results[0])
    if clamp and operation.refuses_clamp:
        raise unsupported(instruction, "clamp on this integer result")
    flushes = operation.flushes or (instruction.opcode.trans and width == 32)
    return OutputModifiers(width, omod, clamp, flushes, instruction.opcode.trans) if width and (omod or clamp) else None
