"""Instructions that compute EXEC on the scalar unit: saveexec returns the old mask, wrexec the new one.

Source: CDNA3 ISA manual, SOP1 (S_AND_SAVEEXEC_B64 and its kin); RDNA4 ISA manual, SOP1 (the names with NOT, and the
forms of 32 bits, which touch EXEC_LO only).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.machine.operands import scalar_reader, scalar_writer
from mfmasim.machine.registry import direct
from mfmasim.machine.state import EXEC

if TYPE_CHECKING:
    from collections.abc import Callable

    from mfmasim.isa import Instruction
    from mfmasim.machine.state import Group

    U = Any  # unsigned integers, (waves,)

# What EXEC becomes, from the source and the old EXEC; gfx9's name, then that of gfx11 and later.
MASKS: tuple[tuple[str, str, Callable[[U, U], U]], ...] = (
    ("and",   "and",      lambda s0, old: s0 & old),
    ("or",    "or",       lambda s0, old: s0 | old),
    ("xor",   "xor",      lambda s0, old: s0 ^ old),
    ("nand",  "nand",     lambda s0, old: ~(s0 & old)),
    ("nor",   "nor",      lambda s0, old: ~(s0 | old)),
    ("xnor",  "xnor",     lambda s0, old: ~(s0 ^ old)),
    ("andn1", "and_not0", lambda s0, old: ~s0 & old),
    ("andn2", "and_not1", lambda s0, old: s0 & ~old),
    ("orn1",  "or_not0",  lambda s0, old: ~s0 | old),
    ("orn2",  "or_not1",  lambda s0, old: s0 | ~old),
)  # fmt: skip
COMBINE = {name: body for *names, body in MASKS for name in names}
HALVES = np.uint64(32)


def _bind(instruction: Instruction, _machine: Any) -> Callable[[Group], None]:
    word, what, size = instruction.name.removeprefix("s_").rsplit("_", 2)
    combine = COMBINE[word]
    kind = "u64" if size == "b64" else "u32"
    read = scalar_reader(instruction.src[0], kind, instruction)
    write = scalar_writer(instruction.dst[0], kind, instruction)

    def run(g: Group) -> None:
        old = g.s(EXEC)
        if kind == "u64":
            old = old.astype(np.uint64) | (g.s(EXEC + 1).astype(np.uint64) << HALVES)
        new = combine(read(g), old)
        write(g, old if what == "saveexec" else new)
        g.scc = new != 0
        g.write_s(EXEC, new.astype(np.uint32))
        if kind == "u64":
            g.write_s(EXEC + 1, (new >> HALVES).astype(np.uint32))

    return run


def _names() -> list[str]:
    """gfx9 has 64 bits only; wrexec exists of two of them."""
    out = {f"s_{old}_saveexec_b64" for old, _, _ in MASKS} | {"s_andn1_wrexec_b64", "s_andn2_wrexec_b64"}
    for size in ("b32", "b64"):
        out |= {f"s_{new}_saveexec_{size}" for _, new, _ in MASKS}
        out |= {f"s_and_not{number}_wrexec_{size}" for number in (0, 1)}
    return sorted(out)


direct(" ".join(_names()))(_bind)
