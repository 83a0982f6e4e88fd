"""hazards: pairs of instructions too close to each other, with the exact finding; and compiled code, which has none."""

import numpy as np
import pytest

import mfmasim
from mfmasim.architectures import arch as architecture
from mfmasim.isa.hazards import ROLES, rows
from tests.machine import harness

FAR = ["s_nop 15", "s_nop 15", *["v_nop"] * 8]
READ = "v_readfirstlane_b32 s12, v0"
MFMA = "v_mfma_f32_32x32x8_f16 v[16:31], v[4:5], v[6:7], v[16:31]"
SMALL = "v_mfma_f32_4x4x4_16b_f16 v[16:19], v[4:5], v[6:7], v[16:19]"
F32 = "v_mfma_f32_32x32x2_f32 v[16:31], v4, v5, v[16:31]"
F64 = "v_mfma_f64_16x16x4_f64 v[16:23], v[4:5], v[6:7], v[16:23]"
CDNA = "gfx908 gfx90a gfx942 gfx950"
SEPARATE = "v_mfma_f32_16x16x16f16 a[16:19], v[4:5], v[6:7], a[16:19]"
OLD = "v_mfma_f32_32x32x8f16 v[16:31], v[4:5], v[6:7], v[16:31]"
MFMA16 = "v_mfma_f32_16x16x32_fp8_fp8 {first}, v[14:15], v[18:19], {first}"
SDWA = "src0_sel:DWORD src1_sel:DWORD"
WMMA = "v_wmma_f32_16x16x16_f16 v[16:23], v[4:11], v[32:39], v[16:23]"
WMMA12 = "v_wmma_f32_16x16x16_f16 v[16:23], v[4:7], v[32:35], v[16:23]"
# Architectures, first instruction, second one: wait states that have to lie between them, and the register.
PAIRS = [
    (CDNA, "v_cmp_eq_u32 s[12:13], v0, v0", "global_load_dword v4, v2, s[12:13]", 5, "s12"),
    (CDNA, READ, "buffer_load_dword v4, v2, s[8:11], s12 offen", 5, "s12"),
    (CDNA, READ, "v_readlane_b32 s13, v1, s12", 4, "s12"),
    (CDNA, "v_cmp_eq_u32 vcc, v0, v0", "v_div_fmas_f32 v4, v4, v4, v4", 4, "vcc_lo"),
    (CDNA, "v_mov_b32 v4, v0", "v_mov_b32_dpp v5, v4 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf", 2, "v4"),
    (
        CDNA,
        "v_cmpx_eq_u32 s[12:13], v0, v0",
        "v_mov_b32_dpp v5, v4 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf",
        5,
        "exec_lo",
    ),
    (CDNA, "v_cmp_eq_u32 vcc, v0, v0", "v_add_u32 v4, src_vccz, v4", 5, "vcc_lo"),
    (CDNA, "s_mov_b32 m0, 0", "buffer_load_dword v2, s[16:19], 0 offen lds", 1, "m0"),
    (CDNA, "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 0", "s_getreg_b32 s12, hwreg(HW_REG_MODE)", 2, "hwreg 1"),
    ("gfx908 gfx90a", "global_store_dwordx4 v2, v[4:7], s[8:9]", "v_mov_b32 v7, 0", 1, "v7"),
    ("gfx942 gfx950", "global_store_dwordx3 v2, v[4:6], s[8:9]", "v_mov_b32 v6, 0", 2, "v6"),
    ("gfx942 gfx950", "global_store_dwordx2 v2, v[4:5], s[8:9]", "v_mov_b32 v5, 0", 0, ""),
    ("gfx942 gfx950", "v_rcp_f32 v4, v4", "v_add_f32 v5, v4, v4", 1, "v4"),
    ("gfx942 gfx950", "v_rcp_f32 v4, v4", "v_sqrt_f32 v5, v4", 0, ""),
    ("gfx90a gfx1151 gfx1201", "v_rcp_f32 v4, v4", "v_add_f32 v5, v4, v4", 0, ""),
    ("gfx942 gfx950", READ, "v_mov_b32 v4, s12", 2, "s12"),
    ("gfx90a gfx1151 gfx1201", READ, "v_mov_b32 v4, s12", 0, ""),
    ("gfx942 gfx950", "v_cmp_eq_u32 vcc, v0, v0", "v_cndmask_b32 v4, v4, v5, vcc", 2, "vcc_lo"),
    ("gfx942 gfx950", "v_cmp_eq_u32 vcc, v0, v0", "v_addc_co_u32 v4, s[12:13], v4, v5, vcc", 0, ""),
    ("gfx942 gfx950", "v_mov_b32 v4, v0", "v_readfirstlane_b32 s12, v4", 1, "v4"),
    ("gfx942 gfx950", "v_cmpx_eq_u32 s[12:13], v0, v0", "v_readfirstlane_b32 s14, v4", 4, "exec_lo"),
    (
        "gfx942 gfx950",
        f"v_add_u32_sdwa v4, v0, v0 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE {SDWA}",
        "v_mov_b32 v5, v4",
        1,
        "v4",
    ),
    ("gfx942 gfx950", "v_cvt_sr_fp8_f32 v4, v5, v6 op_sel:[0,0,1,0]", "v_mov_b32 v5, v4", 1, "v4"),
    ("gfx942 gfx950", "v_cvt_sr_fp8_f32 v4, v5, v6", "v_mov_b32 v5, v4", 0, ""),
    ("gfx950", "v_mov_b32 v4, v0", "v_permlane32_swap_b32 v4, v5", 2, "v4"),
    # Matrix instructions of CDNA3 and CDNA4: 2, 4, 8 and 16 passes.
    ("gfx942 gfx950", "v_mov_b32 v4, v0", MFMA, 2, "v4"),
    ("gfx942 gfx950", "v_cmpx_eq_u32 s[12:13], v0, v0", MFMA, 4, "exec_lo"),
    ("gfx942 gfx950", MFMA, MFMA, 0, ""),
    ("gfx942 gfx950", SMALL, SMALL, 2, "v16"),
    ("gfx942", MFMA, "v_mov_b32 v4, v31", 11, "v31"),
    ("gfx950", MFMA, "v_mov_b32 v4, v31", 12, "v31"),
    ("gfx942", MFMA, "global_store_dword v2, v17, s[8:9]", 11, "v17"),
    ("gfx950", MFMA, "ds_write_b32 v2, v17", 12, "v17"),
    ("gfx942 gfx950", SMALL, "v_mov_b32 v4, v16", 5, "v16"),
    ("gfx942", MFMA, "v_mfma_f32_32x32x8_f16 v[32:47], v[16:17], v[6:7], v[48:63]", 11, "v16"),
    ("gfx950", MFMA, "v_mfma_f32_32x32x8_f16 v[32:47], v[6:7], v[30:31], v[48:63]", 12, "v30"),
    ("gfx942", MFMA, "v_mfma_f32_32x32x8_f16 v[48:63], v[4:5], v[6:7], v[20:35]", 9, "v20"),
    ("gfx950", MFMA, "v_mfma_f32_32x32x8_f16 v[48:63], v[4:5], v[6:7], v[20:35]", 10, "v20"),
    ("gfx942 gfx950", F32, "v_mov_b32 v31, v4", 18, "v31"),
    ("gfx942 gfx950", F32, "v_mfma_f32_32x32x2_f32 v[32:47], v16, v5, v[32:47]", 18, "v16"),
    ("gfx942 gfx950", "v_mfma_f32_32x32x8_f16 v[32:47], v[4:5], v[6:7], v[16:31]", "v_mov_b32 v17, 0", 7, "v17"),
    ("gfx942 gfx950", "v_mfma_f32_32x32x2_f32 v[32:47], v4, v5, v[16:31]", "v_mov_b32 v17, 0", 0, ""),
    ("gfx942", F64, "v_mfma_f64_16x16x4_f64 v[32:39], v[16:17], v[6:7], v[32:39]", 11, "v16"),
    ("gfx950", F64, "v_mfma_f64_16x16x4_f64 v[32:39], v[16:17], v[6:7], v[32:39]", 19, "v16"),
    ("gfx942 gfx950", F64, "ds_write_b64 v2, v[16:17]", 18, "v16"),
    ("gfx942 gfx950", "v_dot4_i32_i8 v4, v5, v6, v4", "v_mov_b32 v7, v4", 3, "v4"),
    ("gfx942 gfx950", "v_dot4_i32_i8 v4, v5, v6, v4", "v_dot4_i32_i8 v4, v5, v6, v4", 0, ""),
    ("gfx942 gfx950", "v_dot4_i32_i8 v4, v5, v6, v4", "v_dot4_i32_i8 v7, v4, v6, v7", 3, "v4"),
    # CDNA1.
    ("gfx908", "v_mov_b32 v4, v0", SEPARATE, 2, "v4"),
    ("gfx908", "v_accvgpr_read_b32 v4, a0", SEPARATE, 2, "v4"),
    ("gfx908", "v_mov_b32 v4, v0", "v_accvgpr_write_b32 a0, v4", 2, "v4"),
    ("gfx908", "v_cmpx_eq_u32 s[12:13], v0, v0", SEPARATE, 4, "exec_lo"),
    ("gfx908", SEPARATE, SEPARATE, 0, ""),
    ("gfx908", SEPARATE, "v_mfma_f32_16x16x16f16 a[17:20], v[8:9], v[6:7], a[17:20]", 2, "a17"),
    ("gfx908", SEPARATE, "v_mfma_f32_16x16x16f16 a[20:23], a[16:17], v[6:7], a[20:23]", 4, "a16"),
    ("gfx908", SEPARATE, "v_accvgpr_read_b32 v4, a17", 10, "a17"),
    ("gfx908", SEPARATE, "v_accvgpr_write_b32 a17, v8", 7, "a17"),
    ("gfx908", "v_mfma_f32_32x32x8f16 a[32:47], v[4:5], v[6:7], a[16:31]", "v_accvgpr_write_b32 a17, v8", 13, "a17"),
    ("gfx908", "v_mfma_f32_4x4x4f16 a[32:35], v[4:5], v[6:7], a[16:19]", "v_accvgpr_read_b32 v4, a32", 4, "a32"),
    ("gfx908", "v_mfma_f32_4x4x4f16 a[32:35], v[4:5], v[6:7], a[16:19]", "v_accvgpr_write_b32 a16, v8", 0, ""),
    ("gfx908", "v_accvgpr_write_b32 a16, v8", SEPARATE, 1, "a16"),
    ("gfx908", "v_accvgpr_write_b32 a16, v8", "v_mfma_f32_4x4x4f16 a[32:35], a[16:17], v[6:7], a[32:35]", 3, "a16"),
    ("gfx908", "v_accvgpr_write_b32 a16, v8", "v_accvgpr_read_b32 v4, a16", 3, "a16"),
    ("gfx908", "v_accvgpr_read_b32 v4, a16", "ds_write_b32 v2, v4", 2, "v4"),
    ("gfx908", "v_mov_b32 v4, v8", "ds_write_b32 v2, v4", 0, ""),
    # CDNA2.
    ("gfx90a", OLD, "v_mov_b32 v4, v31", 19, "v31"),
    ("gfx90a", OLD, OLD, 0, ""),
    ("gfx90a", OLD, "v_mfma_f32_32x32x8f16 v[48:63], v[4:5], v[6:7], v[20:35]", 16, "v20"),
    ("gfx90a", "v_mfma_f32_32x32x8f16 v[32:47], v[4:5], v[6:7], v[16:31]", "v_mov_b32 v17, 0", 15, "v17"),
    ("gfx950", "v_mfma_f32_16x16x128_f8f6f4 v[16:19], v[32:39], v[40:47], v[16:19]", "v_mov_b32 v4, v16", 12, "v16"),
    (
        "gfx950",
        "v_mfma_f32_16x16x128_f8f6f4 v[16:19], v[32:35], v[40:43], v[16:19] cbsz:4 blgp:4",
        "v_mov_b32 v4, v16",
        8,
        "v16",
    ),
]
# RDNA: first instruction, what lies between, second one, and whether that is enough.
VECTORS = [
    ("gfx1100 gfx1151", WMMA, "", "v_wmma_f32_16x16x16_f16 v[24:31], v[16:23], v[32:39], v[24:31]", "v16"),
    ("gfx1100 gfx1151", WMMA, "s_nop 5", "v_wmma_f32_16x16x16_f16 v[24:31], v[16:23], v[32:39], v[24:31]", "v16"),
    ("gfx1100 gfx1151", WMMA, "v_nop", "v_wmma_f32_16x16x16_f16 v[24:31], v[16:23], v[32:39], v[24:31]", ""),
    ("gfx1100 gfx1151", WMMA, "", WMMA, ""),
    ("gfx1201", WMMA12, "", "v_wmma_f32_16x16x16_f16 v[24:31], v[16:19], v[32:35], v[24:31]", "v16"),
    ("gfx1201", WMMA12, "v_mov_b32 v0, v0", "v_wmma_f32_16x16x16_f16 v[24:31], v[16:19], v[32:35], v[24:31]", ""),
    ("gfx1201", WMMA12, "", "v_swmmac_f32_16x16x32_f16 v[24:31], v[4:7], v[32:39], v16", "v16"),
    ("gfx1151 gfx1201", "v_cmpx_eq_u32 v0, v0", "", "v_permlane16_b32 v4, v5, 0, 0", "exec_lo"),
    ("gfx1151 gfx1201", "v_cmpx_eq_u32 v0, v0", "v_mov_b32 v6, v6", "v_permlane16_b32 v4, v5, 0, 0", ""),
    ("gfx1100", "v_rcp_f32 v4, v4", "", "v_add_f32 v5, v4, v4", "v4"),
    ("gfx1100", "v_rcp_f32 v4, v4", "s_waitcnt_depctr 0xfff", "v_add_f32 v5, v4, v4", ""),
    ("gfx1100", "v_rcp_f32 v4, v4", "s_delay_alu instid0(TRANS32_DEP_1)", "v_add_f32 v5, v4, v4", "v4"),
    ("gfx1100", "v_rcp_f32 v4, v4", "v_mov_b32 v6, 0\n" * 5, "v_add_f32 v5, v4, v4", "v4"),
    ("gfx1100", "v_rcp_f32 v4, v4", "v_mov_b32 v6, 0\n" * 6, "v_add_f32 v5, v4, v4", ""),
    ("gfx1100", "v_rcp_f32 v4, v4", "v_rcp_f32 v6, v6", "v_add_f32 v5, v4, v4", "v4"),
    ("gfx1100", "v_rcp_f32 v4, v4", "v_rcp_f32 v6, v6\nv_rcp_f32 v7, v7", "v_add_f32 v5, v4, v4", ""),
    ("gfx1151", "v_rcp_f32 v4, v4", "", "v_add_f32 v5, v4, v4", ""),
]


