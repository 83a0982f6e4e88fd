"""hazards of CDNA5: what LLVM's back end makes has none, and each of its v_nop is missed when it is taken out."""

from __future__ import annotations

import io
import re
import subprocess
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

import mfmasim
from mfmasim import isa
from mfmasim.errors import MfmasimError
from mfmasim.isa.hazards import rows
from mfmasim.isa.hazards.follow import Follower, State
from mfmasim.machine.opcodes.matrix import passes
from tests.llvm import assembled, tool, true16
from tests.machine import harness
from tests.oracles import SHARED, SHARED_HOW, require

pytestmark = pytest.mark.oracle

B0, A0, GFX1251 = (mfmasim.arch(name) for name in ("gfx1250", "gfx1250-strict", "gfx1251"))
MODULE = Path(__file__).with_name("hazards_cdna5.ll").read_bytes()


def broken(instructions, arch=B0):
    """Rows that instructions break, with what is missing."""
    follower, state, found = Follower(rows(arch), arch, 32, passes), State(), []
    for instruction in instructions:
        state = follower.step(state, instruction, found.append)
    return [(one.row.first, one.row.second, one.needs - one.present) for one in found]


@pytest.fixture(scope="module")
def functions():
    """Name -> instructions of what LLVM's back end makes of the module."""
    command = [tool("llc"), "-mtriple=amdgcn-amd-amdpal", "-mcpu=gfx1250", "-O2", "-filetype=obj", "-o", "-"]
    done = subprocess.run(command, input=MODULE, capture_output=True, check=True)
    elf = ELFFile(io.BytesIO(done.stdout))
    text = elf.get_section_by_name(".text")
    out = {}
    for symbol in elf.get_section_by_name(".symtab").iter_symbols():
        if symbol["st_info"]["type"] == "STT_FUNC":
            first = symbol["st_value"]
            out[symbol.name] = list(isa.decode_range(text.data()[first : first + symbol["st_size"]], A0, first, 32))
    return out


def test_compiled_code_breaks_no_row_and_needs_every_nop(functions):
    """LLVM 22 knows one gfx1250, with the times of A0: B0 needs no more."""
    missed = 0
    for name, instructions in functions.items():
        assert not broken(instructions, A0), name
        assert not broken(instructions, B0), name
        for place, instruction in enumerate(instructions):
            if instruction.name == "v_nop":
                assert broken(instructions[:place] + instructions[place + 1 :], A0), (name, hex(instruction.pc))
                missed += 1
    assert missed >= 25
    assert not any(instruction.name == "v_nop" for instruction in functions["single"])


FOUR = " matrix_a_fmt:MATRIX_FMT_FP4 matrix_b_fmt:MATRIX_FMT_FP4"
SIX = " matrix_a_fmt:MATRIX_FMT_FP6 matrix_b_fmt:MATRIX_FMT_FP4"
# Vector instructions before one that is not a matrix instruction: B0, A0 (None: it lacks the instruction), gfx1251.
PAIRS = {
    "v_wmma_f32_16x16x32_f16 v[0:7], v[8:15], v[16:23], v[0:7]": (4, 4, 8),
    "v_wmma_f32_16x16x64_fp8_fp8 v[0:7], v[8:15], v[16:23], v[0:7]": (1, 4, 8),
    "v_wmma_f32_16x16x128_fp8_fp8 v[0:7], v[8:23], v[24:39], v[0:7]": (4, None, 16),
    "v_wmma_f32_32x16x128_f4 v[0:15], v[16:31], v[32:39], v[0:15]": (4, None, 16),
    "v_wmma_i32_16x16x64_iu8 v[0:7], v[8:15], v[16:23], v[0:7]": (8, 8, 16),
    "v_swmmac_f32_16x16x64_f16 v[0:7], v[8:15], v[16:31], v40": (2, 2, 8),
    "v_swmmac_f32_16x16x128_fp8_fp8 v[0:7], v[8:15], v[16:31], v[40:41]": (2, 2, 8),
    "v_swmmac_i32_16x16x128_iu8 v[0:7], v[8:15], v[16:31], v[40:41]": (4, 4, 16),
    "v_wmma_f32_16x16x128_f8f6f4 v[0:7], v[8:23], v[24:39], v[0:7]": (4, 8, 16),
    "v_wmma_f32_16x16x128_f8f6f4 v[0:7], v[8:19], v[20:27], v[0:7]" + SIX: (4, 4, 16),
    "v_wmma_f32_16x16x128_f8f6f4 v[0:7], v[8:15], v[16:23], v[0:7]" + FOUR: (1, 4, 8),
    "v_wmma_f32_16x16x4_f32 v[0:7], v[8:9], v[10:11], v[0:7]": (0, 0, 0),
    "v_rcp_f32_e32 v0, v8": (1, 1, 1),
}


