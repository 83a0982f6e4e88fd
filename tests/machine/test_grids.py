"""Launch state, partial waves, batches and counts: against the slow interpreter and against plain counting."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import mfmasim
from mfmasim.machine.execution.run import BATCH_BYTES, WAVES, Machine
from mfmasim.machine.launch.layout import prepare
from tests.machine import harness
from tests.machine.control_programs import IDS, STORE, compare

pytestmark = pytest.mark.oracle


GRIDS = [
    ((2, 3, 4), (4, 5, 6)),
    ((1, 1, 1), (1024, 1, 1)),
    ((5, 1, 2), (1, 70, 1)),
    ((3, 2, 1), (2, 2, 33)),
    ((7,), (1,)),
]


@pytest.mark.parametrize(("grid", "block"), GRIDS)
def test_ids_in_three_dimensions(grid, block):
    """Packed work-item ids in v0, workgroup ids in s2..s4, all against NumPy's own indices."""
    gx, gy, gz = (*grid, 1, 1)[:3]
    bx, by, bz = (*block, 1, 1)[:3]
    items, groups = bx * by * bz, gx * gy * gz
    body = f"""
  s_load_dwordx2 s[8:9], s[0:1], 0x0
  s_mul_i32 s20, s4, {gy}
  s_add_u32 s20, s20, s3
  s_mul_i32 s20, s20, {gx}
  s_add_u32 s20, s20, s2
  s_mul_i32 s20, s20, {items}
  v_and_b32_e32 v1, 0x3ff, v0
  v_bfe_u32 v2, v0, 10, 10
  v_bfe_u32 v3, v0, 20, 10
  v_mul_u32_u24_e32 v4, {by:#x}, v3
  v_add_u32_e32 v4, v4, v2
  v_mov_b32_e32 v6, {bx:#x}
  v_mul_lo_u32 v4, v4, v6
  v_add_u32_e32 v4, v4, v1
  v_add_u32_e32 v4, s20, v4
  v_lshlrev_b32_e32 v5, 4, v4
  v_mov_b32_e32 v8, s2
  v_mov_b32_e32 v9, s3
  v_mov_b32_e32 v10, s4
  v_mov_b32_e32 v11, v0
  s_waitcnt lgkmcnt(0)
  global_store_dwordx4 v5, v[8:11], s[8:9]
  s_endpgm
"""
    program = harness.kernel(body, "gfx942", "p")
    outcome = harness.both(program, grid, block, [np.zeros((groups * items, 4), np.uint32)])
    assert not outcome.different()
    out = outcome.fast[0].reshape(gz, gy, gx, bz, by, bx, 4)
    index = np.indices(out.shape[:-1])
    assert (out[..., 0] == index[2]).all()
    assert (out[..., 1] == index[1]).all()
    assert (out[..., 2] == index[0]).all()
    assert (out[..., 3] == index[5] | index[4] << 10 | index[3] << 20).all()
    assert outcome.report.waves == groups * -(-items // 64)


def test_partial_last_wave_has_its_lanes_off():
    """EXEC of every wave at the start."""
    body = IDS.format(block=70) + "  s_bcnt1_i32_b64 s20, exec\n  v_mov_b32_e32 v4, s20" + STORE
    if "s_bcnt1_i32_b64" not in harness.OPERATIONS:
        body = body.replace("s_bcnt1_i32_b64 s20, exec", "s_mov_b32 s20, exec_lo")
    program = harness.kernel(body, "gfx942", "pp")
    outcome = harness.both(program, 2, 70, [np.zeros(140, np.uint32), np.zeros(140, np.uint32)])
    assert not outcome.different()
    full, rest = (64, 6) if "s_bcnt1_i32_b64" in harness.OPERATIONS else (0xFFFFFFFF, 0x3F)
    assert (outcome.fast[1].reshape(2, 70) == [full] * 64 + [rest] * 6).all()


def test_waves_that_are_all_partial_alike():
    """One and the same partial EXEC in every wave of a grid: loads, LDS, stores."""
    body = """
  v_and_b32_e32 v5, 0x3ff, v0
  v_lshlrev_b32_e32 v6, 2, v5
  ds_write_b32 v6, v3
  s_waitcnt lgkmcnt(0)
  ds_read_b32 v7, v6
  s_waitcnt lgkmcnt(0)
  v_add_u32_e32 v4, 1, v7
"""
    out, _ = compare(body, block=10, grid=7, lds=64)
    assert (out == np.arange(70) + 1).all()


@pytest.mark.parametrize("waves", [1, 3, 1000])
def test_batches_do_not_change_the_result(waves):
    """Cutting the grid into batches of a few workgroups gives the bits of one batch."""
    body = (
        IDS.format(block=96)
        + """
  v_and_b32_e32 v5, 0x3ff, v0
  v_lshlrev_b32_e32 v6, 2, v5
  v_mul_lo_u32 v3, v3, v3
"""
        + harness.REVERSED
        + """
  v_add_u32_e32 v4, s2, v4
"""
        + STORE
    )
    program = harness.kernel(body, "gfx942", "pp", lds=512)
    data = np.arange(11 * 96, dtype=np.uint32)
    one, whole = harness.fast(program, 11, 96, [data, np.zeros_like(data)])
    cut, report = harness.fast(program, 11, 96, [data, np.zeros_like(data)], max_waves=waves)
    assert (one[1] == cut[1]).all()
    assert (one[1].reshape(11, 96) == (data * data).reshape(11, 96)[:, ::-1] + np.arange(11)[:, None]).all()
    assert report.counts == whole.counts
    assert report.waves == whole.waves == 22


def test_counts_are_wave_instructions():
    """Every instruction counts once per wave that executes it."""
    body = "  s_cmp_eq_u32 s2, 0\n  s_cbranch_scc1 .Lend\n  s_nop 0\n  s_nop 0\n.Lend:\n  s_endpgm"
    _, report = harness.fast(harness.kernel(body, "gfx942", ""), 3, 128, [])
    assert dict(report.counts) == {"s_cmp_eq_u32": 6, "s_cbranch_scc1": 6, "s_nop": 8, "s_endpgm": 6}


@pytest.mark.parametrize(
    ("few", "many", "empty"),
    [(4_000, 40_000, 1_000_000), pytest.param(10_000, 200_000, 10_000_000, marks=pytest.mark.long)],
)
def test_memory_does_not_grow_with_the_grid(few, many, empty):
    """Many workgroups take no more memory than few: what is in flight, not what was."""
    body = """
  s_load_dwordx2 s[8:9], s[0:1], 0x0
  v_and_b32_e32 v1, 0x3ff, v0
  v_lshlrev_b32_e32 v2, 2, v1
  v_mov_b32_e32 v3, s2
  s_waitcnt lgkmcnt(0)
  global_store_dword v2, v3, s[8:9]
  s_endpgm
"""
    program = harness.kernel(body, "gfx942", "p")
    peaks = {}
    for grid in (few, many):
        out = np.zeros(64, np.uint32)
        tracemalloc.start()
        report = mfmasim.device("sim").launch(program, grid, 64, [out], checks="bounds")
        peaks[grid] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert report.waves == report.counts["s_endpgm"] == grid
        assert (out == grid - 1).all()
    assert peaks[many] < 1.1 * peaks[few]
    nothing = harness.kernel("  s_endpgm", "gfx942", "")
    assert mfmasim.device("sim").launch(nothing, empty, 64, []).waves == empty


def test_waves_in_flight():
    """What is asked for, rounded down to whole workgroups; by default what fits the caches; never beyond the bytes."""
    cases = [
        ("", 64, None, min(WAVES, BATCH_BYTES // (64 * (2048 + 64)))),
        ("", 64, 3, 3),
        ("", 256, 7, 1),
        ("", 1024, 3, 1),
        ("  .amdhsa_private_segment_fixed_size 262144", 64, None, BATCH_BYTES // (64 * (262144 + 2048 + 64))),
    ]
    for extra, block, max_waves, expected in cases:
        program = harness.kernel("  s_endpgm", "gfx942", "", extra=extra)
        launch = prepare(program, 10_000, block, [])
        assert Machine(launch, max_waves=max_waves).workgroups_in_flight() == expected
