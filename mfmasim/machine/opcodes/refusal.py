"""The errors for what the machine does not execute: they name the instruction, its address and its bytes."""

from __future__ import annotations

from mfmasim.errors import UnsupportedError
from mfmasim.isa import Instruction
from mfmasim.machine.opcodes.excluded import excluded


def unsupported(instruction: Instruction, what: str) -> UnsupportedError:
    """The error for an operand, modifier or state that an operation does not take."""
    return UnsupportedError(
        f"{what}: {instruction.text.strip()} at {instruction.pc:#x} (bytes {instruction.raw.hex()}) is not supported"
    )


def unknown_operation(instruction: Instruction) -> UnsupportedError:
    """The error for an instruction whose operation is not registered."""
    row = excluded(instruction.name)
    return UnsupportedError(
        f"unsupported instruction {instruction.text.strip()} at {instruction.pc:#x} "
        f"(bytes {instruction.raw.hex()}, {instruction.arch}){f': it {row.why} ({row.group})' if row else ''}"
    )
