"""VGPRs above v255: the machine against the slow interpreter, listings against llvm-objdump, one block in two modes."""

from __future__ import annotations

import random
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pytest

import mfmasim
from mfmasim.isa.high_registers import MODE_BITS, as_mode, fields_of_mode
from tests.llvm import tool
from tests.machine import harness

pytestmark = pytest.mark.oracle

ARCH, ITEMS, REGISTERS = "gfx1250", 32, 16
LINES = (
    "v_mov_b32_e32 v1, v3", "v_add_f32_e64 v1, |v3|, -v5", "v_fma_f32 v1, v3, v5, v6", "v_fmac_f32_e32 v1, v3, v5",
    "v_fmamk_f32 v1, v3, 0x40490fdb, v5", "v_fmaak_f32 v1, v3, v5, 0x40490fdb", "v_lshlrev_b32_e32 v1, v3, v5",
    "v_subrev_nc_u32_e32 v1, v3, v5", "v_cmp_lt_f32_e32 vcc_lo, v3, v5", "v_cndmask_b32_e32 v1, v3, v5, vcc_lo",
    "v_swap_b32 v1, v3", "v_permlane16_swap_b32_e32 v1, v3", "v_pk_fma_f32 v[6:7], v[8:9], v[10:11], v[12:13]",
    "v_mad_co_u64_u32 v[6:7], vcc_lo, v3, v5, v[8:9]", "v_mov_b64_e32 v[6:7], v[8:9]", "v_cvt_pk_fp8_f32 v1, v3, v5",
    "v_add_f32_dpp v1, v3, v5 quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0xf",
    "v_dual_mov_b32 v6, v3 :: v_dual_add_f32 v7, v8, v13",
    "v_dual_fma_f32 v1, v3, v5, v6 :: v_dual_fma_f32 v8, v9, v10, v11",
    "v_dual_fmamk_f32 v6, v3, 0x40490fdb, v8 :: v_dual_fmac_f32 v7, v9, v10",
    "v_writelane_b32 v1, s8, 3", "v_cvt_scale_pk8_f16_fp8 v[12:15], v[8:9], v3", "v_permlane_up_b32 v1, v3, 2, 8",
    "ds_store_b32 v2, v3", "ds_store_2addr_b32 v2, v3, v5 offset1:1", "ds_load_b64 v[6:7], v2",
    "ds_add_rtn_u32 v1, v2, v3", "ds_cmpstore_rtn_b32 v1, v2, v3, v5", "ds_bpermute_b32 v1, v2, v3",
    "global_load_b64 v[6:7], v2, s[4:5]", "global_store_b32 v2, v3, s[4:5]",
    "global_atomic_add_u32 v1, v2, v3, s[4:5] th:TH_ATOMIC_RETURN", "scratch_store_b32 v2, v3, off",
)  # fmt: skip
"""What is in v2 of every bank is an offset of the lane."""
WAIT = ("  s_wait_loadcnt 0", "  s_wait_storecnt 0", "  s_wait_dscnt 0")
PROLOGUE = """
  s_load_b128 s[4:7], s[0:1], 0x0
  s_wait_kmcnt 0
  v_and_b32_e32 v20, 0x3ff, v0
  v_lshlrev_b32_e32 v21, 4, v20
  v_lshlrev_b32_e32 v22, 2, v20
  global_load_b32 v23, v22, s[4:5]
  s_wait_loadcnt 0
  s_mov_b32 s8, 0x12345678
"""


def _fill():
    """Every register of the four banks: the item's input and a constant of the register; v2 an offset."""
    out = []
    for bank in range(4):
        out.append(f"  s_set_vgpr_msb {bank << 6:#x}")
        out += [
            f"  v_add_nc_u32_e32 v{number}, {(4 * bank + 1) * 0x01030507 * (number + 1) & 0xFFFFFFFF:#x}, v23"
            for number in range(REGISTERS)
        ]
        out.append(f"  v_add_nc_u32_e32 v2, {512 * bank}, v21")
    return [*out, "  s_mov_b32 vcc_lo, 0x5a5a1234"]


def _keep(slot):
    """Store every register of the four banks, and VCC."""
    out = [*WAIT, "  s_set_vgpr_msb 0", "  v_mov_b32_e32 v24, vcc_lo"]
    out += ["  v_mul_u32_u24_e32 v25, 0x10000, v20", f"  v_add_nc_u32_e32 v25, {4 * slot:#x}, v25"]
    out += ["  global_store_b32 v25, v24, s[6:7]"]
    for bank in range(4):
        out.append(f"  s_set_vgpr_msb {bank << 2:#x}")
        out += [
            f"  global_store_b32 v25, v{number}, s[6:7] offset:{4 * (1 + REGISTERS * bank + number)}"
            for number in range(REGISTERS)
        ]
    return [*out, *WAIT]


