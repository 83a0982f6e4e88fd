"""Short kernels for gfx1250: 16 bytes of output a work-item from v10..v13, memory at s[4:5], a tensor descriptor."""

from __future__ import annotations

import numpy as np

from tests.machine import harness

FRAME = """
  s_load_b128 s[4:7], s[0:1], 0x0
  v_and_b32_e32 v0, 0x3ff, v0
  v_lshlrev_b32_e32 v2, 4, v0
  v_mov_b32_e32 v10, 0
  v_mov_b32_e32 v11, 0
  v_mov_b32_e32 v12, 0
  v_mov_b32_e32 v13, 0
  s_wait_kmcnt 0x0
{body}
{number}
  s_mul_i32 s9, s9, {items}
  v_add_nc_u32_e32 v3, s9, v0
  v_lshlrev_b32_e32 v3, 4, v3
  global_store_b128 v3, v[10:13], s[6:7]
  s_endpgm
"""


NUMBER = "  s_mov_b32 s9, ttmp9"
IN_CLUSTER = "  s_mul_i32 s9, ttmp9, {cluster}\n  s_and_b32 s8, ttmp6, 15\n  s_add_co_i32 s9, s9, s8"
"""Number of the workgroup, in s9; clusters lie in x."""


def described(descriptor, first=16, memory="s[4:5]"):
    """Lines that write a descriptor to SGPRs; its address counts from a pair of SGPRs."""
    low, high = (f"s{number}" for number in memory[2:-1].split(":"))
    lines = [f"  s_mov_b32 s{first + k}, {word:#x}" for k, word in enumerate(descriptor.words())]
    lines += [
        f"  s_add_co_u32 s{first + 2}, s{first + 2}, {low}",
        f"  s_add_co_ci_u32 s{first + 3}, s{first + 3}, {high}",
    ]
    return "\n".join(lines) + "\n"


GROUPS = "s[16:19], s[20:27], s[28:31], s[32:35]"
"""The registers of `described`."""


def run(body, data, *, items=32, groups=1, lds=1024, checks="all", extra="", on=None, **options):
    """Run a body: what the work-items leave, uint32 (groups * items, 4), the data afterwards, and the report."""
    cluster = options.get("cluster", 1)
    number = IN_CLUSTER.format(cluster=cluster) if cluster > 1 else NUMBER
    text = FRAME.format(body=body, items=items, number=number)
    program = harness.kernel(text, "gfx1250", on=on, lds=lds, extra=extra)
    out = np.zeros((groups * items if isinstance(groups, int) else int(np.prod(groups)) * items, 4), np.uint32)
    arrays, report = harness.fast(program, groups, items, [data, out], checks=checks, **options)
    return arrays[1], arrays[0], report


def ids(report):
    """Ids of its findings."""
    return [finding.id for finding in report.findings]
