"""Wrong WMMA kernels, and the checks that must catch each: mistakes of published RDNA kernels, and some more."""

from mfmasim.verify import Mutant

BOTH, MAP = ("outputs", "mapping"), ("mapping",)
RACED = (*BOTH, "races", "uninitialised")
NEXT_TILE = ("__syncthreads();  // next tile", "// next tile")
LINE = "__builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);"
PING_PONG = "ping_pong_128x64"
SECOND = "%1, %4, %7, %1"
TILE, NATIVE, ANY = "tile_64x64", "native_128x64", "any_64x64"
SMALL = {"M": 16, "N": 16, "K": 16}
AT_A = "[=](int e) { return Place::at(Block::rows, m + 16 * i + lane % 16, k + e); }"
READ_A = f"return read_line<Place::wide>(lds, {AT_A}, lane);"
COLUMN = """fragment out;
    for (int r = 0; r < 16; ++r) out[r] = lds[Place::at(Block::rows, m + 16 * i + r, k + lane % 16)];
    return out;"""
HALF_COLUMN = COLUMN.replace("r < 16", "r < 8").replace("16 * i + r", "16 * i + lane / 16 * 8 + r")
ROW = "unsigned row_of(unsigned r, unsigned lane) { return "
LOADS_A = "a[n] = Load::a(g, row + i / a_line, k + i % a_line * 8);"
STALE = (LOADS_A, "if (k + i % a_line * 8 < g.K) " + LOADS_A)
STORES_A = "for (int n = 0, i = Who::a(); n < a_each; ++n, i += threads)\n      if (a_all || i < a_count)\n        *"
STALE_LDS = (STORES_A, STORES_A.replace("a_count)", "a_count) if (i % a_line == 0)"))
DIAGONAL = (
    "  exchange<By, 1>(v);\n  exchange<By, 2>(v);\n  exchange<By, 4>(v);\n",
    "  for (int r = 0; r < 8; ++r) v[r] = __shfl(v[r], r, 8);\n",
)

