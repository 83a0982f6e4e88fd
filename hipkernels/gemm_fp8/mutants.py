"""Wrong GEMM kernels, and the checks that must catch each; and equivalent variants.

``mfmasim mutate gemm_fp8`` compiles and runs them and prints which check caught each.
"""

from mfmasim.verify import Mutant

BOTH, OUT, RACES, WAITS = ("outputs", "mapping"), ("outputs",), ("races",), ("waits",)
RACED = (*BOTH, "races")
ONE, DIRECT, VECTOR = "one_wave_tile", "direct_pairs", "vectorised_pairs"
DOUBLE, WIDE = "double_buffer_pairs", "multi_wave_128x128_t512"
TAILS, ROWS = "general[M=17,N=16,K=127]", "general[M=127,N=129,K=128,lda=144,ldb=128,ldc=131]"


def without(line: str) -> tuple[str, str]:
    """A line with its remark, and the same line without what it does."""
    return line, line[line.index("//") :]


LATE = """    if (t + 1 < tiles) {
      fetch<S, BLOCK, WAVES>(a_tile[slot ^ 1], a_rows, 0, g.lda, (t + 1) * TILE_K, wave, lane);
      fetch<S, BLOCK, WAVES>(b_tile[slot ^ 1], b_rows, 0, g.ldb, (t + 1) * TILE_K, wave, lane);
      WAIT_DIRECT(0);"""


