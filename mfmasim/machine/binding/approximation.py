"""Results of approximate operations moved by their error bound, to see what depends on the last bit.

Reciprocals, roots, exponentials, logarithms, sine and cosine are within 1 ULP (f32, f16) or 2**29 ULP (f64) of the
exact result (CDNA3 ISA manual, descriptions of V_RCP_F32 and following); the hardware's value is not public.
The machine returns the nearest one. Code that does not depend on the last bit leaves equal bytes with both neighbours.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mfmasim.errors import unknown
from mfmasim.isa import Instruction
from mfmasim.machine.events.interface import Bound
from mfmasim.machine.state.waves import Group

APPROXIMATIONS = {"nearest": 0, "above": 1, "below": -1}
"""Which result approximate operations give: the nearest, or the one that is larger or smaller in magnitude by the
bound."""
# Bits of the exponent, and units in the last place, by type of the result.
_FIELDS = {"f32": (0x7F800000, 1), "f16": (0x7C00, 1), "bf16": (0x7F80, 1), "f64": (0x7FF00000, 1 << 29)}


def direction(text: str) -> int:
    """1, 0 or -1.

    Raises:
        MfmasimError: the text is none of `APPROXIMATIONS`.
    """
    if text not in APPROXIMATIONS:
        raise unknown("approximations", text, APPROXIMATIONS)
    return APPROXIMATIONS[text]


def approximated(instruction: Instruction, run: Bound, step: int) -> Bound:
    """The bound instruction; the result of an approximate instruction is moved.

    Args:
        instruction: the instruction.
        run: the bound instruction.
        step: 1 or -1.
    """
    if not instruction.opcode.trans or instruction.opcode.scalar or instruction.dst[0].type not in _FIELDS:
        return run
    (target, *_) = instruction.dst
    mask, units = _FIELDS[target.type]
    high = 16 if target.type in ("f16", "bf16") and instruction.modifiers.get("op_sel", 0) & 8 else 0
    top = target.index + target.count - 1

    def read(g: Group, index: int) -> NDArray[np.uint32]:
        return g.s(index) if target.kind == "s" else g.v(target.kind, index)

    def write(g: Group, index: int, words: NDArray[np.uint32]) -> None:
        if target.kind == "s":
            g.write_s(index, words)
        else:
            g.write_v(target.kind, index, words)

    def moved(g: Group) -> None:
        run(g)
        old = read(g, top)
        field = (old >> np.uint32(high)) & np.uint32(mask)
        number = (field != 0) & (field != np.uint32(mask))  # excludes zero, denormal, infinite and NaN
        if target.count == 1:
            write(g, top, np.where(number, old + np.uint32((step * units << high) & 0xFFFFFFFF), old))
            return
        low = read(g, target.index)
        whole = (old.astype(np.uint64) << np.uint64(32) | low) + np.uint64(step * units & 0xFFFFFFFFFFFFFFFF)
        write(g, target.index, np.where(number, (whole & np.uint64(0xFFFFFFFF)).astype(np.uint32), low))
        write(g, top, np.where(number, (whole >> np.uint64(32)).astype(np.uint32), old))

    return moved
