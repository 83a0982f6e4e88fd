"""Wrong block-scaled GEMM kernels, and the checks that must catch each; and equivalent variants."""

from mfmasim.verify import Mutant

OUT, BOTH, RACES = ("outputs",), ("outputs", "mapping"), ("races",)
ROWS, MATRICES, SHUFFLED = "blockscale_rows", "blockscale_rows_matrices", "blockscale_shuffled"
WAVE32, GROUPED32 = "blockscale_wave32_matrices", "grouped_wave32"
TAIL, EXPERTS, GATE = "blockscale_shuffled[M=77,N=128,K=128]", "grouped", "grouped_gate"

MUTANTS = [
    # --- tile.h: scales
    Mutant(
        "scale_of_the_column", ROWS, ("rows.first + first + 4 * (lane / 16)", "rows.first + first + lane % 16"), OUT
    ),
    Mutant("scale_of_another_fragment", SHUFFLED, ("offset + 64 * i,", "offset,"), OUT),
    Mutant("scales_of_a_by_rows", ROWS, ("offset + 64 * i, block * step", "offset + 64 * i, block * 4"), OUT),
    Mutant("scale_of_the_first_block", ROWS, ("scale_row[j] * blocks + block]", "scale_row[j] * blocks]"), OUT),
    Mutant("scale_of_b_left_out", SHUFFLED, ("scales.of[i][t] * other", "scales.of[i][t]"), OUT),
    Mutant("scaled_twice", ROWS, ("scales.of[i][t] * other", "scales.of[i][t] * other * other"), OUT),
    Mutant(
        "rounded_after_the_product",
        GATE,
        (
            "__builtin_fmaf(part[t], scales.of[i][t] * other, sum[i][j][t])",
            "__builtin_fmaf(part[t] * scales.of[i][t], other, sum[i][j][t])",
        ),
        OUT,
        about="another order of two roundings: in BF16 it would hardly show, in the scales it does",
    ),
    Mutant("sums_of_all_blocks_scaled", ROWS, ("multiply(f32x4{}, a[i]", "multiply(sum[i][j], a[i]"), OUT),
    # --- tile.h: tiles
    Mutant("first_tile_not_waited_for", ROWS, ("WAIT_DIRECT(0);  // first tile", "// first tile"), RACES),
    Mutant("first_tile_without_barrier", ROWS, ("BARRIER();       // first tile", "// first tile"), RACES),
    Mutant("fragments_in_flight", SHUFFLED, ("    WAIT_LDS();  ", "    ;           "), ("races", "waits")),
    Mutant("next_tile_without_barrier", SHUFFLED, ("#define ALL_READ() BARRIER()", "#define ALL_READ()"), RACES),
    Mutant(
        "next_tile_not_waited_for", ROWS, ("#define NEXT_FETCHED() WAIT_DIRECT(0)", "#define NEXT_FETCHED()"), RACES
    ),
    Mutant("swizzled_read_only", MATRICES, ("FETCH_COLUMN(Row, row, place % TILE_K)", "place % TILE_K"), BOTH),
    Mutant(
        "rows_of_a_beyond",
        TAIL,
        ("first + n < (unsigned)M ? first + n : BEYOND", "first + n"),
        (),
        equivalent="the resource ends with the last row, so that rows beyond it are 0 as well, and none is stored",
    ),
    Mutant("rows_not_guarded", TAIL, ("if (at < p.M)", "if (true)"), ("bounds",)),
    # --- tile.h: AITER's order
    Mutant(
        "order_by_rows", SHUFFLED, ("first[j] * p.K + lane * 16", "(first[j] + lane % 16) * p.K + lane / 16 * 16"), OUT
    ),
    Mutant("half_of_k_twice", SHUFFLED, ("offset[j], k * 16 + 1024, 0", "offset[j], k * 16, 0"), OUT),
    Mutant("k_not_in_tiles_of_16_rows", SHUFFLED, ("offset[j], k * 16, 0", "offset[j], k, 0"), OUT),
    # --- wave32.hip
    Mutant("halves_of_a_wave_alike", WAVE32, ("column = k + lane / 16 * 16", "column = k"), BOTH),
    Mutant(
        "first_half_read_too_early", "blockscale_wave32", ("__syncthreads();  // first tile", "// first tile"), RACES
    ),
    Mutant(
        "second_half_read_too_early", "blockscale_wave32", ("__syncthreads();  // second half", "// second half"), RACES
    ),
    Mutant(
        "next_block_read_too_early", "blockscale_wave32", ("__syncthreads();  // next block", "// next block"), RACES
    ),
    Mutant(
        "scales_in_one_slot",
        "blockscale_wave32",
        [("scales[t % 2]", "scales[0]"), ("scales[(t + 1) % 2]", "scales[0]")],
        RACES,
    ),
    Mutant("scales_of_eight_rows_alike", "blockscale_wave32", ("scale[t] * other", "scale[0] * other"), OUT),
    Mutant(
        "block_not_begun_with_0", WAVE32, ("multiply<true>", "multiply<false>"), ("outputs", "mapping", "uninitialised")
    ),
    Mutant(
        "last_row_not_found", "blockscale_wave32[M=77,N=128,K=128]", ("min(first + n, M - 1)", "first + n"), ("bounds",)
    ),
    Mutant("listed_rows_not_folded", GROUPED32, ("list[n] / fold", "list[n]"), ("outputs", "bounds")),
    Mutant(
        "listed_padding_names_a_row",
        GROUPED32,
        ("(unsigned)list[n] < (unsigned)rows ? list[n] / fold : 0", "list[n] / fold"),
        ("bounds",),
        parameters={"counts": (126,), "fold": 1, "N": 128, "K": 128},
    ),
    Mutant(
        "listed_padding_stored",
        GROUPED32,
        ("if (mine < limit)", "if (true)"),
        ("bounds",),
        parameters={"counts": (126,), "N": 128, "K": 128},
    ),
    Mutant("expert_ignored_wave32", GROUPED32, ("B + (size_t)expert * N * K", "B"), OUT),
    Mutant(
        "scales_of_the_first_expert_wave32",
        GROUPED32,
        ("((size_t)expert * (N / SIDE) + blockIdx.x)", "blockIdx.x"),
        OUT,
    ),
    Mutant("swizzled_store_only", WAVE32, ("to = at(place / 4, place % 4 * 16)", "to = place * 16"), BOTH),
    # --- grouped.hip
    Mutant("rows_of_the_list_not_folded", EXPERTS, ("list[n] / fold", "list[n]"), OUT),
    Mutant(
        "padding_names_a_row",
        EXPERTS,
        ("(unsigned)list[n] < (unsigned)count ? list[n] / fold : BEYOND", "list[n] / fold"),
        (),
        equivalent="the row that padding names lies beyond A's resource",
    ),
    Mutant(
        "padding_stored",
        EXPERTS,
        (
            "if (at < (unsigned)e.rows)\n#pragma unroll\n          for (int j = 0; j < TILES",
            "if (true)\n#pragma unroll\n          for (int j = 0; j < TILES",
        ),
        ("bounds",),
        parameters={"counts": (126,), "N": 128, "K": 128},
    ),
    Mutant("expert_ignored", EXPERTS, ("p.B + (size_t)expert * p.N * p.K", "p.B"), OUT),
    Mutant("scales_of_the_first_expert", GATE, ("p.SB + (size_t)expert * (p.N / SIDE) * (p.K / SIDE)", "p.SB"), OUT),
    Mutant(
        "part_without_expert_computed", EXPERTS, ("if (expert < 0) return;", "if (expert < -1) return;"), ("bounds",)
    ),
    Mutant(
        "gate_and_value_exchanged",
        GATE,
        ("silu(sum[i][j][t]) * sum[i][j + OUTPUTS][t]", "silu(sum[i][j + OUTPUTS][t]) * sum[i][j][t]"),
        OUT,
    ),
    Mutant("value_not_gated", GATE, ("silu(sum[i][j][t]) * sum", "sum[i][j][t] * sum"), OUT),
    Mutant(
        "magnitudes_of_half_a_row",
        GATE,
        ("  EXCHANGE(0x141);", "  //"),
        OUT,
        about="lanes 8 to 15 of a row are left out",
    ),
    Mutant("magnitudes_not_waited_for", GATE, ("__syncthreads();  // magnitudes", "// magnitudes"), RACES),
    Mutant("magnitudes_of_one_wave", GATE, ("n < WAVES_N; ++n) most", "n < 1; ++n) most"), OUT),
    Mutant("scale_inverted", GATE, ("+ at] = scale;", "+ at] = by;"), OUT),
    Mutant(
        "scales_by_rows",
        GATE,
        ("SQ[(size_t)tile.col * e.rows + at]", "SQ[(size_t)at * (outputs / SIDE) + tile.col]"),
        (),
        equivalent="with one block of 128 columns both orders are the same",
    ),
    Mutant(
        "scales_by_rows_of_two_blocks",
        GATE,
        ("SQ[(size_t)tile.col * e.rows + at]", "SQ[(size_t)at * (outputs / SIDE) + tile.col]"),
        OUT,
        parameters={"N": 512},
    ),
    Mutant(
        "columns_of_a_quad_not_transposed",
        GATE,
        ("const unsigned quad = transpose_quad(word, lane);", "const unsigned quad = word;"),
        OUT,
    ),
    Mutant(
        "quad_half_transposed",
        GATE,
        ("return __builtin_amdgcn_perm(one, halves, lane & 1 ? 0x03070105u : 0x06020400u);", "return halves;"),
        OUT,
    ),
    Mutant(
        "largest_of_the_other_flavour", GATE, [("#define LARGEST 240.0f", "#define LARGEST 448.0f")], OUT, arch="gfx942"
    ),
]
