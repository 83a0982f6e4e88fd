"""Wrong WMMA kernels, and which checks have to catch each: mistakes of published RDNA kernels, and some more."""

from mfmasim.verify import Mutant

BOTH, OUT, MAP = ("outputs", "mapping"), ("outputs",), ("mapping",)
RACED = (*BOTH, "races", "uninitialised")
TILE, NATIVE, ANY = "tile_64x64", "native_128x64", "any_64x64"
SMALL = {"M": 16, "N": 16, "K": 16}
READ_A = "return read_line(lds, [=](int e) { return Place::at(Block::rows, m + 16 * i + lane % 16, k + e); }, lane);"
COLUMN = """fragment out;
    for (int r = 0; r < 16; ++r) out[r] = lds[Place::at(Block::rows, m + 16 * i + r, k + lane % 16)];
    return out;"""
HALF_COLUMN = COLUMN.replace("r < 16", "r < 8").replace("16 * i + r", "16 * i + lane / 16 * 8 + r")
ROW = "unsigned row_of(unsigned r, unsigned lane) { return "
LOADS_A = "a[n] = Load::a(g, row + i / a_line, k + i % a_line * 8);"
STALE = (LOADS_A, "if (k + i % a_line * 8 < g.K) " + LOADS_A)
STORES_A = "for (int n = 0, i = Who::a(); n < a_each; ++n, i += threads)\n      if (a_all || i < a_count)\n        *"
STALE_LDS = (STORES_A, STORES_A.replace("a_count)", "a_count) if (i % a_line == 0)"))

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
    # RDNA3 wants A and B in both halves of the wave.
    Mutant(
        "upper_lanes_hold_another_row",
        TILE,
        ("m + 16 * i + lane % 16, k + e)", "m + (16 * i + lane) % 32, k + e)"),
        MAP,
        arch="gfx1151",
        about="which of two copies that differ counts is nowhere said",
    ),
    Mutant(
        "halves_of_k_on_rdna3",
        TILE,
        ("lds + at(0)", "lds + at(lane / 16 * 8)"),
        MAP,
        arch="gfx1151",
    ),
    # The second half of a line lies where the swizzle says, not after the first.
    Mutant(
        "half_of_the_swizzle",
        "swizzled",
        ("lds + at(8)", "lds + at(0) + 8"),
        (*RACED, "bounds"),
        arch="gfx1151",
    ),
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
        ("bounds",),
        arch="gfx1151",
    ),
    Mutant("k_of_b_not_guarded", ANY, ("if (k < g.K && column + i", "if (column + i"), ("bounds",), arch="gfx1151"),
    Mutant("stale_a_times_zero", ANY, STALE, BOTH, arch="gfx1151", data="special"),
    Mutant("stale_a_times_zero_finite", ANY, STALE, MAP, arch="gfx1201", data="normal", about="outputs are right"),
    Mutant(
        "stale_lds_times_zero",
        ANY,
        STALE_LDS,
        (*BOTH, "uninitialised"),
        arch="gfx1151",
        parameters={"M": 64, "N": 64, "K": 8},
    ),
    Mutant("row_of_c_not_guarded", ANY, ("if (y < g.M && x < g.N)", "if (x < g.N)"), ("bounds",), arch="gfx1151"),
    Mutant(
        "column_of_c_not_guarded",
        ANY,
        ("if (y < g.M && x < g.N)", "if (y < g.M)"),
        (*BOTH, "bounds", "races"),
        arch="gfx1151",
    ),
    # What a kernel leaves out.
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
    Mutant(
        "next_tile_not_awaited", TILE, ("__syncthreads();  // next tile", "// next tile"), ("races",), arch="gfx1151"
    ),
    Mutant("fetched_too_late", NATIVE, ("SYNC();  // next tile", "WAIT_LDS();  // next tile"), RACED, arch="gfx1201"),
    Mutant(
        "b_not_transposed",
        TILE,
        ("i % b_line * 8 + e, i / b_line)", "i / b_line, i % b_line * 8 + e)"),
        RACED,
        arch="gfx1201",
    ),
]
