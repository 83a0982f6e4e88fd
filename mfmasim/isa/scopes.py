"""Scopes: the scope of a memory operation by its cache bits, and instructions that invalidate caches or write back.

Sources: LLVM, AMDGPU usage guide, "Memory model" of gfx90a, gfx942, gfx11 and gfx12; RDNA4 ISA manual, "Memory scopes
and temporal hints". Read-modify-write atomics act in the L2 regardless of their bits, except on gfx12, where the
scope is a field of the instruction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mfmasim.isa.instruction import Instruction

PLAIN, WORKGROUP, UNSTATED, DEVICE = range(4)
"""Through the caches of a compute unit; seen by the workgroup; the bits do not say; seen by the whole device."""
SCOPE_DEVICE = 2
"""gfx12: SCOPE_DEV; SCOPE_SYS is larger, SCOPE_SE (1) reaches the workgroup."""


def reach(instruction: Instruction, kind: str) -> int:
    """Scope of an access: `PLAIN`, `WORKGROUP`, `UNSTATED` (stores where cache bits are glc) or `DEVICE`.

    Args:
        instruction: a vector memory instruction.
        kind: ``read``, ``write`` or ``atomic``.
    """
    bits = instruction.modifiers
    if "scope" in bits:
        narrow = WORKGROUP if bits["scope"] or kind == "atomic" else PLAIN
        return DEVICE if bits["scope"] >= SCOPE_DEVICE else narrow
    if kind == "atomic":
        return DEVICE
    if "sc1" in bits:
        return DEVICE if bits["sc1"] else WORKGROUP if bits["sc0"] else PLAIN
    if kind == "write":
        return UNSTATED  # an atomic store has the bits of any other
    return DEVICE if bits.get("glc") else PLAIN


def invalidates(instruction: Instruction) -> bool:
    """Whether an instruction invalidates cached data that other workgroups may have written."""
    return _wide_enough(instruction, instruction.opcode.invalidates)


def invalidates_near(instruction: Instruction) -> bool:
    """Whether it invalidates at least the vector cache of its own compute unit."""
    return instruction.opcode.invalidates_near


def writes_back(instruction: Instruction) -> bool:
    """Whether an instruction writes back the L2, so that the whole device sees the data."""
    return _wide_enough(instruction, instruction.opcode.writes_back)


def _wide_enough(instruction: Instruction, least: tuple[str, int] | None) -> bool:
    return least is not None and (not least[0] or instruction.modifiers.get(least[0], 0) >= least[1])


def invalidates_scalar(instruction: Instruction) -> bool:
    """Whether an instruction invalidates the scalar cache, unlike any vector instruction."""
    return instruction.opcode.invalidates_scalar
