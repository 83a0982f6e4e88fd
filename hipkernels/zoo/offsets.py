"""Addresses: 32-bit offsets that wrap or are taken for negative, places in the LDS, what an instruction may address."""

import numpy as np

from hipkernels.zoo.entry import entry
from mfmasim.verify import A, B, C, In, InOut, LaunchDict, Out


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
    return {"grid": 2, "block": 64, "args": args, "expect": np.repeat([1, 2], stride).reshape(2, stride).astype(np.float32)}


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
