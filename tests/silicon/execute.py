"""Instructions in a code object of the test's own, executed for rows of sources."""

import numpy as np

import mfmasim
from tests.machine import harness

PLAIN, OVERFLOW = 0xF0, 0x8000F0
"""MODE: all denormals, nearest even; the same with FP16_OVFL."""


def columns_of(values, count):
    """Two dwords a row of an array or a number of 32 or 64 bits."""
    values = np.broadcast_to(np.asarray(values), (count,)).astype(np.uint64)
    return [(values & np.uint64(0xFFFFFFFF)).astype(np.uint32), (values >> np.uint64(32)).astype(np.uint32)]


def run(lines, sources, *, arch="gfx1201", modes=PLAIN, vcc=0, start=0, exec_=-1, wave=32):
    """Execute each line for every row.

    Sources stand in v4, v6 and v8, the result in v20 (pairs for 64 bits), which before holds `start`. A line sees VCC
    as the rows have it, and EXEC.

    Args:
        lines: instructions.
        sources: up to three arrays, uint32 or uint64, one element a row.
        arch: the architecture.
        modes: MODE of each row, equal within a wave.
        vcc: bit of VCC of each row.
        start: of the result, for each row.
        exec_: EXEC of every wave.
        wave: lanes.

    Returns:
        Results, uint64, and bits of VCC after it (of V_CMPX: of EXEC), each (lines, rows).
    """
    count = len(sources[0])
    padded = -(-count // wave) * wave
    rows = np.zeros((padded, 9), np.uint32)
    for place, values in enumerate(sources):
        rows[:count, 2 * place : 2 * place + 2] = np.stack(columns_of(values, count), 1)
    rows[:count, 6] = vcc
    rows[:count, 7:] = np.stack(columns_of(start, count), 1)
    of_rows = np.full(padded, np.asarray(modes).flat[-1], np.uint32)
    of_rows[:count] = modes
    kernel = harness.kernel("\n".join(_body(lines, padded, arch, exec_, wave)), f"{arch}:{wave}", "ppp")
    out = np.zeros((len(lines), padded, 3), np.uint32)
    of_waves = np.ascontiguousarray(of_rows[::wave])
    mfmasim.device("sim").launch(kernel, padded // wave, wave, [rows, out, of_waves], checks="none")
    results = out[:, :count, 0] | out[:, :count, 1].astype(np.uint64) << np.uint64(32)
    return results, out[:, :count, 2]


def _body(lines, padded, arch, exec_, wave):
    """The kernel's instructions."""
    gfx12 = arch.startswith("gfx12")
    wide = wave == 64
    vcc, move = ("vcc", "s_mov_b64") if wide else ("vcc_lo", "s_mov_b32")
    mask = "exec" if wide else "exec_lo"
    places = (4, 5, 6, 7, 8, 9, 14, 12, 13)
    yield from (
        "s_load_b128 s[8:11], s[0:1], 0x0",
        "s_load_b64 s[4:5], s[0:1], 0x10",
        f"v_and_b32 v0, {wave - 1}, v0",
        f"s_mov_b32 s12, {'ttmp9' if gfx12 else 's2'}",
        f"v_mad_u32_u24 v3, s12, {wave}, v0",
        "v_mul_lo_u32 v2, v3, 36",
        "v_mul_lo_u32 v3, v3, 12",
        "s_lshl_b32 s12, s12, 2",
        "s_wait_kmcnt 0" if gfx12 else "s_waitcnt lgkmcnt(0)",
        "s_add_u32 s4, s4, s12",
        "s_addc_u32 s5, s5, 0",
        "s_load_b32 s13, s[4:5], 0x0",
        *(f"global_load_b32 v{v}, v2, s[8:9] offset:{4 * k}" for k, v in enumerate(places)),
        "s_wait_kmcnt 0" if gfx12 else "s_waitcnt lgkmcnt(0)",
        f"s_setreg_b32 hwreg(1, 0, {8 if gfx12 else 10}), s13",
        "s_lshr_b32 s13, s13, 23",
        "s_setreg_b32 hwreg(1, 23, 1), s13",
        "s_wait_loadcnt 0" if gfx12 else "s_waitcnt vmcnt(0)",
    )
    for line in lines:
        yield from ("v_mov_b32 v20, v12", "v_mov_b32 v21, v13", f"v_cmp_ne_u32 {vcc}, 0, v14")
        if exec_ != -1:
            yield f"s_mov_b32 exec_lo, {exec_ & 0xFFFFFFFF:#x}"
        if exec_ != -1 and wide:
            yield f"s_mov_b32 exec_hi, {exec_ >> 32:#x}"
        yield line
        if "v_cmpx" in line:
            yield f"{move} {vcc}, {mask}"
        if line.startswith("ds_"):
            yield "s_wait_dscnt 0" if gfx12 else "s_waitcnt lgkmcnt(0)"
        yield from (
            f"{move} {mask}, -1",
            f"v_cndmask_b32_e64 v22, 0, 1, {vcc}",
            "global_store_b96 v3, v[20:22], s[10:11]",
            f"s_add_u32 s10, s10, {padded * 12:#x}",
            "s_addc_u32 s11, s11, 0",
        )
    yield "s_endpgm"
