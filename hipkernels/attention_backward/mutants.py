"""Wrong kernels of attention backward, and the checks that must catch each; and equivalent variants."""

from mfmasim.verify import Mutant

OUT, BOTH, MAPPING, RACES, BOUNDS = ("outputs",), ("outputs", "mapping"), ("mapping",), ("races",), ("bounds",)
KEYS, QUERIES, SCORES, SUMS, ROWS = "dkdv", "dq", "scores[D=64,which=0]", "sums[D=64,which=0]", "delta_64"
TOP_LEFT, BOTTOM_RIGHT = "dkdv[causal=1]", "dkdv[causal=2]"
HEADS, BNHD = "dkdv[B=2,H=2,G=3,Nq=21,Nkv=9,bnhd=kq]", "dkdv[H=2,Nq=40,Nkv=64,bnhd=vo]"
LOW, BETWEEN = "dkdv[data=low]", "dkdv[scale=0.0,data=between]"
LONG = "dkdv[causal=2,Nq=140,Nkv=200]"
CDNA, RDNA = "gfx942", "gfx1201"


def of_queries(case: str) -> str:
    """The same variant of the kernel of dQ."""
    return case.replace("dkdv", "dq")


MUTANTS = [
    # matrix.h
    Mutant(
        "rows_of_the_sums_in_order",
        SCORES,
        ("return r % 4 + r / 4 * 8 + 4 * half;", "return r + 16 * half;"),
        (*BOTH, "races", "uninitialised"),
        arch=CDNA,
    ),
    Mutant(
        "rows_of_rdna3", SCORES, ("return r + 8 * half;", "return 2 * r + half;"), (*BOTH, "uninitialised"), arch=RDNA
    ),
    Mutant(
        "halves_of_k_exchanged_in_a",
        SCORES,
        ("32x32x8bf16_1k(a.lo, b.lo, c", "32x32x8bf16_1k(a.hi, b.lo, c"),
        BOTH,
        arch=CDNA,
    ),
    Mutant(
        "weights_truncated",
        BETWEEN,
        [("  a += 0x7fff + (a >> 16 & 1);", ""), ("  b += 0x7fff + (b >> 16 & 1);", "")],
        OUT,
        arch=CDNA,
        about="an error of nearly a unit of bf16, always down",
    ),
    Mutant("weights_exchanged_in_pairs", KEYS, ("perm(b, a, 0x07060302)", "perm(a, b, 0x07060302)"), OUT, arch=RDNA),
    # tiles.h: by rows and by columns
    Mutant(
        "rows_stored_without_swizzle",
        SCORES,
        ("in_row<D>(first + t, d / 8) + d % 8", "(first + t) * D + d"),
        BOTH,
        arch=CDNA,
    ),
    Mutant(
        "columns_stored_without_swizzle",
        SUMS,
        ("in_column(d + t, quad / 2) + quad % 2 * 4", "(d + t) * PASSING + quad * 4"),
        BOTH,
        arch=RDNA,
    ),
    Mutant(
        "no_swizzle_of_rows",
        KEYS,
        ("(part ^ row % 8 ^ row / 8 % 2 * (D == 64 ? 5 : 12)) * 8", "part * 8"),
        (),
        arch=CDNA,
        equivalent="only bank conflicts, which the table of LDS accesses shows",
    ),
    Mutant(
        "columns_in_the_order_of_rows",
        SUMS,
        ("quad / 4 * 16 + row_of(quad % 2 * 4, quad / 2 % 2)", "quad * 4"),
        BOTH,
        arch=CDNA,
        about="on RDNA4 they are in this order",
    ),
    Mutant(
        "halves_of_a_column_exchanged",
        SUMS,
        ("quad / 2) + quad % 2 * 4", "quad / 2) + (1 - quad % 2) * 4"),
        BOTH,
        arch=RDNA,
    ),
    Mutant(
        "columns_not_transposed",
        SUMS,
        ("codes4{of[n][0][t], of[n][1][t], of[n][2][t], of[n][3][t]}", "of[n][t]"),
        BOTH,
        arch=CDNA,
    ),
    Mutant("halves_of_the_wave_read_alike", SUMS, ("2 * i + lane / SIDE;", "2 * i;"), BOTH, arch=CDNA),
    Mutant(
        "k_permuted_in_one_operand", SCORES, ("2 * i + lane / SIDE)", "i + D / 16 * (lane / SIDE))"), BOTH, arch=RDNA
    ),
    Mutant(
        "steps_of_the_weights_exchanged",
        KEYS,
        ("rounded(s, 8 * i)", "rounded(s, 8 * (SIDE / 16 - 1 - i))"),
        OUT,
        arch=CDNA,
    ),
    # tiles.h: the end
    Mutant(
        "rows_behind_the_last_one_not_0",
        SUMS,
        ("if (there < PASSING)\n", "if (false)\n"),
        MAPPING,
        arch=CDNA,
        about="their weights are 0, and 0 times NaN is NaN",
    ),
    Mutant(
        "rows_behind_the_last_one_loaded",
        KEYS,
        ("min(row + (int)first + t, last)", "(row + (int)first + t)"),
        BOUNDS,
        arch=RDNA,
    ),
    Mutant(
        "lse_behind_the_last_one",
        LOW,
        ("row < there ? factor * LOG2_E : __builtin_inff()", "factor * LOG2_E"),
        OUT,
        arch=CDNA,
        about="a row of zeros has the score 0 and the weight exp(-LSE), which may be Inf",
    ),
    Mutant(
        "lse_loaded_behind_the_last_one",
        KEYS,
        ("[min(row + (int)threadIdx.x % PASSING, last)]", "[row + (int)threadIdx.x % PASSING]"),
        BOUNDS,
        arch=RDNA,
    ),
    # backward.h: what belongs to a query
    Mutant("lse_not_in_powers_of_two", KEYS, ("? factor * LOG2_E", "? factor"), OUT, arch=CDNA),
    Mutant("delta_added", KEYS, ("? -factor : lse", "? factor : lse"), OUT, arch=RDNA),
    Mutant("delta_left_out", QUERIES, ("begin[r] = less", "begin[r] = 0"), OUT, arch=CDNA),
    Mutant(
        "lse_of_another_batch",
        HEADS,
        ("b * gridDim.y + head) * g.group * g.queries;", "b * gridDim.y + head) * g.queries;"),
        OUT,
        arch=CDNA,
    ),
    Mutant(
        "lse_of_another_batch_in_dq",
        of_queries(HEADS),
        ("((size_t)b * gridDim.y + head) * g.queries + row", "head * (size_t)g.queries + row"),
        OUT,
        arch=RDNA,
    ),
    # backward.h: heads
    Mutant("first_head_of_the_group", HEADS, ("begin + g.group : begin + 1", "begin + 1 : begin + 1"), OUT, arch=RDNA),
    Mutant(
        "heads_of_the_group_apart",
        of_queries(HEADS),
        ("blockIdx.y * g.group : blockIdx.y / g.group", "blockIdx.y * g.group : blockIdx.y % 2"),
        OUT,
        arch=CDNA,
    ),
    Mutant(
        "next_head_begins_at_row_0",
        "dkdv[H=1,G=2,Nq=129,Nkv=20,causal=2]",
        ("row = start, ++head", "row = 0, ++head"),
        (),
        arch=CDNA,
        equivalent="the rows before see no key of the block: only time",
    ),
    # backward.h: masks
    Mutant("one_query_too_many", TOP_LEFT, ("number - shift + 1;", "number - shift;"), OUT, arch=CDNA),
    Mutant("one_query_too_few", BOTTOM_RIGHT, ("number - shift + 1;", "number - shift + 2;"), OUT, arch=RDNA),
    Mutant(
        "one_key_too_many",
        of_queries(TOP_LEFT),
        ("min(number + shift, g.keys)", "min(number + shift + 1, g.keys)"),
        OUT,
        arch=CDNA,
    ),
    Mutant(
        "one_key_too_few",
        of_queries(BOTTOM_RIGHT),
        ("min(number + shift, g.keys)", "min(number + shift - 1, g.keys)"),
        OUT,
        arch=RDNA,
    ),
    Mutant("top_left_always", BOTTOM_RIGHT, ("g.keys - g.queries + 1 : 1", "1 : 1"), OUT, arch=CDNA),
    Mutant("mask_by_the_first_key", TOP_LEFT, ("row < limit(first + SIDE - 1)", "row < limit(first)"), OUT, arch=CDNA),
    Mutant(
        "mask_by_the_last_query",
        of_queries(TOP_LEFT),
        ("row + SIDE > limit(first)", "row + SIDE > limit(first + SIDE - 1)"),
        OUT,
        arch=RDNA,
    ),
    Mutant(
        "keys_behind_the_last_one_seen",
        of_queries(LOW),
        (": row + SIDE > limit(first))", ": g.causal && row + SIDE > limit(first))"),
        OUT,
        arch=CDNA,
        about="their rows of K are 0, and the weight exp(-LSE) may be Inf",
    ),
    Mutant(
        "mask_of_the_next_block", LONG, ("add_rows(from, here + from)", "add_rows(from, row + from)"), OUT, arch=CDNA
    ),
    Mutant("begins_at_the_last_key", TOP_LEFT, ("max(limit(block), 0)", "max(limit(block + SIDE), 0)"), OUT, arch=CDNA),
    Mutant(
        "begins_at_row_0",
        LONG,
        ("max(limit(block), 0)", "0"),
        (),
        arch=RDNA,
        equivalent="the rows before see no key of the block: only time",
    ),
    Mutant(
        "ends_at_the_first_query",
        of_queries(TOP_LEFT),
        ("limit(min(block + OWN, g.queries) - 1)", "limit(block)"),
        OUT,
        arch=RDNA,
    ),
    # backward.h: strides, scale, outputs
    Mutant(
        "v_by_the_strides_of_k",
        BNHD,
        ("g.V + g.v.rows_of(b, head) + row * g.v.row", "g.V + g.k.rows_of(b, head) + row * g.k.row"),
        OUT,
        arch=CDNA,
    ),
    Mutant(
        "do_by_the_strides_of_q",
        BNHD,
        ("g.dO + g.o.rows_of(b, head), g.o.row", "g.dO + g.q.rows_of(b, head), g.q.row"),
        OUT,
        arch=RDNA,
    ),
    Mutant(
        "v_by_the_strides_of_k_in_dq",
        of_queries(BNHD),
        ("g.V + g.v.rows_of(b, head), g.v.row", "g.V + g.k.rows_of(b, head), g.k.row"),
        OUT,
        arch=RDNA,
    ),
    Mutant(
        "dk_not_scaled", KEYS, ("row(dK, g.k), pass.out, pass.scale", "row(dK, g.k), pass.out, 1.0f"), OUT, arch=CDNA
    ),
    Mutant("dv_scaled", KEYS, ("pass.values, 1.0f", "pass.values, pass.scale"), OUT, arch=RDNA),
    Mutant(
        "dq_scaled_by_log2_e_too",
        QUERIES,
        ("row(dQ, g.q), pass.out, pass.scale", "row(dQ, g.q), pass.out, pass.by"),
        OUT,
        arch=CDNA,
    ),
    Mutant(
        "dk_and_dv_exchanged",
        KEYS,
        ("row(dK, g.k), pass.out, pass.scale", "row(dK, g.k), pass.values, pass.scale"),
        OUT,
        arch=RDNA,
    ),
    Mutant("kept_key_behind_the_last_one", KEYS, ("row = min(own, g.keys - 1)", "row = own"), BOUNDS, arch=CDNA),
    Mutant(
        "keys_behind_the_last_one_stored",
        KEYS,
        ("if (pass.own >= (P::OF_KEYS ? g.keys : g.queries)) return;", ""),
        (*BOUNDS, *RACES),
        arch=CDNA,
    ),
    # backward.h: order
    Mutant(
        "block_overwritten",
        KEYS,
        ("__syncthreads();  // the block before is read", "// the block before is read"),
        RACES,
        arch=CDNA,
    ),
    Mutant(
        "block_not_awaited",
        QUERIES,
        ("__syncthreads();  // the block is there", "// the block is there"),
        RACES,
        arch=RDNA,
    ),
    Mutant(
        "loads_behind_the_last_head", KEYS, ("if (head < end) load(row, head);", "load(row, head);"), BOUNDS, arch=RDNA
    ),
    # backward.h: delta
    Mutant("lanes_4_apart_not_summed", ROWS, ("  sum += OTHER(sum, 0x141);", ""), OUT, arch=CDNA),
    Mutant("rows_of_16_lanes_not_summed", "delta_128", ("if (lanes == 16)", "if (lanes == 8)"), OUT, arch=RDNA),
    Mutant("rows_of_8_lanes_summed_twice", ROWS, ("if (lanes == 16)", "if (true)"), OUT, arch=RDNA),
    Mutant("rows_behind_the_last_one_stored", ROWS, (" && number < queries", ""), (*BOUNDS, *RACES), arch=CDNA),
]
