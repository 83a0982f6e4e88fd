"""The matrix instruction of an opcode with its modifiers, and its passes."""

from __future__ import annotations

from typing import Any

from mfmasim.architectures import Arch
from mfmasim.isa import Instruction
from mfmasim.machine.opcodes.refusal import unsupported
from mfmasim.matrix import MatrixInstruction
from mfmasim.matrix import instruction as matrix_instruction
from mfmasim.matrix.request import F8F6F4, Modes

PASS = 4
"""Cycles of a pass (CDNA3 ISA manual, 7.5)."""
_RDNA_NAMES = {
    "neg_lo": "neg", "neg_hi": "neg_hi", "op_sel": "op_sel", "index_key": "op_sel", "clamp": "clamp",
    "matrix_a_scale": "scale_a_row", "matrix_b_scale": "scale_b_row",
    "matrix_a_scale_fmt": "scale_a_format", "matrix_b_scale_fmt": "scale_b_format",
}  # fmt: skip
"""Fields of `Modes` by modifier of an instruction; INDEX_KEY replaces OP_SEL."""
_HINTS = ("matrix_a_reuse", "matrix_b_reuse")
"""Modifiers without effect on the result."""
_CDNA_NAMES = {"cbsz": "cbsz", "abid": "abid", "blgp": "blgp", "neg": "blgp", "clamp": "clamp"}
"""The f64 forms use the bits of BLGP to negate A, B and C."""


def resolve(instruction: Instruction, arch: Arch, wave: int) -> tuple[MatrixInstruction, Modes]:
    """The operation of a matrix instruction, and the modes that its encoding selects.

    Args:
        instruction: decoded.
        arch: architecture.
        wave: lanes of a wave.

    Raises:
        MfmasimError: formats or modifiers that the machine does not execute.
    """
    given = {name: value for name, value in instruction.modifiers.items() if value}
    operation = matrix_instruction(arch, instruction.name, wave=wave)
    if operation.row.a == "f8f6f4":
        fields = ("matrix_a_fmt", "matrix_b_fmt") if instruction.encoding == "WMMA" else ("cbsz", "blgp")
        codes = given.pop(fields[0], 0), given.pop(fields[1], 0)
        if max(codes) >= len(F8F6F4):
            raise unsupported(instruction, f"f8f6f4 format code {max(codes)}")
        operation = matrix_instruction(arch, instruction.name, F8F6F4[codes[0]], F8F6F4[codes[1]], wave)
    values: dict[str, Any] = {}
    names = _CDNA_NAMES
    if instruction.encoding == "WMMA":  # OP_SEL_HI means nothing to these
        names = _RDNA_NAMES
        for hint in ("op_sel_hi", *_HINTS):
            given.pop(hint, None)
    elif operation.row.scaled:
        low, high = given.pop("op_sel", 0), given.pop("op_sel_hi", 0)
        for i, name in enumerate(("scale_a_byte", "scale_b_byte")):
            values[name] = (low >> i & 1) | (high >> i & 1) << 1
    if others := [name for name in given if name not in names]:
        raise unsupported(instruction, f"modifiers {', '.join(others)} of a matrix instruction")
    values |= {names[name]: value for name, value in given.items()}
    return operation, Modes(**values)


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
