"""Typed buffer accesses: formats by example, and the checks."""

from __future__ import annotations

import numpy as np
import pytest

from mfmasim.errors import MfmasimError
from mfmasim.isa import decode
from mfmasim.isa.buffer_formats import format_text, split_format, unified_format
from tests.isa.llvm_oracle import disassemble
from tests.machine import harness

START = """
  s_load_dwordx4 s[8:11], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  s_mov_b32 s4, s8
  s_mov_b32 s5, s9
  s_movk_i32 s6, 0x100
  s_mov_b32 s7, {word:#x}
  v_lshlrev_b32_e32 v1, 4, v0
"""
END = """
  s_waitcnt vmcnt(0)
  global_store_dwordx4 v1, v[4:7], s[10:11]
  s_endpgm
"""
SELECTS = 4 | 5 << 3 | 6 << 6 | 7 << 9
OTHER = 4 << 15 | 5 << 12 | 7 | 6 << 3 | 0 << 6 | 1 << 9
"""Format and selects of a resource for instructions that bring their own."""


def run(line, word, data, *, checks="none", arch="gfx942"):
    """What one lane gets, and the findings."""
    body = START.format(word=word) + f"  {line}\n" + END
    program = harness.kernel(body, arch, "pp")
    given = np.zeros(64, np.uint32)
    given[: len(data)] = data
    out, report = harness.fast(program, 1, 1, [given, np.zeros(64, np.uint32)], checks=checks)
    return out[1][:4], report


def floats(*values):
    return np.array(values, np.float32).view(np.uint32).tolist()


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("data", "number", "given", "expected"),
    [
        (10, 0, [0xFF803300], floats(0, 51 / 255, 128 / 255, 1)),
        (10, 1, [0x7F80C100], floats(0, -63 / 127, -1, 1)),
        (10, 5, [0x7F80C100], [0, 0xFFFFFFC1, 0xFFFFFF80, 127]),
        (9, 0, [0xC00FFC00], floats(0, 1, 0, 1)),
        (6, 7, [0x3C0 | 0x380 << 11 | 0x1E0 << 22], [*floats(1, 0.5, 1), 0]),
        (5, 7, [0xC0003C00], [*floats(1, -2), 0, 0]),
        (14, 7, [0x7F800001, 2, 3, 4], [0x7F800001, 2, 3, 4]),
        (0, 0, [0xFFFFFFFF], [0, 0, 0, 0]),
    ],
)
@pytest.mark.parametrize("arch", ["gfx908", "gfx90a", "gfx942", "gfx950"])
def test_formats_by_example(arch, data, number, given, expected):
    """Components from the lowest bits up; what a format does not have is 0."""
    word = data << 15 | number << 12 | SELECTS
    out, _ = run("buffer_load_format_xyzw v[4:7], off, s[4:7], 0", word, given, arch=arch)
    assert out.tolist() == expected
    line = f"tbuffer_load_format_xyzw v[4:7], off, s[4:7], 0 format:{data | number << 4}"
    out, _ = run(line, OTHER, given, arch=arch)
    assert out.tolist() == expected


@pytest.mark.oracle
def test_selects_and_halves():
    """Constants of the type of the data, an exchange of components, and D16."""
    word = 10 << 15 | 0 << 12 | 6 | 1 << 3 | 0 << 6 | 4 << 9
    out, _ = run("buffer_load_format_xyzw v[4:7], off, s[4:7], 0", word, [0x00FF0033])
    assert out.tolist() == floats(1, 1, 0, 51 / 255)
    moves = "".join(f"  v_mov_b32_e32 v{k}, -1\n" for k in (5, 6, 7))
    out, _ = run(moves + "  buffer_load_format_d16_xyz v[4:5], off, s[4:7], 0", 10 << 15 | SELECTS, [0x00FF8000])
    assert out.tolist() == [0x3804 << 16, 0x3C00, 0xFFFFFFFF, 0xFFFFFFFF]


UNITS = pytest.mark.parametrize(("unit", "form"), [("buffer", ""), ("tbuffer", "format:{}")])


