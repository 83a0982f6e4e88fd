"""Block loads and stores of gfx12: registers that M0 selects, of all lanes, against plain arrays."""

from __future__ import annotations

import numpy as np
import pytest

from tests.machine import harness

pytestmark = pytest.mark.oracle

MASK = 0x8003_0106
START = """
  s_load_b128 s[8:11], s[0:1], 0x0
  v_and_b32_e32 v1, 0x3ff, v0
  v_lshlrev_b32_e32 v2, 8, v1
  s_wait_kmcnt 0x0
  s_mov_b32 m0, {mask}
"""


def run(body, lanes, *, mask=f"{MASK:#x}", arch="gfx1201", checks="all"):
    """What lanes of one workgroup leave in 64 dwords each, and the report."""
    program = harness.kernel(START.format(mask=mask) + body + "\n  s_endpgm", arch, "pp", extra=SCRATCH)
    data = np.arange(64 * lanes, dtype=np.uint32) + 1000
    out, report = harness.fast(program, 1, lanes, [data, np.zeros(64 * lanes, np.uint32)], checks=checks)
    return data.reshape(lanes, 64), out[1].reshape(lanes, 64), report


SCRATCH = ".amdhsa_private_segment_fixed_size 256"
SELECTED = [n for n in range(32) if MASK >> n & 1]


@pytest.mark.parametrize("space", ["global", "scratch"])
def test_selected_registers_move(space):
    """Dword n of the lane's block goes with register n; the others keep what they hold."""
    moves = "".join(f"  v_mov_b32_e32 v{40 + n}, {n}\n" for n in range(32))
    there = ""
    load = "global_load_block v[40:71], v2, s[8:9] offset:8"
    if space == "scratch":
        fill = "".join(
            f"  global_load_b32 v9, v2, s[8:9] offset:{4 * n + 8}\n  s_wait_loadcnt 0x0\n"
            f"  scratch_store_b32 off, v9, off offset:{4 * n}\n"
            for n in range(32)
        )
        there, load = fill + "  s_wait_storecnt 0x0\n", "scratch_load_block v[40:71], off, off"
    stores = "".join(f"  global_store_b32 v2, v{40 + n}, s[10:11] offset:{4 * n}\n" for n in range(32))
    data, out, report = run(f"{moves}{there}  {load}\n  s_wait_loadcnt 0x0\n{stores}", 32)
    for n in range(32):
        assert (out[:, n] == (data[:, 2 + n] if n in SELECTED else n)).all(), n
    assert not [finding for finding in report.findings if finding.severity == "error"]


def test_stores_leave_gaps():
    """What M0 leaves out is not written; a mask of 0 moves nothing."""
    moves = "".join(f"  v_add_nc_u32_e32 v{40 + n}, {n}, v1\n" for n in range(32))
    store = "  global_store_block v2, v[40:71], s[10:11] offset:4\n"
    _, out, report = run(moves + store, 32)
    lane = np.arange(32)
    for n in range(63):
        assert (out[:, n + 1] == (lane + n if n in SELECTED else 0)).all(), n
    assert not [finding for finding in report.findings if finding.severity == "error"]
    _, out, _ = run(moves + store, 32, mask="0")
    assert not out.any()


def test_bounds_and_undefined_registers():
    """Each register is an access: only those that are selected count."""
    defined = "".join(f"  v_mov_b32_e32 v{40 + n}, 0\n" for n in SELECTED)
    store = "  global_store_block v2, v[40:71], s[10:11]\n"
    _, _, report = run(defined + store, 2)
    assert not [finding for finding in report.findings if finding.severity == "error"]
    _, _, report = run(defined.replace(f"v{40 + SELECTED[1]},", "v9,") + store, 2)
    assert any(finding.check == "uninitialised" for finding in report.findings)
    _, _, report = run(defined + store.replace("\n", " offset:200\n"), 2)
    assert any(finding.check == "bounds" for finding in report.findings)
