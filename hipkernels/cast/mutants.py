"""Wrong casts, and the check that must catch each; one unit or one byte is enough.

``mfmasim mutate cast`` compiles and runs them and prints which check caught each.
"""

from mfmasim.verify import Mutant

BULK = "cast[given=f32,target=e4m3,overflow=clamp,data=finite]"
SPECIAL = "cast[given=f32,target=e4m3,overflow=clamp,data=special]"
HALF = "cast[given=bf16,target=e5m2,overflow=plain,data=special]"
MODE = "cast[given=f16,target=e4m3,overflow=ovfl,data=special]"
GRID, TAIL, ONE = "cast_grid[blocks=2]", "cast_count[n=17,given=f32]", "cast_count[n=15,given=f32]"
NOOP, SKIP, SCALE = "cast_noop[noop=2.0]", "cast_noop[noop=1.0]", "cast_scale[scale=7.0,overflow=clamp]"
PRESET, NAN = "cast_amax[preset=-1.0]", "cast_amax_nan[place=4015]"
CROOKED = "cast_crooked[given=f32,input_at=4,output_at=0]"
SCALED, THIN = "scaled_conversion[given=f32,target=e4m3,overflow=clamp]", "transpose_thin[given=bf16]"
READ = "transposed_read[given=f32,target=e4m3]"
TILE, REST = "transpose[given=f32,load=16,store=8]", "transpose_rest[given=f32,target=e4m3]"
PART = "transpose_part[part=tiles,kernel=cast_transpose_f32_e4m3_load8_store2]"
MX, MX_COLUMN = "mx_quantise[given=f32,target=e4m3,way=row]", "mx_quantise[given=f32,target=e4m3,way=column]"
MX_FP4, MX_FP4_COLUMN = "mx_quantise[given=bf16,target=e2m1,way=row]", "mx_quantise[given=f16,target=e2m1,way=column]"
MX_SOFT, MX_SOFT_FP4 = "mx_software[given=f32,target=e4m3,way=row]", "mx_software[given=bf16,target=e2m1,way=row]"
MX_BACK, MX_BACK_FP4 = "mx_dequantise[target=e5m2,way=column]", "mx_dequantise[target=e2m1,way=row]"
MX_RULE = "mx_rule[target=e4m3,rule={}]".format
EDGES, EMPTY, SECOND = (
    "multi[given=f32,target=e4m3,shapes=edges]",
    "multi[shapes=empty]",
    "multi[shapes=many,launch=1]",
)
OUT = ("outputs",)
TILE_NAN, REST_NAN, TILE_ZEROS, TILE_NOOP = (
    "transpose_amax_nan[part=tile,kernel=cast_transpose_f32_e4m3_load4_store2,place=1023]",
    "transpose_amax_nan[part=rest,kernel=cast_transpose_f32_e4m3_rest,place=2047]",
    "transpose_zeros[part=tile,kernel=cast_transpose_f32_e4m3_load4_store2,preset=0.0]",
    "transpose_noop[part=tile,kernel=cast_transpose_f32_e4m3_load4_store2,noop=2.0]",
)
TILED_NAN = (
    "highest = max(highest, magnitude(x));\n        scaled",
    "highest = max(highest, x != x ? 0 : magnitude(x));\n        scaled",
)
MIXED = ("four<To, How>(scaled", "four<To, plain>(scaled")
TILE_STORE = "if (whole) Way::store(tile[column][tidx], (anywhere<Store> *)(across + at));"
BLOCK_AMAX = "highest = max(highest, (uint32_t)magnitude(x[i]));\n  }\n  const"
MED3 = ("x != x ? x : __builtin_amdgcn_fmed3f", "__builtin_amdgcn_fmed3f")

