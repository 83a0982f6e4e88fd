"""gfx11 and gfx12: buffer ranges, parts of dwords, transposed loads, atomics, scratch and LDS."""

from __future__ import annotations

import numpy as np
import pytest

from tests.machine.rdna_frame import BOTH, results

DATA = np.random.default_rng(12).integers(0, 1 << 32, (64, 4), dtype=np.uint32)

BUFFER = """
  s_mov_b32 s20, s4
  s_and_b32 s21, s5, 0xffff
  s_mov_b32 s22, {records}
  s_mov_b32 s23, {flags:#x}
  v_lshlrev_b32_e32 v20, 4, v1
  buffer_load_b96 v[10:12], v20, s[20:23], {none} offen offset:4
"""


@pytest.mark.parametrize("arch", BOTH)
@pytest.mark.parametrize(("select", "records"), [(3, 500), (2, 1), (0, 500)])
def test_buffer_ranges(arch, select, records):
    """Raw: bytes, each dword for itself; unchecked unless empty; structured without stride: nothing is in range."""
    none = "null" if arch.startswith("gfx12") else "0"
    body = BUFFER.format(records=records, flags=select << 28 | 0x4000, none=none)
    out = results(body, arch, DATA)
    at = 16 * np.arange(64)[:, None] + 4 + 4 * np.arange(3)
    inside = {3: at + 4 <= records, 2: np.full_like(at, records > 0, np.bool_), 0: np.zeros_like(at, np.bool_)}[select]
    assert (out[:, :3] == np.where(inside, DATA.reshape(-1)[at // 4], 0)).all()


@pytest.mark.parametrize("arch", ["gfx1201", "gfx1201:64"])
def test_scalar_loads_of_parts(arch):
    """Bytes and words, with zeros or their sign above."""
    body = """
  s_load_u8 s20, s[4:5], 0x1
  s_load_i8 s21, s[4:5], 0x2
  s_load_u16 s22, s[4:5], 0x6
  s_load_i16 s23, s[4:5], 0x8
  v_mov_b32_e32 v10, s20
  v_mov_b32_e32 v11, s21
  v_mov_b32_e32 v12, s22
  v_mov_b32_e32 v13, s23
"""
    out = results(body, arch, DATA)
    raw = DATA.view(np.uint8).reshape(-1)
    expected = [raw[1], raw[2].view(np.int8), raw[6:8].view(np.uint16)[0], raw[8:10].view(np.int16)[0]]
    assert (out == np.array([int(x) & 0xFFFFFFFF for x in expected], np.uint32)).all()


def test_transposed_load():
    """Eight lanes exchange eight halves each: with rows of eight lanes apart this is the fragment of a WMMA."""
    body = """
  v_lshlrev_b32_e32 v20, 4, v1
  global_load_tr_b128 v[10:13], v20, s[4:5]
"""
    out = results(body, "gfx1201", DATA[:32], items=32)
    halves = DATA[:32].view(np.uint16).reshape(4, 8, 8)
    assert (out.view(np.uint16).reshape(4, 8, 8) == halves.swapaxes(1, 2)).all()


@pytest.mark.parametrize("arch", BOTH)
def test_atomics_under_their_new_names(arch):
    """Add, compare and swap, and minimum on the LDS and in memory."""
    body = """
  v_mov_b32_e32 v20, 0
  v_mov_b32_e32 v21, 5
  v_and_b32_e32 v22, 0x3ff, v0
  v_lshlrev_b32_e32 v23, 2, v22
  ds_store_b32 v23, v22
  ds_cmpstore_rtn_b32 v10, v23, v21, v22
  ds_load_b32 v11, v23
  v_mov_b32_e32 v24, 3
  global_store_b32 v2, v24, s[6:7] offset:12
  global_atomic_add_u32 v12, v2, v22, s[6:7] offset:12 {returns}
  global_load_b32 v13, v2, s[6:7] offset:12
"""
    returns = "th:TH_ATOMIC_RETURN" if arch.startswith("gfx12") else "glc"
    out = results(body.format(returns=returns), arch, lds=256)
    item = np.arange(64)
    assert (out == np.stack([item, np.full(64, 5), np.full(64, 3), item + 3], axis=1)).all()


@pytest.mark.parametrize("arch", BOTH)
def test_d16_loads_keep_the_other_half(arch):
    """Loads into one half, from memory and from the LDS."""
    body = """
  v_mov_b32_e32 v10, v4
  v_mov_b32_e32 v11, v5
  global_load_d16_hi_b16 v10, v2, s[4:5] offset:8
  global_load_d16_i8 v11, v2, s[4:5] offset:13
"""
    out = results(body, arch, DATA)
    low, high = DATA & np.uint32(0xFFFF), DATA & np.uint32(0xFFFF0000)
    assert (out[:, 0] == low[:, 0] | low[:, 2] << np.uint32(16)).all()
    byte = (DATA[:, 3] >> np.uint32(8)).astype(np.uint8).view(np.int8).astype(np.int16).view(np.uint16)
    assert (out[:, 1] == high[:, 1] | byte).all()
