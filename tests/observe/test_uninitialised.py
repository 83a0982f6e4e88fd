"""uninitialised: small programs, right and wrong, with the use and the origin that are named."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import mfmasim
from mfmasim.architectures import ARCHITECTURES
from mfmasim.architectures import arch as find_arch
from mfmasim.machine.definedness.keys import AGPR, SCC, SGPR, name_of
from tests.machine import harness

WAIT, BARRIER = "s_waitcnt lgkmcnt(0)", "s_barrier"
READY = "s_waitcnt vmcnt(0) lgkmcnt(0)"
STORE = "global_store_dword v2, v4, s[8:9]"
ODD = ["s_mov_b32 s10, 0xaaaaaaaa", "s_mov_b32 s11, 0xaaaaaaaa", "s_mov_b64 exec, s[10:11]"]
ALL = "s_mov_b64 exec, -1"
# s[8:9] output (64 dwords a wave), s[12:13] a buffer that holds nothing, v2 the lane's place; v4 and up are not set.
BODIES = {
    "a register that was written": (["v_mov_b32 v4, 7", STORE], []),
    "a register that was never written": (
        [STORE],
        [("global_store_dword", "stored", "v4", "v4 is stored to global memory and was never written in lane 0")],
    ),
    "copies and sums are no use": (["v_mov_b32 v5, v4", "v_add_u32 v6, v5, v0", "v_mul_f32 v7, v6, v5"], []),
    "a copy is stored": (
        ["v_mov_b32 v5, v9", "v_add_u32 v4, v5, v0", STORE],
        [("global_store_dword", "stored", "v4", "comes from v9")],
    ),
    "undefined bits are masked away": (["v_and_b32 v4, 0, v5", STORE], []),
    "the low half is masked away": (
        ["v_and_b32 v4, 0xffff0000, v5", STORE],
        [("global_store_dword", "stored", "v4", "(bits 0xffff0000)")],
    ),
    "bytes are put together": (
        ["v_mov_b32 v5, 1", "s_movk_i32 s14, 0xff", "v_bfi_b32 v4, s14, v5, v9", "v_lshlrev_b32 v4, 24, v4", STORE],
        [],
    ),
    "a register shifted out": (["v_lshrrev_b32 v4, 16, v5", "v_lshrrev_b32 v4, 16, v4", STORE], []),
    "a pair of which OP_SEL_HI takes one register twice": (
        [
            "s_mov_b32 s10, 0x40000000",
            "v_mov_b32 v4, 1.0",
            "v_mov_b32 v5, 1.0",
            "v_pk_mul_f32 v[4:5], v[4:5], s[10:11] op_sel_hi:[1,0]",
            "v_add_f32 v4, v4, v5",
            STORE,
        ],
        [],
    ),
    "a pair of which one register was never written": (
        [
            "s_mov_b32 s10, 0x40000000",
            "v_mov_b32 v4, 1.0",
            "v_mov_b32 v5, 1.0",
            "v_pk_mul_f32 v[4:5], v[4:5], s[10:11]",
            "v_add_f32 v4, v4, v5",
            STORE,
        ],
        [("global_store_dword", "stored", "v4", "comes from s11")],
    ),
    "x xor x": (["v_xor_b32 v4, v5, v5", STORE], []),
    "a selector that takes defined bytes": (
        ["v_mov_b32 v5, 1", "s_mov_b32 s10, 0x03020100", "v_perm_b32 v4, v9, v5, s10", STORE],
        [],
    ),
    "a selector that takes another byte": (
        ["v_mov_b32 v5, 1", "s_mov_b32 s10, 0x03020104", "v_perm_b32 v4, v9, v5, s10", STORE],
        [("global_store_dword", "stored", "v4", "(bits 0xff)")],
    ),
    "a carry goes up": (["v_and_b32 v5, 0x100, v9", "v_add_u32 v4, v5, v0", "v_and_b32 v4, 0xff, v4", STORE], []),
    "a carry arrives": (
        ["v_and_b32 v5, 0x100, v9", "v_add_u32 v4, v5, v0", "v_and_b32 v4, 0x200, v4", STORE],
        [("global_store_dword", "stored", "v4", "comes from v9")],
    ),
    "lanes that EXEC left out": (
        [*ODD, "v_mov_b32 v4, 7", ALL, STORE],
        [("global_store_dword", "stored", "v4", "was never written in lane 0")],
    ),
    "lanes that EXEC leaves out again": ([*ODD, "v_mov_b32 v4, 7", STORE], []),
    "another lane through DPP": (
        [*ODD, "v_mov_b32 v5, 7", ALL, "v_mov_b32_dpp v4, v5 quad_perm:[1,1,3,3] row_mask:0xf bank_mask:0xf", STORE],
        [],
    ),
    "a lane that was not written, through DPP": (
        [*ODD, "v_mov_b32 v5, 7", ALL, "v_mov_b32_dpp v4, v5 quad_perm:[0,1,3,3] row_mask:0xf bank_mask:0xf", STORE],
        [("global_store_dword", "stored", "v4", "comes from v5, which was never written in lane 0")],
    ),
    "a lane that was not written, through readlane": (
        [*ODD, "v_mov_b32 v5, 7", ALL, "v_readlane_b32 s10, v5, 6", "v_mov_b32 v4, s10", STORE],
        [("global_store_dword", "stored", "v4", "comes from v5, which was never written in lane 6")],
    ),
    "the lane that was written": (
        [*ODD, "v_mov_b32 v5, 7", ALL, "v_readlane_b32 s10, v5, 7", "v_mov_b32 v4, s10", STORE],
        [],
    ),
    "a choice of defined values": (
        ["v_cmp_eq_u32 vcc, 1, v0", "v_cndmask_b32 v5, v9, v0, vcc", "v_cndmask_b32 v4, 0, v5, vcc", STORE],
        [],
    ),
    "a branch": (
        ["v_cmp_lt_u32 vcc, v4, v0", "s_cbranch_vccnz .Lover", ".Lover:"],
        [("s_cbranch_vccnz", "branch", "vcc_lo", "comes from v4")],
    ),
    "a branch that one bit settles": (
        ["v_cmp_lt_u32 vcc, v4, v0", "s_or_b32 vcc_lo, vcc_lo, 1", "s_cbranch_vccnz .Lover", ".Lover:"],
        [],
    ),
    "a scalar branch": (
        ["s_cmp_eq_u32 s20, 1", "s_cbranch_scc1 .Lover", ".Lover:"],
        [("s_cbranch_scc1", "branch", "scc", "comes from s20, which was never written")],
    ),
    "active lanes": (
        ["v_cmp_eq_u32 vcc, v4, v0", "s_and_saveexec_b64 s[10:11], vcc", "ds_write_b32 v2, v0", ALL],
        [("s_and_saveexec_b64", "branch", "exec_lo", "comes from v4")],
    ),
    # The quotient of workgroup numbers in hipBLASLt's kernels for gfx1201, which is computed and not used.
    "active lanes for a moment": (["v_mov_b32 v6, 0", "v_cmpx_eq_u32 v4, v0", "v_add_u32 v6, 1, v6", ALL], []),
    "active lanes for a moment, whose result is stored": (
        ["v_mov_b32 v6, 0", "v_cmpx_eq_u32 v4, v0", "v_add_u32 v6, 1, v6", ALL, "global_store_dword v2, v6, s[8:9]"],
        [("global_store_dword", "stored", "v6", "comes from v4")],
    ),
    "active lanes for a moment, that one is chosen from": (
        ["v_cmpx_eq_u32 v4, v0", "v_readfirstlane_b32 s20, v0", ALL],
        [("v_cmpx_eq_u32", "branch", "exec_lo", "comes from v4")],
    ),
    "an address": (
        ["v_and_b32 v5, 0xfc, v9", "global_load_dword v4, v5, s[8:9]", READY],
        [("global_load_dword", "address", "v5", "(bits 0xfc) is the address")],
    ),
    "LDS that was never written": (
        ["ds_read_b32 v4, v2", READY, STORE],
        [("global_store_dword", "stored", "v4", "comes from byte 0 of the LDS, which was never written, loaded at")],
    ),
    "LDS that was written": (["ds_write_b32 v2, v0", WAIT, BARRIER, "ds_read_b32 v4, v2", READY, STORE], []),
    "a byte of the LDS that was never written": (
        ["ds_write_b16 v2, v0", "ds_write_b8 v2, v0 offset:3", WAIT, "ds_read_b32 v4, v2", READY, STORE],
        [("global_store_dword", "stored", "v4", "(bits 0xff0000)")],
    ),
    "what the LDS was given was undefined": (
        ["ds_write_b32 v2, v9", WAIT, BARRIER, "ds_read_b32 v4, v2", READY, STORE],
        [("global_store_dword", "stored", "v4", "comes from v9, which was never written in lane 0")],
    ),
    "a histogram in the LDS that was not cleared": (
        ["ds_add_u32 v2, v0", WAIT, BARRIER, "ds_read_b32 v4, v2", READY, STORE],
        [("global_store_dword", "stored", "v4", "of the LDS, which was never written")],
    ),
    "a histogram": (
        [
            "v_mov_b32 v5, 0",
            "ds_write_b32 v2, v5",
            WAIT,
            BARRIER,
            "ds_add_u32 v2, v0",
            WAIT,
            BARRIER,
            "ds_read_b32 v4, v2",
            READY,
            STORE,
        ],
        [],
    ),
    "a buffer that holds nothing": (
        ["global_load_dword v4, v2, s[12:13]", READY, STORE],
        [("global_store_dword", "stored", "v4", "comes from p1[0], which was never written")],
    ),
    "multiplied by 0": (
        ["global_load_dword v5, v2, s[12:13]", READY, "v_fma_f32 v4, 0, v5, 1.0", STORE],
        [("global_store_dword", "stored", "v4", "p1[0]")],
    ),
    "a buffer that was filled": (
        ["global_store_dword v2, v0, s[12:13]", READY, "global_load_dword v4, v2, s[12:13]", READY, STORE],
        [],
    ),
    "an atomic on a buffer that holds nothing": (
        ["global_atomic_add v2, v0, s[12:13]"],
        [("global_atomic_add", "atomic", "memory", "comes from p1[0]")],
    ),
    "an accumulator that was not set": (
        ["v_mov_b32 v20, 1.0", "v_mov_b32 v21, 1.0", "v_mfma_f32_4x4x1_16b_f32 a[0:3], v20, v21, a[0:3]"],
        [("v_mfma_f32_4x4x1_16b_f32", "matrix", "a0", "of a matrix instruction and was never written")],
    ),
    "an accumulator of zeros": (
        [
            "v_mov_b32 v20, 1.0",
            "v_mov_b32 v21, 1.0",
            "v_mfma_f32_4x4x1_16b_f32 a[0:3], v20, v21, 0",
            "s_nop 7",
            "v_accvgpr_read_b32 v4, a0",
            STORE,
        ],
        [],
    ),
    "a matrix operand of some lanes": (
        ["v_mov_b32 v21, 1.0", *ODD, "v_mov_b32 v20, 1.0", ALL, "v_mfma_f32_4x4x1_16b_f32 a[0:3], v20, v21, 0"],
        [("v_mfma_f32_4x4x1_16b_f32", "matrix", "v20", "was never written in lane 0")],
    ),
    "half a register into a conversion": (
        ["global_load_short_d16 v5, v2, s[8:9]", READY, "v_cvt_f32_f16 v4, v5", STORE],
        [],
    ),
    "half a register, the other cleared": (["global_load_short_d16 v4, v2, s[8:9]", READY, STORE], []),
    "packed halves, one of them undefined": (
        ["global_load_short_d16 v5, v2, s[8:9]", READY, "v_pk_add_f16 v4, v5, v5", "v_and_b32 v4, 0xffff, v4", STORE],
        [],
    ),
}


def reported(body, grid=2, arch="gfx942", checks="uninitialised", **options):
    head = ["s_load_dwordx2 s[8:9], s[0:1], 0x0", "s_load_dwordx2 s[12:13], s[0:1], 0x8", "v_and_b32 v0, 63, v0"]
    head += ["v_lshlrev_b32 v2, 2, v0", "s_mov_b32 m0, -1", WAIT]
    kernel = harness.kernel("\n".join([*head, *body, "s_endpgm"]), arch, "pp", lds=256)
    out, empty = np.zeros(64, np.uint32), np.zeros(64, np.uint32)
    device = mfmasim.device("sim")
    return device.launch(
        kernel, grid=grid, block=64, args=[out, empty], checks=checks, undefined=[1], **options
    ).findings


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
def test_programs(name, arch):
    body, expected = BODIES[name]
    findings = reported(body, arch=arch)
    assert [(f.instruction, f.id.partition("-")[2], f.register) for f in findings] == [e[:3] for e in expected], [
        f.message for f in findings
    ]
    for finding, (*_, words) in zip(findings, expected, strict=True):
        assert words in finding.message
        assert finding.workgroup == (0, 0, 0)
        assert finding.severity == "error"


def test_parts_of_a_grid_tell_the_same():
    """The last workgroups alone use what was never written: other parts than the first find it."""
    body = ["s_cmp_lt_u32 s2, 3", "s_cbranch_scc1 .Lend", "s_cmp_eq_u32 s30, 0", "s_cbranch_scc1 .Lend", ".Lend:"]
    whole = reported(body, grid=6)
    with ThreadPoolExecutor(2) as executor:
        assert reported(body, grid=6, executor=executor, parts=3) == whole
    assert [(f.instruction, f.workgroup, f.count) for f in whole] == [("s_cbranch_scc1", (3, 0, 0), 3)]


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_every_register_of_an_architecture_has_a_key_of_its_own(name):
    """1024 VGPRs of gfx1250 as well as the accumulation registers of gfx908."""
    arch = find_arch(name)
    keys = [*range(arch.vgprs), *(() if arch.unified_vgprs else range(AGPR, AGPR + 256)), *range(SGPR, SGPR + 128), SCC]
    names = [name_of(key, arch) for key in keys]
    assert names[arch.vgprs - 1] == f"v{arch.vgprs - 1}"
    assert len(set(names)) == len(keys)
