"""Short kernels for gfx11 and gfx12: four dwords of input a work-item in v4..v7, four of output from v10..v13."""

from __future__ import annotations

import numpy as np

from tests.machine import harness

ALL = ("gfx1100", "gfx1151", "gfx1200", "gfx1201")
BOTH = ("gfx1151", "gfx1151:64", "gfx1201", "gfx1201:64")
"""Architecture, and lanes of a wave where they are not 32."""

FRAME = """
  s_load_b128 s[4:7], s[0:1], 0x0
{group}
  v_and_b32_e32 v1, 0x3ff, v0
  s_mul_i32 s9, s8, {items}
  v_add_nc_u32_e32 v1, s9, v1
  v_lshlrev_b32_e32 v2, 4, v1
  global_load_b128 v[4:7], v2, s[4:5]
  v_mov_b32_e32 v10, 0
  v_mov_b32_e32 v11, 0
  v_mov_b32_e32 v12, 0
  v_mov_b32_e32 v13, 0
{body}
  global_store_b128 v2, v[10:13], s[6:7]
  s_endpgm
"""
GROUP = {"gfx11": "  s_mov_b32 s8, s2", "gfx12": "  s_mov_b32 s8, ttmp9"}


def lanes_of(arch):
    """Lanes of a wave."""
    return int(arch.partition(":")[2] or 32)


def results(body, arch, data=None, *, items=64, groups=1, lds=0, checks="none"):
    """What the kernel leaves, uint32 (groups * items, 4)."""
    count = items * groups
    data = np.zeros((count, 4), np.uint32) if data is None else np.ascontiguousarray(data, np.uint32)
    out = np.zeros((count, 4), np.uint32)
    text = FRAME.format(group=GROUP[arch[:5]], items=items, body=body)
    program = harness.kernel(text, arch, lds=lds)
    arrays, report = harness.fast(program, groups, items, [data, out], checks=checks)
    assert not report.findings, [f.message for f in report.findings]
    return arrays[1]