def of(table, arch):
    """Rows of a table for an architecture, with their numbers."""
    return [(k, *row[1:]) for k, row in enumerate(table) if arch in row[0].split()]


def together(arch, programs):
    """Findings of many short programs, launched as one, far from each other; by program.

    A marker begins each: a move of its number to a scalar register.
    """
    lines = [line for k, program in enumerate(programs) for line in (f"s_movk_i32 s40, {k}", *FAR, *program)]
    kernel, findings = launched(arch, lines)
    starts = [(i.pc, i.src[0].bits) for i in kernel.instructions if i.name == "s_movk_i32" and i.dst[0].index == 40]
    assert len(starts) == len(programs)
    found = {k: [] for k in range(len(programs))}
    for finding in findings:
        found[max((pc, k) for pc, k in starts if pc <= finding.pc)[1]].append(finding)
    return found


def launched(arch, lines):
    """A program and its findings by the manuals' letter; stray addresses do not matter."""
    kernel = harness.kernel("\n".join(["s_mov_b64 s[8:9], 0", *FAR, *lines, "s_endpgm"]), arch, "p", lds=1024)
    out = np.zeros(1024, np.uint32)
    return kernel, mfmasim.device("sim").launch(kernel, grid=1, block=64, args=[out], checks="hazards:manual").findings


