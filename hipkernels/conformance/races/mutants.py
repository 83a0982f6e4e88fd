"""Barriers and waits that are missing or in the wrong place, and the check that must report each.

The machine completes every load at once and advances waves together, so most of these compute the right values there;
the ordering check still reports them. ``mfmasim mutate races`` compiles and runs them.
"""

from typing import Any

from mfmasim.verify import Mutant

RACES, BOTH = ("races",), ("outputs", "races")
EMPTY = (*BOTH, "uninitialised")  # also reads what is not written yet


def without(line: str) -> tuple[str, str]:
    """A line with its remark, and the same line without what it does."""
    return line, line[line.index("//") :]


def racy(
    name: str, case: str, edits: list[tuple[str, str]] | tuple[str, str], caught: tuple[str, ...] = RACES, **more: Any
) -> Mutant:
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
        [("    WAIT_LDS();\n", "    SYNC();\n"), without("BARRIER();  // broadcast: for")],
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
        [("WAIT_FOR_LDS(0, x);  // halves: read\n      BARRIER();", "BARRIER();\n      WAIT_FOR_LDS(0, x);")],
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
        [without("WAIT_FOR_LDS(0, x);  // alone: read"), ("out[t] = x * 3", "WAIT_FOR_LDS(0, x); out[t] = x * 3")],
        arch="gfx942",
    ),
    racy("direct_waits_for_one_too_few", "direct_exchange", ("WAIT_DIRECT(1);", "WAIT_DIRECT(2);")),
    racy("direct_without_barrier", "direct_exchange[waves=8]", without("BARRIER();  // exchange: left"), arch="gfx942"),
    racy(
        "direct_waits_behind_the_barrier",
        "direct_exchange",
        ("WAIT_DIRECT(0);  // exchange: right has come\n  BARRIER();", "BARRIER();\n  WAIT_DIRECT(0);"),
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
        [without("AWAIT();  // split"), ("out[t] = own", "AWAIT(); out[t] = own")],
    ),
    racy(
        "split_writes_after_the_signal",
        "split_exchange[waves=8]",
        [
            (
                "  cells[t] = in[t];\n  WAIT_LDS();  // split: written\n  SIGNAL();",
                "  SIGNAL();\n  cells[t] = in[t];\n  WAIT_LDS();",
            )
        ],
    ),
    racy("split_signals_without_wait", "split_exchange", without("WAIT_LDS();  // split")),
    racy(
        "split_signals_while_it_reads",
        "split_rotation[waves=8]",
        [("WAIT_FOR_LDS(0, x);  // rotation: read\n    SIGNAL();", "SIGNAL();\n    WAIT_FOR_LDS(0, x);")],
    ),
    racy(
        "split_does_not_wait_for_readers",
        "split_rotation",
        [without("AWAIT();  // rotation"), ("    SIGNAL();\n    x = x * 5", "    x = x * 5")],
    ),
    # --- memory.hip
    racy("memory_without_barrier", "memory_exchange[waves=2,groups=2]", without("__syncthreads();  // exchange")),
    racy(
        "memory_barrier_without_wait",
        "memory_exchange[waves=8,groups=5]",
        ("__syncthreads();  // exchange", "BARRIER();  // exchange"),
        arch="gfx1151",
        about="the workgroup runs on two compute units",
    ),
    racy(
        "memory_barrier_without_wait_12",
        "memory_exchange[waves=2,groups=2]",
        ("__syncthreads();  // exchange", "BARRIER();  // exchange"),
    ),
    Mutant(
        "memory_barrier_without_wait_9",
        "memory_exchange[waves=8,groups=5]",
        ("__syncthreads();  // exchange", "BARRIER();  // exchange"),
        (),
        arch="gfx942",
        equivalent="on one compute unit memory operations of a workgroup go one way",
    ),
    racy(
        "memory_of_the_next_workgroup",
        "memory_exchange[waves=2,groups=2]",
        ("other = blockIdx.x * blockDim.x", "other = (blockIdx.x + 1) % gridDim.x * blockDim.x"),
        BOTH,
        arch="gfx950",
    ),
    racy("memory_in_place_at_once", "memory_stencil[waves=8,groups=5]", without("__syncthreads();  // stencil: all")),
    racy(
        "memory_in_place_across_workgroups",
        "memory_stencil[waves=2,groups=2]",
        ("mine[(t + n - 1) % n]", "cells[(blockIdx.x * n + t + n * gridDim.x - 1) % (n * gridDim.x)]"),
        BOTH,
        arch="gfx942",
    ),
    racy(
        "memory_bytes_as_halves",
        "memory_bytes[waves=8,groups=5]",
        ("out[place] = in[i] + 1;", "*(unsigned short *)&out[place & ~1u] = in[i] + 1;"),
        (*BOTH, "executes"),
        arch="gfx942",
    ),
    racy(
        "memory_histogram_without_atomics",
        "memory_histogram[waves=2,groups=2]",
        ("atomicAdd(&bins[in[i] % 64], 1u);", "bins[in[i] % 64] += 1;"),
        (*BOTH, "executes"),
    ),
    racy(
        "split_k_without_atomics",
        "split_k[waves=2]",
        ("atomicAdd(&c[blockIdx.x * n + t], sum);", "c[blockIdx.x * n + t] += sum;"),
        (*BOTH, "executes"),
        arch="gfx950",
    ),
    Mutant(
        "last_block_without_fence",
        "last_block[waves=2,groups=2]",
        without("__threadfence();  // last: written"),
        (),
        equivalent="the barrier waits for the stores of each wave, and goes to memory with no cache between",
    ),
    racy(
        "last_block_without_fence_9",
        "last_block[waves=8,groups=5]",
        without("__threadfence();  // last: written"),
        arch="gfx942",
    ),
    racy(
        "last_block_of_a_workgroup",
        "last_block[waves=8,groups=5]",
        ("atomicAdd(count, 1u)", "__hip_atomic_fetch_add(count, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP)"),
        about="gfx12 encodes the scope of an atomic operation; earlier ones always reach the L2",
    ),
    racy("last_block_counts_too_early", "last_block[waves=2,groups=2]", without("__syncthreads();  // last: by all")),
    racy(
        "last_block_is_every_block",
        "last_block[waves=2,groups=2]",
        ("last = atomicAdd(count, 1u) == gridDim.x - 1;", "{ atomicAdd(count, 1u); last = 1; }"),
        arch="gfx1151",
    ),
    racy(
        "last_block_counts_without_atomics",
        "last_block[waves=8,groups=5]",
        ("atomicAdd(count, 1u)", "(*count)++"),
        (*BOTH, "executes"),
        arch="gfx950",
    ),
    racy(
        "handed_over_in_flight",
        "hand_over[waves=2,groups=2]",
        without("__threadfence();  // hand: written"),
        arch="gfx942",
        about="neither the barrier nor a relaxed store waits for stores here",
    ),
    racy(
        "handed_over_before_all_have_written",
        "hand_over[waves=8,groups=5]",
        without("__syncthreads();  // hand: all"),
        arch="gfx942",
    ),
    racy(
        "flag_of_a_workgroup",
        "hand_over[waves=2,groups=2]",
        ("tell(&flags[g], 1);", "__hip_atomic_store(&flags[g], 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);"),
        arch="gfx942",
    ),
    racy(
        "flag_not_waited_for",
        "hand_over[waves=8,groups=5]",
        ("while (ask(&flags[g - 1]) == 0) __builtin_amdgcn_s_sleep(1);", ""),
        EMPTY,
        arch="gfx950",
    ),
    racy(
        "chain_not_released",
        "chained_scan[waves=2,groups=2]",
        without("__threadfence();  // chain: written"),
        arch="gfx1151",
    ),
    racy(
        "chain_tells_before_it_writes",
        "chained_scan[waves=8,groups=5]",
        [
            ("    tell(&flags[ticket], 1);\n", ""),
            ("    sums[ticket] = sum + whole;\n", "    tell(&flags[ticket], 1);\n    sums[ticket] = sum + whole;\n"),
        ],
        arch="gfx950",
    ),
    racy(
        "chain_not_waited_for",
        "chained_scan[waves=2,groups=2]",
        ("while (ask(&flags[ticket - 1]) == 0) __builtin_amdgcn_s_sleep(1);", ""),
        EMPTY,
        arch="gfx942",
    ),
    racy(
        "grid_barrier_without_fence",
        "grid_barrier[waves=2,groups=2]",
        without("__threadfence();  // grid: written"),
        arch="gfx942",
    ),
    racy(
        "grid_barrier_without_workgroup",
        "grid_barrier[waves=8,groups=5]",
        without("__syncthreads();  // grid: the workgroup"),
        arch="gfx950",
    ),
    racy(
        "grid_barrier_not_waited_for",
        "grid_barrier[waves=2,groups=2]",
        ("while (ask(arrived) < gridDim.x) __builtin_amdgcn_s_sleep(1);", ""),
        arch="gfx942",
    ),
    racy(
        "lock_not_taken",
        "locked[waves=2,groups=2]",
        ("while (atomicCAS(lock, 0u, 1u) != 0) __builtin_amdgcn_s_sleep(1);", "atomicCAS(lock, 0u, 1u);"),
        BOTH,
        arch="gfx942",
    ),
    racy("lock_given_back_too_early", "locked[waves=8,groups=5]", without("__syncthreads();  // lock: all")),
    racy("lock_not_released", "locked[waves=2,groups=2]", without("__threadfence();  // lock: written"), arch="gfx950"),
    racy(
        "lock_of_one_wave",
        "locked[waves=2,groups=2]",
        without("__syncthreads();  // lock: for all"),
        BOTH,
        arch="gfx950",
    ),
]