@pytest.mark.oracle
@UNITS
@pytest.mark.parametrize(("offset", "expected"), [(240, [7, 7, 7, 7]), (244, [0, 0, 0, 0])])
def test_an_element_is_in_range_as_a_whole(unit, form, offset, expected):
    """Of 16 bytes at byte 244 of 256 none is read, where an untyped load would read three dwords."""
    line = f"{unit}_load_format_xyzw v[4:7], off, s[4:7], 0 {form.format(14 | 4 << 4)} offset:{offset}"
    out, report = run(line, 14 << 15 | 4 << 12 | SELECTS, [7] * 64, checks="bounds")
    assert out.tolist() == expected
    assert [f.id for f in report.findings] == ["bounds-buffer-range"] * (offset > 240)


@pytest.mark.oracle
def test_what_no_buffer_has_is_refused():
    with pytest.raises(MfmasimError, match="data format 4 with number format 0: no buffer has this format"):
        run("buffer_load_format_x v4, off, s[4:7], 0", 4 << 15 | SELECTS, [1])
    with pytest.raises(MfmasimError, match=r"data format 10 with number format 7: .*: tbuffer_load_format_x v4"):
        run("tbuffer_load_format_x v4, off, s[4:7], 0 format:122", OTHER, [1])


@pytest.mark.oracle
@UNITS
@pytest.mark.parametrize(("register", "count"), [("v4", 0), ("v20", 1)])
def test_undefined_components_are_reported(unit, form, register, count):
    """A store of a component that nothing wrote is a finding; others are not."""
    moves = "".join(f"  v_mov_b32_e32 v{k}, 0\n" for k in (4, 5, 6, 7))
    line = f"{unit}_store_format_x {register}, off, s[4:7], 0 {form.format(10)}"
    _, report = run(moves + "  " + line, 10 << 15 | SELECTS, [0], checks="uninitialised")
    assert len(report.findings) == count
    if count:
        assert "v20" in report.findings[0].message
        assert "is stored to global memory" in report.findings[0].message


def test_numbers_and_names_agree():
    """The unified numbers' names spell sizes and kind of what they decode to."""
    assert unified_format(0) is None
    for number in range(1, 64):
        made = unified_format(number)
        sizes = "_".join(map(str, reversed(made.bits)))
        assert format_text(number) == f"format:[BUF_FMT_{sizes}_{made.kind.upper()}]"
        assert sum(made.bits) % 8 == 0
    assert split_format(7, 7) == unified_format(31)
    with pytest.raises(MfmasimError, match="0 to 63"):
        unified_format(64)


@pytest.mark.oracle
@pytest.mark.parametrize("arch", ["gfx908", "gfx90a", "gfx942", "gfx950"])
def test_texts_of_all_formats_of_cdna_equal_llvm(arch):
    """DFMT in bits 22:19 and NFMT in bits 25:23; LLVM leaves out 1 and 0."""
    codes = [(0xE8000000 | code << 19 | 0x0400000000000000).to_bytes(8, "little") for code in range(128)]
    texts = disassemble(codes, arch)
    assert [decode(code, arch).text for code in codes] == texts
    found = decode(codes[5 | 7 << 4], arch)
    assert found.text.endswith("format:[BUF_DATA_FORMAT_16_16,BUF_NUM_FORMAT_FLOAT]")
    assert (found.encoding, found.modifiers["data_format"], found.modifiers["num_format"]) == ("MTBUF", 5, 7)


def test_a_status_dword_is_refused():
    """Bit 55 of CDNA1 (manual, 13.6.1), which LLVM has no form for; on later ones it says that the data are AGPRs."""
    code = (0xE8080000 | 0x0080000000000000).to_bytes(8, "little")
    with pytest.raises(MfmasimError, match="field tfe of tbuffer_load_format_x is not zero"):
        decode(code, "gfx908")
    assert decode(code, "gfx942").text == "tbuffer_load_format_x a0, off, s[0:3], s0"