def reported(arch, *lines):
    """Findings of one program."""
    return launched(arch, lines)[1]


def nops(count):
    """Instructions that are so many wait states."""
    return [f"s_nop {min(16, count - k) - 1}" for k in range(0, count, 16)]


@pytest.mark.parametrize("arch", ["gfx908", "gfx90a", "gfx942", "gfx950", "gfx1151", "gfx1201"])
def test_pairs(arch):
    """Enough wait states, one too few, none: what is reported, exactly."""
    wanted = [
        (number, first, second, needs, present, register)
        for number, first, second, needs, register in of(PAIRS, arch)
        for present in sorted({0, max(0, needs - 1), needs})
    ]
    found = together(arch, [(first, *nops(present), second) for _, first, second, _, present, _ in wanted])
    for k, (number, first, second, needs, present, register) in enumerate(wanted):
        if present >= needs:
            assert not found[k], (number, [f.message for f in found[k]])
            continue
        (finding,) = found[k]
        assert (finding.register, finding.severity, finding.check) == (register, "error", "hazards"), number
        assert (int(finding.expected.split()[0]), int(finding.actual.split()[0])) == (needs, present), number
        assert "; ".join(nops(needs - present)) + " is missing" in finding.message
        matrix = any(word in first + second for word in ("mfma", "accvgpr"))
        assert finding.id == ("hazards-matrix" if matrix else "hazards-wait-states")