MUTANTS = [
    # A line of the fragment runs along the rows, as in a published correction: A transposed, tile by tile.
    Mutant("column_of_a", TILE, (READ_A, COLUMN), BOTH, arch="gfx1151"),
    Mutant("column_of_a_on_gfx12", TILE, (READ_A, HALF_COLUMN), BOTH, arch="gfx1201"),
    Mutant(
        "column_of_a_symmetric",
        TILE,
        (READ_A, HALF_COLUMN),
        MAP,
        arch="gfx1201",
        data="symmetric",
        parameters=SMALL,
        about="no symmetric A shows it",
    ),
    Mutant(
        "symmetric_column_of_a_on_gfx11",
        TILE,
        (READ_A, COLUMN),
        MAP,
        arch="gfx1151",
        data="symmetric",
        parameters=SMALL,
        about="A B is the same as A^T B",
    ),
    # The other generation's maps.
    Mutant("rows_of_gfx12", TILE, (f"{ROW}2 * r + lane / 16", f"{ROW}r + lane / 16 * 8"), BOTH, arch="gfx1151"),
    Mutant("rows_of_gfx11", TILE, (f"{ROW}r + lane / 16 * 8", f"{ROW}2 * r + lane / 16"), BOTH, arch="gfx1201"),
    Mutant(
        "c_transposed",
        TILE,
        (
            "row + m + 16 * i + row_of(r, lane), x = column + n + 16 * j + column_of(lane)",
            "row + m + 16 * i + column_of(lane), x = column + n + 16 * j + row_of(r, lane)",
        ),
        BOTH,
        arch="gfx1151",
    ),
    # RDNA3 requires A and B in both halves of the wave.
    Mutant(
        "upper_lanes_hold_another_row",
        TILE,
        ("m + 16 * i + lane % 16, k + e)", "m + (16 * i + lane) % 32, k + e)"),
        MAP,
        arch="gfx1151",
        about="no document says which of two differing copies counts",
    ),
    Mutant("halves_of_k_on_rdna3", TILE, ("lds + at(0)", "lds + at(lane / 16 * 8)"), MAP, arch="gfx1151"),
    Mutant(
        "upper_lanes_hold_garbage", TILE, (LINE, f"lane < 16 ? {LINE[:-1]} : fragment((f16)77);"), MAP, arch="gfx1151"
    ),
    # The second half of a line lies where the swizzle says, not after the first.
    Mutant("half_of_the_swizzle", "swizzled", ("lds + at(8)", "lds + at(0) + 8"), (*RACED, "bounds"), arch="gfx1151"),
    Mutant(
        "stored_without_the_swizzle",
        "swizzled",
        ("a_lds + Place::at(Block::rows, i / a_line, i % a_line * 8)", "a_lds + i * 8"),
        BOTH,
        arch="gfx1201",
    ),
    # Tails.
    Mutant(
        "k_of_a_not_guarded",
        ANY,
        ("row < g.M && k + i < g.K", "row < g.M && k + i < (g.K + 15) / 16 * 16"),
        ("bounds", "mapping"),
        arch="gfx1151",
    ),
    Mutant("k_of_b_not_guarded", ANY, ("if (k < g.K && column + i", "if (column + i"), ("bounds",), arch="gfx1151"),
    Mutant("stale_a_times_zero", ANY, STALE, BOTH, arch="gfx1151", data="special"),
    Mutant("stale_finite_a_times_zero", ANY, STALE, MAP, arch="gfx1201", data="normal", about="outputs are right"),
    Mutant(
        "stale_lds_times_zero",
        ANY,
        STALE_LDS,
        ("uninitialised",),
        arch="gfx1151",
        parameters={"M": 64, "N": 64, "K": 8},
        about="the previous contents of the LDS are finite",
    ),
    Mutant("row_of_c_not_guarded", ANY, ("if (y < g.M && x < g.N)", "if (x < g.N)"), ("bounds",), arch="gfx1151"),
    Mutant(
        "column_of_c_not_guarded",
        ANY,
        ("if (y < g.M && x < g.N)", "if (y < g.M)"),
        (*BOTH, "bounds", "races"),
        arch="gfx1151",
    ),
    # Omissions.
    Mutant("writes_nothing", TILE, ("if (y < g.M && x < g.N) g.C", "if (y < g.M - g.M) g.C"), BOTH, arch="gfx1151"),
    Mutant(
        "last_tile_of_k_left_out",
        TILE,
        (
            "k < g.K; k += Place::k, slot ^= 1) {\n    const bool more",
            "k < g.K - Place::k; k += Place::k, slot ^= 1) {\n    const bool more",
        ),
        BOTH,
        arch="gfx1151",
    ),
    Mutant("next_tile_not_awaited", TILE, NEXT_TILE, ("races",), arch="gfx1151"),
    Mutant("fetched_too_late", NATIVE, ("SYNC();  // next tile", "WAIT_LDS();  // next tile"), RACED, arch="gfx1201"),
    Mutant(
        "b_not_transposed",
        TILE,
        ("i % b_line * 8 + e, i / b_line)", "i / b_line, i % b_line * 8 + e)"),
        RACED,
        arch="gfx1201",
    ),
    # Slices of K as published: K divided by their number, which need not be a multiple of 16.
    Mutant(
        "slices_of_28",
        "split_k[slice=32]",
        ("const int first = blockIdx.z", "slice = K / gridDim.z;\n  const int first = blockIdx.z"),
        ("bounds", "outputs"),
        arch="gfx1151",
    ),
    Mutant(
        "slices_of_28_one_by_one",
        "slices_one_by_one",
        ("for (int first = 0;", "slice -= 4;\n  for (int first = 0;"),
        (*BOTH, "bounds"),
        arch="gfx1151",
    ),
    # Mistakes of the variants.
    Mutant("diagonal_broadcast", "shuffled_by_dpp", DIAGONAL, BOTH, arch="gfx1151"),
    Mutant("diagonal_broadcast_on_gfx12", "opt_128x128", DIAGONAL, BOTH, arch="gfx1201"),
    Mutant("one_exchange_left_out", "shuffled_by_permute", ("  exchange<By, 2>(v);\n", ""), BOTH, arch="gfx1201"),
    Mutant(
        "selectors_of_the_lower_lanes",
        "shuffled_by_permlane",
        ("(lane + 8 ^ BIT) << 4 * lane", "(lane ^ BIT) << 4 * lane"),
        BOTH,
        arch="gfx1151",
    ),
    Mutant("one_row_of_a_twice", "asm_optimised", ("%2, %5, %6, %2", "%2, %4, %6, %2"), BOTH, arch="gfx1151"),
    Mutant("product_added_to_another_sum", "asm_optimised", (SECOND, SECOND.replace("%1", "%2")), BOTH, arch="gfx1201"),
    Mutant(
        "no_half_loads_b",
        "cooperative",
        ("< a_threads ? none : threadIdx.x - a_threads", "< a_threads ? none : none"),
        (*BOTH, "uninitialised"),
        arch="gfx1151",
    ),
    Mutant(
        "next_turn_not_awaited",
        PING_PONG,
        ("__syncthreads();  // next tile", "// next tile"),
        ("races",),
        arch="gfx1151",
    ),
    Mutant(
        "turns_not_kept",
        PING_PONG,
        ("__syncthreads();  // the other half's turn", "// the other half's turn"),
        (),
        arch="gfx1151",
        equivalent="the halves only alternate: each reads this tile, and each stores its operand of the next",
    ),
    Mutant(
        "tiles_moved_to_the_edge",
        "hilbert_128x64",
        ("1, 1, 1};\n  const Tile tile = map_hilbert(", "1, 2, 1};\n  const Tile tile = map_chunked_clamped("),
        BOTH,
        arch="gfx1151",
        parameters={"M": 264, "N": 136, "K": 16},
    ),
    Mutant(
        "stored_outside",
        "zero_copy",
        ("row + Block::rows > g.M || ", ""),
        ("bounds",),
        arch="gfx1201",
        parameters={"N": 64},
    ),
    Mutant("k_of_gathered_b_not_guarded", "any_xor_gathered", (" && z < g.K", ""), ("bounds",), arch="gfx1151"),
    Mutant(
        "pairs_the_other_way_round",
        "xor_optimised",
        ("{even[n][e], odd[n][e]}", "{odd[n][e], even[n][e]}"),
        BOTH,
        arch="gfx1151",
    ),
    # --- The rungs, and what the text left out
    Mutant(
        "two_of_three_slots",
        "three_slots_128x64",
        ("other == 2 ? 0", "other == 1 ? 0"),
        ("races",),
        arch="gfx1151",
        about="a rotation that is wrong: the text's triple buffer was broken",
    ),
    Mutant(
        "third_slot_not_awaited",
        "three_slots_128x64",
        ("__syncthreads();  // this tile, and the next one", "// this tile, and the next one"),
        (*BOTH, "races", "uninitialised"),
        arch="gfx1151",
    ),
    Mutant(
        "fragments_of_the_same_step",
        "fragments_ahead_128x64",
        ("multiply(x[step % 2][i], y[step % 2][j]", "multiply(x[step % 2][i], y[0][j]"),
        BOTH,
        arch="gfx1201",
    ),
    Mutant(
        "copy_not_awaited",
        "unswizzled_copy",
        ("__syncthreads();  // copied", "// copied"),
        (*BOTH, "races", "uninitialised"),
        arch="gfx1151",
    ),
    Mutant(
        "copy_keeps_the_swizzle",
        "unswizzled_copy",
        ("from + Place::at(lines, n / 2, n % 2 * 8)", "from + Plain::at(lines, n / 2, n % 2 * 8)"),
        BOTH,
        arch="gfx1201",
    ),
    Mutant(
        "columns_of_a_b_that_is_transposed",
        "b_transposed_128x64",
        ("x * g.ldb + z", "z * g.ldb + x"),
        BOTH,
        arch="gfx1151",
    ),
    # --- C through the LDS
    Mutant(
        "vector_c_read_too_early",
        "vector_c",
        ("__syncthreads();  // all of the tile", "// all of the tile"),
        ("races",),
        arch="gfx1151",
    ),
    Mutant(
        "vector_c_rows_too_short",
        "vector_c",
        ("* Block::columns + part.n", "* (Block::columns - 8) + part.n"),
        ("mapping", "outputs", "races", "uninitialised"),
        arch="gfx1151",
    ),
]
