"""Asynchronous copies between memory and the LDS: every size and address form, waits, bounds, undefined data."""

from __future__ import annotations

import numpy as np
import pytest

from tests.machine.cdna5_frame import ids, run

DATA = np.random.default_rng(7).integers(0, 1 << 32, 512, np.uint64).astype(np.uint32)
READ = """
  s_wait_asynccnt 0x0
  ds_load_b128 v[10:13], v2 offset:32
  s_wait_dscnt 0x0
"""
POINTER = """
  v_mov_b32_e32 v5, s5
  v_add_co_u32 v4, vcc_lo, s4, v2
  v_add_co_ci_u32_e64 v5, null, 0, v5, vcc_lo
"""


@pytest.mark.oracle
@pytest.mark.parametrize("size", [1, 4, 8, 16])
@pytest.mark.parametrize("form", ["v2, s[4:5]", "v[4:5], off"])
def test_every_size_and_address(size, form):
    """The offset counts for both addresses; the bytes that are not copied keep what they hold."""
    fill = "  ds_store_b128 v2, v[10:13] offset:32\n  s_wait_dscnt 0x0\n"
    body = POINTER + fill + f"  global_load_async_to_lds_b{8 * size} v2, {form} offset:32\n" + READ
    out, _, report = run(body, DATA)
    assert not report.findings
    wanted = np.zeros((32, 16), np.uint8)
    wanted[:, :size] = DATA.view(np.uint8)[32 : 32 + 512].reshape(32, 16)[:, :size]
    assert (out == wanted.view(np.uint32)).all()


@pytest.mark.oracle
@pytest.mark.parametrize("size", [1, 4, 8, 16])
def test_stores_from_the_lds(size):
    body = f"""
  global_load_b128 v[10:13], v2, s[4:5]
  s_wait_loadcnt 0x0
  ds_store_b128 v2, v[10:13] offset:16
  s_wait_dscnt 0x0
  v_add_nc_u32_e32 v6, 0x3f0, v2
  global_store_async_from_lds_b{8 * size} v6, v2, s[4:5] offset:16
"""
    _, data, report = run(body, DATA)
    assert not report.findings
    moved = data.view(np.uint8)[1024 : 1024 + 512].reshape(32, 16)
    before = DATA.view(np.uint8)
    assert (moved[:, :size] == before[:512].reshape(32, 16)[:, :size]).all()
    assert (moved[:, size:] == before[1024 : 1024 + 512].reshape(32, 16)[:, size:]).all()


@pytest.mark.oracle
def test_only_active_lanes_copy():
    body = """
  ds_store_b128 v2, v[10:13] offset:32
  s_wait_dscnt 0x0
  s_mov_b32 exec_lo, 0xff
  global_load_async_to_lds_b128 v2, v2, s[4:5] offset:32
  s_mov_b32 exec_lo, -1
"""
    out, _, report = run(body + READ, DATA)
    assert not report.findings
    assert (out[:8] == DATA[8:40].reshape(8, 4)).all()
    assert (out[8:] == 0).all()


@pytest.mark.oracle
def test_missing_waits():
    """A read of what a copy may still write, a copy of what a copy may still write, an overwritten source."""
    load = "  global_load_async_to_lds_b128 v2, v2, s[4:5]\n"
    read = "  ds_load_b128 v[10:13], v2\n  s_wait_dscnt 0x0\n"
    assert ids(run(load + read, DATA)[2]) == ["races-own-in-flight"]
    assert ids(run(load + load + "  s_wait_asynccnt 0x1\n" + read, DATA)[2]) == ["races-own-in-flight"]
    back = "  v_add_nc_u32_e32 v6, 0x400, v2\n  global_store_async_from_lds_b128 v6, v2, s[4:5]\n"
    (found,) = run(load + back, DATA)[2].findings
    assert found.id == "races-own-in-flight"
    assert "s_wait_asynccnt 0 is missing" in found.message
    over = "  ds_store_b128 v2, v[10:13]\n"
    (found,) = run(over + "  s_wait_dscnt 0x0\n" + back + over, DATA)[2].findings
    assert "may still be reading it" in found.message
    assert not run(load + "  s_wait_asynccnt 0x0\n" + back + "  s_wait_asynccnt 0x0\n" + over, DATA)[2].findings


@pytest.mark.oracle
def test_a_barrier_does_not_complete_a_copy():
    """The other wave reads what the first one copies: a wait before the barrier is missing."""
    body = """
  global_load_async_to_lds_b128 v2, v2, s[4:5]
{wait}
  s_barrier_signal -1
  s_barrier_wait -1
  v_xor_b32_e32 v6, 0x200, v2
  ds_load_b128 v[10:13], v6
  s_wait_dscnt 0x0
"""
    out, _, report = run(body.format(wait="  s_wait_asynccnt 0x0"), DATA, items=64)
    assert not report.findings
    assert (out == np.roll(DATA[:256].reshape(64, 4), 32, axis=0)).all()
    assert ids(run(body.format(wait=""), DATA, items=64)[2]) == ["races-not-done-at-barrier"]