@pytest.mark.parametrize("first", PAIRS)
@pytest.mark.parametrize("column", range(3))
def test_distances_to_a_vector_instruction(first, column):
    """Reads of D, writes of D and of A; the distance is exact. Others are independent."""
    arch, needs = (B0, A0, GFX1251)[column], PAIRS[first][column]
    if needs is None:
        with pytest.raises(MfmasimError, match=r"another stepping, gfx1250 \(B0\), has it"):
            list(isa.decode_range(code_of([first]), arch, 0, 32))
        return
    written = re.search(r"v\[?(\d+)", first.partition(",")[2])[1]
    for second, trans in (
        ("v_add_f32_e32 v50, v0, v51", 0),
        (f"v_mov_b32_e32 v{written}, v51", 0),
        ("v_exp_f32_e32 v50, v0", first.startswith("v_rcp")),
    ):
        for count in {max(needs - 1, 0), needs}:
            found = broken(decoded([first, *["v_nop"] * count, second], arch), arch)
            assert bool(found) == (count < needs and not trans), (second, count, found)
    assert not broken(decoded([first, "v_add_f32_e32 v50, v51, v52"], arch), arch)


def code_of(lines):
    """Bytes of instructions, as LLVM 22 assembles them for gfx1250."""
    text, refused = assembled(lines, "gfx1250", *true16("gfx1250"), "-show-encoding")
    assert not refused, [lines[number] for number in refused]
    codes = re.findall(r"encoding: .([^]]+)", text)
    return b"".join(bytes.fromhex(code.replace("0x", "").replace(",", "")) for code in codes)


def decoded(lines, arch):
    """Instructions."""
    return list(isa.decode_range(code_of(lines), arch, 0, 32))


WMMA = "v_wmma_f32_16x16x64_fp8_fp8 v[{}:{}], v[{}:{}], v[32:39], 0"


@pytest.mark.parametrize(("arch", "needs"), [(B0, 2), (A0, 5), (GFX1251, 9)])
def test_distances_to_a_matrix_instruction(arch, needs):
    def fails(count):
        lines = [WMMA.format(0, 7, 8, 15), *["v_nop"] * count, WMMA.format(16, 23, 0, 7)]
        return bool(broken(decoded(lines, arch), arch))

    assert [fails(count) for count in range(needs + 1)] == [True] * needs + [False]


@pytest.mark.parametrize(("arch", "needs"), [(B0, 4), (A0, 8), (GFX1251, 16)])
def test_scales_are_read_at_once(arch, needs):
    """The manual names A, B and the index alone."""
    line = "v_wmma_scale_f32_16x16x128_f8f6f4 v[0:7], v[8:23], v[24:39], v[0:7], v40, v41"
    assert not broken(decoded([line, "v_mov_b32_e32 v40, v51"], arch), arch)
    for count in (0, needs - 1, needs):
        found = broken(decoded([line, *["v_nop"] * count, "v_mov_b32_e32 v38, v51"], arch), arch)
        assert bool(found) == (count < needs)


