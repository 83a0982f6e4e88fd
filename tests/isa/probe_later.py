"""Rows of a processor that LLVM 22 does not know, from those of two that it knows, by the assembler of LLVM 24.

That library has no disassembler: opcodes cannot be tried one by one. Drawn instructions of every row of an older and a
newer architecture are printed and assembled again; what the assembler takes is a row of the processor, with the opcode
in its bytes. A test compares the names with those that the assembler knows, so that none is missing.
"""

from __future__ import annotations

import dataclasses
import re
from collections import defaultdict

from mfmasim.isa import decode
from mfmasim.isa.family import family
from mfmasim.isa.tables import ENCODINGS, table
from tests.isa import later_llvm, llvm_oracle
from tests.isa.encode_rdna import forms_of, random_code
from tests.isa.rdna import generation
from tests.isa.sampling import samples_of

NUMBERS = re.compile(r"\b(v_(?:dual_|pk_)?(?:min|max|med3|min3|max3|minmax|maxmin))(_f\d+)")
"""Operations that are called after their rule for NaN since gfx12; its assembler takes the older names too."""
REGISTERS = ("SOP1", "SOP2", "SOPC", "VOP1", "VOP2", "VOPC", "VOP3", "VOP3P", "WMMA")
"""Encodings that are the same on gfx11 and gfx12."""
_TABLE = {"WMMA": "VOP3P", "VOPDX": "VOPD", "VOPDY": "VOPD"}


def renamed(text):
    """The text with the names of gfx12."""
    return NUMBERS.sub(r"\1_num\2", text)


def without_plain(flags):
    """Flags without those of gfx12's default text, which lacks the names of halves."""
    return " ".join(flag for flag in flags.split() if flag.partition(":")[0] != "plain")


def drawn(arch, wave, wanted, each):
    """{(encoding, opcode): [(form, text, bytes), ...]}: what LLVM 22 assembles of the rows that `wanted` names."""

    def draw(rng, encoding, op, form, row):
        return random_code(rng, generation(arch), encoding, op, form, row)

    def forms(encoding, row):
        return forms_of(encoding, row) if wanted(encoding, row) else []

    ours, _ = samples_of(arch, wave, forms, draw, each, 3000, 0)
    lines = [dataclasses.replace(instruction, named_halves=True).text for *_, instruction in ours]
    found = defaultdict(list)
    for (row, encoding, form, *_), line, code in zip(ours, lines, llvm_oracle.assemble(lines, arch, wave), strict=True):
        if code is not None:
            found[encoding, row.op].append((form, line, code))
    return found


def opcode(arch, encoding, code):
    """The opcode in the bytes of an instruction in its shortest form."""
    by_name = family(arch).dialect.encodings.by_name
    found = by_name.get(_TABLE.get(encoding, encoding), by_name["FLAT"])  # of which the segments are a field
    word = int.from_bytes(code[:8], "little")
    if encoding == "VOPDY":
        low, width = found.fields["opy"]
        return word >> low & ((1 << width) - 1)
    return found.opcode(word)


def measured(later, like, arch, wave, wanted, *, names=str):
    """{(encoding, opcode on `arch`): opcode on `later`} of the rows whose drawn instructions the assembler takes.

    Args:
        later: the processor that LLVM 24 alone knows.
        like: an architecture with its encodings.
        arch: an architecture whose rows are tried.
        wave: lanes.
        wanted: (encoding, row) to whether the row is tried.
        names: text to the text that is tried.
    """
    tried = {(e, row.op) for e, rows in family(arch, wave).rows.items() for row in rows.values() if wanted(e, row)}
    lines = drawn(arch, wave, wanted, 12)
    # Of a few rows almost everything that is drawn breaks a rule that the assembler knows.
    lines |= drawn(arch, wave, lambda encoding, row: (encoding, row.op) in tried - set(lines), 200)
    assert set(lines) == tried, sorted(tried - set(lines))
    every = [line for those in lines.values() for _, line, _ in those]
    taken = dict(zip(every, later_llvm.assemble(list(map(names, every)), later, wave), strict=True))
    found = {}
    for (encoding, op), those in lines.items():
        codes = [(form, code, taken[line]) for form, line, code in those]
        forms, known = {form for form, *_ in codes}, {form for form, _, code in codes if code is not None}
        if not known:
            continue
        assert forms == known, (encoding, those[0][1], forms - known)
        codes = [(form, one, other) for form, one, other in codes if other is not None]
        (number,) = {opcode(like, encoding, code) for form, _, code in codes if not form}
        found[encoding, op] = number
        if arch == like and number == op:
            # What an instruction does not read may hold other bits.
            texts = [[decode(code, arch, wave=wave).text for code in pair] for _, *pair in codes]
            assert all(one == other for one, other in texts), (encoding, texts[0])
    return found


def later_rows(later, old, new):
    """Rows of `later` by table: those of `old`, under the names of `new` where they have them, and others of `new`."""
    found = {encoding.lower(): [] for encoding in ENCODINGS}
    for wave in (32, 64):
        kept = _of_narrow if wave == 32 else _of_wide
        same = measured(later, old, old, wave, kept)
        under = measured(later, old, old, wave, lambda e, row: kept(e, row) and NUMBERS.match(row.name), names=renamed)  # noqa: B023
        rows = []
        for encoding in ENCODINGS:
            for op, (name, *cells) in table(encoding, old):
                if (encoding, op) in under:
                    rows.append((encoding, under[encoding, op], renamed(name), *cells))
                elif same.get((encoding, op)) == op:
                    rows.append((encoding, op, name, *cells))
        taken = {(encoding, name) for encoding, _, name, *_ in rows}

        def beside(encoding, row):
            held = taken & {(encoding, row.name), ("VOP3", row.name)}  # noqa: B023
            return encoding in REGISTERS and not held and kept(encoding, row)  # noqa: B023

        others = measured(later, old, new, wave, beside)
        for encoding in REGISTERS:
            for op, (*cells, flags) in table(encoding, new):
                if (encoding, op) in others:
                    rows.append((encoding, others[encoding, op], *cells, without_plain(flags)))
        for encoding, *row in rows:
            if ("w64" in row[-1].split()) == (wave == 64):
                found[encoding.lower()].append(tuple(row))
    return {encoding: sorted(rows) for encoding, rows in found.items() if rows}


def _of_narrow(encoding, row):
    return "w64" not in row.flags


def _of_wide(encoding, row):
    return "w64" in row.flags