MUTANTS = [
    # --- values beyond the range
    Mutant("first_version", BULK, MIXED, OUT, about="NaN in the bulk, the largest number in the tail"),
    Mutant("first_version_cdna3", BULK, MIXED, OUT, arch="gfx942", about="the same with FNUZ"),
    Mutant("first_version_rdna4", BULK, MIXED, OUT, arch="gfx1201"),
    Mutant("first_version_cdna4", BULK, MIXED, OUT, arch="gfx950"),
    Mutant("nan_becomes_a_number", SPECIAL, MED3, OUT, about="V_MED3_F32 drops the NaN"),
    Mutant("limit_of_the_other_flavour", BULK, ("448.0f", "240.0f"), OUT, arch="gfx950"),
    Mutant("limit_of_ocp_on_fnuz", BULK, ("240.0f", "448.0f"), OUT, arch="gfx942"),
    Mutant("mode_not_entered", MODE, ("  enter_mode<How>();\n", ""), OUT),
    Mutant("mode_bit_beside", MODE, ("1 | 23 << 6", "1 | 22 << 6"), OUT, arch="gfx950"),
    Mutant("mode_entered_though_plain", HALF, ("How == ovfl)", "How == plain)"), OUT),
    # --- packing
    Mutant("both_words_low", BULK, ("pack_two<To, How, true>(x[2]", "pack_two<To, How, false>(x[2]"), OUT),
    Mutant("pair_exchanged", BULK, ("(x[0], x[1], 0)", "(x[1], x[0], 0)"), OUT),
    Mutant("second_pair_twice", BULK, ("(x[0], x[1], 0)", "(x[2], x[3], 0)"), OUT),
    Mutant("quads_reversed", HALF, ("scaled + 4 * i)", "scaled + 12 - 4 * i)"), OUT),
    Mutant("bf16_in_low_half", HALF, ("x.code << 16", "x.code"), OUT),
    Mutant("ordinary_stores", BULK, (
        "__builtin_nontemporal_store(packed, at);",
        "*at = packed;",
    ), ("executes",), about="right bytes, without the hint"),
    # --- scale
    Mutant("bulk_not_scaled", SCALE, ("scaled[i] = x * factor", "scaled[i] = x"), OUT),
    Mutant("tail_not_scaled", ONE, ("alone[4] = {x * factor}", "alone[4] = {x}"), OUT),
    Mutant("divided_by_scale", SCALE, ("scaled[i] = x * factor", "scaled[i] = x / factor"), OUT),
    Mutant("scale_inv_is_scale", SCALE, ("scale_inv[0] = 1.0f / scale", "scale_inv[0] = scale"), OUT),
    Mutant("scale_inv_approximated", SCALE, ("= 1.0f / scale", "= __builtin_amdgcn_rcpf(scale)"),
           OUT, about="V_RCP_F32 of RDNA is a unit off for some scales, as captured"),
    Mutant("scale_inv_of_every_block", GRID, (
        "if (blockIdx.x == 0 && threadIdx.x == 0) scale_inv[0] = 1.0f / scale",
        "if (threadIdx.x == 0) scale_inv[0] = 1.0f / scale",
    ), (), equivalent="every workgroup writes the same bits"),
    # --- amax
    Mutant("amax_of_the_scaled", SCALE, ("highest = max(highest, magnitude(x));\n      scaled",
                                         "highest = max(highest, magnitude(x * factor));\n      scaled"), OUT,
           parameters={"data": "finite"}),
    Mutant("amax_without_tail", "cast_amax_nan[place=4100]", (
        "highest = max(highest, magnitude(x));\n    const float alone", "const float alone"), OUT),
    Mutant("amax_drops_nan", NAN, (
        "highest = max(highest, magnitude(x));\n      scaled",
        "highest = max(highest, x != x ? 0 : magnitude(x));\n      scaled",
    ), OUT, about="what fmaxf does"),
    Mutant("amax_keeps_the_sign", PRESET,
           ("mfmasim::bits<uint32_t>(x) & 0x7fffffff", "mfmasim::bits<uint32_t>(x)"), OUT),
    Mutant("amax_unsigned", PRESET,
           ("atomicMax((int *)amax, highest)", "atomicMax((unsigned *)amax, (unsigned)highest)"),
           OUT, about="a negative preset stays"),
    Mutant("amax_stored", GRID, ("atomicMax((int *)amax, highest)", "*(int *)amax = highest"), ("outputs", "races"),
           parameters={"n": 4097, "blocks": 2}),
    Mutant("amax_of_half_a_wave", NAN, ("int step = warpSize / 2", "int step = warpSize / 4"), OUT),
    Mutant("amax_of_the_first_wave", NAN, ("i < waves; ++i", "i < 1; ++i"), OUT),
    Mutant("amax_without_barrier", BULK, ("  __syncthreads();\n", ""), ("races",)),
    # --- counts
    Mutant("tail_left_out", TAIL, ("last < n)", "last < 0)"), OUT),
    Mutant("tail_one_too_far", TAIL, ("last < n)", "last <= n)"), ("bounds",)),
    Mutant("tail_from_the_start", TAIL,
           ("bulk * EACH + threadIdx.x", "threadIdx.x"), (), equivalent="the first 16 again"),
    Mutant("bulk_rounded_up", TAIL, ("bulk = n / EACH", "bulk = (n + EACH - 1) / EACH"), ("bounds", "outputs")),
    Mutant("every_other_round", "cast_grid[blocks=1]", ("v < bulk; v += step", "v < bulk; v += 2 * step"), OUT),
    Mutant("grid_too_wide", GRID, ("(int64_t)gridDim.x * THREADS", "(int64_t)(gridDim.x + 1) * THREADS"), OUT),
    # --- addresses
    Mutant("amax_misaligned", CROOKED, (), ("alignment", "outputs"), parameters={"amax_at": 2},
           about="no mode serves atomics that are not aligned"),
    Mutant("scale_misaligned", CROOKED, (), ("bounds", "outputs"), parameters={"scale_at": 2},
           about="a scalar load ignores the two low bits, here those of the buffer's address"),
    # --- noop
    Mutant("noop_by_truth", NOOP, ("noop[0] == 1.0f", "noop[0] != 0.0f"), OUT),
    Mutant("noop_ignored", SKIP, ("noop && noop[0] == 1.0f", "noop && noop[0] == -7.0f"), OUT),
    Mutant("noop_still_defines_scale_inv", SKIP, (
        "if (skipped(noop)) return;", "if (skipped(noop)) return define_scale_inv(scale[0], scale_inv);"), OUT),
    Mutant("noop_null_read", BULK, ("noop && noop[0]", "noop[0]"), ("bounds",)),
    # --- cast and transpose
    Mutant("tile_read_before_it_is_written", TILE,
           ("columns[j][turn];\n    __syncthreads();", "columns[j][turn];"), ("races",)),
    Mutant("tile_written_before_it_is_read", TILE, (
        "(tile[column][tidx] >> 8 * i);\n    }\n    __syncthreads();",
        "(tile[column][tidx] >> 8 * i);\n    }"), ("races",)),
    Mutant("tile_not_turned", TILE, ("tile[column][tidx], (any", "tile[tidx][column], (any"), OUT),
    Mutant("columns_of_one_turn", TILE, ("columns[j][turn];", "columns[j][0];"), OUT),
    Mutant("columns_backwards", TILE, ("<< 8 * i;", "<< 8 * (Store - 1 - i);"), OUT),
    Mutant("byte_of_the_neighbour", TILE, ("packed >> 8 * j", "packed >> 8 * (j ^ 1)"), OUT),
    Mutant("sign_lost_on_the_way", TILE, ("8 * j & 0xff", "8 * j & 0x7f"), OUT),
    Mutant("transposed_not_saturated", TILE,
           ("word<Store>)(packed >> 8 * j", "word<Store>)(pack_four<To, plain>(scaled) >> 8 * j"), OUT,
           about="the rowwise output is right"),
    Mutant("stores_without_hint", TILE, ("__builtin_nontemporal_store(value, at);", "*at = value;"), ("executes",)),
    Mutant("tiles_go_across", PART, [
        ("blockIdx.x % tiles_down", "blockIdx.x / tiles_down"),
        ("blockIdx.x / tiles_down) * WIDTH", "blockIdx.x % tiles_down) * WIDTH"),
    ], (), equivalent="as many tiles down as across"),
    Mutant("part_from_the_first_row", PART, ("top = first_row +", "top ="), OUT),
    Mutant("part_from_the_first_column", PART, ("left = first_col +", "left ="), OUT),
    Mutant("strides_exchanged", PART, ("at = col * rows + row;", "at = col * cols + row;"), OUT,
           parameters={"rows": 195}),
    Mutant("rest_left_out", REST, ("place < high * wide", "place < high * wide - 1"), OUT),
    Mutant("rest_one_too_many", REST, ("place < high * wide", "place <= high * wide"), ("bounds", "outputs", "races")),
    Mutant("rest_not_turned", REST, ("across[col * rows + row]", "across[row * cols + col]"), OUT),
    Mutant("rest_amax_dropped", REST, ("highest = magnitude(x);\n    const uint8_t", "const uint8_t"), OUT),
    # --- corners on tiles, without tiles, over many tensors
    Mutant("tile_amax_drops_nan", TILE_NAN, TILED_NAN, OUT, about="what fmaxf does"),
    Mutant("rest_amax_drops_nan", REST_NAN, (
        "highest = magnitude(x);\n    const uint8_t", "highest = x != x ? 0 : magnitude(x);\n    const uint8_t"), OUT),
    Mutant("many_amax_drops_nan", "multi_corners[corner=nan]", TILED_NAN, OUT),
    Mutant("tile_negative_zero_lost", TILE_ZEROS, ("scaled[j] = x * factor", "scaled[j] = x * factor + 0.0f"), OUT,
           arch="gfx950"),
    Mutant("tile_noop_by_truth", TILE_NOOP, ("noop[0] == 1.0f", "noop[0] != 0.0f"), OUT),
    Mutant("many_nan_becomes_a_number", "multi_corners[corner=scale]", MED3, OUT),
    Mutant("many_amax_unsigned", "multi_corners[corner=preset]",
           ("atomicMax((int *)amax, highest)", "atomicMax((unsigned *)amax, (unsigned)highest)"), OUT),
    # --- transposed reads
    Mutant("read_before_it_is_written", READ, (
        "= packed;\n  }\n  __syncthreads();", "= packed;\n  }"), ("races",)),
    Mutant("read_halves_exchanged", READ, ("col + t % 2 * EIGHT", "col + (t % 2 ^ 1) * EIGHT"), OUT),
    Mutant("read_rows_in_order_of_lanes", READ, (
        "&tile[row + t / 2][col + t % 2 * EIGHT]", "&tile[row + t % 8][col + t / 8 * EIGHT]"), OUT,
        about="as a plain layout would have it: two lanes share a row"),
    Mutant("read_not_transposed", READ, (
        "__builtin_amdgcn_ds_read_tr8_b64_v2i32(\n        (__attribute__((address_space(3))) eight_bytes *)&",
        "*((__attribute__((address_space(3))) eight_bytes *)&",
    ), ("executes", "outputs")),
    Mutant("read_as_16_bits", READ, [
        ("= __builtin_amdgcn_ds_read_tr8_b64_v2i32(", "= (eight_bytes)__builtin_amdgcn_ds_read_tr16_b64_v4i16("),
        ("address_space(3))) eight_bytes *)&tile", "address_space(3))) vector<short, 4> *)&tile"),
    ], ("executes", "outputs")),
    Mutant("read_stored_by_the_lane", READ, ("(left + col + t) * rows", "(left + col + t / 2) * rows"), OUT),
    # --- many tensors
    Mutant("search_off_by_one", EDGES, ("all.first[middle] <= block", "all.first[middle] < block"), OUT,
           about="the first workgroup of a tensor goes to the one before"),
    Mutant("search_stops_early", EDGES, ("high - low > 1", "high - low > 2"), OUT),
    Mutant("search_through_all_places", EDGES, ("high = all.count", "high = MOST"), ("bounds", "outputs")),
    Mutant("search_skips_one", EMPTY,
           ("low = middle;\n    else high = middle", "low = middle;\n    else high = middle - 1"), OUT),
    Mutant("table_one_late", EDGES, (), OUT, parameters={"table_fault": "late"}),
    Mutant("table_one_short", EDGES, (), OUT, parameters={"table_fault": "short"}),
    Mutant("tensor_257_lost", SECOND, (), ("executes", "outputs"), parameters={"table_fault": "lost"},
           about="the only one of the second launch"),
    Mutant("scale_of_the_first_tensor", EDGES, ("all.scale[mine][0]", "all.scale[0][0]"), OUT),
    Mutant("amax_of_the_first_tensor", EDGES, ("all.amax[mine]", "all.amax[0]"), OUT),
    Mutant("scale_inv_where_there_is_work", EMPTY, (
        "all.scale_inv[each][0] = 1.0f", "if (all.rows[each] * all.cols[each]) all.scale_inv[each][0] = 1.0f"), OUT),
    Mutant("scale_inv_of_the_first_tensor", EDGES, ("each < all.count; each +=", "each < 1; each +="), OUT),
    Mutant("tiles_rounded_down", EDGES, ("(rows + SIDE * STORE - 1) / (SIDE * STORE)", "rows / (SIDE * STORE)"), OUT),
    Mutant("edge_read_across_the_row", EDGES,
           ("if (row < rows && col + j < cols) given", "if (row < rows) given"), ("bounds",)),
    Mutant("edge_written_across_the_row", EDGES,
           ("if (row < rows && col + j < cols) out", "if (row < rows) out"), ("bounds", "outputs", "races")),
    Mutant("edge_of_the_transposed_open", EDGES,
           ("if (row + i < rows && col < cols)", "if (col < cols)"), ("bounds", "outputs", "races")),
    Mutant("edge_tile_taken_for_whole", EDGES,
           ("top + SIDE * Store <= rows && left", "left"), ("bounds", "outputs", "races", "uninitialised")),
    Mutant("edge_tile_of_the_exact_size", EDGES,
           ("left + SIDE * Wide <= cols", "left + SIDE * Wide < cols"), (), equivalent="slower"),
    Mutant("many_noop_ignored", "multi_idle[shapes=empty,noop=1.0]",
           ("noop && noop[0] == 1.0f", "noop && noop[0] == -7.0f"), OUT),
    # --- scales by block: the scale
    Mutant("scale_one_too_large", MX, ("top_exponent<To> + up", "top_exponent<To> + 1 + up"), OUT, arch="gfx950"),
    Mutant("scale_one_too_small", MX_FP4, ("top_exponent<To> + up", "top_exponent<To> - 1 + up"), OUT, arch="gfx950"),
    Mutant("scale_not_rounded_up", MX_RULE("rceil"), ("up = mantissa > top_mantissa<To>", "up = 0"), OUT),
    Mutant("scale_up_from_the_top_on", MX_RULE("rceil"), ("> top_mantissa<To>", ">= top_mantissa<To>"), OUT),
    Mutant("scale_always_up", MX_RULE("ceil"), ("up = mantissa != 0", "up = 1"), OUT),
    Mutant("scale_even_without_carry", MX_RULE("even"), ("(22 - mantissa_bits<To>)", "(21 - mantissa_bits<To>)"), OUT),
    Mutant("scale_of_a_nan_lost", MX, ("return 0xff;", "return 0xfe;"), OUT, arch="gfx950"),
    Mutant("scale_of_an_infinity_is_a_nan", MX, ("return 0xfe;", "return 0xff;"), OUT, arch="gfx950"),
    Mutant("smallest_scale_below_zero", MX, ("return max(0, (int)(highest >> 23)", "return (int)((highest >> 23)"), OUT,
           arch="gfx950", about="blocks of zeros and denormals"),
    # --- the block
    Mutant("amax_along_the_other_axis", MX_COLUMN, (
        BLOCK_AMAX, BLOCK_AMAX.replace("x[i]", "widen(in[first * cols + min(col / BLOCK * BLOCK + i, cols - 1)])"),
    ), OUT, arch="gfx950"),
    Mutant("block_begins_a_row_early", MX_COLUMN, (
        BLOCK_AMAX, BLOCK_AMAX.replace("x[i]", "widen(in[max(min(first + i, rows) - 1, (int64_t)0) * cols + col])"),
    ), OUT, arch="gfx950"),
    Mutant("amax_of_half_a_block", MX, ("higher(higher(highest, 1), 2)", "higher(highest, 1)"), OUT, arch="gfx950"),
    Mutant("amax_of_two_half_blocks", MX, ("higher(higher(highest, 1), 2)", "higher(higher(highest, 1), 4)"), OUT,
           arch="gfx950", parameters={"cols": 128, "data": "finite"}),
    Mutant("last_block_left_out", MX, ("blocks = (cols + BLOCK - 1) / BLOCK, place", "blocks = cols / BLOCK, place"),
           OUT, arch="gfx950"),
    Mutant("rows_of_whole_words", MX, ("if (count == EACH) *(anywhere<uint64_t>", "if (true) *(anywhere<uint64_t>"),
           ("bounds", "outputs", "races"), arch="gfx950"),
    # --- elements
    Mutant("scaled_without_saturation", MX, ("    enter_scaled();", "    ;"), OUT, arch="gfx950",
           about="the rule of OCP lets the largest numbers saturate, MODE must enable it"),
    Mutant("scale_applied_twice", MX_SOFT, ("x[i] * inverse;", "x[i] * inverse * inverse;"), OUT, arch="gfx942"),
    Mutant("limit_of_fnuz_for_mx", MX_SOFT, ("top<To>, -top<To>", "largest<To>, -largest<To>"), OUT, arch="gfx942"),
    Mutant("fnuz_for_mx", MX_SOFT, ("mfmasim::e4m3fn : mfmasim::e5m2, true", "mfmasim::e4m3fnuz : mfmasim::e5m2, true"),
           OUT, arch="gfx942"),
    Mutant("nibbles_swapped", MX_FP4, ("fp4_f32(0, x[0], x[1]", "fp4_f32(0, x[1], x[0]"), OUT, arch="gfx950"),
    Mutant("nibbles_swapped_in_software", MX_SOFT_FP4, ("<< 32 / Each * i;", "<< 32 / Each * (i ^ 1);"), OUT,
           arch="gfx1201"),
    Mutant("fp4_byte_twice", MX_FP4_COLUMN, ("x[4], x[5], scale, 2)", "x[4], x[5], scale, 1)"), OUT, arch="gfx950"),
    Mutant("fp4_not_filled_with_zero", MX_FP4, (
        "if (count < EACH) word &= (1u << 4 * max(count, 0)) - 1;", ""), OUT, arch="gfx950"),
    Mutant("fp4_line_rounded_down", MX_FP4_COLUMN, ("out + col * ((rows + 1) / 2)", "out + col * (rows / 2)"),
           ("outputs", "races"), arch="gfx950", parameters={"rows": 71}),
    # --- and back
    Mutant("smallest_scale_is_zero", MX_BACK, ("(uint32_t)code << 23 : 0x400000u", "(uint32_t)code << 23 : 0u"), OUT,
           arch="gfx942"),
    Mutant("back_with_the_neighbours_scale", MX_BACK, ("row / BLOCK * cols + col", "row / BLOCK * cols + (col ^ 1)"),
           OUT, arch="gfx950", parameters={"cols": 108}),
    Mutant("back_with_the_other_nibble", MX_BACK_FP4, ("(code, place % 2, scale)", "(code, place % 2 == 0, scale)"),
           OUT, arch="gfx950"),
    # --- right bytes from the wrong elements: data that hide it
    Mutant("transpose_hidden_by_symmetry", "transpose_rest_moves[given=f32]",
           ("across[col * rows + row]", "across[row * cols + col]"), ("mapping",),
           parameters={"rows": 40, "cols": 40, "data": "symmetric"}),
    Mutant("tile_hidden_by_symmetry", "transpose_moves[given=f32,load=8,store=2]", (
        TILE_STORE,
        "if (whole) for (int i = 0; i < Store; ++i) across[(row + i) * cols + col] = tile[column][tidx] >> 8 * i;",
    ), ("mapping",), parameters={"data": "symmetric"}),
    Mutant("other_axis_hidden_by_signs", "mx_moves[given=f32,target=e4m3,way=column]", (
        BLOCK_AMAX, BLOCK_AMAX.replace("x[i]", "widen(in[first * cols + min(col / BLOCK * BLOCK + i, cols - 1)])"),
    ), ("mapping",), arch="gfx950", parameters={"data": "signs"}),
    Mutant("boundary_hidden_by_signs", "mx_moves[given=f32,target=e2m1,way=column]", (
        BLOCK_AMAX, BLOCK_AMAX.replace("x[i]", "widen(in[max(min(first + i, rows) - 1, (int64_t)0) * cols + col])"),
    ), ("mapping",), arch="gfx950", parameters={"data": "signs"}),
    Mutant("half_a_block_hidden_by_signs", "mx_moves[given=f32,target=e4m3,way=row]",
           ("higher(higher(highest, 1), 2)", "higher(highest, 1)"), ("mapping",), arch="gfx950",
           parameters={"data": "signs", "cols": 128}),
    Mutant("amax_of_half_the_elements", "cast_amax_of[given=f32]", (
        "highest = max(highest, magnitude(x));\n      scaled",
        "if (i % 2) highest = max(highest, magnitude(x));\n      scaled"),
        ("mapping",), arch="gfx950", parameters={"data": "alike"}),
    Mutant("bytes_exchanged_in_equal_pairs", "cast_moves[given=f32,target=e4m3,overflow=clamp]",
           ("(x[0], x[1], 0)", "(x[1], x[0], 0)"), ("mapping",), arch="gfx950",
           parameters={"data": "pairs", "n": 1024}),  # the elements of a tail are no pairs
    # --- flat_ways.hip and the rejected tiles
    Mutant("scaled_conversion_not_clamped", SCALED, ("How == clamp ? clamped<To>(x[i]) : x[i]", "x[i]"), OUT),
    Mutant("scaled_conversion_divides", SCALED, ("limited[1], 1.0f, false", "limited[1], 2.0f, false"), OUT),
    Mutant("scaled_conversion_by_its_exponent", SCALED, ("1.0f, true", "1.5f, true"), (),
           equivalent="of the instruction's scale the exponent alone counts (operands-scale-mantissa says so)"),
    Mutant("scaled_conversion_by_the_plain_one", SCALED, ("struct by_scaled_conversion : usual {",
           "struct by_scaled_conversion : usual {};\nstruct by_nothing : usual {"), ("executes",)),
    Mutant("loads_without_the_hint", "hinted_loads[given=bf16]",
           ("__builtin_nontemporal_load((const vector<uint32_t, 4> *)at + i)", "((const vector<uint32_t, 4> *)at)[i]"),
           ("executes",)),
    Mutant("wide_upper_half_lost", "transpose_wide[given=bf16,load=16,store=8]",
           ("(x + 4) << 32", "(x + 4) << 24"), OUT),
    Mutant("two_tiles_overlap", "transpose_two_tiles[given=bf16,load=8,store=8,high=2,across=3]",
           ("* WIDTH * Across", "* WIDTH"), OUT),
    Mutant("thin_rest_stored_whole", THIN, ("if (count == EIGHT) __builtin", "if (count) __builtin"),
           ("bounds", "outputs", "races")),
    Mutant("thin_column_beyond", THIN, ("mine < wide && start", "start"), ("bounds", "races")),
    Mutant("thin_rows_of_the_first", THIN, ("start = blockIdx.y * EIGHT;", "start = 0;"), OUT),
    Mutant("baseline_bytes_exchanged", "transpose_baseline[given=f32,load=8,store=8]",
           ("x[i]) << 8 * i", "x[i ^ 1]) << 8 * i"), OUT),
    Mutant("baseline_with_the_hint", "flat_baseline[given=f32]", (
        "vector<uint32_t, 4> *at) { *at = packed; }",
        "vector<uint32_t, 4> *at) { __builtin_nontemporal_store(packed, at); }"), ("executes",)),
    Mutant("only_cast_turns", "transpose_only_cast[given=bf16,load=8,store=8]",
           ("if constexpr (!Turned) return highest;", ""), OUT),
    Mutant("short_tile_of_the_first_column", "transpose_short[given=f32,load=16,store=1]",
           ("(word<Store>)(packed >> 8 * j & 0xff)", "(word<Store>)(packed & 0xff)"), OUT),
]  # fmt: skip
