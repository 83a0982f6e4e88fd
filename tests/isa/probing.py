"""Probing llvm-mc: ask about many encodings at once, and read operands off its text."""

from __future__ import annotations

import re
import struct

from tests.isa.llvm_oracle import disassemble

# Registers of the probes, far apart, so that a printed number tells its field.
FIELD_OF = {20: "dst", 40: "src0", 80: "src1", 120: "src2", 24: "sdst"}
V = 256


def dwords(*values):
    return b"".join(struct.pack("<I", value & 0xFFFFFFFF) for value in values)


def operands(text):
    """Split LLVM's text into (mnemonic, [operand, ...]); modifiers after the last operand are dropped."""
    mnemonic, _, rest = text.partition(" ")
    parts = re.findall(r"(?:[^,\[(]|\[[^\]]*\]|\([^)]*\))+", rest)
    parts = [part.strip() for part in parts]
    if parts:
        parts[-1] = re.match(r"(?:[^ (]|\([^)]*\))+", parts[-1])[0]
    return mnemonic, parts


def register(operand):
    """(file, first number, count) of a printed register, or None."""
    match = re.fullmatch(r"[-|]*([vas])(?:(\d+)(?:\.[lh])?|\[(\d+):(\d+)\])\|?", operand)
    if not match:
        return None
    first = int(match[2] or match[3])
    return match[1], first, int(match[4] or first) - first + 1


def widths(parts, wanted):
    """Register counts of the printed operands whose number belongs to one of the wanted fields, in field order."""
    found = {}
    for part in parts:
        reg = register(part)
        if reg and FIELD_OF.get(reg[1]) in wanted:
            found[FIELD_OF[reg[1]]] = reg[2]
    return [found[field] for field in wanted if field in found]


class Prober:
    """Asks LLVM about many encodings at once and remembers the answers."""

    def __init__(self, arch, wave=None, *, halves=True):
        self.arch = arch
        self.wave = wave
        self.halves = halves
        self.known = {}

    def ask(self, codes):
        new = list(dict.fromkeys(code for code in codes if code not in self.known))
        texts = disassemble(new, self.arch, exact=False, wave=self.wave, halves=self.halves)
        self.known.update(zip(new, texts, strict=True))
        return [self.known[code] for code in codes]

    def text(self, code):
        return self.ask([code])[0]


def accepted(prober, base, bits):
    """Names of those single bits (name -> (dword, bit)) that LLVM accepts and that change what it prints."""
    start = prober.text(dwords(*base))
    answers = prober.ask(flipped(base, bits))
    return {name for name, answer in zip(bits, answers, strict=True) if answer and answer != start}


def flipped(base, bits):
    """The probe with each of the named bits flipped."""
    out = []
    for dword, bit in bits.values():
        code = list(base)
        code[dword] ^= 1 << bit
        out.append(dwords(*code))
    return out


def row(op, name, dst, src, flags=""):
    return (op, name, " ".join(dst), " ".join(src), flags)
