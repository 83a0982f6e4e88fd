"""gfx11 and gfx12: dual instructions, DPP8 and DPP16, halves of registers, lane exchanges, scalar floats."""

from __future__ import annotations

import numpy as np
import pytest

from tests.machine import frame
from tests.machine.judge import judge
from tests.machine.lines import D, Probe
from tests.machine.rdna_frame import BOTH, results

RNG = np.random.default_rng(11)
DATA = RNG.integers(0, 1 << 32, (64, 4), dtype=np.uint32)
FLOATS = RNG.standard_normal((64, 4)).astype(np.float32)


@pytest.mark.parametrize("arch", ["gfx1100", "gfx1151", "gfx1200", "gfx1201"])
def test_both_halves_read_before_either_writes(arch):
    """Two registers exchanged by one dual instruction; a shared literal; an integer half beside a float one."""
    body = """
  v_dual_mov_b32 v4, v5 :: v_dual_mov_b32 v5, v4
  v_dual_mov_b32 v10, v4 :: v_dual_mov_b32 v11, v5
  v_dual_mul_f32 v12, 0x40490fdb, v6 :: v_dual_lshlrev_b32 v13, 3, v7
"""
    data = DATA.copy()
    data[:, 2] = FLOATS[:, 2].view(np.uint32)
    out = results(body, arch, data)
    assert (out[:, 0] == data[:, 1]).all()
    assert (out[:, 1] == data[:, 0]).all()
    assert (out[:, 2].view(np.float32) == FLOATS[:, 2] * np.uint32(0x40490FDB).view(np.float32)).all()
    assert (out[:, 3] == data[:, 3] << np.uint32(3)).all()


@pytest.mark.parametrize("arch", BOTH)
def test_dpp8(arch):
    """Eight selectors; a lane that is off gives 0, unless FI fetches from it."""
    body = """
  s_mov_b32 exec_lo, 0xfffffffd
  v_mov_b32_dpp v10, v4 dpp8:[7,6,5,4,3,2,1,1]
  v_mov_b32_dpp v11, v4 dpp8:[7,6,5,4,3,2,1,1] fi:1
  v_add_nc_u32_dpp v12, v4, v5 dpp8:[0,0,0,0,4,4,4,4]
  s_mov_b32 exec_lo, -1
"""
    out = results(body, arch, DATA)
    lane = np.arange(64)
    source = lane // 8 * 8 + np.array([7, 6, 5, 4, 3, 2, 1, 1])[lane % 8]
    on = lane % (64 if arch.endswith("64") else 32) != 1
    plain = np.where(on, np.where(on[source], DATA[source, 0], 0), 0)
    assert (out[:, 0] == plain).all()
    assert (out[:, 1] == np.where(on, DATA[source, 0], 0)).all()
    other = lane // 4 * 4
    assert (out[:, 2] == np.where(on, DATA[other, 0] + DATA[:, 1], 0)).all()


