"""Kernel bodies between a common beginning and end, run on the machine and on the slow interpreter."""

from __future__ import annotations

import numpy as np

from tests.machine import harness

IDS = """
  s_load_dwordx4 s[8:11], s[0:1], 0x0
  v_and_b32_e32 v1, 0x3ff, v0
  s_mul_i32 s14, s2, {block}
  v_add_u32_e32 v1, s14, v1
  v_lshlrev_b32_e32 v2, 2, v1
  s_waitcnt lgkmcnt(0)
  global_load_dword v3, v2, s[8:9]
  s_waitcnt vmcnt(0)
"""
"""v1: number of the work-item, v2: its byte offset, v3: its input; s[10:11]: the output."""

STORE = """
  global_store_dword v2, v4, s[10:11]
  s_endpgm
"""


def compare(body, *, block=96, grid=3, lds=0, data=None, arch="gfx942", floor=None):
    """Run IDS + body + STORE on both and demand equal bits; the output."""
    items = block * grid
    data = np.arange(items, dtype=np.uint32) if data is None else np.asarray(data, np.uint32)
    program = harness.kernel(IDS.format(block=block) + body + STORE, arch, "pp", lds=lds)
    outcome = harness.both(program, grid, block, [data, np.zeros(items, np.uint32)], lds_bytes=lds)
    assert not outcome.different()
    assert outcome.compared == 2 * items
    assert len(np.unique(outcome.fast[1])) >= (floor or 2)
    return outcome.fast[1], outcome
