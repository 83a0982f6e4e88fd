"""Wrong variants of the scheduled MXFP4 kernels, each with the checks that must report it.

Loads are completed at once, so that a missing wait or barrier leaves the outputs right.
"""

from typing import Any

from mfmasim.verify import Mutant

ORDER, BOTH, MAP, OUT = ("races",), ("mapping", "outputs"), ("mapping",), ("outputs",)
ALL = (*BOTH, "races")
END = "[M=77,N=208,K=544,gap=32,ldc=212]"
ALIKE = "to.of[(r - 1) / 2].low : to.of[(r - 1) / 2].high"


def pingpong(name: str, old: str, new: str, caught: tuple[str, ...], case: str = "", **more: Any) -> Mutant:
    return Mutant(f"pingpong_{name}", f"mx_pingpong{case}", (old, new), caught, **more)


def interleave(name: str, old: str, new: str, caught: tuple[str, ...], case: str = "", **more: Any) -> Mutant:
    return Mutant(f"interleave_{name}", f"mx_interleave{case}", (old, new), caught, **more)


MUTANTS = [
    # --- Order: the waits count the scales' loads and reads too
    pingpong("waits_for_one_half_less", "WAIT_FETCHES(3);              // loop", "WAIT_FETCHES(4);  // loop", ORDER),
    pingpong("prologue_waits_for_less", "WAIT_FETCHES(2);  ", "WAIT_FETCHES(4);  ", ORDER),
    pingpong("without_a_barrier", "BARRIER();                    // loop: 7", "// loop: 7", ORDER),
    pingpong("a_in_flight", "WAIT_READS(0);                // loop: a is read\n", "\n", ("races", "waits")),
    pingpong("b0_in_flight", "WAIT_READS(OF_A);          // loop", "WAIT_READS(OF_A + 1);  // loop", ORDER),
    pingpong(
        "scales_into_the_slot_in_use",
        "d.fetch_scales(toc, next);",
        "d.fetch_scales(tic, next);",
        (*ALL, "uninitialised"),
    ),
    pingpong("scales_of_one_slot", "lane.scales + slot * SCALE_BYTES", "lane.scales", ALL),
    # --- Scales: which dword, which byte
    pingpong("rows_exchanged", "CASE / 4 * 2 + CASE % 2,", "CASE / 4 * 2 + 1 - CASE % 2,", BOTH),
    pingpong("first_step_twice", "CASE / 4 * 2 + CASE / 2 % 2,", "CASE / 2 % 2,", BOTH),
    pingpong("first_step_twice_uniform", "CASE / 4 * 2 + CASE / 2 % 2,", "CASE / 2 % 2,", MAP, data="uniform"),
    pingpong("rows_of_the_first_half", "slot * SCALE_BYTES + half * (HALF / 32) * SCALES", "slot * SCALE_BYTES", BOTH),
    pingpong("first_32_rows_twice", "offset1:1", "offset1:0", BOTH),
    pingpong("scales_of_a_for_b", "b.scales.word(j), a.scales", "a.scales.word(j), a.scales", BOTH),
    pingpong("scales_of_the_first_tile", "s.start + k / TILE_K * SCALES", "s.start", BOTH),
    pingpong("steps_exchanged", ALIKE, "to.of[(r - 1) / 2].high : to.of[(r - 1) / 2].low", BOTH),
    pingpong(
        "steps_exchanged_uniform",
        ALIKE,
        "to.of[(r - 1) / 2].high : to.of[(r - 1) / 2].low",
        MAP,
        data="uniform",
        about="K is permuted alike in A and B: one scale for all hides it",
    ),
    # --- Ends of M, N and K
    pingpong("k_not_cut_off", "into.lane = BEYOND;", ";", MAP, END, about="what is read there has scales of 2^-127"),
    pingpong(
        "scales_not_cut_off",
        "operand.scales.of &= (left",
        "unsigned none = (left",
        OUT,
        END,
        about="the padding is NaN",
    ),
    pingpong("last_tile_left_out", "(g.K / 2 + TILE_K - 1) / TILE_K", "g.K / 2 / TILE_K", BOTH, END),
    pingpong("rows_not_guarded", "rows = min(2 * HALF, g.M - row)", "rows = 2 * HALF", ("bounds", *MAP), END),
    pingpong("columns_not_guarded", "first < g.N ?", "true ?", ALL, END),
    pingpong("scales_of_the_last_rows", "g.N + 31 : g.M + 31", "g.N : g.M", BOTH, END),
    pingpong("gap_of_a_ignored", "const int step = g.lda / 2,", "const int step = g.K / 2,", BOTH, END),
    # --- Places
    pingpong("swizzled_on_one_side", "FETCH_COLUMN(S, row, place % TILE_K)}", "place % TILE_K}", BOTH),
    pingpong("stale_slot", "READ_B(b1, tic, 1);           // loop", "READ_B(b1, toc, 1);  // loop", ALL),
    pingpong("neighbour_s_columns", "wave_n * (HALF / 4));", "(wave_n ^ 1) * (HALF / 4));", BOTH),
    pingpong("shuffled_by_rows", "at.row % 16 * 16", "at.row % 16 * step", BOTH, "_shuffled"),
    pingpong("shuffled_in_steps_of_rows", "into.k = 16 * k;", "into.k = k;", BOTH, "_shuffled"),
    pingpong("not_shuffled", "SHUFFLED ? at.row / 16 * 16", "false ? at.row / 16 * 16", BOTH, "_shuffled"),
    pingpong("no_priority", "__builtin_amdgcn_s_setprio(1);", "", (), equivalent="priority affects only time"),
    # --- The interleave
    interleave("waits_for_less_of_this_tile", "WAIT_FETCHES(4, 1);  // loop", "WAIT_FETCHES(5, 1);  // loop", ORDER),
    interleave("waits_for_less_of_the_next", "WAIT_FETCHES(4, 0);  // loop", "WAIT_FETCHES(5, 0);  // loop", ORDER),
    interleave("without_the_first_barrier", "BARRIER();  // loop: 1", "// loop: 1", ORDER),
    interleave("without_the_second_barrier", "BARRIER();  // loop: 2", "// loop: 2", ORDER),
    interleave("without_the_last_barrier", "BARRIER();  // epilogue", "// epilogue", ORDER),
    interleave("scales_of_the_first_step", "operand.scales.of >>= step % 2 * 16;", ";", BOTH),
    interleave("first_step_twice", "from.at[0] ^ step % 2 * 64u", "from.at[0]", BOTH),
    interleave(
        "scales_not_cut_off", "if (left() <= 4 * step) scales.of = 0;", ";", OUT, END, about="the padding is NaN"
    ),
    interleave("one_part_twice", "into.first += part * (HALF / 2);", ";", BOTH),
    interleave(
        "quadrant_twice",
        "BLOCK(1, 1, b[0], FROM_B(0, turn + 1)",
        "BLOCK(1, 0, b[0], FROM_B(0, turn + 1)",
        (*BOTH, "waits"),
    ),
]
