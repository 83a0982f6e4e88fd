"""Wrong kernels of the ladder, and the checks that must catch each."""

from mfmasim.verify import Mutant

BOTH, RACES, UNWRITTEN = ("outputs", "mapping"), ("races",), ("outputs", "mapping", "uninitialised")
CLUSTER = (*UNWRITTEN, "cluster")

MUTANTS = [
    Mutant(
        "k_of_the_other_half_in_b",
        "naive",
        ("fragment(b + k + 16 * j * K, K)", "fragment(b + (k ^ 8) + 16 * j * K, K)"),
        (*BOTH, "bounds"),
    ),
    Mutant(
        "rows_of_c_in_pairs",
        "naive",
        ("row = wave() / 2 * 32 + lane / 16 * 8", "row = wave() / 2 * 32 + lane / 16"),
        BOTH,
    ),
    Mutant("no_wait_for_asynccnt", "async", ("__builtin_amdgcn_s_wait_asynccnt(N);", ""), RACES),
    Mutant(
        "copied_to_the_wrong_row",
        "async",
        ("(LDS i4 *)(to + row * PITCH + k)", "(LDS i4 *)(to + row * STEP + k)"),
        UNWRITTEN,
    ),
    Mutant("read_before_moved_by_all", "async", ("__syncthreads();            // moved by all", ""), RACES),
    Mutant(
        "stride_of_a_tile", "tensor", ("                      from.pitch,\n", "                      STEP,\n"), BOTH
    ),
    Mutant("extent_from_the_tensors_start", "tensor", ("max(rows - first, 0)", "rows"), ("bounds",)),
    Mutant("no_padding", "tensor", ("1 << 20 | 3 << 22 | 3 << 25", "0"), UNWRITTEN),
    Mutant(
        "half_the_padding",
        "tensor",
        ("1 << 20 | 3 << 22 | 3 << 25", "1 << 20 | 2 << 22 | 3 << 25"),
        (*UNWRITTEN, "bounds", "races"),
    ),
    Mutant("no_type", "tensor", (" | (int)0x80000000}", "}"), ("tensor",)),
    Mutant("no_wait_for_tensorcnt", "tensor", ("__builtin_amdgcn_s_wait_tensorcnt(N);", ""), RACES),
    Mutant("waits_for_too_few", "two_slots", ("Tensor::wait<1>();  // of two", "Tensor::wait<2>();  // of two"), RACES),
    Mutant(
        "one_slot_for_both", "two_slots", ("move<Tensor>(slots[now ^ 1]", "move<Tensor>(slots[now]"), (*BOTH, "races")
    ),
    Mutant(
        "signals_before_it_has_read",
        "split",
        (
            "    multiply(slots[now], sums);\n    READ();\n    SIGNAL();",
            "    SIGNAL();\n    multiply(slots[now], sums);",
        ),
        RACES,
    ),
    Mutant("does_not_wait_for_the_readers", "split", ("if (k) WAIT();", "if (k) MEMORY();"), (*BOTH, "races")),
    Mutant("mask_off_by_one", "cluster", ("0b0011 << 2 * y", "0b0011 << (2 * y + 1)"), CLUSTER),
    Mutant("mask_of_the_other_row", "cluster", ("0b0011 << 2 * y", "0b0011 << (2 - 2 * y)"), CLUSTER),
    Mutant(
        "cluster_barrier_of_one_workgroup",
        "cluster",
        (
            "if (wave() == 0) __builtin_amdgcn_s_barrier_signal(-3);",
            "if (wave() == 0 && blockIdx.x == 0) __builtin_amdgcn_s_barrier_signal(-3);",
        ),
        ("barrier",),
    ),
    Mutant(
        "scales_of_the_neighbouring_lane",
        "scaled[form=e4m3fn]",
        ("row + (int)threadIdx.x % 16", "row + ((int)threadIdx.x % 16 ^ 1)"),
        BOTH,
    ),
    Mutant(
        "scales_of_the_step_before",
        "scaled[form=e2m1fn]",
        (
            "scale_b[i] = scales(SB, column + x + 16 * i, N, K, k)",
            "scale_b[i] = scales(SB, column + x + 16 * i, N, K, 0)",
        ),
        BOTH,
    ),
    Mutant(
        "fp8_read_as_bf8", "scaled[form=e4m3fn]", ("KERNEL(scaled_e4m3fn, 8, 0)", "KERNEL(scaled_e4m3fn, 8, 1)"), BOTH
    ),
    Mutant(
        "gaps_of_the_longer_row", "scaled[form=e2m1fn]", ("interval = Bits == 8 ? 4 : 3", "interval = 4"), UNWRITTEN
    ),
]
