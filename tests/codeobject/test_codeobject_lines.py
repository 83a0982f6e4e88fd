"""Source lines of instructions, against llvm-symbolizer."""

from __future__ import annotations

import re
import subprocess
from io import BytesIO

import pytest
from elftools.elf.elffile import ELFFile

from mfmasim.codeobject import read
from mfmasim.codeobject.lines import LineRange, LineTable
from mfmasim.codeobject.lines_header import Budget, read_header
from mfmasim.errors import MfmasimError
from tests.codeobject.codeobject_builds import KERNELS, build, build_with_clang
from tests.llvm import tool


def line_of(text: str) -> int:
    """Line number of the only source line that contains a text."""
    (number,) = [at for at, line in enumerate(KERNELS.splitlines(), 1) if text in line]
    return number


def test_lines_of_a_kernel():
    code = read(build("gfx942"))
    table = code.line_table()
    assert code.line_table() is table
    gemm = code["gemm"]
    seen = {table.at(gemm.entry + at) for at in range(0, gemm.size, 4)} - {None}
    assert {file for file, _ in seen} == {"./kernels.hip"}
    lines = {line for _, line in seen}
    assert {line_of("lds[t] = a[t]"), line_of("c[t + i] ="), line_of("i < n")} <= lines
    assert lines <= set(range(line_of("void gemm("), line_of('extern "C" __global__ void ids')))
    # A template has a section of its own, so the padding after it is behind the end of a line sequence.
    template = code["_Z5shapeIfLi3EEvPT_"]
    assert table.at(template.entry + template.size - 4) is not None
    assert table.at(template.entry + template.size) is None
    assert table.at(0) is None
    assert table.at(1 << 60) is None


def test_no_debug_information():
    code = read(build("gfx942", "-g0"))
    assert len(code.line_table()) == 0
    assert code.line_table().at(code["gemm"].entry) is None


@pytest.mark.oracle
def test_compression_that_is_not_read_is_named():
    code = read(build_with_clang("gfx942", "-gz=zstd"), "k.hsaco")
    with pytest.raises(
        MfmasimError, match=r"^k.hsaco: debug information compressed with zstd is unsupported; compile with"
    ):
        code.line_table()


def test_overlaps_and_gaps():
    rows = [
        LineRange(0, 100, "a", 1, 0, True),
        LineRange(40, 50, "b", 2, 0, True),
        LineRange(200, 210, "c", 0, 0, True),
    ]
    table = LineTable.of(rows)
    assert [table.at(at) for at in (0, 39, 40, 49)] == [("a", 1), ("a", 1), ("b", 2), ("b", 2)]
    assert table.at(150) is None
    # Line 0 is the compiler's way to say that code belongs to no line.
    assert table.at(205) is None
    assert table.row(205).line == 0


@pytest.mark.oracle
@pytest.mark.parametrize("arch", ["gfx90a", "gfx942", "gfx950", "gfx1151", "gfx1201"])
@pytest.mark.parametrize(
    "flags",
    [("-gdwarf-5",), ("-gdwarf-4",), ("-gdwarf-3",), ("-g",), ("-gz=zlib",), ("-gdwarf64", "-g")],
    ids=lambda flags: flags[0],
)
def test_every_address_as_llvm_symbolizer_tells_it(arch, flags, tmp_path):
    data = build_with_clang(arch, *flags)
    path = tmp_path / "k.hsaco"
    path.write_bytes(data)
    code = read(data)
    # Kernels, other functions and the padding between them, which belongs to no line.
    (segment,) = [one for one in code.segments if one.executable]
    addresses = list(range(segment.vaddr, segment.end, 4))
    command = [tool("llvm-symbolizer"), f"--obj={path}", "--no-inlines", "--functions=none", "--output-style=LLVM"]
    done = subprocess.run(
        command, input="\n".join(map(hex, addresses)), capture_output=True, text=True, check=True, cwd=tmp_path
    )
    answers = re.findall(r"^(\S+):(\d+):(\d+)$", done.stdout, re.MULTILINE)
    assert len(answers) == len(addresses) > 150
    table = code.line_table()
    known = unknown = 0
    for address, (file, line, column) in zip(addresses, answers, strict=True):
        row = table.row(address)
        if file == "??":
            assert row is None, hex(address)
            unknown += 1
            continue
        assert row is not None, hex(address)
        assert (row.file.rpartition("/")[2], row.line, row.column) == (
            file.rpartition("/")[2],
            int(line),
            int(column),
        ), hex(address)
        known += 1
    assert known > 150
    assert unknown > 100


def test_header_counts_are_held_to_the_bytes():
    # DWARF 5, one directory format, and a number of directories that no file could hold.
    body = bytes([5, 0, 8, 0]) + (40).to_bytes(4, "little") + bytes([4, 1, 1, 0xFB, 14, 1])
    promise = b"\xff" * 8 + b"\x7f"
    for formats in (bytes([0]), bytes([1, 1, 0x1F])):
        data = body + formats + promise + bytes(40)
        with pytest.raises(ValueError, match="directories"):
            read_header(len(data).to_bytes(4, "little") + data, 0, {}, Budget(1000))


def test_damaged_line_program_is_told_when_it_is_asked_for():
    data = bytearray(build("gfx942"))
    assert len(read(bytes(data)).line_table()) > 20
    start = ELFFile(BytesIO(bytes(data))).get_section_by_name(".debug_line")["sh_offset"]
    data[start + 4] = 9  # the version, behind the length
    damaged = read(bytes(data), "k.hsaco")
    with pytest.raises(MfmasimError, match=r"k.hsaco: truncated or corrupt debug information .*version 9"):
        damaged.line_table()
