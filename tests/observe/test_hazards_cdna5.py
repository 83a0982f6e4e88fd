"""hazards of CDNA5: what LLVM's back end makes has none, and each of its v_nop is missed when it is taken out."""

from __future__ import annotations

import io
import subprocess
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

import mfmasim
from mfmasim import isa
from mfmasim.isa.hazards import rows
from mfmasim.isa.hazards.follow import Follower, State
from mfmasim.machine.opcodes.matrix import passes
from tests.llvm import tool
from tests.machine import harness

pytestmark = pytest.mark.oracle

ARCH = mfmasim.arch("gfx1250")
MODULE = Path(__file__).with_name("hazards_cdna5.ll").read_bytes()


def broken(instructions):
    """Rows that instructions break, with what is missing."""
    follower, state, found = Follower(rows(ARCH), ARCH, 32, passes), State(), []
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
            out[symbol.name] = list(isa.decode_range(text.data()[first : first + symbol["st_size"]], ARCH, first, 32))
    return out


def test_compiled_code_breaks_no_row_and_needs_every_nop(functions):
    missed = 0
    for name, instructions in functions.items():
        assert not broken(instructions), name
        for place, instruction in enumerate(instructions):
            if instruction.name == "v_nop":
                assert broken(instructions[:place] + instructions[place + 1 :]), (name, hex(instruction.pc))
                missed += 1
    assert missed >= 25
    assert not any(instruction.name == "v_nop" for instruction in functions["single"])


PAIRS = {
    "v_wmma_f32_16x16x32_f16 v[0:7], v[8:15], v[16:23], v[0:7]": 4,
    "v_wmma_i32_16x16x64_iu8 v[0:7], v[8:15], v[16:23], v[0:7]": 8,
    "v_swmmac_f32_16x16x64_f16 v[0:7], v[8:15], v[16:31], v40": 2,
    "v_swmmac_i32_16x16x128_iu8 v[0:7], v[8:15], v[16:31], v[40:41]": 4,
    "v_wmma_f32_16x16x128_f8f6f4 v[0:7], v[8:23], v[24:39], v[0:7]": 8,
    "v_wmma_f32_16x16x128_f8f6f4 v[0:7], v[8:15], v[16:23], v[0:7] matrix_a_fmt:MATRIX_FMT_FP4 "
    "matrix_b_fmt:MATRIX_FMT_FP4": 4,
    "v_wmma_f32_16x16x4_f32 v[0:7], v[8:9], v[10:11], v[0:7]": 0,
    "v_rcp_f32_e32 v0, v8": 1,
}


@pytest.mark.parametrize("first", PAIRS)
def test_distances_to_a_vector_instruction(first):
    """Reads of D, writes of D and of A; the distance is exact. Others are independent."""
    for second, trans in (
        ("v_add_f32_e32 v50, v0, v51", 0),
        ("v_mov_b32_e32 v8, v51", 0),
        ("v_exp_f32_e32 v50, v0", first.startswith("v_rcp")),
    ):
        for count in {max(PAIRS[first] - 1, 0), PAIRS[first]}:
            lines = [f"  {first}", *["  v_nop"] * count, f"  {second}", "  s_endpgm"]
            found = broken(harness.kernel("\n".join(lines), "gfx1250").instructions)
            assert bool(found) == (count < PAIRS[first] and not trans), (second, count, found)
    independent = [f"  {first}", "  v_add_f32_e32 v50, v51, v52", "  s_endpgm"]
    assert not broken(harness.kernel("\n".join(independent), "gfx1250").instructions)


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
