"""Assembly lines for branches that keep a path for later: what the paths did, and in which order."""

from __future__ import annotations

from tests.machine import lines
from tests.machine.lines import D, Probe

RESULTS = [f"v{D}", "s70", "s71", "s72"]


def _fork(row, rng, number):
    """One fork and its join; s72 records the order of the paths. The stack is s[0:3]."""
    label, join = (f".L{what}_{row.name}{number}" for what in ("pass", "join"))
    mask = rng.choice(["s[20:21]", "s[24:25]", "s[26:27]", "exec", "0", "-1", "vcc", "1"])
    held, pointer = "s[82:83]", "s84"
    before = [
        "s_mov_b32 s72, 0",
        f"s_mov_b32 {pointer}, 0",
        f"s_mov_b64 {held}, {mask}",
        f"v_mov_b32_e32 v{D}, 0",
        "s_getpc_b64 s[74:75]",
        f"{label}_here:",
        f"s_add_u32 s74, s74, {label}-{label}_here",
        "s_addc_u32 s75, s75, 0",
    ]
    indirect = row.name != "s_cbranch_i_fork"
    fork = f"s_cbranch_g_fork {held}, s[74:75]" if indirect else f"s_cbranch_i_fork {held}, {label}"
    failing = [f"v_add_u32_e32 v{D}, 5, v{D}", "s_mul_i32 s72, s72, 3", "s_add_u32 s72, s72, 1", f"s_branch {join}"]
    passing = [
        f"{label}:",
        f"v_add_u32_e32 v{D}, 7, v{D}",
        "s_mul_i32 s72, s72, 5",
        "s_add_u32 s72, s72, 2",
        f"{join}:",
    ]
    ending = f"s_cbranch_join {pointer}"
    after = ["s_mov_b32 s70, exec_lo", "s_mov_b32 s71, exec_hi"]
    if row.name == "s_cbranch_join":
        return Probe(row.name, ending, [*before, fork, *failing, *passing], after, RESULTS)
    return Probe(row.name, fork, before, [*failing, *passing, ending, *after], RESULTS)


def _halves(row, rng, number):
    """A loop over the halves; s72 counts the passes. EXEC_HI is a number of its own in a wave of 32."""
    start, over = (f".L{what}_{row.name}{number}" for what in ("start", "over"))
    before = [f"v_mov_b32_e32 v{D}, 0", "s_mov_b32 s72, 0"]
    if lines.target.lanes == 32:
        before.append(f"s_mov_b32 exec_hi, {rng.choice([0, 5])}")
    elif rng.random() < 0.5:
        half = rng.choice(["exec_lo", "exec_hi"])
        before.append(f"s_and_b32 {half}, {half}, {rng.choice([0, 9])}")
    begin, end = f"s_subvector_loop_begin s74, {over}", f"s_subvector_loop_end s74, {start}"
    body = [f"{start}:", f"v_add_nc_u32_e32 v{D}, 3, v{D}", "s_add_i32 s72, s72, 1"]
    after = [f"{over}:", "s_mov_b32 s70, exec_lo", "s_mov_b32 s71, exec_hi"]
    if row.name == "s_subvector_loop_end":
        return Probe(row.name, end, [*before, begin, *body], after, RESULTS)
    return Probe(row.name, begin, before, [*body, end, *after], RESULTS)


def probe(_encoding, row, rng, number):
    """A line for these rows, None for another."""
    if row.name in ("s_cbranch_g_fork", "s_cbranch_i_fork", "s_cbranch_join"):
        return _fork(row, rng, number)
    if row.name.startswith("s_subvector_loop"):
        return _halves(row, rng, number)
    return None
