"""GEMM kernels with a wrong element that shows at some sizes only: what `fragments` may not prove."""

from __future__ import annotations

from typing import Any

from mfmasim.verify import Mutant

DIRECT, VECTOR, DOUBLE = "direct_pairs", "vectorised_pairs", "double_buffer_pairs"
FETCH_A, FETCH_B = (
    "fetch<S, BLOCK, WAVES>(a_tile, a_rows, 0, g.lda, k0",
    "fetch<S, BLOCK, WAVES>(b_tile, b_rows, 0, g.ldb, k0",
)
READ_A, READ_B = "start_read<S>(a, a_tile, wave_m, lane)", "start_read<S>(b, b_tile, wave_n, lane)"
ROWS_A = "rows_of(g.A, row, BLOCK"
NEXT_A = "fetch<S, BLOCK, WAVES>(a_tile[slot ^ 1], a_rows, 0, g.lda, (t + 1) * TILE_K"
LOOP = "  f32x4 sum = {};\n  for (int k0 = 0; k0 < g.K; k0 += TILE_K) {\n    fetch"
SUM = "    sum = multiply(sum, a, b);\n"
FINISH = "finish_tile(g, row + wave_m, column + wave_n, sum, lane);\n}\n\nGEMM"
ELEMENT = "finish(g, row + 4 * (lane / 16) + t, column + lane % 16, sum[t]);"


def fault(name: str, case: str, old: str, new: str, **bad: Any) -> Mutant:
    """A fault that shows with the parameters `bad`."""
    assert old != new
    return Mutant(name, case, (old, new), (), parameters=bad, data="integers")


FAULTS = (
    fault(
        "the last k of A again",
        DIRECT,
        FETCH_A,
        FETCH_A[:-2] + "(g.K >= 512 && k0 + 128 == g.K ? k0 - 128 : k0)",
        K=512,
    ),
    fault("another k stride from the fifth turn", DIRECT, FETCH_A, FETCH_A[:-2] + "(k0 < 512 ? k0 : k0 - 16)", K=640),
    fault("k modulo 512", DIRECT, FETCH_B, FETCH_B[:-2] + "(k0 & 511)", K=640),
    fault("k tiles of A exchanged in pairs", DIRECT, FETCH_A, FETCH_A[:-2] + "(g.K > 256 ? k0 ^ 128 : k0)", K=512),
    fault(
        "transposed where N exceeds 2 M",
        DIRECT,
        SUM,
        "    sum = g.N > 2 * g.M ? multiply(sum, b, a) : multiply(sum, a, b);\n",
        N=192,
    ),
    fault(
        "row tiles of A exchanged",
        DIRECT,
        ROWS_A,
        "rows_of(g.A, g.M % 64 == 0 && g.M > 64 ? row ^ 32 : row, BLOCK",
        M=128,
    ),
    fault(
        "the last turn is left out",
        DIRECT,
        LOOP,
        LOOP.replace("k0 < g.K", "k0 < (g.K > 384 ? g.K - TILE_K : g.K)"),
        K=512,
    ),
    fault("the first turn is left out", DIRECT, LOOP, LOOP.replace("k0 = 0", "k0 = g.K > 256 ? TILE_K : 0"), K=384),
    fault("a turn counts twice", DIRECT, SUM, SUM + "    if (k0 == 512) sum = multiply(sum, a, b);\n", K=640),
    fault("the sum begins again", DIRECT, SUM, SUM + "    if (k0 == 384) sum = f32x4{};\n", K=640),
    fault(
        "columns of C exchanged",
        DIRECT,
        FINISH,
        FINISH.replace("column + wave_n", "(column + wave_n) ^ (g.N > 128 ? 16 : 0)"),
        N=160,
    ),
    fault("the pitch of B is that of A", DIRECT, FETCH_B, FETCH_B.replace("g.ldb", "g.lda"), lda=272),
    fault("the pitch of C is N", DIRECT, "(size_t)row * g.ldc", "(size_t)row * g.N", ldc=104),
    fault(
        "k of A permuted within an instruction",
        DIRECT,
        READ_A,
        READ_A.replace("lane)", "g.K > 256 ? lane ^ 16 : lane)"),
        K=384,
    ),
    fault("rows of A permuted", DIRECT, READ_A, READ_A.replace("lane)", "g.K > 256 ? lane ^ 1 : lane)"), K=384),
    fault(
        "waves of the third row of workgroups",
        DIRECT,
        READ_A,
        READ_A.replace("wave_m", "blockIdx.y == 2 ? wave_m ^ 16 : wave_m"),
        M=96,
    ),
    fault(
        "a column tile of B of the fourth workgroup",
        VECTOR,
        "g.B + (size_t)column * g.ldb",
        "g.B + (size_t)(blockIdx.x == 3 ? 0 : column) * g.ldb",
        N=128,
    ),
    fault(
        "the resource ends early", DIRECT, "(rows - 1) * ld + K,", "(rows - 1) * ld + (K > 512 ? K - 128 : K),", K=640
    ),
    fault("a row is not stored", DIRECT, ELEMENT, "if (row + 4 * (lane / 16) + t != 100) " + ELEMENT, M=128),
    fault("columns beyond 128 are not stored", DIRECT, ELEMENT, "if (column < 128) " + ELEMENT, N=160),
    fault(
        "stored again as 0",
        DIRECT,
        FINISH,
        FINISH.replace("}\n\n", "  if (g.M > 64) finish_tile(g, row + wave_m, column + wave_n, f32x4{}, lane);\n}\n\n"),
        M=128,
    ),
    fault(
        "the element of C beside it",
        DIRECT,
        "from_bf16(*place)",
        "from_bf16(place[g.N > 128 && column ? -1 : 0])",
        N=160,
    ),
    fault(
        "another factor in every other workgroup",
        DIRECT,
        "*place = to_bf16(value)",
        "*place = to_bf16(gridDim.x > 3 && blockIdx.x % 2 ? 2 * value : value)",
        N=128,
    ),
    fault(
        "a scale that is 0 for the fifth workgroup",
        DIRECT,
        "g.alpha * sum : __builtin_fmaf(g.alpha, sum,",
        "g.alpha * sum : __builtin_fmaf(blockIdx.x == 4 ? 0.0f : g.alpha, sum,",
        N=160,
    ),
    fault(
        "the next tile is the third for ever",
        DOUBLE,
        NEXT_A,
        NEXT_A.replace("(t + 1) * TILE_K", "(t + 1 < 3 ? t + 1 : 2) * TILE_K"),
        K=512,
    ),
    fault(
        "the other slot in the fourth turn",
        DOUBLE,
        "start_read<S>(a[i], a_tile[slot]",
        "start_read<S>(a[i], a_tile[t == 3 ? slot ^ 1 : slot]",
        K=512,
    ),
    fault(
        "the next tile is the one after it",
        DOUBLE,
        NEXT_A,
        NEXT_A.replace("(t + 1)", "(g.K > 256 && t + 2 < tiles ? t + 2 : t + 1)"),
        K=512,
    ),
    fault(
        "sums of two tiles exchanged",
        DOUBLE,
        "sum[i][j], lane)",
        "sum[g.K > 256 ? j : i][g.K > 256 ? i : j], lane)",
        K=384,
    ),
)

