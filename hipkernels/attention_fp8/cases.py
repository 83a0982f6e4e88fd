"""FP8 attention for heads of 128: sequences of any length forward, and on CDNA3 and 4 decode over a paged cache.

Outputs are compared bit for bit with a replay of the kernel's order of operations, and the replay must lie within a
derived bound of attention in float64; with ``compare="bound"`` the bound itself is the tolerance, as on a GPU.
"""

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import mfmasim
from hipkernels.attention.reference import attention
from hipkernels.attention_fp8 import replay
from hipkernels.attention_fp8.replay import HEAD, WAYS, Sums
from mfmasim.errors import MfmasimError
from mfmasim.verify import A, B, C, Claim, In, LaunchDict, Out, case

ARCHS = ("gfx942", "gfx950")
MATRIX = "v_mfma_f32_32x32x(64_f8f6f4|16_fp8_fp8)"
TENSOR = "v_wmma_f32_16x16x128_(f8f6f4|fp8_fp8)"
BEYOND = {"bounds-buffer-range": "rows beyond the last key are loaded from beyond the resource, as 0"}
NAN = {"gfx950": 0x7F, "gfx942": 0x80}
KINDS = ("normal", "steep", "growing", "extreme")
"""``steep``: few keys have all the weight. ``growing``: scores grow from key to key. ``extreme``: the largest, the
smallest and zeros of both signs."""
NEEDS = "heads % kv_heads == 0 and kv_heads > 0 and scale > 0 and data in " + str(KINDS)


def draw(kind: str, arch: str, *shapes: tuple[int, ...]) -> list[NDArray[np.uint8]]:
    """Codes of Q, K and V, whose first axis counts queries or keys."""
    rng = np.random.default_rng(zlib.crc32(f"{kind}/{shapes}".encode()))
    parts = [rng.normal(size=shape) for shape in shapes]
    q, k = parts[:2]
    if kind == "steep":
        q *= 12
    if kind == "growing":
        q[..., 0] = 8
        k[..., 0] = np.linspace(-6, 6, len(k)).reshape(-1, *[1] * (k.ndim - 2))
    if kind == "extreme":
        for part in parts:
            some = rng.random(part.shape) < 0.03
            part[some] = rng.choice([0.0, -0.0, 448.0, -448.0, 2.0**-9, -(2.0**-9)], some.sum())
    fmt = mfmasim.format(WAYS[arch].fp8)
    return [fmt.encode(part).astype(np.uint8) for part in parts]


def descales(sequences: int, kv_heads: int) -> list[NDArray[np.float32]]:
    """Scales of Q, K and V for each sequence and head of K."""
    rng = np.random.default_rng(sequences * 100 + kv_heads)
    return [np.exp2(rng.uniform(-1, 1, (sequences, kv_heads))).astype(np.float32) for _ in "qkv"]


def exact(
    arch: str, codes: Sequence[NDArray[Any]], scales: Sequence[NDArray[Any]], scale: float, causal: bool
) -> tuple[NDArray[Any], NDArray[Any]]:
    """O of one sequence in float64 and the bound of a kernel's error, (queries, heads, 128) each.

    `reference.attention` derives the bound; of the weights, which are FP8 in the product alone, it is ``fp8``. What a
    kernel rounds besides, the factor of the scores and the base, is below 1e-5 for scores below 1,000: part of the
    percent that the bound has for products of errors.

    Args:
        arch: architecture.
        codes: Q (queries, heads, 128), K and V (keys, kv_heads, 128).
        scales: of Q, K and V, (kv_heads,) each.
        scale: factor of the scores.
        causal: the last query sees the last key, the others fewer.
    """
    fmt = mfmasim.format(WAYS[arch].fp8)
    q, k, v = (fmt.decode(part).astype(np.float64).swapaxes(0, 1)[None] for part in codes)  # (1, heads, n, 128)
    group = q.shape[1] // k.shape[1]
    out, bound = np.empty(q.shape[1:]), np.empty(q.shape[1:])
    for head in range(q.shape[1]):
        one = head // group
        by = scale * float(scales[0][one]) * float(scales[1][one])
        parts = q[:, head : head + 1], k[:, one : one + 1], v[:, one : one + 1] * float(scales[2][one])
        found = attention("bf16", *parts, 2 * causal, by, tile=WAYS[arch].keys, weights_in="fp8", rounded_sum=False)
        out[head], bound[head] = (x[0, 0] for x in found)
    return out.swapaxes(0, 1), bound.swapaxes(0, 1)


def within(codes: NDArray[Any], want: tuple[NDArray[Any], NDArray[Any]]) -> NDArray[Any]:
    """BF16 codes, if they lie within the bound of the exact result."""
    values = mfmasim.format("bf16").decode(codes).astype(np.float64)
    wrong = ~(np.abs(values - want[0]) <= want[1])
    if wrong.any():
        place = tuple(int(i) for i in np.argwhere(wrong)[0])
        text = f"{wrong.sum()} of {wrong.size} elements lie outside the bound, O{list(place)}"
        raise MfmasimError(f"{text}: {values[place]:.9g}, exactly {want[0][place]:.9g}, bound {want[1][place]:.3g}")
    return codes


