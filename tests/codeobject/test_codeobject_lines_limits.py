"""Debug information made to waste time or memory; and pyelftools as the slow reader."""

import itertools
import struct
import time
import tracemalloc
import zlib
from io import BytesIO
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from mfmasim.codeobject import model, read
from mfmasim.codeobject.lines import covered, read_line_table
from mfmasim.codeobject.lines_header import Budget, read_header
from mfmasim.errors import MfmasimError
from mfmasim.program import Code
from tests.codeobject.codeobject_builds import build

PREBUILT = sorted((Path(__file__).resolve().parents[2] / "golden" / "code").rglob("*.hsaco"))


def program(opcodes, version=4, files=b"a\0\0\0\0\0", operations=1, directories=b"\0"):
    """A line program with the usual parameters: line_base -5, line_range 14, opcode_base 13."""
    counts = bytes([0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1])
    fields = bytes([1, *([operations] if version >= 4 else []), 1, 0xFB, 14, 13]) + counts + directories + files
    sizes = b"\x08\0" if version >= 5 else b""
    body = struct.pack("<H", version) + sizes + struct.pack("<I", len(fields)) + fields + opcodes
    return struct.pack("<I", len(body)) + body


def with_line_section(section, claimed=None):
    """A code object whose ``.debug_line`` is this one, compressed."""
    data = bytearray(build("gfx942"))
    elf = ELFFile(BytesIO(bytes(data)))
    number = next(n for n, one in enumerate(elf.iter_sections()) if one.name == ".debug_line")
    size = len(section) if claimed is None else claimed
    stored = struct.pack("<IIQQ", 1, 0, size, 1) + zlib.compress(section, 9)
    header = elf["e_shoff"] + 64 * number
    flags = struct.unpack_from("<Q", data, header + 8)[0] | 0x800
    struct.pack_into("<QQQQ", data, header + 8, flags, 0, len(data), len(stored))
    return bytes(data) + stored


BOMBS = {
    "opcodes": (program(b"\x12" * (8 << 20)), "more than 2,097,152 steps"),
    "rows": (program(b"\x21" * (1 << 20)), "more than 262,144 rows"),
    "sequences": (program(b"\0\x01\x01" * (1 << 19)), "more than 2,097,152 steps"),
    "standard opcodes": (program(b"\x05\x01" * (1 << 20)), "more than 2,097,152 steps"),
    "discriminators": (program(b"\0\x02\x04\x01" * (1 << 19)), "more than 2,097,152 steps"),
    "files": (program(b"", files=b"a\0\0\0\0" * (3 << 20) + b"\0"), "more than 2,097,152 steps"),
    "names": (program(b"", files=b"a" * (17 << 20) + b"\0\0\0\0\0"), "names of more than"),
    "defined": (program(b"\0\x06\x03a\0\0\0\0" * (1 << 19)), "more than 2,097,152 steps"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_soon(name):
    section, text = BOMBS[name]
    data = with_line_section(section)
    assert len(data) < 300_000
    start = time.process_time()
    with pytest.raises(MfmasimError, match=f"corrupt debug information .*{text}"):
        read_line_table(data, "k.hsaco")
    assert time.process_time() - start < 10  # about two seconds; a reader without limits needs minutes


@pytest.mark.parametrize("claimed", [None, 100, 1 << 45])
def test_a_section_that_unpacks_to_more_than_is_read_takes_no_memory(claimed):
    data = with_line_section(bytes(80 << 20), claimed)
    tracemalloc.start()
    try:
        with pytest.raises(MfmasimError, match=r"section \.debug_line"):
            read_line_table(data, "k.hsaco")
        assert tracemalloc.get_traced_memory()[1] < 50_000_000
    finally:
        tracemalloc.stop()


def test_names_that_refer_to_one_long_string_are_limited():
    # DWARF 5: 4,096 files, all with the same name of 1 MiB in .debug_line_str.
    table = bytes([1, 1, 0x1F]) + b"\x80\x20" + bytes(4 * 4096)
    section = program(b"", 5, files=table, directories=b"\0\0")
    with pytest.raises(ValueError, match="names of more than 16,777,216 bytes"):
        read_header(section, 0, {".debug_line_str": b"x" * (1 << 20) + b"\0"}, Budget(1 << 20))


def test_a_bomb_is_read_once_and_findings_do_without_it(monkeypatch):
    calls = []
    real = model.read_line_table
    monkeypatch.setattr(model, "read_line_table", lambda *args: calls.append(1) or real(*args))
    code = Code(read(with_line_section(BOMBS["opcodes"][0])))
    kernel = code["gemm"]
    assert [kernel.source_at(ins.pc) for ins in kernel.instructions] == [""] * len(kernel.instructions)
    assert len(calls) == 1


@pytest.mark.parametrize("opcodes", [b"\0\0", b"\0\x09\x02abc", b"\0", b"\x02\xff", b"\x09\x01", b"\0\x7f\x01"])
def test_programs_that_end_early(opcodes):
    with pytest.raises(MfmasimError, match="corrupt debug information"):
        read_line_table(with_line_section(program(opcodes)), "k.hsaco")


def by_elftools(data):
    """Rows of all line programs: start, end, file number, line, column, is_stmt."""
    elf = ELFFile(BytesIO(data))
    dwarf = elf.get_dwarf_info(relocate_dwarf_sections=False, follow_links=False)
    for unit in dwarf.iter_CUs():
        states = [entry.state for entry in dwarf.line_program_for_CU(unit).get_entries() if entry.state is not None]
        for a, b in itertools.pairwise(states):
            if not a.end_sequence and b.address > a.address:
                yield a.address, b.address, a.file, a.line, a.column, bool(a.is_stmt)


def ours(data):
    section = ELFFile(BytesIO(data)).get_section_by_name(".debug_line").data()
    strings = {
        name: one.data()
        for name in (".debug_str", ".debug_line_str")
        if (one := ELFFile(BytesIO(data)).get_section_by_name(name))
    }
    at, budget = 0, Budget(1 << 24)
    while at < len(section):
        header = read_header(section, at, strings, budget)
        for (start, file, line, column, is_stmt), end in covered(section, header, budget):
            yield start, end, file, line, column, is_stmt
        at = header.end


def test_rows_are_those_of_the_slow_reader():
    compared = 0
    for data in [build("gfx942"), build("gfx1201"), *(path.read_bytes() for path in PREBUILT[::10])]:
        mine = list(ours(data))
        assert mine == list(by_elftools(data))
        compared += len(mine)
    assert compared > 200


def test_instructions_of_several_operations():
    # Two operations an address: special opcode 13 + 14 * 3 + 5 advances by 3 operations and 0 lines.
    section = program(bytes([13 + 14 * 3 + 5] * 4) + b"\x09\x10\0\0\x01\x01", operations=2)
    budget = Budget(1000)
    rows = [(row[0], end) for row, end in covered(section, read_header(section, 0, {}, budget), budget)]
    assert rows == [(1, 3), (3, 4), (4, 6), (6, 22)]