MUTANTS = [
    # --- gemm.h: factors, strides and rounding
    Mutant("beta_ignored", ONE, ("g.beta == 0.0f ? g.alpha * sum :", "true ? g.alpha * sum :"), OUT),
    Mutant("alpha_ignored", ONE, ("__builtin_fmaf(g.alpha, sum,", "__builtin_fmaf(1.0f, sum,"), OUT),
    Mutant("alpha_used_twice", "naive", ("g.beta * from_bf16", "g.alpha * g.beta * from_bf16"), OUT),
    Mutant(
        "c_read_with_beta_zero",
        "naive",
        ("g.beta == 0.0f ? g.alpha * sum :", "false ? g.alpha * sum :"),
        (*OUT, "uninitialised"),
        parameters={"beta": 0.0},
        about="0 times NaN",
    ),
    Mutant("ldc_ignored", ONE, ("(size_t)row * g.ldc", "(size_t)row * g.N"), BOTH, parameters={"ldc": 51}),
    Mutant(
        "ldc_ignored_without_gaps",
        ONE,
        ("(size_t)row * g.ldc", "(size_t)row * g.N"),
        (),
        equivalent="the rows of C lie next to each other",
    ),
    Mutant("lda_ignored", DIRECT, ("a_rows, 0, g.lda, k0", "a_rows, 0, g.K, k0"), BOTH, parameters={"lda": 272}),
    Mutant(
        "truncated_to_bf16",
        ONE,
        ("__builtin_bit_cast(bf16, (__bf16)value)", "(bf16)(__builtin_bit_cast(unsigned, value) >> 16)"),
        OUT,
        data="normal",
    ),
    Mutant(
        "rounded_half_up_to_bf16",
        ONE,
        ("__builtin_bit_cast(bf16, (__bf16)value)", "(bf16)((__builtin_bit_cast(unsigned, value) + 0x8000) >> 16)"),
        OUT,
        data="integers",
        about="ties go away from zero; integers have many",
    ),
    Mutant("rows_strided", ONE, ("row + 4 * (lane / 16) + t", "row + lane / 16 + 4 * t"), BOTH),
    Mutant(
        "tile_transposed",
        ONE,
        ("row + 4 * (lane / 16) + t, column + lane % 16", "row + lane % 16, column + 4 * (lane / 16) + t"),
        BOTH,
    ),
    # --- simple.hip
    Mutant("row_not_guarded", "naive", ("row >= g.M || ", ""), ("bounds",)),
    Mutant("column_not_guarded", "naive", (" || column >= g.N", ""), ("bounds", "outputs", "races")),
    Mutant("last_k_left_out", "naive", ("k < g.K; ++k)", "k < g.K - 1; ++k)"), OUT),
    Mutant("fp8_read_as_bf8", "naive", ("amdgcn_cvt_f32_fp8", "amdgcn_cvt_f32_bf8"), OUT),
    Mutant("fnuz_data_on_ocp_hardware", "naive", (), OUT, parameters={"fp8": "e4m3fnuz", "beta": 0.0}, data="integers"),
    Mutant(
        "ocp_data_on_fnuz_hardware",
        ONE,
        (),
        BOTH,
        parameters={"fp8": "e4m3fn", "beta": 0.0},
        data="integers",
        arch="gfx942",
    ),
    Mutant(
        "tile_written_past_its_end",
        "lds_tiled",
        ("a_tile[y][x] = from", "a_tile[y][x + 1] = from"),
        ("outputs", "races", "uninitialised"),
        warned=("variables-past-end",),
    ),
    Mutant("tiles_read_too_early", "lds_tiled", without("__syncthreads();  // both tiles are complete"), RACES),
    Mutant("tiles_overwritten_too_early", "lds_tiled", without("__syncthreads();  // and read"), RACES),
    Mutant("a_transposed_in_the_lds", "lds_tiled", ("a_tile[y][x] = from", "a_tile[x][y] = from"), OUT),
    Mutant(
        "k_tail_of_a_not_masked",
        "lds_tiled_guarded",
        ("row < g.M && k0 + x < g.K ?", "row < g.M ?"),
        ("bounds",),
        about="finite numbers times the zeros of B: the sums stay right",
    ),
    Mutant(
        "k_tails_not_masked",
        "lds_tiled_guarded",
        [("row < g.M && k0 + x < g.K ?", "row < g.M ?"), ("column < g.N && k0 + y < g.K ?", "column < g.N ?")],
        ("bounds", "outputs"),
    ),
    # --- one_tile.hip
    Mutant("last_bytes_not_copied", ONE, ("n < 16 * TILE_K;", "n < 16 * TILE_K - 64;"), (*BOTH, "uninitialised")),
    Mutant("k_tile_not_advanced", ONE, ("g.lda + k0 + k]", "g.lda + k]"), BOTH),
    Mutant(
        "barrier_for_one_wave",
        ONE,
        without("__syncthreads();  // one wave: read"),
        (),
        equivalent="the workgroup has one wave, whose LDS accesses are done in order",
    ),
    Mutant("vector_read_too_early", VECTOR, without("__syncthreads();  // vectorised: complete"), RACES),
    Mutant("vector_overwritten", VECTOR, without("__syncthreads();  // vectorised: read"), RACES, arch="gfx942"),
    Mutant(
        "vector_swizzled_store_only",
        VECTOR,
        ("READ_AT(S, row, column) S::at", "READ_AT(S, row, column) None::at"),
        BOTH,
    ),
    Mutant(
        "vector_swizzled_read_only",
        VECTOR,
        ("STORE_AT(S, row, column) S::at", "STORE_AT(S, row, column) None::at"),
        BOTH,
        arch="gfx942",
    ),
    Mutant("direct_not_waited_for", DIRECT, without("WAIT_DIRECT(0);  // direct: fetched"), RACES),
    Mutant("direct_waits_for_one_too_few", DIRECT, ("WAIT_DIRECT(0);  // direct", "WAIT_DIRECT(1);  // direct"), RACES),
    Mutant("direct_read_too_early", DIRECT, without("BARRIER();       // direct: by all"), RACES, arch="gfx942"),
    Mutant("direct_overwritten", DIRECT, without("BARRIER();  // direct: read by all"), RACES),
    Mutant("direct_fragments_in_flight", DIRECT, without("WAIT_LDS();  // direct: fragments"), ("races", "waits")),
    # --- tile.h: swizzles and fragments
    Mutant("swizzled_fetch_only", DIRECT, ("READ_AT(S, row, column) S::at", "READ_AT(S, row, column) None::at"), BOTH),
    Mutant("swizzled_read_only", DIRECT, ("(S::at(row, column) % TILE_K)", "(column)"), BOTH),
    Mutant(
        "swizzled_read_only_offset", "direct_offset", ("(S::at(row, column) % TILE_K)", "(column)"), BOTH, arch="gfx942"
    ),
    Mutant(
        "fetch_swizzled_otherwise", DIRECT, ("(S::at(row, column) % TILE_K)", "(Row::at(row, column) % TILE_K)"), BOTH
    ),
    Mutant(
        "rotated_and_not_inverted",
        "direct_row",
        ("(column ^ (row & 7) << 4)", "(column + 16 * row) % TILE_K"),
        BOTH,
        about="a rotation is a valid swizzle, but not self-inverse",
    ),
    Mutant(
        "rotated_by_half",
        "direct_row",
        ("(column ^ (row & 7) << 4)", "(column + 64 * (row & 1)) % TILE_K"),
        (),
        equivalent="a rotation by half of the row is self-inverse",
    ),
    # All waves fetch and write the same values, so their writes are no race.
    Mutant("waves_share_a_base", DIRECT, ("(n * WAVES + wave) * 64", "n * WAVES * 64"), (*BOTH, "uninitialised")),
    Mutant("rows_of_another_stride", DIRECT, ("row * ld + FETCH", "row * TILE_K + FETCH"), BOTH),
    Mutant("fetch_not_advanced", DIRECT, ("first * ld + k, 0, 0)", "first * ld, 0, 0)"), BOTH),
    Mutant("range_too_short", DIRECT, ("(rows - 1) * ld + K, 0x", "(rows - 1) * ld, 0x"), BOTH),
    Mutant("half_of_k_twice", DIRECT, ("(f.high, tile, row, 64, lane)", "(f.high, tile, row, 0, lane)"), BOTH),
    Mutant(
        "k_permuted_alike",
        DIRECT,
        ("column + lane / 16 * 16", "column / 4 + lane / 16 * 32"),
        (),
        equivalent="K is permuted identically in A and B, and there are no scales",
        data="integers",
    ),
    Mutant("a_and_b_exchanged", DIRECT, ("multiply(sum, a, b);", "multiply(sum, b, a);"), BOTH),
    Mutant("read_as_bf8", DIRECT, ("sum, 0,\n", "sum, 1,\n"), BOTH),
    # --- double_buffer.hip: order
    Mutant("first_tile_not_waited_for", DOUBLE, without("WAIT_DIRECT(0);  // first tile"), RACES),
    Mutant("first_tile_read_too_early", DOUBLE, without("BARRIER();       // first tile"), RACES, arch="gfx942"),
    Mutant("next_tile_not_waited_for", DOUBLE, without("WAIT_DIRECT(0);  // next tile"), RACES),
    Mutant("next_tile_without_barrier", DOUBLE, without("BARRIER();       // next tile"), RACES),
    Mutant(
        "wait_behind_the_barrier",
        DOUBLE,
        [without("WAIT_DIRECT(0);  // next tile"), ("BARRIER();       // next", "BARRIER(); WAIT_DIRECT(0);  // next")],
        RACES,
        arch="gfx942",
    ),
    Mutant(
        "fetched_behind_the_products",
        DOUBLE,
        [
            ("    if (t + 1 < tiles) {\n      fetch<", "    if (false) {\n      fetch<"),
            ("    if (t + 1 < tiles) {\n      WAIT_DIRECT(0);", LATE),
        ],
        ("order",),
        about="right, but nothing is on its way while it multiplies",
    ),
    Mutant("fragments_in_flight", DOUBLE, without("WAIT_LDS();  // fragments"), WAITS),
    Mutant("stale_slot", DOUBLE, ("start_read<S>(a[i], a_tile[slot],", "start_read<S>(a[i], a_tile[slot ^ 1],"), RACED),
    Mutant("slots_not_exchanged", DOUBLE, ("++t, slot ^= 1", "++t"), BOTH),
    Mutant(
        "one_slot",
        DOUBLE,
        ("(a_tile[slot ^ 1], a_rows, 0, g.lda, (t + 1)", "(a_tile[slot], a_rows, 0, g.lda, (t + 1)"),
        (*RACED, "uninitialised"),
    ),
    Mutant("last_tile_left_out", DOUBLE, ("tiles = g.K / TILE_K;", "tiles = g.K / TILE_K - 1;"), BOTH),
    Mutant("first_tile_twice", DOUBLE, ("(t + 1) * TILE_K, wave", "t * TILE_K, wave"), BOTH),
    Mutant(
        "waves_exchanged_in_c",
        DOUBLE,
        ("row + wave_m + 16 * i, column + wave_n", "row + wave_n + 16 * i, column + wave_m"),
        BOTH,
    ),
    Mutant(
        "one_fragment_for_two", DOUBLE, ("multiply(sum[i][j], a[i], b[j])", "multiply(sum[i][j], a[0], b[j])"), BOTH
    ),
    # --- multi_wave.hip
    Mutant(
        "half_of_the_columns",
        WIDE,
        ("wave % WAVES_N * 16 * COLUMNS", "wave % 2 * 16 * COLUMNS"),
        RACED,
        parameters={"K": 128},
    ),
    Mutant("wide_fragments_in_flight", WIDE, without("WAIT_LDS();  // fragments"), WAITS, parameters={"K": 128}),
    # --- general.hip: tails
    Mutant("k_tail_not_masked", TAILS, (" && k + 4 * i + j < from.K", ""), BOTH),
    Mutant(
        "rows_not_masked",
        TAILS,
        ("row < from.rows && k + 4", "k + 4"),
        (),
        equivalent="the resource of A and B ends with their last row",
    ),
    Mutant("columns_not_masked", ROWS, ("row + t < rows && column < columns ?", "row + t < rows ?"), RACED),
    Mutant(
        "rows_of_c_not_masked",
        ROWS,
        ("row + t < rows && column < columns ?", "column < columns ?"),
        (),
        equivalent="the resource of C ends with its last row",
    ),
    Mutant(
        "range_of_c_in_elements", ROWS, ("2 * ((rows - 1) * g.ldc + columns)", "(rows - 1) * g.ldc + columns"), BOTH
    ),
    Mutant("general_without_barrier", TAILS, without("__syncthreads();  // this tile"), RACES),
    Mutant("general_with_one_slot", TAILS, ("k0 += TILE_K, slot ^= 1", "k0 += TILE_K"), RACES, parameters={"K": 255}),
    Mutant(
        "tail_in_the_wide_path",
        TAILS,
        ("k0 + TILE_K <= from.K", "true"),
        BOTH,
        parameters={"lda": 128, "ldb": 128},
        about="padding between the rows is multiplied; the dword across the end of the resource is read as 0",
    ),
]