@pytest.mark.oracle
def test_late_copies_show_a_missing_wait():
    body = "  ds_store_b128 v2, v[10:13] offset:32\n  global_load_async_to_lds_b128 v2, v2, s[4:5] offset:32\n"
    wrong = READ.replace("  s_wait_asynccnt 0x0\n", "")
    assert (run(body + READ, DATA, checks="none", schedule="late")[0] == DATA[8:136].reshape(32, 4)).all()
    assert (run(body + wrong, DATA, checks="none", schedule="late")[0] == 0).all()


@pytest.mark.oracle
def test_outside_of_memory_and_of_the_lds():
    beyond = "  v_add_nc_u32_e32 v6, 0x400, v2\n  global_load_async_to_lds_b128 v2, v6, s[4:5] offset:32\n"
    assert ids(run(beyond + READ, DATA[:256])[2]) == ["bounds-outside-buffer"]
    far = "  v_add_nc_u32_e32 v6, 0x300, v2\n  global_load_async_to_lds_b128 v6, v2, s[4:5]\n"
    assert "bounds-lds" in ids(run(far, DATA)[2])


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("address", "kinds"), [(0x7FFFFFFF, ["bounds-lds-nowhere"]), (0x7FFF0000, ["bounds-lds"]), (-44, ["bounds-lds"])]
)
def test_lanes_masked_off_by_their_address(address, kinds):
    """They read nothing, though their address in memory lies in no buffer; what the others copy is right."""
    body = f"""
  ds_store_b128 v2, v[10:13] offset:32
  s_wait_dscnt 0x0
  v_cmp_gt_u32_e32 vcc_lo, 0x80, v2
  v_mov_b32_e32 v7, {address & 0xFFFFFFFF:#x}
  v_cndmask_b32_e32 v6, v7, v2, vcc_lo
  global_load_async_to_lds_b128 v6, v2, s[4:5] offset:32
"""
    out, _, report = run(body + READ, DATA[:40])
    assert [one for one in ids(report) if one != "alignment-lds"] == kinds
    assert (out[:8] == DATA[8:40].reshape(8, 4)).all()
    assert (out[8:] == 0).all()


@pytest.mark.oracle
def test_an_address_beyond_the_lds_beside_masked_lanes():
    """Lanes that a compiler masks off do not hide one that strays; reads are masked by 0x80000000 alone."""
    body = """
  v_cmp_eq_u32_e32 vcc_lo, 0x80, v2
  v_mov_b32_e32 v7, 0x7fffffff
  v_mov_b32_e32 v8, 0x20000
  v_cndmask_b32_e32 v6, v7, v8, vcc_lo
  ds_store_b32 v6, v10 offset:8
"""
    report = run(body, DATA)[2]
    assert {finding.id: finding.count for finding in report.findings} == {"bounds-lds": 1, "bounds-lds-nowhere": 31}
    read = body.replace("ds_store_b32 v6, v10", "ds_load_b32 v10, v6") + "  s_wait_dscnt 0x0\n"
    assert {finding.id: finding.count for finding in run(read, DATA, checks="bounds")[2].findings} == {"bounds-lds": 32}
    sentinel = read.replace("0x7fffffff", "0x80000000")
    found = {finding.id: finding.count for finding in run(sentinel, DATA, checks="bounds")[2].findings}
    assert found == {"bounds-lds": 1, "bounds-lds-nowhere": 31}


@pytest.mark.oracle
def test_undefined_data_leave_through_a_copy():
    (found,) = run("  global_store_async_from_lds_b32 v2, v2, s[4:5]\n", DATA)[2].findings
    assert found.check == "uninitialised"
    assert "LDS" in found.message


@pytest.mark.oracle
def test_a_prefetch_changes_nothing():
    out, data, report = run("  global_prefetch_b8 v2, s[4:5] offset:8\n", DATA)
    assert not report.findings
    assert (data == DATA).all()
    assert (out == 0).all()


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("lds", "address", "kinds"),
    [
        (327680, 327680 + 64, ["bounds-lds-nowhere"]),
        (327680, 2 * 327680, ["bounds-lds"]),
        (1024, 327680 + 64, ["bounds-lds"]),
        (1024, 0xFFFFFFFF, ["bounds-lds-nowhere"]),
    ],
)
def test_writes_beyond_an_lds_that_the_workgroup_has_whole(lds, address, kinds):
    """Nothing of another workgroup is there; an address as far again is a mistake."""
    body = f"  v_mov_b32_e32 v6, {address:#x}\n  ds_store_b32 v6, v2\n"
    assert ids(run(body, DATA, lds=lds)[2]) == kinds
    read = body.replace("ds_store_b32 v6, v2", "ds_load_b32 v7, v6")
    assert ids(run(read, DATA, lds=lds, checks="bounds")[2]) == ["bounds-lds"]
