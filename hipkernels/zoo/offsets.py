"""Addresses: 32-bit offsets that wrap or are taken for negative, places in the LDS, what an instruction may address."""

import numpy as np

from hipkernels.zoo.entry import entry
from mfmasim.verify import A, B, C, ComesFrom, In, InOut, LaunchDict, Out


@entry()
def rocm_triton_944(version: str = "before", stride: int = 33554432 + 4096) -> LaunchDict:
    # Rows 32 and 33 of the tensor; the first one begins below byte 2**31, the second one above it.
    x, y = In("u16", stride + 64, np.arange(stride + 64, dtype=np.uint16)), Out("u16", (2, 64))
    args = [x, y, np.int64(31 * stride), stride]
    return {"grid": 2, "block": 64, "args": args, "expect": lambda x: np.stack([x[:64], x[stride:]])}


@entry()
def hipblaslt_8801(version: str = "before", stride: int = 64) -> LaunchDict:
    # Two rows of D, one on each side of byte 2**32.
    row, D = 2**30 // stride - 1, Out("f32", (2, stride))
    args = [D, np.uint32(row), np.uint32(stride), np.int64(row * stride)]
    return {
        "grid": 2,
        "block": 64,
        "args": args,
        "expect": np.repeat([1, 2], stride).reshape(2, stride).astype(np.float32),
    }


@entry()
def llvm_221212(version: str = "before", left: int = 4096) -> LaunchDict:
    x, y = In("u32", 128, "bits"), Out("u32", 64)
    return {"grid": 1, "block": 64, "args": [x, y, np.uint32(left)], "expect": lambda x: x[:64] + x[64:]}


@entry()
def tilelang_2051(version: str = "before") -> LaunchDict:
    a, b, c = A("f16", (16, 64)), B("f16", (64, 32), order="column"), C("f32", (16, 32))
    return {"grid": 1, "block": 128, "args": [a, b, c], "expect": a @ b}


@entry()
def llvm_166657(version: str = "before") -> LaunchDict:
    x, y = In("u32", 64, "bits"), Out("u32", 64)
    return {"grid": 1, "block": 64, "args": [x, y], "expect": lambda x: x + np.uint32(1)}


@entry()
def tlx_2902(version: str = "before", M: int = 13) -> LaunchDict:
    a, b, c = A("f16", (M, 32)), B("f16", (32, 16), order="column"), C("f32", (M, 16))
    return {"grid": 1, "block": 64, "args": [a, b, c, M], "expect": a @ b}


@entry()
def hipblaslt_9055(version: str = "before") -> LaunchDict:
    x, y, stored = In("f32", (16, 64), "integers"), Out("f32", 64), InOut("u32", 1, "zeros")
    done = np.uint32(version == "after")
    return {"grid": 2, "block": 64, "args": [x, y, stored], "expect": lambda x, stored: [x.sum(0), stored + done]}


@entry()
def aiter_3471(version: str = "before", rows: int = 2, columns: int = 256) -> LaunchDict:
    x, y = In("f32", (rows, columns), "integers"), Out("f32", (rows, columns))
    grid = (-(-columns // 384), rows)
    return {"grid": grid, "block": 384, "args": [x, y, rows, columns], "expect": lambda x: 2 * x}


@entry()
def aiter_5573(version: str = "before", rows: int = 40) -> LaunchDict:
    x, y = In("f32", (rows, 4), "integers"), Out("f32", (rows, 4))
    return {"grid": -(-rows // 32), "block": 128, "args": [x, y, rows], "expect": lambda x: x + 1}


@entry()
def rocsparse_11082(version: str = "before", first: int = 2**24) -> LaunchDict:
    x, y = In("f32", 256, "normal"), Out("f32", 256)
    args = [x, y, np.uint32(first), np.int64(256 * first)]
    return {"grid": 1, "block": 256, "args": args, "expect": lambda x: 2 * x}


@entry()
def miopen_9049(version: str = "before", row: int = 70000, stride: int = 32768) -> LaunchDict:
    x = Out("f32", 32)
    return {"grid": 1, "block": 32, "args": [x, row, stride, np.int64(row * stride)], "expect": np.ones(32, np.float32)}


@entry()
def aiter_4329(version: str = "before") -> LaunchDict:
    words = {"before": 65792 // 4, "after": 65792 // 4 - 64}[version]
    x, y = In("f32", 64, "integers"), Out("f32", 64)
    expect = lambda x: x + x[np.arange(64) ^ 32]  # noqa: E731
    return {"grid": 1, "block": 64, "args": [x, y, words], "shared_bytes": 4 * words, "expect": expect}


@entry()
def vllm_42420(version: str = "before", tokens: int = 8) -> LaunchDict:
    blocks = In("i32", 2, np.array([2, 0], np.int32))
    places = np.array([8, 10, 9, 11, 4, 5, 7, 6], np.int32)
    slots = In("i32", tokens, places)
    cache, y = In("f32", (12, 32), "normal"), Out("f32", (tokens, 32))
    sources = [ComesFrom(y, cache, lambda i, j: (places[i], j))]
    expect = lambda blocks, slots, cache: cache[slots]  # noqa: E731
    return {"grid": tokens, "block": 32, "args": [blocks, slots, cache, y], "expect": expect, "sources": sources}


@entry()
def rocblas_10831(version: str = "before", chunks: int = 2) -> LaunchDict:
    alpha, x = In("f32", 1, "normal"), InOut("f32", 64 * chunks, "normal")
    return {"grid": chunks, "block": 64, "args": [alpha, x, 64, 1], "expect": lambda alpha, x: alpha * x}


@entry()
def omniprobe_40(version: str = "before") -> LaunchDict:
    x, y = In("i32", 128, "integers"), Out("i32", 128)
    given = {"before": 0, "after": 512}[version]
    expect = lambda x: x[np.arange(128) ^ 64]  # noqa: E731
    return {"grid": 1, "block": 128, "args": [x, y], "shared_bytes": given, "expect": expect}
