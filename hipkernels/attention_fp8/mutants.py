"""Wrong FP8 attention kernels, and the checks that must catch each; and equivalent variants."""

from mfmasim.verify import Mutant

OUT, BOTH, RACES, WAITS, BOUNDS = ("outputs",), ("outputs", "mapping"), ("races",), ("waits",), ("bounds",)
SOME, SCORES, SUMS, GROWING = "forward", "scores", "sums", "forward[data=growing]"
MANY = "forward[queries=(70, 0, 3, 130),keys=(200, 7, 0, 65),heads=4,kv_heads=2,causal=True]"
PAGES, WIDE, COMBINE = "decode", "decode[page=64,heads=12,kv_heads=3,splits=3,data=growing]", "combine"

MUTANTS = [
    # --- tile.h: order
    Mutant("first_tile_not_waited_for", SOME, ("WAIT_DIRECT(0);  // first tile", "// first tile"), RACES),
    Mutant("first_tile_without_barrier", SOME, ("BARRIER();       // first tile", "// first tile"), RACES),
    Mutant("tiles_not_waited_for", SOME, ("ALL_FETCHED() WAIT_DIRECT(0)", "ALL_FETCHED()"), RACES),
    Mutant("tiles_without_barrier", SOME, ("ALL_READ() BARRIER()", "ALL_READ()"), RACES),
    Mutant("tiles_not_waited_for_in_pages", PAGES, ("ALL_FETCHED() WAIT_DIRECT(0)", "ALL_FETCHED()"), RACES),
    Mutant("k_in_flight", SOME, ("WAIT_LDS(); /* K is read */", "/* K is read */"), WAITS),
    Mutant("v_in_flight", SOME, ("WAIT_LDS(); /* V is read */", "/* V is read */"), ("waits", "races")),
    Mutant("k_in_the_slot_being_read", SOME, ("  FETCH_K(slot, (t)", "  FETCH_K((slot) ^ 1, (t)"), (*OUT, *RACES)),
    Mutant("v_in_the_slot_being_read", SOME, ("  FETCH_V((slot) ^ 1,", "  FETCH_V(slot,"), (*OUT, *RACES)),
    # --- tile.h: places
    Mutant("swizzled_read_only", SCORES, ("(lane % 8 ^ swizzle(eight + lane / 8))", "(lane % 8)"), BOTH),
    Mutant("swizzle_of_eight_rows", SUMS, ("swizzle(eight + lane / 8)", "swizzle(lane / 8)"), BOTH),
    Mutant("rows_of_another_sequence", PAGES, ("left > 0 ? (left - 1) * rows.step + HEAD : 0", "8 * rows.step"), OUT,
           about="a weight of 0 meets the NaN of a row that was never written"),
    Mutant("rows_beyond_the_last", SOME, ("left > 0 ? (left - 1) * rows.step + HEAD : 0", "8 * rows.step"), BOUNDS),
    Mutant("keys_in_the_order_of_a_matrix", SUMS, ("row = two / 4 * 8 + half * 4 + two % 4", "row = two + half * 8"),
           BOTH, about="the order of V's rows in a library's kernel whose weights go through the LDS"),
    Mutant("columns_of_16_exchanged", SUMS, ("lane / 16 % 2) ^ swizzle(row)", "(lane / 16 + 1) % 2) ^ swizzle(row)"),
           BOTH),
    Mutant("halves_of_eight_rows_exchanged", SUMS, ("* 16 + lane % 2 * 8;", "* 16 + (lane + 1) % 2 * 8;"), BOTH),
    Mutant("halves_of_k_elsewhere", SCORES, ("((2 * i + half) ^ swizzle", "((i + 4 * half) ^ swizzle"), BOTH),
    Mutant("queries_in_one_half", SCORES, ("at = column * step + 64 * i + 16 * half", "at = column * step + 64 * i"),
           BOTH),
    # --- tile.h: masks
    Mutant("one_key_too_many", MANY, ("r / 4 * 8 + r % 4 < limit", "r / 4 * 8 + r % 4 <= limit"), OUT),
    Mutant("keys_of_the_lower_half_hidden", MANY, ("limit = seen - 4 * (int)half", "limit = seen"), OUT),
    Mutant("last_tile_seen", SOME, ("> all) w.hide", "> all + KEYS) w.hide"), OUT,
           about="rows behind the last key are 0, and so are their scores, not -Inf"),
    Mutant("no_key_is_nan", MANY, ("finite = most == MINUS_INFINITY ? 0.0f : most", "finite = most"), OUT),
    # --- tile.h: weights
    Mutant("largest_of_the_lower_half", SOME, ("fmaxf(__builtin_fmaxf(both.lower, both.upper),", "fmaxf(both.lower,"),
           OUT),
    Mutant("halves_refer_to_their_own", SOME, ("both = halves_of(most);", "both = {most, most};"), OUT),
    Mutant("first_element_of_a_vector", SOME, ("upper = swapped[1];", "upper = swapped[0];"), OUT,
           about="what Clang 22.1 makes of __builtin_bit_cast(float, swapped[1])"),
    Mutant("sums_not_rescaled", GROWING, ("out[i] *= kept;", ";"), OUT),
    Mutant("weights_not_rescaled", GROWING, ("total[0] *= kept, total[1] *= kept;", ";"), OUT),
    Mutant("too_much_headroom", GROWING, ("#define HEADROOM 2.0f", "#define HEADROOM 4.0f"), OUT,
           about="weights above 448 are NaN"),
    Mutant("weights_below_1", SOME, ("#define SHIFT 6.0f", "#define SHIFT 0.0f"), OUT,
           about="small weights are lost; the bound allows it, the replay shows it"),
    Mutant("weights_of_half_the_keys", SOME, ("return both.lower + both.upper;", "return both.lower;"), OUT),
    Mutant("words_exchanged", SOME, ("p[4 * t + r / 4] = ", "p[4 * t + (r / 4 ^ 1)] = "), OUT),
    Mutant("pairs_exchanged", SOME, [("r / 4], false)", "r / 4], true)"), ("low, true)", "low, false)")], OUT),
    Mutant("codes_begin_with_0", SOME, ("p[4 * t + r / 4], false)", "0, false)"), (),
           equivalent="both halves of a word are written"),
    # --- forward.hip
    Mutant("scale_of_k_left_out", SOME, (" * constant(p.scale_k, scales);\n  Wave", ";\n  Wave"), OUT),
    Mutant("scale_of_v_left_out", SOME, ("constant(p.scale_v, scales) / weights", "1.0f / weights"), OUT),
    Mutant("scales_of_the_first_sequence", MANY, ("sequence * p.kv_heads + kv_head, step", "kv_head, step"), OUT),
    Mutant("heads_of_k_in_turn", MANY, ("kv_head = head / (p.heads / p.kv_heads)", "kv_head = head % p.kv_heads"), OUT),
    Mutant("top_left", MANY, ("shift = keys - queries + 1;", "shift = 1;"), OUT),
    Mutant("keys_begin_with_queries", MANY, ("keys_from = constant(p.keys_from, sequence),",
           "keys_from = constant(p.queries_from, sequence),"), OUT),
    Mutant("eight_elements_of_the_other_half", SOME, ("2 * n + 8 * w.half", "2 * n + 8 * (1 - w.half)"), OUT),
    Mutant("halves_not_exchanged", SOME, ("eight[e] = swapped[0], eight[e + 2] = swapped[1];",
           "eight[e] = part[0], eight[e + 2] = part[1];"), OUT),
    Mutant("rows_of_the_next_sequence_written", SOME, ("query < queries ?", "true ?"), (*BOUNDS, *RACES)),
    Mutant("zero_by_zero", MANY, ("weights == 0.0f ? 0.0f : constant", "constant"), OUT),
    Mutant("tiles_of_the_first_query", MANY, ("min(block + QUERIES * WAVES, queries) - 1;", "block;"), OUT),
    # --- decode.hip
    Mutant("table_of_the_first_sequence", PAGES, ("p.tables + (size_t)sequence * p.most_pages", "p.tables"), OUT),
    Mutant("pages_of_16", WIDE, ("((size_t)page << shift)", "((size_t)page << 4)"), OUT),
    Mutant("rows_of_16", WIDE, ("row & ((1 << shift) - 1)", "row & 15"), OUT),
    Mutant("tile_for_split", PAGES, ("from * KEYS, keys, tiles", "number * KEYS, keys, tiles"), OUT),
    Mutant("splits_beyond_the_sequence", PAGES, ("tiles = min(each, all - from)", "tiles = each"), (),
           equivalent="all keys of such a tile are hidden, so that its weights are 0"),
    Mutant("reference_for_base", PAGES, ("f32x2{w.base, weights}", "f32x2{w.reference, weights}"), OUT),
    Mutant("heads_not_grouped", WIDE, ("p.heads + kv_head * group", "p.heads + kv_head"), (*OUT, *RACES)),
    Mutant("queries_that_do_not_exist", PAGES, ("if (w.column >= group) return;", ""),
           (*OUT, *BOUNDS, *RACES, "inputs")),
    Mutant("splits_not_rescaled", COMBINE, ("__builtin_amdgcn_exp2f(one[0] - base)", "1.0f"), OUT),
    Mutant("base_of_an_empty_split", COMBINE, ("if (one[1] != 0.0f) base =", "base ="), OUT),
    Mutant("first_split_twice", COMBINE, ("sums[(row * splits + n)", "sums[(row * splits)"), OUT),
    Mutant("all_splits_empty", COMBINE, ("weights == 0.0f ? 0.0f : scale_v", "scale_v"), OUT),
]  # fmt: skip
