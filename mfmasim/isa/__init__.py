"""Instruction set: encodings as bit fields, opcodes as rows, a decoder, and a printer in LLVM's syntax."""

from __future__ import annotations

from mfmasim.isa.decoder import decode, decode_range
from mfmasim.isa.instruction import Instruction, Operand

__all__ = ["Instruction", "Operand", "decode", "decode_range"]