def _program(modes):
    """All lines, each in a mode of its own."""
    body, size = [PROLOGUE], 1 + 4 * REGISTERS
    for slot, (line, mode) in enumerate(zip(LINES, modes, strict=True)):
        body += ["  s_set_vgpr_msb 0", *_fill(), f"  s_set_vgpr_msb {mode:#x}", f"  {line}", *_keep(slot * size)]
    return "\n".join([*body, "  s_endpgm"])


def test_every_operand_has_its_bits():
    rng = random.Random(0)
    modes = [rng.choice([0xE4, 0x1B, 0x93, rng.randrange(256)]) for _ in LINES]
    program = harness.kernel(_program(modes), ARCH, lds=8192, extra=".amdhsa_private_segment_fixed_size 4096")
    data = np.random.default_rng(0).integers(0, 1 << 32, 1024, dtype=np.uint32)
    out = np.zeros(ITEMS * 0x4000, np.uint32)
    found = harness.both(program, 1, ITEMS, [data, out], lds_bytes=8192, arch=ARCH)
    size = 1 + 4 * REGISTERS
    wrong = sorted(
        {LINES[i % 0x4000 // size] for k, i in found.different() if k == 1 and i % 0x4000 // size < len(LINES)}
    )
    assert not found.different(), wrong
    assert len(np.unique(found.fast[1])) > 2_000


def test_listings_are_those_of_objdump():
    """Text, with both names of a register, of every line in four modes; a branch ends the mode."""
    lines = [text for mode in (0xE4, 0x1B, 0x55, 0x8E4) for text in (f"s_set_vgpr_msb {mode:#x}", *LINES)]
    lines += ["s_set_vgpr_msb 0x55", "s_cbranch_scc0 1", "v_mov_b32_e32 v1, v3", "s_set_vgpr_msb 0x55", "s_endpgm"]
    program = harness.kernel("\n".join(f"  {line}" for line in lines), ARCH)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.hsaco")
        path.write_bytes(harness.assemble(harness.source("\n".join(lines), ARCH), ARCH))
        done = subprocess.run(
            [tool("llvm-objdump"), "-d", "--no-show-raw-insn", "--no-leading-addr", str(path)],
            capture_output=True,
            text=True,
            check=True,
        )
    theirs = [line.split("//")[0].strip() for line in done.stdout.splitlines() if line.startswith("\t")]
    theirs = [line + "/" if line.endswith("*") else line for line in theirs]
    ours = [instruction.text.strip() for instruction in program.instructions]
    assert ours == theirs[: len(ours)]
    assert sum("/*v" in line for line in ours) >= 100


def test_fields_and_mode_are_inverse():
    assert all(fields_of_mode(as_mode(fields)) == fields for fields in range(256))
    assert as_mode(0b11_00_00_00) == 3 << 12
    assert as_mode(0b00_00_00_01) == 1 << 14
    assert sum(as_mode(1 << bit) for bit in range(8)) == MODE_BITS


def test_a_block_that_is_entered_in_two_modes():
    """A subroutine runs with v1 and, after S_SETREG has written MODE, with v257."""
    body = """
  s_load_b128 s[4:7], s[0:1], 0x0
  v_and_b32_e32 v20, 0x3ff, v0
  v_lshlrev_b32_e32 v21, 3, v20
  v_mov_b32_e32 v1, 7
  s_mov_b32 s8, 2
  s_set_vgpr_msb 0x40
  v_mov_b32_e32 v1, 9
  s_set_vgpr_msb 0
.Lagain:
  v_add_nc_u32_e32 v1, 1, v1
  s_sub_co_i32 s8, s8, 1
  s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 12, 8), 0x11
  s_cmp_lg_u32 s8, 0
  s_cbranch_scc1 .Lagain
  s_set_vgpr_msb 0
  s_wait_kmcnt 0
  global_store_b32 v21, v1, s[6:7]
  s_set_vgpr_msb 4
  global_store_b32 v21, v1, s[6:7] offset:4
  s_endpgm
"""
    program = harness.kernel(body, ARCH)
    out = np.zeros(2 * ITEMS, np.uint32)
    # S_SETREG 0x11: destination bank 1, source 0 bank 0, source 1 bank 1.
    for checks in ("none", "all"):
        (_, result), report = harness.fast(program, 1, ITEMS, [np.zeros(4, np.uint32), out], checks=checks)
        assert result.reshape(-1, 2).tolist() == [[8, 10]] * ITEMS, report.findings


def test_an_absent_register_is_named():
    text = harness.source("  s_set_vgpr_msb 0x40\n  v_mov_b32_e32 v1, 0\n  s_endpgm", ARCH)
    small = text.replace(".amdhsa_next_free_vgpr 1024", ".amdhsa_next_free_vgpr 64")
    program = mfmasim.load(harness.assemble(small, ARCH))["test"]
    with pytest.raises(mfmasim.MfmasimError, match=r"v257 in v_mov_b32_e32 v1 /\*v257\*/, 0 .*the kernel allocates 64"):
        harness.fast(program, 1, 32, [np.zeros(4, np.uint32)] * 2)
