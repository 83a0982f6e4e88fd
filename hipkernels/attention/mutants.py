"""Wrong attention kernels, and the checks that must catch each."""

from mfmasim.verify import Mutant

OUT, BOTH = ("outputs",), ("outputs", "mapping")
WMMA, MFMA = "wmma[causal=2]", "mfma[causal=2]"
PLAIN, LARGE, HIDDEN = "wmma", "wmma[data=large,causal=2]", "wmma[data=hidden,causal=1,Nkv=40]"
NEGATIVE, STRIDES = "wmma[scale=-0.75]", "wmma[B=2,H=3,Nq=5,Nkv=7,layout=bnhd,v_layout=padded]"
INFINITE = "mfma[data=minus_infinity,H=2]"
SCALAR = "scalar[B=2,H=3,Nq=5,Nkv=7,layout=bnhd,v_layout=padded]"
SCORES, SUMS = "scores[fmt=f16]", "sums[fmt=f16]"
LAST_SEEN = "query + shift + 1"
NO_KEY = "weights == 0 ? 0.0f : sum * inverse"
BASE = "return top == MINUS_INFINITY ? 0.0f : top;"
V_OF = "*reinterpret_cast<const codes8 *>(v + (size_t)(key + row) * g.v.row + d)"

MUTANTS = [
    # Strides.
    Mutant(
        "v_by_the_strides_of_k",
        STRIDES,
        [("g.V + g.v.rows_of(blockIdx.z", "g.V + g.k.rows_of(blockIdx.z"), ("* g.v.row + d", "* g.k.row + d")],
        OUT,
        arch="gfx1151",
        about="right wherever K and V lie alike",
    ),
    Mutant(
        "v_by_the_strides_of_k_scalar",
        SCALAR,
        [("*v = g.V + g.v.rows_of", "*v = g.V + g.k.rows_of"), ("v += g.v.row", "v += g.k.row")],
        OUT,
        arch="gfx1151",
    ),
    Mutant("heads_and_batches_exchanged", STRIDES, ("b * batch + (size_t)h * head", "h * batch + (size_t)b * head"),
           (*OUT, "bounds"), arch="gfx1201"),
    # Sums that go on.
    Mutant("weights_not_scaled_down", PLAIN, ("weights[r] *= kept;  // weights so far", "// weights so far"), OUT,
           arch="gfx1151"),
    Mutant("weights_not_scaled_down_scalar", "scalar",
           ("__builtin_fmaf(weights, kept, weight);", "weights + weight;"), OUT, arch="gfx942"),
    Mutant("sums_not_scaled_down", PLAIN, ("tile.out[c][r] *= kept;  // sums so far", ";  // sums so far"), OUT,
           arch="gfx1201"),
    Mutant("only_the_lane_s_own_weights", PLAIN, ("sum_of_row(weights[r])", "weights[r]"), OUT, arch="gfx1151"),
    Mutant("largest_of_the_lane_alone", MFMA, ("largest_of_row(now)", "now"), OUT, arch="gfx942"),
    Mutant("no_largest", LARGE, (BASE, "return 0.0f;"), OUT, arch="gfx1151", about="powers of large scores overflow"),
    # Masks.
    Mutant("one_key_too_many", "wmma[causal=1]", (LAST_SEEN, "query + shift + 2"), OUT, arch="gfx1151"),
    Mutant("one_key_too_few", WMMA, (LAST_SEEN, "query + shift"), OUT, arch="gfx1151"),
    Mutant("one_key_too_many_scalar", "scalar[causal=2]", (LAST_SEEN, "query + shift + 2"), OUT, arch="gfx950"),
    Mutant("top_left_always", MFMA, ("g.causal == BOTTOM_RIGHT ? g.keys - g.queries : 0", "0"), OUT, arch="gfx942"),
    Mutant("no_key_is_nan", WMMA, (NO_KEY, "sum * inverse"), OUT, arch="gfx1151", about="0 times 1 / 0"),
    Mutant("no_key_is_nan_scalar", "scalar[causal=2]", (NO_KEY, "sum * inverse"), OUT, arch="gfx1201"),
    Mutant("infinity_less_infinity", WMMA, (BASE, "return top;"), OUT, arch="gfx1201"),
    Mutant("infinity_less_infinity_in_the_data", INFINITE, (BASE, "return top;"), OUT, arch="gfx942"),
    Mutant("hidden_by_a_large_number", WMMA, ("s[j][r] * by : MINUS_INFINITY", "s[j][r] * by : -1e30f"), OUT,
           arch="gfx1151", about="a query without keys gets the average of the masked ones"),
    Mutant("hidden_nan_counts", HIDDEN, ("tile.add_seen(key);", "tile.add_all();"), OUT, arch="gfx1151",
           about="0 times NaN"),
    Mutant("tail_of_keys_seen", PLAIN, ("+ (int)tile.column < seen ?", "+ (int)tile.column < seen + 16 ?"), OUT,
           arch="gfx1201", about="zeros behind the last key have the score 0, not -Inf"),
    Mutant("tail_of_v_read", PLAIN, (f"there ? {V_OF} : codes8{{}}", V_OF), (*OUT, "bounds"), arch="gfx1151",
           about="the weights are 0, and RDNA3 counts a product of -0 as a unit of the last place"),
    # Scale.
    Mutant("negative_scale_for_none", NEGATIVE, ("g.scale ? *g.scale", "g.scale && *g.scale >= 0 ? *g.scale"), OUT,
           arch="gfx1151", about="a number that stands for a missing scale"),
    Mutant("scale_0_for_none", "mfma[scale=0.0,Nkv=33]", ("g.scale ? *g.scale", "g.scale && *g.scale ? *g.scale"), OUT,
           arch="gfx942"),
    Mutant("largest_before_the_scale", "wmma[scale=-2.0,data=large,causal=1]",
           ("__builtin_fmaxf(now, t[j])", "__builtin_fmaxf(now, -t[j])"), OUT, arch="gfx1151",
           about="with a negative scale the smallest product has the largest weight"),
    Mutant("powers_of_two_for_e", "scalar", (" * 1.4426950408889634f", ""), OUT, arch="gfx1201"),
    # Order.
    Mutant("tiles_not_awaited", PLAIN, ("__syncthreads();  // tiles are there", "// tiles are there"),
           ("races",), arch="gfx1151"),
    Mutant("tiles_overwritten", PLAIN, ("__syncthreads();  // tiles are read", "// tiles are read"), ("races",),
           arch="gfx1201"),
    # Fragments.
    Mutant("halves_of_the_tile_exchanged", SCORES, ("16 * j + column) * k_line", "16 * (j ^ 1) + column) * k_line"),
           BOTH, arch="gfx1151"),
    Mutant("k_of_the_weights_alone", SUMS, ("line + STEP * i, lane); }", "line + STEP * (i ^ 1), lane); }"), BOTH,
           arch="gfx1151"),
    Mutant("rows_of_gfx12", SCORES, ("return 2 * r + lane / 16;", "return r + lane / 16 * 8;"), BOTH, arch="gfx1151"),
    Mutant("rows_in_register_order", SUMS, ("return r + lane / 16 * 4;", "return 4 * r + lane / 16;"), BOTH,
           arch="gfx950", about="weights and sums: the rows of P and those of O agree, and both are wrong"),
    Mutant("rows_of_weights_and_sums", MFMA, ("return r + lane / 16 * 4;", "return 4 * r + lane / 16;"), OUT,
           arch="gfx942"),
    # Arrays of 64 for D = 128.
    Mutant("arrays_too_small", "any_size[D=128]", ("#define MOST 128", "#define MOST 64"), (*OUT, "bounds"),
           arch="gfx1151"),
]  # fmt: skip
