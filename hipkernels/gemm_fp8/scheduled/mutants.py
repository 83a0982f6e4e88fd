"""Wrong schedules beside the published ones, each with the checks that must report it.

The simulator completes loads at once, so that a missing wait or barrier leaves the outputs right.
"""

from typing import Any

from mfmasim.verify import Mutant

ORDER, VALUES, ALL = ("races",), ("mapping", "outputs"), ("mapping", "outputs", "races")


def pingpong(name: str, edits: tuple[str, str] | list[tuple[str, str]], caught: tuple[str, ...], **more: Any) -> Mutant:
    return Mutant(f"pingpong_{name}", "pingpong_row_128", edits, caught, **more)


def interleave(name: str, edits: tuple[str, str], caught: tuple[str, ...], **more: Any) -> Mutant:
    return Mutant(f"interleave_{name}", "interleave_row_128", edits, caught, **more)


MUTANTS = [
    pingpong("waits_for_one_half_less", ("WAIT_FETCHES(3);              // loop", "WAIT_FETCHES(4);  // loop"), ORDER),
    pingpong("prologue_waits_for_less", ("WAIT_FETCHES(2);  ", "WAIT_FETCHES(3);  "), ORDER),
    pingpong("without_the_last_barrier_but_one", ("BARRIER();                    // loop: 7", "// loop: 7"), ORDER),
    pingpong("without_waiting_for_a", ("WAIT_READS(0);                // loop: a is read\n", "\n"), ("races", "waits")),
    pingpong("swizzled_on_one_side", ("FETCH_COLUMN(S, row, place % TILE_K)}", "place % TILE_K}"), VALUES),
    pingpong("stale_slot", ("READ_B(b1, tic, 1);           // loop", "READ_B(b1, toc, 1);  // loop"), ALL),
    pingpong(
        "half_of_the_last_tile_is_the_one_before", ("FETCH_A(toc, 1, last * TILE_K)", "FETCH_A(toc, 1, 0)"), VALUES
    ),
    pingpong("neighbour_s_columns", ("wave_n * (HALF / 4));", "(wave_n ^ 1) * (HALF / 4));"), VALUES),
    pingpong("one_tile_less", ("t < last - 1; ++t, tic", "t < last - 2; ++t, tic"), VALUES),
    pingpong(
        "quadrants_exchanged",
        (
            "multiply_all<D>(c01, a, b1);\n    BARRIER();                    // loop: 4",
            "multiply_all<D>(c10, a, b1);\n    BARRIER();  // loop: 4",
        ),
        VALUES,
    ),
    pingpong(
        "all_waves_in_step",
        ("if (wave_m == 1) BARRIER();", ""),
        (),
        equivalent="right, but nothing overlaps: barrier-uneven warns of the barrier at the end",
    ),
    pingpong(
        "without_fences",
        [("__builtin_amdgcn_sched_barrier(0)  // the", "// the"), ('asm volatile("" : "+v"(c[i][j]));', ";")],
        ("order",),
        about="matrix instructions leave their turn",
    ),
    pingpong("no_priority", ("__builtin_amdgcn_s_setprio(1);", ""), (), equivalent="priority affects only time"),
    interleave(
        "without_fences",
        ("__builtin_amdgcn_sched_barrier(0)  // the", "// the"),
        ("order",),
        about="reads first, then all matrix instructions in a row",
    ),
    interleave(
        "waits_for_one_half_less", ("WAIT_FETCHES(4);  // loop: second", "WAIT_FETCHES(5);  // loop: second"), ORDER
    ),
    interleave("without_the_first_barrier", ("BARRIER();  // loop: 1", "// loop: 1"), ORDER),
    interleave(
        "without_waiting_for_b1", ("READ_DONE(b[1]);\n    BLOCK(0, 1", "D::settle(b[1]);\n    BLOCK(0, 1"), ("waits",)
    ),
    interleave("quadrant_twice", ("BLOCK(1, 1, b[0]", "BLOCK(1, 0, b[0]"), (*VALUES, "waits")),
    interleave("divided_grid_map", ("map_xcd_grouped(", "map_xcd_divided("), ALL),
    interleave(
        "stored_too_early",
        (
            "  BLOCK_READ(0, 0, b[1], FROM_B(next, 1));\n  STORE_IF(V::stored_early, 0, 0)",
            "  STORE_IF(V::stored_early, 0, 0)\n  BLOCK_READ(0, 0, b[1], FROM_B(next, 1));",
        ),
        VALUES,
    ),
]
