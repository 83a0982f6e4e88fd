"""Instruction set: encodings as bit fields, opcodes as rows, a decoder, and a printer in LLVM's syntax."""

from __future__ import annotations

from mfmasim.isa.decoder import decode, decode_range
from mfmasim.isa.high_registers import listed
from mfmasim.isa.instruction import Instruction, Operand
from mfmasim.isa.opcode import Opcode

__all__ = ["Instruction", "Opcode", "Operand", "decode", "decode_range", "listed"]
