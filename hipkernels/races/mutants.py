"""Barriers and waits that are missing or in the wrong place: which check has to see each.

The machine delivers every load at once and lets waves go together, so most of these compute the right values there;
the check that follows the order sees them all the same. ``mfmasim mutate races`` compiles and runs them.
"""

from mfmasim.verify import Mutant

RACES, BOTH = ("races",), ("outputs", "races")
EMPTY = (*BOTH, "uninitialised")
"""Also reads what nobody has written yet."""


def without(line):
    """A line with its remark, and the same line without what it does."""
    return line, line[line.index("//") :]


def racy(name, case, edits, caught=RACES, **more):
    """Variants run with two and with eight waves in turn, unless their case says it."""
    return Mutant(name, case if "[" in case else f"{case}[waves=2]", edits, caught, **more)


MUTANTS = [
    # --- exchange.hip
    racy("exchange_without_barrier", "exchange", without("SYNC();  // exchange: all")),
    racy("exchange_without_wait", "exchange[waves=8]", ("SYNC();  // exchange: all", "BARRIER();  // exchange: all")),
    racy(
        "exchange_wait_behind_the_barrier",
        "exchange",
        ("SYNC();  // exchange: all", "BARRIER(); WAIT_LDS();  // exchange: all"),
        arch="gfx942",
    ),
    racy("overwritten_before_it_is_read", "exchange_twice[waves=8]", without("SYNC();  // twice: all have read")),
    racy(
        "overwritten_while_it_is_read",
        "exchange_twice",
        ("SYNC();  // twice: all have read", "BARRIER();  // twice: all have read"),
        arch="gfx1151",
    ),
    racy("second_exchange_without_barrier", "exchange_twice", without("SYNC();  // twice: all have written again")),
    racy("turns_without_barrier", "turns[waves=8]", without("SYNC();  // turns: next")),
    racy(
        "barrier_in_divergent_code",
        "broadcast",
        [
            ("    WAIT_LDS();\n", "    SYNC();\n"),
            without("BARRIER();  // broadcast: for"),
        ],
    ),
    racy("broadcast_without_wait", "broadcast[waves=8]", ("    WAIT_LDS();\n", "\n"), arch="gfx950"),
    racy("bytes_without_barrier", "interleaved_bytes", without("SYNC();  // bytes: all")),
    racy(
        "bytes_written_as_halves",
        "interleaved_bytes",
        ("cells[place] = in[t];", "*(unsigned short *)&cells[place & ~1u] = in[t];"),
        BOTH,
        arch="gfx942",
    ),
    racy("transposition_without_barrier", "transposition[waves=8]", without("SYNC();  // transposition: the")),
    racy("halo_read_too_early", "stencil[waves=8]", without("SYNC();  // stencil: halo")),
    racy("halves_not_waited_for", "two_halves", ("SYNC();  // halves: written", "BARRIER();  // halves: written")),
    racy(
        "halves_overwrite",
        "two_halves[waves=8]",
        [
            ("WAIT_FOR_LDS(0, x);  // halves: read\n      BARRIER();", "BARRIER();\n      WAIT_FOR_LDS(0, x);"),
        ],
        arch="gfx950",
    ),
    # --- collect.hip
    racy("reduction_without_barrier", "reduction", without("SYNC();  // reduction: step")),
    racy("reduction_begun_too_early", "reduction[waves=8]", without("SYNC();  // reduction: begin"), arch="gfx950"),
    racy(
        "reduction_for_waves_of_64",
        "reduction_in_wave[waves=8]",
        ("alone = warpSize;", "alone = 64;"),
        arch="gfx1151",
        about="right with 64 lanes, a step too far with 32",
    ),
    Mutant(
        "reduction_for_waves_of_64_with_64",
        "reduction_in_wave[waves=8]",
        ("alone = warpSize;", "alone = 64;"),
        (),
        arch="gfx942",
        equivalent="its waves have 64 lanes",
    ),
    racy("scan_reads_too_early", "scan", without("SYNC();  // scan: written")),
    racy("scan_writes_too_early", "scan[waves=8]", without("SYNC();  // scan: read"), arch="gfx942"),
    racy("histogram_read_too_early", "histogram", without("SYNC();  // histogram: counted")),
    racy("histogram_not_cleared_yet", "histogram[waves=8]", without("SYNC();  // histogram: cleared")),
    racy(
        "histogram_without_atomics",
        "histogram[waves=8]",
        ("atomicAdd(&counts[in[t] % 32], 1u);", "counts[in[t] % 32] += 1;"),
        (*BOTH, "executes"),
        arch="gfx950",
    ),
    racy(
        "tickets_not_atomic",
        "tickets",
        ("atomicAdd(&next, 1u);", "next; next = mine + 1;"),
        (*EMPTY, "executes"),
        arch="gfx942",
    ),
    racy("tickets_read_too_early", "tickets[waves=8]", without("SYNC();  // tickets: all")),
    racy("extremes_read_too_early", "extremes[waves=8]", without("SYNC();  // extremes: over"), arch="gfx1151"),
    # --- pipeline.hip
    racy(
        "double_buffer_without_barrier", "double_buffer", ("SYNC();  // double: next", "WAIT_LDS();  // double: next")
    ),
    racy(
        "double_buffer_without_wait",
        "double_buffer[waves=8]",
        ("SYNC();  // double: next", "WAIT_FOR_LDS(1, x); BARRIER();  // double: next"),
        ("races", "waits"),
        arch="gfx942",
    ),
    racy("stale_buffer", "double_buffer", ("READ_SLOT(k) ((k)", "READ_SLOT(k) ((k + 1)"), EMPTY),
    racy("single_buffer", "double_buffer[waves=8]", ("#define SLOTS 2", "#define SLOTS 1"), RACES, arch="gfx950"),
    racy("ring_too_small", "ring", ("#define RING 3", "#define RING 2"), RACES),
    racy("older_read_not_waited_for", "counted_reads", ("WAIT_FOR_LDS(1, x);", "WAIT_FOR_LDS(2, x);"), ("waits",)),
    racy(
        "reads_not_waited_for",
        "counted_reads[waves=8]",
        [("WAIT_FOR_LDS(1, x);", ""), ("WAIT_FOR_LDS(0, y);", "")],
        ("waits",),
        arch="gfx942",
    ),
    racy("older_load_not_waited_for", "counted_loads", ("WAIT_FOR_LOAD(1, x);", "WAIT_FOR_LOAD(2, x);"), ("waits",)),
    racy(
        "loads_not_waited_for",
        "counted_loads[waves=8]",
        [("WAIT_FOR_LOAD(1, x);", ""), ("WAIT_FOR_LOAD(0, y);", "")],
        ("waits",),
        arch="gfx950",
    ),
    # --- direct.hip
    racy("direct_read_at_once", "direct_alone", without("WAIT_DIRECT(0);  // alone: fetched\n")),
    racy(
        "direct_over_what_is_read",
        "direct_alone[waves=8]",
        [
            without("WAIT_FOR_LDS(0, x);  // alone: read"),
            ("out[t] = x * 3", "WAIT_FOR_LDS(0, x); out[t] = x * 3"),
        ],
        arch="gfx942",
    ),
    racy(
        "direct_waits_for_one_too_few",
        "direct_exchange",
        ("WAIT_DIRECT(1);", "WAIT_DIRECT(2);"),
    ),
    racy("direct_without_barrier", "direct_exchange[waves=8]", without("BARRIER();  // exchange: left"), arch="gfx942"),
    racy(
        "direct_waits_behind_the_barrier",
        "direct_exchange",
        (
            "WAIT_DIRECT(0);  // exchange: right has come\n  BARRIER();",
            "BARRIER();\n  WAIT_DIRECT(0);",
        ),
    ),
    racy(
        "direct_epilogue_not_waited_for",
        "direct[name=direct_pipeline,waves=8]",
        ("WAIT_DIRECT(0);  // pipeline", "if (k + 1 < tiles) WAIT_DIRECT(0);  // pipeline"),
    ),
    racy(
        "direct_read_before_the_barrier",
        "direct[name=direct_pipeline,waves=2]",
        without("BARRIER();  // pipeline"),
        arch="gfx942",
    ),
    racy(
        "direct_fetch_while_others_read",
        "direct[name=direct_pipeline,waves=8]",
        [
            without("BARRIER();  // pipeline"),
            (
                "    START_READ(x, &slots[k & 1][n - 1 - t]);\n    WAIT_FOR_LDS(0, x);  // pipeline",
                "    BARRIER(); START_READ(x, &slots[k & 1][n - 1 - t]);\n    WAIT_FOR_LDS(0, x);  // pipeline",
            ),
        ],
    ),
    racy(
        "direct_halves_in_step",
        "direct[name=direct_ping_pong,waves=2]",
        ("    BARRIER();  // ping-pong: the other", "    // ping-pong: the other"),
        EMPTY,
    ),
    racy(
        "direct_reads_in_flight",
        "direct[name=direct_ping_pong,waves=8]",
        [
            without("WAIT_FOR_LDS(0, x);  // ping-pong: read"),
            ("sum = sum * 3 + x;  // ping-pong", "WAIT_FOR_LDS(0, x); sum = sum * 3 + x;  // ping-pong"),
        ],
        arch="gfx942",
    ),
    # --- split.hip
    racy(
        "split_reads_before_it_waits",
        "split_exchange",
        [
            without("AWAIT();  // split"),
            ("out[t] = own", "AWAIT(); out[t] = own"),
        ],
    ),
    racy(
        "split_writes_after_the_signal",
        "split_exchange[waves=8]",
        [
            (
                "  cells[t] = in[t];\n  WAIT_LDS();  // split: written\n  SIGNAL();",
                "  SIGNAL();\n  cells[t] = in[t];\n  WAIT_LDS();",
            ),
        ],
    ),
    racy("split_signals_without_wait", "split_exchange", without("WAIT_LDS();  // split")),
    racy(
        "split_signals_while_it_reads",
        "split_rotation[waves=8]",
        [
            ("WAIT_FOR_LDS(0, x);  // rotation: read\n    SIGNAL();", "SIGNAL();\n    WAIT_FOR_LDS(0, x);"),
        ],
    ),
    racy(
        "split_does_not_wait_for_readers",
        "split_rotation",
        [
            without("AWAIT();  // rotation"),
            ("    SIGNAL();\n    x = x * 5", "    x = x * 5"),
        ],
    ),
]
