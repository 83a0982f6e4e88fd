"""Scalar loads. Source: CDNA3 ISA manual, SMEM. The address is (waves,), one for the whole wave."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.machine.operands import scalar_reader, unsupported
from mfmasim.machine.registry import direct

if TYPE_CHECKING:
    from collections.abc import Callable

    from mfmasim.isa import Instruction
    from mfmasim.machine.state import Group

# Mnemonic -> dwords, in the spellings of gfx9 and of gfx11 and later.
LOADS = {
    "s_load_dword": 1, "s_load_dwordx2": 2, "s_load_dwordx4": 4, "s_load_dwordx8": 8, "s_load_dwordx16": 16,
    "s_load_b32": 1, "s_load_b64": 2, "s_load_b96": 3, "s_load_b128": 4, "s_load_b256": 8, "s_load_b512": 16,
}  # fmt: skip


def _load(instruction: Instruction, machine: Any) -> Callable[[Group], None]:
    count = LOADS[instruction.name]
    base = scalar_reader(instruction.src[0], "u64", instruction)
    offset = np.int64(instruction.modifiers.get("offset", 0))
    register = None
    soffset = instruction.src[1]
    if soffset.kind == "s":
        register = scalar_reader(soffset, "u32", instruction)
    elif soffset.kind not in ("off", "imm"):
        raise unsupported(instruction, f"scalar offset of kind {soffset.kind}")
    target = instruction.dst[0].index

    def run(g: Group) -> None:
        address = base(g) + offset.astype(np.uint64)
        if register is not None:
            address = address + register(g)
        address &= ~np.uint64(3)  # the two low bits are ignored
        words, outside = machine.memory.load_dwords(address, count)
        if outside is not None:
            outside.mask.shape = (-1, 1)
            machine.fault(instruction, g, "scalar", "read", 4 * count, outside)
        for k, word in enumerate(words):
            g.write_s(target + k, word)

    return run


direct(" ".join(LOADS))(_load)