MANY = {"queries": (70, 0, 3, 130), "keys": (200, 7, 0, 65)}
COPIES = Claim("copies of two tiles: exchanged halves, references that follow", "register copies", 9, relation="<=")


def declare(
    prefix: str, forward_in: str, products_in: str, lanes: int, *claims: Claim, orders: Sequence[str] = (), **fixed: Any
) -> None:
    """The cases of the forward kernel, and of its two products.

    Args:
        prefix: of the names of the cases.
        forward_in: source of the kernel.
        products_in: source of the products.
        lanes: of a wave.
        claims: about the forward kernel.
        orders: of the workgroups, beside the hardware's.
        fixed: what all cases have.
    """

    def forward(
        queries: tuple[int, ...] = (100,),
        keys: tuple[int, ...] = (150,),
        heads: int = 2,
        kv_heads: int = 1,
        scale: float = 0.088388346,
        causal: bool = False,
        data: str = "normal",
        compare: str = "bits",
        order: str = "",  # of the workgroups: part of the kernel's name
        arch: str = "",
    ) -> LaunchDict:
        shape = (sum(queries), heads, HEAD)
        codes = draw(data, arch, shape, *[(sum(keys), kv_heads, HEAD)] * 2)
        starts = [np.cumsum([0, *lengths]).astype(np.int32) for lengths in (queries, keys)]
        scales = descales(len(queries), kv_heads)
        args: list[Any] = [*(In(WAYS[arch].fp8, part.shape, part) for part in codes), Out("bf16", shape)]
        args += [*(In("i32", part.shape, part) for part in starts), *(In("f32", part.shape, part) for part in scales)]
        args += [heads, kv_heads, int(causal), np.float32(scale)]

        def expect(*held: NDArray[Any]) -> Any:
            q, k, v = held[:3]
            found = np.zeros(shape, np.uint16)
            want = np.zeros(shape), np.zeros(shape)
            for n in range(len(queries)):
                mine, others = (slice(part[n], part[n + 1]) for part in held[3:5])
                parts, by = (q[mine], k[others], v[others]), [x[n] for x in held[5:8]]
                found[mine] = replay.forward(arch, *parts, replay.factors(scale, *by[:2]), by[2], causal)
                want[0][mine], want[1][mine] = exact(arch, parts, by, scale, causal)
            return want if compare == "bound" else within(found, want)

        rows = replay.QUERIES * replay.WAVES
        return {
            "grid": (-(-max(queries) // rows), heads, len(queries)),
            "block": lanes * replay.WAVES,
            "args": args,
            "expect": expect,
        }

    def scores(Nq: int = 45, Nkv: int = 150) -> LaunchDict:
        a, b, c = A("fp8", (Nq, HEAD), align=16), B("fp8", (HEAD, Nkv), order="column", align=16), C("f32", (Nq, Nkv))
        return {"grid": -(-Nq // 32), "block": lanes, "args": [a, b, c, Nq, Nkv], "expect": a @ b}

    def sums(Nq: int = 45, Nkv: int = 192) -> LaunchDict:
        a, b, c = A("fp8", (Nq, Nkv), align=8), B("fp8", (Nkv, HEAD), align=16), C("f32", (Nq, HEAD))
        return {"grid": -(-Nq // 32), "block": lanes, "args": [a, b, c, Nq, Nkv], "expect": a @ b}

    for function in (forward, scores, sums):
        function.__name__ = prefix + function.__name__
    case(
        forward_in,
        kernel="forward_fp8{order}",
        needs=NEEDS,
        trace=False,
        each=[
            {},
            {**MANY, "heads": 4, "kv_heads": 2, "causal": True},
            {**MANY, "compare": "bound"},
            *({"data": kind} for kind in KINDS[1:]),
            {"data": "growing", "keys": (400,), "queries": (33,), "causal": True},
            *({"queries": (130,), "keys": (65,), "heads": 16, "kv_heads": 8, "order": name} for name in orders),
        ],
        claims=[Claim("no conflicts", "LDS degree", 1), *claims],
        **fixed,
    )(forward)
    case(products_in, kernel="scores_fp8", data=("normal", "one_hot"), **fixed)(scores)
    case(products_in, kernel="sums_fp8", data=("normal", "one_hot"), needs="Nkv % 64 == 0", **fixed)(sums)


declare("", "forward.hip", "products.hip", 64, COPIES, orders=["_xcd"], arch=ARCHS, executes=MATRIX, suppress=BEYOND)
TWICE = Claim("two workgroups of a compute unit", "workgroups", 2)
SWAPS = Claim("copies: the two largest scores, whose halves are exchanged", "register copies", 2)
declare("tensor_", "tensor.hip", "tensor.hip", 32, TWICE, SWAPS, arch="gfx1250", executes=TENSOR)


def paged(rows: NDArray[Any], lengths: Sequence[int], page: int, nan: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Rows of sequences, one behind the other, in pages that are dealt at random: the cache and the tables.

    Unused rows hold `nan`, which must not be read.
    """
    counts = [-(-n // page) for n in lengths]
    dealt = np.random.default_rng(page).permutation(sum(counts) + 2)[: sum(counts)]
    cache = np.full((sum(counts) + 2, page, *rows.shape[1:]), nan, np.uint8)
    tables = np.full((len(lengths), max(1, *counts)), -1, np.int32)
    start = at = 0
    for n, (length, count) in enumerate(zip(lengths, counts, strict=True)):
        tables[n, :count] = dealt[at : at + count]
        some = np.full((count * page, *rows.shape[1:]), nan, np.uint8)
        some[:length] = rows[start : start + length]
        cache[tables[n, :count]] = some.reshape(count, page, *rows.shape[1:])
        start, at = start + length, at + count
    return cache, tables


@case(
    "decode.hip",
    kernel="decode_fp8",
    arch=ARCHS,
    needs=NEEDS + " and page in (16, 64) and splits > 0 and heads <= 32 * kv_heads",
    executes=MATRIX,
    suppress=BEYOND,
    trace=False,
    each=[
        {},
        {"page": 64, "heads": 12, "kv_heads": 3, "splits": 3, "data": "growing"},
        {"lengths": (0, 1, 65, 130), "splits": 2, "data": "steep"},
        {"heads": 32, "splits": 1, "data": "extreme"},
    ],
)
def decode(
    lengths: tuple[int, ...] = (200, 37),
    heads: int = 8,
    kv_heads: int = 1,
    page: int = 16,
    splits: int = 2,
    scale: float = 0.088388346,
    data: str = "normal",
    arch: str = "",
) -> LaunchDict:
    """The parts of decode: sums and weights of each split."""
    many = len(lengths)
    q, k, v = draw(data, arch, (many, heads, HEAD), *[(sum(lengths), kv_heads, HEAD)] * 2)
    caches = [paged(rows, lengths, page, NAN[arch]) for rows in (k, v)]
    tables, scales = caches[0][1], descales(many, kv_heads)
    args: list[Any] = [In(WAYS[arch].fp8, part.shape, part) for part in (q, caches[0][0], caches[1][0])]
    args += [Out("f32", (many, heads, splits, HEAD)), Out("f32", (many, heads, splits, 2))]
    args += [In("i32", tables.shape, tables), In("i32", many, np.array(lengths, np.int32))]
    args += [In("f32", part.shape, part) for part in scales[:2]]
    args += [heads, kv_heads, page.bit_length() - 1, tables.shape[1], splits, np.float32(scale)]

    def expect(*held: NDArray[Any]) -> list[NDArray[Any]]:
        own, *stored = held[:3]
        table = held[3]
        sums, states = np.zeros((many, heads, splits, HEAD), np.float32), np.zeros((many, heads, splits, 2), np.float32)
        for n, length in enumerate(lengths):
            pages = table[n, : -(-length // page)]
            rows_k, rows_v = (x[pages].reshape(-1, kv_heads, HEAD)[:length] for x in stored)
            by = replay.factors(scale, held[5][n], held[6][n])
            found = replay.decode(arch, own[n], rows_k, rows_v, by, splits)
            whole = replay.combine(arch, found, np.ones(heads, np.float32))
            unit = [held[5][n], held[6][n], np.ones(kv_heads, np.float32)]
            want = exact(arch, [own[n][None], rows_k, rows_v], unit, scale, causal=False)
            within(whole[None], want)
            sums[n], states[n, ..., 0], states[n, ..., 1] = found.out, found.base, found.weights
        return [sums, states]

    return {"grid": (splits, kv_heads, many), "block": 64, "args": args, "expect": expect}


@case(
    "decode.hip", kernel="combine", arch=ARCHS, needs="heads % kv_heads == 0", each=[{}, {"splits": 1}, {"splits": 7}]
)
def combine(sequences: int = 3, heads: int = 6, kv_heads: int = 2, splits: int = 3, arch: str = "") -> LaunchDict:
    """The parts of decode together; some splits, and all of one sequence, are without keys."""
    rng = np.random.default_rng(splits)
    shape = (sequences, heads, splits)
    sums = (rng.normal(size=(*shape, HEAD)) * 100).astype(np.float32)
    state = np.stack([rng.normal(size=shape) * 20 - 160, rng.uniform(64, 4000, shape)], -1).astype(np.float32)
    state[0, :, 1:] = state[1] = 0
    (scale,) = descales(sequences, kv_heads)[:1]
    args: list[Any] = [In("f32", part.shape, part) for part in (sums, state)]
    args += [Out("bf16", (sequences, heads, HEAD)), In("f32", scale.shape, scale), heads, kv_heads, splits]

    def expect(*held: NDArray[Any]) -> NDArray[Any]:
        parts = Sums(held[0], held[1][..., 1], held[1][..., 0])
        return replay.combine(arch, parts, np.repeat(held[2], heads // kv_heads, axis=1))

    return {"grid": (heads, sequences), "block": HEAD, "args": args, "expect": expect}
