"""Keys: one number for every register, flag and space of memory, so that a set of keys is an integer."""

from __future__ import annotations

from collections.abc import Iterable

from mfmasim.architectures import Arch
from mfmasim.isa import Operand
from mfmasim.machine.state.waves import EXEC, VCC

AGPR, SGPR = 1024, 1280
"""First keys of the 256 accumulation registers of a file of their own and of the scalar ones; the 1024 VGPRs that
gfx1250 has begin with 0."""
VECTORS = SGPR
"""Keys below are registers of a dword a lane."""
SCC, LDS, SCRATCH, GLOBAL = range(SGPR + 128, SGPR + 132)
EXECS = (SGPR + EXEC, SGPR + EXEC + 1)
FIRST = {"v": 0, "a": AGPR, "s": SGPR}
SPECIAL = {251: (SGPR + VCC, SGPR + VCC + 1), 253: (SCC,)}
"""Keys behind VCCZ and SCC as sources."""
NAMES = {106: "vcc_lo", 107: "vcc_hi", 126: "exec_lo", 127: "exec_hi"}


def keys_of(operand: Operand) -> tuple[int, ...]:
    """Keys of the registers of an operand."""
    first = FIRST.get(operand.kind)
    if first is None:
        return SPECIAL.get(operand.index, ()) if operand.kind == "special" else ()
    return tuple(range(first + operand.index, first + operand.index + operand.count))


def set_of(keys: Iterable[int]) -> int:
    """A set of keys as an integer."""
    out = 0
    for key in keys:
        out |= 1 << key
    return out


def name_of(key: int, arch: Arch, accum_offset: int = 0) -> str:
    """Name of a register, as in assembly.

    Args:
        key: the register.
        arch: the architecture.
        accum_offset: first register of a unified file that an AGPR names; 0 if none does.
    """
    if key == SCC:
        return "scc"
    if key < VECTORS:
        first = accum_offset or AGPR
        return f"v{key}" if key < first else f"a{key - first}"
    code = key - SGPR
    if code in NAMES:
        return NAMES[code]
    return "m0" if code == arch.m0 else f"s{code}" if code < 108 else f"ttmp{code - 108}"
