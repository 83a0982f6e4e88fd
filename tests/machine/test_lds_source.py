"""LDS_DIRECT: a source that all lanes read from the byte of the LDS, of the type, that M0 holds."""

from __future__ import annotations

import numpy as np
import pytest

from tests.machine import harness

pytestmark = pytest.mark.oracle

BODY = """
  s_load_dwordx2 s[8:9], s[0:1], 0x0
  v_lshlrev_b32_e32 v2, 2, v0
  v_mul_u32_u24_e32 v3, 0x00f1a7, v0
  v_or_b32_e32 v3, 0x80808080, v3
  v_lshrrev_b32_e32 v5, 6, v0
  v_readfirstlane_b32 s4, v5
  {write}
  s_mov_b32 m0, {m0:#x}
  s_waitcnt lgkmcnt(0)
  {barrier}
  v_add_u32_e32 v4, src_lds_direct, v0
  global_store_dword v2, v4, s[8:9]
  s_endpgm
"""
WRITE = "ds_write_b32 v2, v3"
LDS = (np.arange(128, dtype=np.uint64) * 0x00F1A7 & 0xFFFFFFFF | 0x80808080).astype(np.uint32).view(np.uint8)


def run(m0, items=128, barrier="s_barrier", write=WRITE):
    program = harness.kernel(BODY.format(m0=m0, barrier=barrier, write=write), "gfx908", "p", lds=512)
    (out,), report = harness.fast(program, 1, items, [np.zeros(items, np.uint32)], checks="all")
    return out, report


@pytest.mark.parametrize(
    ("kind", "dtype"), [(0, np.uint8), (1, np.uint16), (2, np.uint32), (4, np.int8), (5, np.int16)]
)
@pytest.mark.parametrize("element", [0, 5, 31])
def test_every_type(kind, dtype, element):
    """Extended to 32 bits; the value is the same in every lane of both waves."""
    address = element * np.dtype(dtype).itemsize
    out, report = run(kind << 16 | address)
    value = np.int64(LDS.view(dtype)[element])
    assert (out == (value + np.arange(128) & 0xFFFFFFFF).astype(np.uint32)).all()
    assert report.findings == []


def test_it_is_an_access_that_checks_see():
    """Of what another wave wrote, without a barrier, and of what lies beyond the LDS."""
    assert "races-no-barrier" in {one.id for one in run(2 << 16 | 256, barrier="s_nop 0")[1].findings}
    out, report = run(2 << 16 | 512)
    assert [one.id for one in report.findings] == ["bounds-lds"]
    assert (out == np.arange(128)).all()


def test_a_reserved_type():
    with pytest.raises(harness.MfmasimError, match=r"type 3 in M0\[18:16\]"):
        run(3 << 16)


@pytest.mark.parametrize("name", ["ds_append", "ds_consume"])
def test_counters_of_gfx908_do_not_add_m0(name):
    """M0 holds the address of LDS_DIRECT meanwhile; later processors add it."""
    write = f"ds_write_b32 v2, v3\n  s_mov_b32 m0, 0x2000c\n  s_waitcnt lgkmcnt(0)\n  s_barrier\n  {name} v6 offset:8"
    out, _ = run(2 << 16 | 8, write=write)
    step = 128 if name == "ds_append" else -128
    assert (out == (int(LDS.view(np.uint32)[2]) + step + np.arange(128)).astype(np.uint32)).all()