@pytest.mark.parametrize("arch", BOTH)
def test_dpp16(arch):
    """row_share, row_xmask and row_shr, with and without bound_ctrl and FI."""
    body = """
  v_mov_b32_e32 v12, 9
  v_mov_b32_e32 v13, 9
  s_mov_b32 exec_lo, 0xffffffef
  v_mov_b32_dpp v10, v4 row_share:4 row_mask:0xf bank_mask:0xf bound_ctrl:1 fi:1
  v_mov_b32_dpp v11, v4 row_xmask:5 row_mask:0xf bank_mask:0xf bound_ctrl:1
  v_mov_b32_dpp v12, v4 row_shr:1 row_mask:0xf bank_mask:0xf
  v_mov_b32_dpp v13, v4 row_shr:1 row_mask:0xf bank_mask:0x3 bound_ctrl:1
  s_mov_b32 exec_lo, -1
"""
    out = results(body, arch, DATA)
    lane = np.arange(64)
    on = lane % (64 if arch.endswith("64") else 32) != 4
    values = DATA[:, 0]
    assert (out[:, 0] == np.where(on, values[lane // 16 * 16 + 4], 0)).all()
    other = lane ^ 5
    assert (out[:, 1] == np.where(on & on[other], values[other], 0)).all()
    valid = (lane % 16 > 0) & on[lane - 1]
    assert (out[:, 2] == np.where(on & valid, values[lane - 1], 9)).all()
    expected = np.where(valid, values[lane - 1], 0)
    assert (out[:, 3] == np.where(on & (lane % 16 < 8), expected, 9)).all()


@pytest.mark.parametrize("arch", BOTH)
def test_halves_of_registers(arch):
    """A 16-bit result leaves the other half alone, in short and in long encodings."""
    body = """
  v_mov_b32_e32 v10, v4
  v_mov_b32_e32 v11, v5
  v_mov_b32_e32 v12, v6
  v_mov_b32_e32 v13, v7
  v_mov_b16_e32 v10.h, v5.l
  v_add_nc_u16 v11.l, v4.h, v5.h
  v_xor_b16 v12.h, v4.l, v6.h
  v_swap_b16 v13.l, v13.h
"""
    out = results(body, arch, DATA)
    low, high = DATA & np.uint32(0xFFFF), DATA >> np.uint32(16)
    assert (out[:, 0] == low[:, 0] | low[:, 1] << np.uint32(16)).all()
    assert (out[:, 1] == high[:, 1] << np.uint32(16) | (high[:, 0] + high[:, 1] & np.uint32(0xFFFF))).all()
    assert (out[:, 2] == low[:, 2] | (low[:, 0] ^ high[:, 2]) << np.uint32(16)).all()
    assert (out[:, 3] == high[:, 3] | low[:, 3] << np.uint32(16)).all()


@pytest.mark.parametrize("arch", BOTH)
def test_half_floats_in_halves(arch):
    """v_fmac_f16 reads and writes one half; conversions take and fill either."""
    body = """
  v_mov_b32_e32 v10, v4
  v_mov_b32_e32 v11, v5
  v_fmac_f16_e32 v10.h, v5.l, v6.h
  v_cvt_f16_f32_e32 v11.h, v7
  v_cvt_f32_f16_e32 v12, v4.h
"""
    data = RNG.standard_normal((64, 8)).astype(np.float16).view(np.uint32).copy()
    data[:, 3] = FLOATS[:, 3].view(np.uint32)
    out = results(body, arch, data)
    halves = data.view(np.float16).reshape(64, 4, 2)
    exact = halves[:, 0, 1].astype(np.float64) + halves[:, 1, 0].astype(np.float64) * halves[:, 2, 1]
    assert (out[:, 0] >> np.uint32(16) == exact.astype(np.float16).view(np.uint16)).all()
    assert (out[:, 0] & np.uint32(0xFFFF) == data[:, 0] & np.uint32(0xFFFF)).all()
    assert (out[:, 1] >> np.uint32(16) == FLOATS[:, 3].astype(np.float16).view(np.uint16)).all()
    assert (out[:, 1] & np.uint32(0xFFFF) == data[:, 1] & np.uint32(0xFFFF)).all()
    assert (out[:, 2].view(np.float32) == halves[:, 0, 1].astype(np.float32)).all()


@pytest.mark.parametrize("arch", BOTH)
def test_halves_that_op_sel_chooses(arch):
    """The same in VOP3, as compilers for gfx12 have it."""
    body = """
  v_mov_b32_e32 v10, v4
  v_mov_b32_e32 v11, v5
  v_add_nc_u16 v10.h, v4.l, v5.h
  v_fma_f16 v11.l, v4.h, v5.h, v6.l
"""
    data = RNG.standard_normal((64, 8)).astype(np.float16).view(np.uint32).copy()
    out = results(body, arch, data)
    low, high = data & np.uint32(0xFFFF), data >> np.uint32(16)
    assert (out[:, 0] == low[:, 0] | (low[:, 0] + high[:, 1] & np.uint32(0xFFFF)) << np.uint32(16)).all()
    halves = data.view(np.float16).reshape(64, 4, 2).astype(np.float64)
    exact = halves[:, 0, 1] * halves[:, 1, 1] + halves[:, 2, 0]
    assert (out[:, 1] == high[:, 1] << np.uint32(16) | exact.astype(np.float16).view(np.uint16)).all()


@pytest.mark.parametrize("arch", BOTH)
def test_permlanes(arch):
    """Within a row, across rows, across halves of a wave64; each lane its own selector on gfx12."""
    body = """
  s_mov_b32 s20, 0x76543210
  s_mov_b32 s21, 0x01234567
  v_permlane16_b32 v10, v4, s20, s21
  v_permlanex16_b32 v11, v4, s20, s21
  v_permlane64_b32 v12, v4
"""
    if arch.startswith("gfx12"):
        body += "  v_permlane16_var_b32 v13, v4, v5\n"
    out = results(body, arch, DATA)
    lane = np.arange(64)
    pick = np.array([*range(8), *range(7, -1, -1)])[lane % 16]
    row = lane // 16 * 16
    assert (out[:, 0] == DATA[row + pick, 0]).all()
    assert (out[:, 1] == DATA[(row ^ 16) + pick, 0]).all()
    assert (out[:, 2] == (DATA[lane ^ 32, 0] if arch.endswith("64") else 0)).all()
    if arch.startswith("gfx12"):
        assert (out[:, 3] == DATA[row + DATA[:, 1] % 16, 0]).all()


@pytest.mark.parametrize("arch", ["gfx1151", "gfx1201"])
def test_scalar_floats(arch):
    """The scalar unit adds, multiplies, compares and converts as the vector unit does."""
    body = """
  s_mov_b32 s20, 0x3fc00000
  s_mov_b32 s21, 0xc0200000
  s_add_f32 s22, s20, s21
  s_fmac_f32 s22, s20, s21
  s_cmp_lt_f32 s21, s20
  s_cselect_b32 s23, 1, 0
  s_cvt_i32_f32 s24, s21
  s_mul_f16 s25, 0x4200, 0xc500
  v_mov_b32_e32 v10, s22
  v_mov_b32_e32 v11, s23
  v_mov_b32_e32 v12, s24
  v_mov_b32_e32 v13, s25
"""
    out = results(
        body.replace("0x4200, 0xc500", "s26, 4.0").replace("  s_mul", "  s_mov_b32 s26, 0xffff4200\n  s_mul"), arch
    )
    expected = np.float32(1.5 - 2.5 + 1.5 * -2.5).view(np.uint32)
    assert (out == [expected, 1, 0xFFFFFFFE, np.float16(12).view(np.uint16)]).all()


def test_minimum_and_maximum_of_nan():
    """gfx12: a number beats NaN in V_MIN_NUM, NaN beats a number in V_MINIMUM; -0 is below +0."""
    body = """
  v_min_num_f32_e32 v10, v4, v5
  v_minimum_f32 v11, v4, v5
  v_max_num_f32_e32 v12, v6, v7
  v_maximum3_f32 v13, v4, v5, v6
"""
    data = np.zeros((64, 4), np.uint32)
    data[:] = [0x7F800001, 0x3F800000, 0x80000000, 0x00000000]
    out = results(body, "gfx1201", data)
    assert (out == [0x3F800000, 0x7FC00001, 0x00000000, 0x7FC00001]).all()


def test_clamp_of_gfx12():
    """-0 and NaN become +0, whatever MODE held on older architectures."""
    body = "  v_add_f32_e64 v10, v4, v5 clamp\n  v_mul_f32_e64 v11, v4, v6 clamp\n  v_mul_f32_e64 v12, v5, v7 mul:2\n"
    data = np.zeros((64, 4), np.uint32)
    data[:] = [0x7FC00000, 0x3F800000, 0x3F800000, 0x3F000000]
    assert (results(body, "gfx1201", data)[:, :3] == [0, 0, 0x3F800000]).all()


@pytest.mark.parametrize("arch", BOTH)
def test_packed_halves_ignore_clamp(arch):
    """CLAMP leaves both halves of this conversion as they are, as an RX 9070 does (tests/silicon)."""
    data = np.tile(np.array([[-2.0, 0.5, 3.0, 0.25]], np.float32).view(np.uint32), (64, 1))
    body = "  v_cvt_pk_rtz_f16_f32_e64 v10, v4, v5 clamp\n  v_cvt_pk_rtz_f16_f32_e64 v11, v6, v7 clamp\n"
    assert (results(body, arch, data)[:, :2] == [0x3800C000, 0x34004200]).all()


@pytest.mark.parametrize("arch", BOTH)
def test_an_inline_float_of_packed_fmac_stands_in_both_halves(arch):
    """The assembler makes it of a dword of two equal halves; a literal with one half has 0 above it."""
    body = """
  v_mov_b32_e32 v10, 0x42004100
  v_mov_b32_e32 v11, 0x42004100
  v_pk_fmac_f16 v10, 0x44004400, v4
  v_pk_fmac_f16 v11, 0x4400, v4
"""
    data = np.full((64, 4), 0x3C003800, np.uint32)
    out = results(body, arch, data)
    assert np.unique(out[:, 0]).tolist() == [0x47004480]  # 4 * 0.5 + 2.5, 4 * 1 + 3
    assert np.unique(out[:, 1]).tolist() == [0x42004480]
    probes = [
        Probe("v_pk_fmac_f16", line, [], [], [f"v{D}"])
        for line in (
            f"v_pk_fmac_f16 v{D}, 0xb800b800, v41",
            f"v_pk_fmac_f16 v{D}, 0x31183118, v18",
            f"v_pk_fmac_f16 v{D}, -3, v41",
        )
    ]
    verdict = judge(probes, arch, frame.inputs(np.random.default_rng(20)))
    assert not verdict.differences
    assert verdict.compared > 0
