"""How long a matrix instruction takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfmasim.machine.ops.matrix import resolve

if TYPE_CHECKING:
    from mfmasim.architectures import Arch
    from mfmasim.isa import Instruction

__all__ = ["passes"]

PASS = 4
"""Cycles of a pass (CDNA3 ISA manual, 7.5)."""


def passes(instruction: Instruction, arch: Arch, wave: int) -> int:
    """Passes of a matrix instruction, which depend on its formats; 0 for any other.

    Args:
        instruction: decoded.
        arch: architecture.
        wave: lanes of a wave.

    Raises:
        MfmasimError: formats or modifiers that the machine does not execute.
    """
    if not instruction.opcode.matrix:
        return 0
    return resolve(instruction, arch, wave)[0].cycles // PASS