@pytest.mark.parametrize("arch", ["gfx1100", "gfx1151", "gfx1201"])
def test_rdna(arch):
    wanted = of(VECTORS, arch)
    found = together(arch, [row[1:4] for row in wanted])
    for k, (number, *_, register) in enumerate(wanted):
        assert [f.register for f in found[k]] == [register] * bool(register), number
        assert {f.id for f in found[k]} <= {"hazards-vector", "hazards-dependency"}


def test_other_instructions_count_as_wait_states_and_branches_lead_on():
    """From one iteration to the next; what is executed counts, not what stands above."""
    body = """
      s_mov_b32 s14, 3
    .Lloop:
      v_mov_b32 v4, s12
      s_sub_u32 s14, s14, 1
      v_readfirstlane_b32 s12, v0
      s_cmp_lg_u32 s14, 0
      s_cbranch_scc1 .Lloop
      v_mov_b32 v5, s12
    """
    assert not reported("gfx942", body)
    (finding,) = reported(
        "gfx942", body.replace("s_cmp_lg_u32 s14, 0\n", "").replace("s_sub_u32 s14, s14, 1", "s_nop 0")
    )
    assert (finding.register, finding.actual) == ("s12", "1 wait state")
    assert finding.instruction == "v_mov_b32"


def test_the_last_writer_counts():
    """A small matrix instruction that writes the registers of a large one again."""
    large = "v_mfma_f32_32x32x4_2b_f16 v[16:47], v[4:5], v[6:7], v[16:47]"
    again = "v_mfma_f32_32x32x4_2b_f16 v[16:47], v[8:9], v[6:7], v[16:47]"
    (finding,) = reported("gfx942", large, again, "v_mov_b32 v4, v20")
    assert (finding.expected, finding.actual) == ("19 wait states", "0 wait states")
    moved = "v_mfma_f32_16x16x32_fp8_fp8 v[0:3], v[12:13], v[16:17], v[2:5]"
    chain = [MFMA16.format(first="v[2:5]"), moved, MFMA16.format(first="v[0:3]")]
    assert not reported("gfx942", *chain), "the last one reads v[2:3] of the second, exactly its D"


def test_an_f64_matrix_instruction_between_a_write_and_a_store_of_gfx90a():
    first, f64 = "v_mov_b32 v4, v0", "v_mfma_f64_4x4x4f64 v[16:17], v[6:7], v[8:9], v[16:17]"
    (finding,) = reported("gfx90a", first, f64, "ds_write_b32 v2, v4")
    assert (finding.register, finding.expected, finding.actual) == ("v4", "2 wait states", "1 wait state")
    assert not reported("gfx90a", first, f64, "s_nop 0", "ds_write_b32 v2, v4")
    assert not reported("gfx90a", first, "ds_write_b32 v2, v4")


@pytest.mark.parametrize("arch", ["gfx908", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1151", "gfx1200", "gfx1201"])
def test_rows_are_whole(arch):
    table = rows(architecture(arch))
    assert table
    for row in table:
        assert row.first in ROLES
        assert row.second in ROLES
        assert row.source
        assert row.link in ("", "same", "part", "same opcode", "other opcode", "after DGEMM")
    assert len({(r.first, r.second, r.link) for r in table}) == len(table)
