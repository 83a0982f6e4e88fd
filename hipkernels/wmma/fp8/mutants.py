"""Wrong FP8 GEMM kernels for RDNA4, and the checks that must catch each; and equivalent variants."""

from mfmasim.verify import Mutant

OUT, BOTH, RACES, BOUNDS = ("outputs",), ("outputs", "mapping"), ("races",), ("bounds",)
RACED = (*BOTH, "races")
TUNED, MIXED, LDS, NAIVE = "tuned_e4m3fn_e4m3fn_bf16", "tuned_e4m3fn_e5m2_bf16", "rung_lds", "rung_naive"
FRAGMENTS, SMALL = "rung_fragments", "tuned_64x64"

MUTANTS = [
    # --- elements
    Mutant("sum_one_short", NAIVE, ("k < g.K; ++k", "k < g.K - 1; ++k"), OUT),
    Mutant(
        "b_read_as_e5m2",
        NAIVE,
        ("cvt_f32_fp8(g.B[(size_t)column * g.ldb + k]", "cvt_f32_bf8(g.B[(size_t)column * g.ldb + k]"),
        OUT,
    ),
    Mutant("rows_beyond_read", FRAGMENTS, ("min(row + mine, g.M - 1)", "(row + mine)"), BOUNDS),
    Mutant("halves_of_b_exchanged", FRAGMENTS, ("* g.ldb + from;", "* g.ldb + (8 - from);"), BOTH),
    Mutant(
        "halves_exchanged_alike",
        TUNED,
        ("k + lane / 16 * (Read::k / 2)", "k + (1 - lane / 16) * (Read::k / 2)"),
        (),
        equivalent="K is permuted in A and B alike",
    ),
    Mutant(
        "halves_of_b_exchanged_in_the_lds",
        TUNED,
        ("slot.b + Place::at(n + lane % 16, column)", "slot.b + Place::at(n + lane % 16, column ^ 16)"),
        BOTH,
    ),
    Mutant("one_half_for_both_steps", TUNED, ("f.a[i][2 * step + 1]}", "f.a[i][1]}"), BOTH),
    Mutant("operands_not_exchanged", TUNED, ("multiply(B{}, A{}, b, a, sum", "multiply(A{}, B{}, a, b, sum"), BOTH),
    Mutant(
        "formats_not_exchanged",
        MIXED,
        ("multiply(B{}, A{}, b, a, sum", "multiply(A{}, B{}, b, a, sum"),
        BOTH,
        about="the operands are exchanged, and so are their formats",
    ),
    Mutant("another_sum", SMALL, ("multiply(B{}, A{}, b, a, sum[i][j])", "multiply(B{}, A{}, b, a, sum[j][i])"), BOTH),
    # --- the LDS
    Mutant(
        "swizzled_in_reads_only",
        SMALL,
        ("slot.a + Place::at(row + n * together, byte)", "slot.a + Plain::at(row + n * together, byte)"),
        BOTH,
    ),
    Mutant(
        "swizzled_by_the_next_bits",
        SMALL,
        ("(row_ >> 1 & 3) << 4", "(row_ >> 2 & 3) << 4"),
        (),
        equivalent="right, but reads conflict",
    ),
    Mutant("stored_too_early", LDS, ("__syncthreads();  // read", "// read"), RACES),
    Mutant("read_too_early", LDS, ("__syncthreads();  // stored", "// stored"), RACES),
    Mutant("slot_not_free", "rung_two_slots", ("__syncthreads();  // next tile", "// next tile"), RACES),
    Mutant("next_tile_not_awaited", "rung_ahead", ("__syncthreads();  // next tile", "// next tile"), RACES),
    # --- the schedule
    Mutant("first_tile_not_awaited", SMALL, ("BARRIER();  // first tile", "// first tile"), RACES),
    Mutant("signalled_but_not_awaited", SMALL, ("AWAIT(); /* next tile */", ";"), RACES),
    Mutant("signalled_in_flight", SMALL, ("WAIT_LDS(); /* this tile is read", "/* this tile is read"), RACES),
    Mutant(
        "other_slot",
        SMALL,
        ("part.read(high, slot[now], Read::k);", "part.read(high, slot[(now) ^ 1], Read::k);"),
        (*RACED, "uninitialised"),
    ),
    Mutant(
        "stored_over_this_tile",
        SMALL,
        ("fetch.store(slot[(now) ^ 1]);", "fetch.store(slot[now]);"),
        (*RACED, "uninitialised"),
    ),
    Mutant("last_tile_left_out", SMALL, ("if (t < tiles) TURN(0, t)", ""), BOTH),
    Mutant("next_tile_twice", SMALL, ("fetch.start(((t) + 2) * DEPTH)", "fetch.start(((t) + 1) * DEPTH)"), BOTH),
    Mutant("half_of_a_tile_twice", SMALL, ("part.add(high);", "part.add(low);"), BOTH),
    # --- edges, strides and factors
    Mutant("rows_beyond_a", SMALL, ("(min(Block::rows, g.M - first) - 1)", "(Block::rows - 1)"), BOUNDS),
    Mutant(
        "rows_beyond_b",
        SMALL,
        ("(min(Block::columns, g.N - column) - 1)", "(Block::columns - 1)"),
        ("bounds", "races", "uninitialised"),
        about="behind B lies C, which others write",
    ),
    Mutant(
        "word_of_cdna",
        SMALL,
        ("#define RAW 0x31004000", "#define RAW 0x27000"),
        (*BOTH, "bounds"),
        about="on RDNA4 every access through it is out of range",
    ),
    Mutant("lda_ignored", SMALL, ("a_at(row * g.lda + byte)", "a_at(row * g.K + byte)"), BOTH, parameters={"lda": 208}),
    Mutant(
        "stride_of_b", SMALL, ("a_step(together * g.lda)", "a_step(together * g.ldb)"), BOTH, parameters={"lda": 208}
    ),
    Mutant("alpha_ignored", SMALL, ("line[r] = (Out)(g.alpha * sum[i][j][r]);", "line[r] = (Out)sum[i][j][r];"), OUT),
    Mutant("row_of_c_not_guarded", SMALL, ("if (mine < g.M && from < g.N)", "if (from < g.N)"), BOUNDS),
    Mutant("column_of_c_not_guarded", SMALL, ("if (mine < g.M && from < g.N)", "if (mine < g.M)"), (*RACED, "bounds")),
    Mutant("neighbour_s_row", SMALL, ("y + column_of(lane), from", "y + (column_of(lane) ^ 1), from"), BOTH),
    Mutant("columns_of_rdna3", SMALL, ("x + row_of(0, lane);", "x + row_of(0, lane ^ 16);"), BOTH),
]
