"""Reciprocals, roots, exponentials, logarithms, sine and cosine.

The hardware approximates: by the CDNA3 ISA manual within 1 ULP (f32, f16; sine and cosine unstated) or 2**29 ULP (f64).
Which value it gives is public of RDNA3 and RDNA4, except for most of sine and cosine and for f64: in f32 that of
`tabulated_functions` and `tabulated_turns`, in f16 the correctly rounded one, of sine and cosine the f32 result rounded
once more, as rocjitsu's amdgpu_trig.h has it (`FloatRules.function_tables`). Elsewhere
the result is the value computed in float64 and rounded once to f32 or f16 to nearest even, regardless of MODE's
rounding: the correctly rounded value except in the rare case that the float64 lies within its own error of the middle
between two results. For f64 it is the correctly rounded value. Fidelity ``assumed``, or ``hardware`` where captures of
a whole domain are equal.

In f32, denormal inputs and results become zeros, except for sine and cosine; in f16 and f64 MODE decides. An invalid
operation gives the negative default NaN, as the manual's examples do. Then come OMOD and CLAMP.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfmasim.machine.numerics import elementary, ieee
from mfmasim.machine.numerics.float_formats import BY_SIZE
from mfmasim.machine.numerics.lane_masks import every
from mfmasim.machine.numerics.tabulated_functions import MAGNITUDE, NORMAL, SIGN, tabulated
from mfmasim.machine.numerics.tabulated_turns import turned
from mfmasim.machine.opcodes.registry import vector

if TYPE_CHECKING:
    from collections.abc import Callable

    from mfmasim.arrays import U
    from mfmasim.machine.numerics.float_mode import FloatMode


def _turns(s0: U, quadrant: int) -> U:
    """sin(2 pi x) for quadrant 0, cos(2 pi x) for quadrant 1; reduced exactly to an eighth of a turn."""
    part = s0 - np.rint(s0)
    quarters = np.rint(4 * part)
    angle = 2 * np.pi * (part - quarters / 4)
    which = (np.where(np.isfinite(s0), quarters, 0).astype(np.int64) + quadrant) & 3
    size = np.where(which & 1 == 1, elementary.cos(angle), elementary.sin(angle))
    # A zero of the circle is +0; only a zero source keeps its sign.
    turned = np.where(which & 2 == 2, -size, size) + 0.0
    return np.where((s0 == 0) & (quadrant == 0), s0, turned)


FUNCTIONS: dict[str, Callable[[U], U]] = {
    "rcp": lambda x: 1 / x,
    "rsq": ieee.reciprocal_root,
    "sqrt": np.sqrt,
    "exp": elementary.exp2,
    "log": elementary.log2,
    "sin": lambda x: _turns(x, 0),
    "cos": lambda x: _turns(x, 1),
}


OF_ZERO = {
    word: np.array(bits, np.uint32)
    for word, bits in (("rcp", 0x7F800000), ("rsq", 0x7F800000), ("sqrt", 0), ("log", 0xFF800000))
}
"""f32 results of zeros, but for their sign; EXP is tabulated for every number."""
TURNS = ("sin", "cos")


def _approximation(word: str, *, flushes: bool) -> Callable[[U, FloatMode], U]:
    function, of_zero = FUNCTIONS[word], OF_ZERO.get(word)

    def nearest(s0: U, mode: FloatMode) -> U:
        form = BY_SIZE[s0.dtype.itemsize]
        s0 = form.flushed(s0) if flushes else ieee.entering(s0, form, mode)
        if word in TURNS and mode.rules.function_tables:
            out = turned(s0.astype(np.float32, copy=False), cosine=word == "cos").astype(s0.dtype, copy=False)
            if mode.plain and every(np.isfinite(s0)):
                return out
        else:
            out = function(s0.astype(np.float64)).astype(s0.dtype)
        out = form.settled(out, s0, negative=True, quiet=mode.quiets)
        if flushes:
            return form.flushed(out)
        # FP16_OVFL changes the infinite results of zero where they were captured; elsewhere they count as exact.
        exact = np.isinf(s0) if mode.rules.function_tables else (s0 == 0) | np.isinf(s0)
        return ieee.limited(out, form, mode, exact)

    def run(s0: U, mode: FloatMode) -> U:
        if not mode.rules.function_tables:
            return nearest(s0, mode)
        out, usual = tabulated(word, s0)
        if every(usual):
            return out
        if of_zero is not None:
            # Lanes without a value are often zero; denormals count as zeros of their sign.
            bits = s0.view(np.uint32)
            zero = bits & MAGNITUDE < NORMAL
            np.copyto(out.view(np.uint32), bits & SIGN | of_zero, where=zero)
            usual |= zero
        if not every(usual):
            others = ~usual
            out[others] = nearest(s0[others], mode)
        return out

    return run if flushes else nearest


for _word in FUNCTIONS:
    _flushes = _word not in TURNS
    vector(f"v_{_word}_f32", "f32 mode -> f32", "assumed")(_approximation(_word, flushes=_flushes))
    vector(f"v_{_word}_f16", "f16 mode -> f16", "assumed")(_approximation(_word, flushes=False))
for _word in ("rcp", "rsq", "sqrt"):
    vector(f"v_{_word}_f64", "f64 mode -> f64", "assumed")(_approximation(_word, flushes=False))
vector("v_rcp_iflag_f32", "f32 mode -> f32", "assumed")(_approximation("rcp", flushes=True))
# An earlier, less accurate version of the same functions.
vector("v_exp_legacy_f32", "f32 mode -> f32", "assumed")(_approximation("exp", flushes=True))
vector("v_log_legacy_f32", "f32 mode -> f32", "assumed")(_approximation("log", flushes=True))