SCALED = "scaled[a=e4m3fn,b=e4m3fn]"
BLOCK = "const int block = k0 / 32 + h * S::groups + lane / S::rows;"
SCALE_A = "SA[(size_t)(row + wave_m + S::rows * i + lane % S::rows) * blocks + block]"
SCALE_B = "SB[(size_t)(column + wave_n + S::rows * i + lane % S::rows) * blocks + block]"
OF_SCALES = (
    fault("scales of the first k for ever", SCALED, BLOCK, BLOCK.replace("k0 / 32", "(k0 < 256 ? k0 / 32 : 0)"), K=384),
    fault(
        "scales of A of the next block",
        SCALED,
        SCALE_A,
        SCALE_A.replace("block]", "(blocks > 8 ? block ^ 1 : block)]"),
        K=384,
    ),
    fault(
        "scales of B of other columns",
        SCALED,
        SCALE_B,
        SCALE_B.replace("lane % S::rows)", "(g.N > 64 ? lane ^ 1 : lane) % S::rows)"),
        N=128,
    ),
    fault("a scale is constant beyond", SCALED, SCALE_B, f"(k0 >= 256 ? 127 : {SCALE_B})", K=384),
)

GUARDED, LOAD_A, LOAD_B = "tile_64x64", "return row < g.M ? *", "return column < g.N ? *"
ROW_OF_A = "(g.A + (size_t)row * g.lda + k) : f16x8{};"
OF_GUARDS = (
    fault("the last row of A counts as 0", GUARDED, LOAD_A, LOAD_A.replace("g.M", "g.M - (g.M > 100 ? 1 : 0)"), M=129),
    fault("rows beyond 128 count as 0", GUARDED, LOAD_A, LOAD_A.replace("g.M", "(g.M < 128 ? g.M : 128)"), M=130),
    fault(
        "columns of B from 128 on count as 0", GUARDED, LOAD_B, LOAD_B.replace("g.N", "(g.N < 128 ? g.N : 128)"), N=136
    ),
    fault(
        "rows beyond 70 are row 0",
        GUARDED,
        ROW_OF_A,
        ROW_OF_A.replace("(size_t)row", "(size_t)(row > 70 ? 0 : row)"),
        M=90,
    ),
)
"""Of kernels whose loads and stores are guarded, on RDNA4."""

PING_PONG = "pingpong_256"
OF_HALVES = (
    fault(
        "the second half of A is one tile late",
        PING_PONG,
        "FETCH_A(toc, 1, next);",
        "FETCH_A(toc, 1, t == 2 ? next - TILE_K : next);",
        K=640,
    ),
    fault(
        "the slot of the last tile but one",
        PING_PONG,
        "READ_B(b1, tic, 1);\n  BARRIER();",
        "READ_B(b1, last > 3 ? toc : tic, 1);\n  BARRIER();",
        K=640,
    ),
    fault(
        "rows of the other half of the waves",
        PING_PONG,
        "finish(row + wave_m *",
        "finish(row + (g.M > 256 ? wave_m ^ 1 : wave_m) *",
        M=512,
    ),
)
"""Of waves that are barriers apart."""