MODES = [("2, 1", 1, 1), ("4, 1", 1, 1), ("2, 1", 0, 0), ("0, 2", 3, 0), ("0, 5", 4, 1), ("0, 5", 11, 0)]


@pytest.mark.parametrize(("bits", "value", "off"), MODES)
def test_without_co_execution(bits, value, off):
    """SCHED_MODE's bit: 1 before a matrix instruction that reads D, none before others."""
    mode = f"s_setreg_imm32_b32 hwreg(HW_REG_WAVE_SCHED_MODE, {bits}), {value}"
    one, two = WMMA.format(0, 7, 8, 15), WMMA.format(16, 23, 0, 7)
    assert bool(broken(decoded([mode, one, "v_add_f32_e32 v50, v0, v51"], A0), A0)) != off
    assert broken(decoded([mode, one, two], A0), A0)
    assert bool(broken(decoded([mode, one, "v_nop", two], A0), A0)) != off
    again = mode.rpartition(",")[0] + ", 0"
    assert broken(decoded([mode, again, one, "v_add_f32_e32 v50, v0, v51"], A0), A0)


def test_a_halt_before_scales():
    """A0 alone."""
    scaled = "v_wmma_scale_f32_16x16x128_f8f6f4 v[0:7], v[8:23], v[24:39], v[0:7], v40, v41"
    assert broken(decoded(["s_sethalt 1", scaled], A0), A0)
    assert not broken(decoded(["s_sethalt 1", scaled], B0), B0)
    assert not broken(decoded(["s_sethalt 1", "s_nop 0", scaled], A0), A0)
    assert not broken(decoded(["s_sethalt 1", WMMA.format(0, 7, 8, 15)], A0), A0)


def test_registers_above_v255_are_others():
    """The mode selects another register, which has no risk."""
    lines = ["v_rcp_f32_e32 v0, v8", "s_set_vgpr_msb {}", "v_add_f32_e32 v50, v0, v51", "s_endpgm"]
    found = [
        broken(harness.kernel("\n".join(lines).format(mode), "gfx1250").instructions) for mode in ("0", "1", "0x40")
    ]
    assert [bool(one) for one in found] == [True, False, True]


@pytest.mark.parametrize(
    ("lines", "needs"),
    [
        ("s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 0, 4), 0; {}s_set_vgpr_msb 0", 1),
        ("s_setprio 1; {}s_getreg_b32 s2, hwreg(HW_REG_WAVE_STATE_PRIV)", 1),
        ("v_cmpx_eq_u32_e32 v1, v2; {}v_permlane16_b32 v3, v4, s2, s3", 1),
    ],
)
def test_scalar_rows(lines, needs):
    between = "v_nop; "
    for count in range(2):
        text = lines.format(between * count).replace("; ", "\n") + "\n  s_endpgm"
        assert bool(broken(harness.kernel(text, "gfx1250").instructions)) == (count < needs), count


def objects():
    """AITER's objects that are at hand, and this project's prebuilt ones: those of clang 22 follow A0's times."""
    theirs = SHARED / "data/objects/aiter/gfx1250"
    require("code objects of AITER", theirs.is_dir(), SHARED_HOW)
    own = (Path(__file__).parents[2] / "golden/code").rglob("*.gfx1250.hsaco")
    return [*theirs.rglob("*.co"), *(path for path in own if "zoo" not in path.parts)]  # the zoo has bugs


def test_objects_that_ship_break_no_row_of_a_matrix_instruction():
    """From top to bottom as they stand, on B0."""
    walked = 0
    for path in objects():
        code = mfmasim.load(path, arch="gfx1250")
        for name in code.kernels:
            found = [row for row in broken(code[name].decodable, B0) if "MMA" in row[0]]
            assert not found, (path.name, name, found)
            walked += 1
    assert walked >= 30
