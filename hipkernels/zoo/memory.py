"""Sizes of waves, bounds, integers that wrap, memory that was never written, NaN, banks, alignment."""

import numpy as np
from numpy.typing import NDArray

from hipkernels.zoo.entry import entry
from mfmasim.verify import A, B, C, DependsOn, In, InOut, LaunchDict, Out

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]


@entry()
def vllm_12789(version: str = "before") -> LaunchDict:
    experts, y = In("i32", 64, "index"), Out("i32", 64)
    return {"grid": 1, "block": 64, "args": [experts, y], "expect": lambda x: 1 + x % 4}


@entry()
def bitsandbytes_93(version: str = "before", rows: int = 8, columns: int = 128) -> LaunchDict:
    x, y = In("f32", (rows, columns), "integers"), Out("f32", rows)
    # The host has the same constant: rows of a workgroup.
    grid = {"before": rows // 4, "after": rows // 2}[version]
    return {
        "grid": grid,
        "block": 128,
        "args": [x, y, columns],
        "expect": lambda x: x.sum(1),
        "sources": [DependsOn(y, x, lambda i: (i, np.arange(columns)))],
    }


@entry()
def pytorch_183861(version: str = "before", rows: int = 8) -> LaunchDict:
    x, y = In("f32", (rows, 64), "integers"), Out("f32", 64)
    return {
        "grid": 1,
        "block": 256,
        "args": [x, y, rows],
        "expect": lambda x: x.sum(0),
        "sources": [DependsOn(y, x, lambda j: (np.arange(rows), j))],
    }


@entry()
def cupy_9977(version: str = "before") -> LaunchDict:
    x, y = In("i32", (3, 64), "integers"), Out("i32", 3)
    return {
        "grid": 3,
        "block": 64,
        "args": [x, y],
        "expect": lambda x: x.sum(1, dtype=x.dtype),
        "sources": [DependsOn(y, x, lambda i: (i, np.arange(64)))],
    }


@entry()
def hiprt_68(version: str = "before") -> LaunchDict:
    x, y = In("i32", 64, "integers"), Out("i32", 64)

    def expect(x: Ints) -> Ints:
        return np.repeat((x > 0).reshape(16, 4).sum(1), 4).astype(np.int32)

    return {"grid": 1, "block": 64, "args": [x, y], "expect": expect}


@entry()
def hecbench_177(version: str = "before") -> LaunchDict:
    x, y = In("i32", 64, "integers"), Out("i32", 64)

    def expect(x: Ints) -> Ints:
        return (np.cumsum(x > 0) - (x > 0)).astype(np.int32)

    return {"grid": 1, "block": 64, "args": [x, y], "expect": expect}


@entry()
def vllm_40827(version: str = "before", rows: int = 2, K: int = 6144) -> LaunchDict:
    a, b, y = In("f16", K, "integers"), In("f16", (rows, K), "integers"), Out("f32", rows)
    return {
        "grid": rows,
        "block": K // 8,
        "args": [a, b, y, K],
        "expect": lambda a, b: b.astype(np.float32) @ a.astype(np.float32),
    }


@entry()
def vllm_40745(version: str = "before", heads: int = 3, chunks: int = 8) -> LaunchDict:
    query, y = In("f16", (heads, chunks, 8), "integers"), Out("f32", (heads, chunks, 4))

    def expect(q: NDArray[np.float16]) -> Floats:
        return q[..., :4].astype(np.float32) + q[..., 4:].astype(np.float32)

    return {"grid": heads, "block": 64, "args": [query, y, chunks], "expect": expect}


@entry()
def vllm_53982(version: str = "before", tokens: int = 100, block: int = 16, width: int = 5) -> LaunchDict:
    table, slots = In("i32", width, "index"), Out("i32", tokens)
    place = np.arange(tokens, dtype=np.int32)
    expect = np.where(place // block < width, place, -1).astype(np.int32)
    return {"grid": 2, "block": 64, "args": [table, slots, tokens, block, width], "expect": expect}


@entry()
def vllm_56059(version: str = "before", blocks: int = 2, pool: int = 4) -> LaunchDict:
    slot, x = In("i32", 3, np.array([1, 3500, 5], np.int32)), In("f32", (3, 64), "integers")
    tail = InOut("f32", (blocks, 64), "zeros")
    expect = lambda slot, x, tail: x[[0, 2]]  # noqa: E731
    return {"grid": 3, "block": 64, "args": [slot, x, tail, pool, blocks], "expect": expect}


@entry()
def tgi_2050(version: str = "before", K: int = 640) -> LaunchDict:
    a, b, y = In("f16", K, "integers"), In("f16", K, "integers"), Out("f32", 1)

    def expect(a: NDArray[np.float16], b: NDArray[np.float16]) -> Floats:
        return (a.astype(np.float32) * b.astype(np.float32)).sum(keepdims=True)

    return {"grid": 1, "block": 128, "args": [a, b, y, K], "expect": expect}


@entry()
def ck_11175(version: str = "before", tiles: int = 4) -> LaunchDict:
    x, y = In("f32", (tiles, 32), "integers"), Out("f32", 32)
    return {"grid": 1, "block": 32, "args": [x, y, tiles], "expect": lambda x: x.sum(0)}


@entry()
def flashattention_1328(version: str = "before", blocks: int = 3) -> LaunchDict:
    table, keys, y = In("i32", blocks, np.array([2, 0, 3], np.int32)), In("f32", (4, 64), "integers"), Out("f32", 64)
    return {"grid": 1, "block": 64, "args": [table, keys, y, blocks], "expect": lambda t, keys: keys[t].sum(0)}


@entry()
def ck_3722(version: str = "before", length: int = 65537, stride: int = 65537) -> LaunchDict:
    x, y = In("f32", 64, "normal"), Out("f32", 64)
    skipped = 1 + (length - 1) * stride - 64
    # In 32 bits the size is 131,073 elements, all of them before those that are read.
    wrong = (1 + (length - 1) * stride) % 2**32
    assert wrong < skipped
    args = [x, y, length, stride, np.int64(skipped if version == "after" else wrong - 8)]
    return {"grid": 1, "block": 64, "args": args, "expect": lambda x: x}


@entry()
def miopen_4611(version: str = "before", rows: int = 65536, columns: int = 81920, step: int = 1 << 24) -> LaunchDict:
    n = rows * columns // step
    x, y = In("f32", n, "normal"), Out("f32", n)
    return {
        "grid": 1,
        "block": 64,
        "args": [x, y, *map(np.uint32, (rows, columns, step))],
        "expect": lambda x: x,
        "sources": [DependsOn(y, x, lambda i: i)],
    }


@entry()
def onnxruntime_32299(version: str = "before", batch: int = 70000, stride: int = 32768) -> LaunchDict:
    x, y = In("f32", 64, "normal"), Out("f32", 64)
    args = [x, y, batch, stride, np.int64(batch * stride)]
    return {"grid": 1, "block": 64, "args": args, "expect": lambda x: 2 * x}


@entry()
def tinygrad_6987(version: str = "before", group: int = 22369621) -> LaunchDict:
    y = Out("u8", 96)
    args = [y, group, np.int64(group * 96)]
    return {"grid": 1, "block": 32, "args": args, "expect": np.ones(96, np.uint8)}


@entry()
def hipbone_46(version: str = "before", columns: int = 15) -> LaunchDict:
    a, b, c = A("f16", (16, 16)), B("f16", (16, columns), order="column"), C("f32", (16, columns))
    return {"grid": 1, "block": 64, "args": [a, b, c, columns], "expect": a @ b}


@entry()
def hipsz_1(version: str = "before") -> LaunchDict:
    lengths, y = In("u32", 128, "integers"), Out("u32", 128)
    return {"grid": 1, "block": 128, "args": [lengths, y], "expect": lambda x: np.full(128, x.sum(dtype=np.uint32))}


@entry(checks="all,numerics:origin")
def vllm_936(version: str = "before", context: int = 11, block: int = 16) -> LaunchDict:
    cache = np.full((block, 64), np.nan, np.float32)
    cache[:context] = np.arange(64) - 30
    weights, values, y = In("f32", block, "integers"), In("f32", (block, 64), cache), Out("f32", 64)

    def expect(weights: Floats, values: Floats) -> Floats:
        return weights[:context] @ values[:context]

    return {"grid": 1, "block": 64, "args": [weights, values, y, context, block], "expect": expect}


@entry(checks="all,numerics:origin")
def iree_24175(version: str = "before") -> LaunchDict:
    scores = np.zeros((2, 64), np.float32)
    scores[1] = -np.inf
    x, y = In("f32", (2, 64), scores), Out("f32", (2, 64))
    return {"grid": 2, "block": 64, "args": [x, y], "expect": lambda x: np.where(np.isinf(x), 0, np.float32(1 / 64))}


@entry()
def flashinfer_207(version: str = "before") -> LaunchDict:
    x, y = In("u32", (16, 32, 2), "bits"), Out("u32", (32, 16, 2))
    return {"grid": 1, "block": 64, "args": [x, y], "expect": lambda x: x.transpose(1, 0, 2)}


@entry()
def rocke_9260(version: str = "before") -> LaunchDict:
    x, y = In("u32", (16, 32, 4), "bits"), Out("u32", (32, 16, 4))
    return {"grid": 1, "block": 64, "args": [x, y], "expect": lambda x: x.transpose(1, 0, 2)}


@entry()
def ck_3646(version: str = "before") -> LaunchDict:
    x, y = In("u32", 256, "bits"), Out("u32", 256)
    return {"grid": 1, "block": 64, "args": [x, y], "expect": lambda x: x}


@entry()
def llvm_216269(version: str = "before") -> LaunchDict:
    x, y = In("u32", 8, "bits"), Out("u32", 32)
    return {"grid": 1, "block": 32, "args": [x, y], "expect": lambda x: np.full(32, x[5])}


@entry()
def llvm_219004(version: str = "before") -> LaunchDict:
    x, y = In("u32", 160, "bits"), Out("u32", 32)
    start = np.arange(32) * 4 + (version == "before")
    return {"grid": 1, "block": 32, "args": [x, y], "expect": lambda x: x[start] + x[start + 3]}


@entry(checks="all,spills")
def turboquant_295(version: str = "before", turns: int = 3) -> LaunchDict:
    x, y = In("f32", (turns, 48), "integers"), Out("f32", 32)

    def expect(x: Floats) -> Floats:
        sums, total = x.sum(0)[:, None] * np.arange(32, dtype=np.float32), np.zeros(32, np.float32)
        for row in sums:
            total = total * np.float32(0.5) + row
        return total

    y = Out("f32", 32, relative=1e-5, absolute=1e-4)
    return {"grid": 1, "block": 32, "args": [x, y, turns], "expect": expect}


@entry()
def hipblaslt_9061(version: str = "before") -> LaunchDict:
    x, y = In("u32", 64, "bits"), Out("u32", 64)
    return {"grid": 1, "block": 64, "args": [x, y], "expect": lambda x: np.roll(x, 32)}


@entry()
def hipblaslt_11102(version: str = "before", turns: int = 3) -> LaunchDict:
    y = Out("u32", 32)
    return {"grid": 1, "block": 32, "args": [y, turns], "expect": np.full(32, turns, np.uint32)}


@entry()
def triton_9720(version: str = "before", turns: int = 7) -> LaunchDict:
    x, y = In("u32", (turns, 64), "bits"), Out("u32", 64)
    weights = (3 ** np.arange(turns)[::-1]).astype(np.uint32)[:, None]
    expect = lambda x: np.roll((x * weights).sum(0, dtype=np.uint32), 32)  # noqa: E731
    return {"grid": 1, "block": 64, "args": [x, y, turns], "expect": expect}
