"""Wrong sparse GEMM kernels, and the checks that must catch each; and equivalent variants."""

from mfmasim.verify import Mutant

OUT, BOTH, RACES = ("outputs",), ("outputs", "mapping"), ("races",)
CDNA, FP8, WAVE32, TAIL = "sparse_gemm", "sparse_fp8", "sparse_wave32", "sparse_gemm[M=77,N=256,K=128]"

MUTANTS = [
    # --- the index
    Mutant("index_of_the_other_half", CDNA, ("half ? 0x07050301 : 0x06040200", "half ? 0x06040200 : 0x07050301"), BOTH),
    Mutant("index_bytes_in_order", CDNA, ("half ? 0x07050301 : 0x06040200", "half ? 0x07060504 : 0x03020100"), BOTH),
    Mutant("index_of_the_first_step", CDNA, ("multiply<STEP % PARTS>", "multiply<0>"), BOTH),
    Mutant("abid_reversed", CDNA, ("multiply<STEP % PARTS>", "multiply<3 - STEP>"), BOTH),
    Mutant("index_as_one_set", CDNA, ("index, 0, PART)", "index, 1, PART)"), BOTH),
    Mutant(
        "index_of_the_next_row",
        CDNA,
        (
            "const unsigned at = row + first_m + 32 * i + lane % 32;\n      rows[i] = at",
            "const unsigned at = row + first_m + 32 * i + (lane ^ 1) % 32;\n      rows[i] = at",
        ),
        BOTH,
    ),
    Mutant(
        "index_of_the_first_tile",
        CDNA,
        ("wave.start_index((slot) ^ 1, (t) + 1)", "wave.start_index((slot) ^ 1, 0)"),
        BOTH,
    ),
    Mutant(
        "index_of_the_tile_before",
        CDNA,
        ("wave.start_index((slot) ^ 1, (t) + 1)", "wave.start_index((slot) ^ 1, t)"),
        BOTH,
    ),
    Mutant("positions_of_the_first_half_of_k", FP8, ("[STEP / PARTS]", "[0]"), BOTH),
    Mutant("positions_of_two_steps_exchanged", FP8, ("multiply<STEP % PARTS>", "multiply<STEP % PARTS ^ 1>"), BOTH),
    Mutant("positions_as_of_16_bits", FP8, ("half ? 0x07060302 : 0x05040100", "half ? 0x07050301 : 0x06040200"), BOTH),
    Mutant("kept_rows_of_16_bits", FP8, ("kept_row(p.K / 2 * BYTES)", "kept_row(p.K)"), BOTH),
    Mutant("one_index_for_both_tiles", CDNA, ("sum[i][j], held[slot][i]", "sum[i][j], held[slot][0]"), BOTH),
    Mutant("index_of_the_other_step", WAVE32, (">> 16 * (STEP % 2)", ">> 16 * (1 - STEP % 2)"), BOTH),
    Mutant(
        "index_not_shifted",
        WAVE32,
        ("(short)(held[slot][i][STEP / 2] >> 16 * (STEP % 2))", "(short)held[slot][i][STEP / 2]"),
        BOTH,
    ),
    Mutant("index_of_the_first_steps", "sparse_wave32_fp8", ("[STEP / 2]", "[0]"), BOTH),
    Mutant("index_of_rows_beyond", TAIL, ("rows[i] = at < last ? at : last", "rows[i] = at"), ("bounds",)),
    # --- fragments
    Mutant(
        "kept_of_the_other_half",
        CDNA,
        ("lane % 32, 2 * STEP + half));\n      b[i]", "lane % 32, 2 * STEP + 1 - half));\n      b[i]"),
        BOTH,
    ),
    Mutant(
        "b_of_the_other_half",
        CDNA,
        ("first_n + 32 * i + lane % 32, 2 * STEP + half", "first_n + 32 * i + lane % 32, 2 * STEP + 1 - half"),
        BOTH,
    ),
    Mutant(
        "b_of_the_next_step",
        CDNA,
        ("first_n + 32 * i + lane % 32, 2 * STEP + half", "first_n + 32 * i + lane % 32, 2 * (STEP ^ 1) + half"),
        BOTH,
    ),
    Mutant(
        "halves_of_a_exchanged", WAVE32, ("((words2 *)&a[i])[part] =", "((words2 *)&a[i])[PIECES - 1 - part] ="), BOTH
    ),
    Mutant(
        "fragment_of_16_rows",
        CDNA,
        ("tile.kept + kept_place(first_m + 32 * i + lane % 32", "tile.kept + kept_place(first_m + 32 * i + lane % 16"),
        BOTH,
    ),
    Mutant("kept_in_units_of_dense_k", CDNA, ("at % 4 * 16, k / 2, 0)", "at % 4 * 16, k, 0)"), BOTH),
    # --- the pipeline
    Mutant("first_tile_without_barrier", CDNA, ("__syncthreads();  // first tile", "// first tile"), RACES),
    Mutant("next_tile_without_barrier", CDNA, ("__syncthreads();  /* next tile */", "/* next tile */"), RACES),
    Mutant(
        "stored_over_this_tile",
        CDNA,
        ("fetch.store(tile[(slot) ^ 1]);", "fetch.store(tile[slot]);"),
        ("mapping", "outputs", "races", "uninitialised"),
    ),
    Mutant("last_tile_left_out", CDNA, ("if (t < tiles) STEP(0, t)", ""), OUT),
    Mutant(
        "swizzled_write_only",
        CDNA,
        (
            "kept_place(first_m + 32 * i + lane % 32, 2 * STEP + half)",
            "(first_m + 32 * i + lane % 32) * KEPT_ROW + (2 * STEP + half) * 8",
        ),
        BOTH,
    ),
    Mutant(
        "kept_not_swizzled",
        CDNA,
        ("(unit ^ (row / 2 % 8) ^ (row / 16 % 2)) * 8", "unit * 8"),
        (),
        equivalent="the same elements; bank conflicts are no finding, the table of LDS accesses shows them",
    ),
    Mutant(
        "b_not_swizzled",
        CDNA,
        ("(unit ^ (row / 2 % 8) ^ (row % 2 * 4)) * 16", "unit * 16"),
        (),
        equivalent="the same elements; bank conflicts are no finding, the table of LDS accesses shows them",
    ),
    Mutant(
        "groups_of_four_reversed",
        CDNA,
        (
            "KIND(F16, 2, f16x4, f16x8, f32x16, float, __builtin_amdgcn_smfmac_f32_32x32x16_f16)",
            """#define REVERSED(a, b, c, index, set, part)                                              \\
  __builtin_amdgcn_smfmac_f32_32x32x16_f16(__builtin_shufflevector(a, a, 1, 0, 3, 2),                 \\
                                           __builtin_shufflevector(b, b, 3, 2, 1, 0, 7, 6, 5, 4), c, index, set, part)
KIND(F16, 2, f16x4, f16x8, f32x16, float, REVERSED)""",
        ),
        BOTH,
        about="a dense product would be right: A and B have the same K; the index counts from the group's other end",
    ),
    # --- the result
    Mutant("rows_not_guarded", TAIL, ("if (at <= last)", "if (true)"), ("bounds",)),
    Mutant("rows_of_four_lanes", CDNA, ("8 * (r / 4) + 4 * half + r % 4", "4 * (r / 4) + 16 * half + r % 4"), BOTH),
    Mutant("rows_of_dense_wmma", WAVE32, ("16 * i + 8 * half + r;", "16 * i + 2 * r + half;"), BOTH),
    # --- compress
    Mutant("sign_compared", "compress", ("size[i] = code[i] & 0x7fff", "size[i] = code[i]"), OUT),
    Mutant(
        "last_of_equals",
        "compress",
        ("j < i ? size[j] >= size[i] : size[j] > size[i]", "j < i ? size[j] > size[i] : size[j] >= size[i]"),
        OUT,
    ),
    Mutant(
        "positions_exchanged",
        "compress",
        ("(first | second << 2) << 4 * group", "(second | first << 2) << 4 * group"),
        OUT,
    ),
    Mutant("end_not_guarded", "compress", ("if (at >= count) return;", ""), ("bounds",)),
]
