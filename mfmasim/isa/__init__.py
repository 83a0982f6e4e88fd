"""Instruction set: encodings as bit fields, opcodes as rows, a decoder, and a printer in LLVM's syntax."""

from __future__ import annotations

from mfmasim.isa.decoder import decode, decode_range
from mfmasim.isa.instruction import MATRIX, Instruction, Operand

__all__ = ["MATRIX", "Instruction", "Operand", "decode", "decode_range"]
