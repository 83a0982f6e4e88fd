"""The output modifiers omod and clamp of floating-point results. Source: CDNA3 ISA manual, 6.2.2 and 3.5."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.machine.numerics.float_formats import BY_SIZE
from mfmasim.machine.opcodes.refusal import unsupported

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mfmasim.architectures.model import FloatRules
    from mfmasim.isa import Instruction
    from mfmasim.machine.numerics.float_mode import FloatMode
    from mfmasim.machine.opcodes.registry import Operation

__all__ = ["clamped", "output_modifiers"]

FACTORS = {1: 2.0, 2: 4.0, 3: 0.5}


def clamped(values: NDArray[Any], mode: FloatMode) -> NDArray[Any]:
    """Into 0 to 1; a NaN becomes 0 under DX10_CLAMP and else stays.

    On CDNA -0 is not below 0 and stays, as LLVM folds the modifier on constants; the manual does not say. RDNA's
    manuals (7.2.3.1, 7.7) say that it becomes +0.
    """
    form = BY_SIZE[values.dtype.itemsize]
    bits = np.ascontiguousarray(values).view(form.word)
    one = form.word(form.bias << form.fraction)
    zero = form.word(0) if mode.rules.clamp_positive_zero else form.sign
    # Codes without sign are ordered like their values.
    inside = np.where(bits > form.sign, form.word(0), np.where(bits == form.sign, zero, np.minimum(bits, one)))
    out: NDArray[Any] = np.where(np.isnan(values), form.word(0) if mode.dx10_clamp else bits, inside).view(form.real)
    return out


def _scaled(values: NDArray[Any], mode: FloatMode, factor: float) -> NDArray[Any]:
    """OMOD: ignored in IEEE mode and when denormal results are allowed; negative zero becomes zero.

    On gfx12 it applies in every mode, and flushes (RDNA4 ISA manual, 7.2.3.1).
    """
    form = BY_SIZE[values.dtype.itemsize]
    if not mode.rules.omod_flushes and (mode.ieee or mode.denormals(form.width) & 2):
        return values
    out = form.flushed(values * form.real(factor))
    return form.settled(np.where(out == 0, form.real(0), out), values)


def output_modifiers(
    instruction: Instruction, operation: Operation, rules: FloatRules
) -> Callable[[NDArray[Any], FloatMode], NDArray[Any]] | None:
    """What omod and clamp do to a result, or None when they do nothing.

    A shaped operation handles clamp itself when its result is not a float. Dot products of floats on RDNA ignore
    both (RDNA4 ISA manual, 7.2.3.1).

    Args:
        instruction: what is bound.
        operation: its operation.
        rules: the architecture's rules of floats.
    """
    if rules.dot_steps and instruction.opcode.dot:
        return None
    omod, clamp = instruction.modifiers.get("omod", 0), instruction.modifiers.get("clamp", 0)
    floating = operation.results[0] in ("f16", "f32", "f64")
    if clamp and not floating and not operation.shaped:
        raise unsupported(instruction, "clamp on an integer result")
    if not floating or not (omod or clamp):
        return None

    def finish(values: NDArray[Any], mode: FloatMode) -> NDArray[Any]:
        out = np.asarray(values)
        if omod:
            out = _scaled(out, mode, FACTORS[omod])
        return clamped(out, mode) if clamp else out

    return finish
