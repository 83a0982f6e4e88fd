"""Waits that are missing or too weak, and pairs of instructions that need wait states between them."""

import numpy as np

from hipkernels.zoo.entry import entry
from mfmasim.verify import A, B, C, In, InOut, LaunchDict, Out


def constant(value: float, dtype: str = "f32", n: int = 64) -> LaunchDict:
    """One number in every lane."""
    y = Out(dtype, n)
    numbers = {"f32": np.float32, "f64": np.float64, "u32": np.uint32}
    return {"grid": 1, "block": n, "args": [y], "expect": np.full(n, value, numbers[dtype])}


@entry()
def llvm_222040(version: str = "before") -> LaunchDict:
    return constant(32.0)


@entry()
def llvm_117262(version: str = "before") -> LaunchDict:
    return constant(8.0, "f64")


@entry()
def llvm_126132(version: str = "before") -> LaunchDict:
    return constant(7, "u32")


@entry()
def llvm_218363(version: str = "before") -> LaunchDict:
    return constant(48.0)


@entry()
def llvm_117287(version: str = "before") -> LaunchDict:
    x, y = In("u32", 64, "bits"), Out("u32", 64)
    one = np.uint32(1)
    return {"grid": 1, "block": 64, "args": [x, y], "expect": lambda x: np.r_[x[:32] + one, ~x[:32]]}


@entry()
def llvm_202333(version: str = "before") -> LaunchDict:
    x, y = In("u32", 64, np.arange(1, 65, dtype=np.uint32)), Out("u32", (64, 4))
    return {"grid": 1, "block": 64, "args": [x, y], "expect": lambda x: np.repeat(x, 4).reshape(64, 4)}


@entry()
def llvm_222932(version: str = "before") -> LaunchDict:
    return constant(33.0, n=32)


@entry()
def tlx_3168(version: str = "before") -> LaunchDict:
    return constant(33.0)


@entry()
def hipblaslt_3635(version: str = "before") -> LaunchDict:
    x, y = In("u32", (5, 64), "bits"), Out("u32", 64)
    return {"grid": 1, "block": 64, "args": [x, y], "expect": lambda x: x[:4].sum(0, dtype=x.dtype) + np.uint32(1)}


@entry()
def hipblaslt_3003(version: str = "before") -> LaunchDict:
    a, b, c = A("f16", (16, 32)), B("f16", (32, 16), order="column"), C("f32", (16, 16))
    return {"grid": 1, "block": 64, "args": [a, b, c], "expect": a @ b}


@entry()
def hipblaslt_559(version: str = "before") -> LaunchDict:
    x, y = In("u32", 4, "bits"), Out("u32", 64)
    return {"grid": 1, "block": 64, "args": [x, y], "expect": lambda x: np.full(64, x[2] + x[3])}


@entry()
def llvm_179305(version: str = "before") -> LaunchDict:
    x, y = In("u32", 64, "bits"), Out("u32", 64)
    return {"grid": 1, "block": 64, "args": [x, y], "expect": lambda x: x}


@entry()
def ck_5854(version: str = "before") -> LaunchDict:
    x, y = In("u32", (4, 64), "bits"), Out("u32", 64)
    weights = np.array([[27], [9], [3], [1]], np.uint32)
    return {"grid": 1, "block": 64, "args": [x, y], "expect": lambda x: (x * weights).sum(0, dtype=x.dtype)}


@entry()
def llvm_213394(version: str = "before") -> LaunchDict:
    x, y = In("u32", 32, "bits"), Out("u32", 32)
    return {"grid": 1, "block": 32, "args": [x, y], "expect": lambda x: x}


@entry()
def llvm_178316(version: str = "before") -> LaunchDict:
    args = [In("u32", 64, "bits"), Out("u32", 64), InOut("u32", 1, "zeros")]
    return {"grid": 1, "block": 64, "args": args, "expect": lambda x, flag: [x, flag + np.uint32(1)]}


@entry()
def hipblaslt_10653(version: str = "before") -> LaunchDict:
    x, y = In("u32", 32, "bits"), Out("u32", 32)
    return {"grid": 1, "block": 32, "args": [x, y], "expect": lambda x: x}


@entry()
def hipblaslt_9487(version: str = "before") -> LaunchDict:
    x, y = In("u32", 64, "bits"), Out("u32", 64)
    return {"grid": 1, "block": 32, "args": [x, y], "expect": lambda x: x}


@entry()
def llvm_158117(version: str = "before") -> LaunchDict:
    return constant(128.0)


@entry()
def llvm_183573(version: str = "before") -> LaunchDict:
    return constant(32.0, n=32)


@entry()
def llvm_117286(version: str = "before") -> LaunchDict:
    x, y = In("u32", 64, "bits"), Out("u32", 64)
    return {"grid": 1, "block": 64, "args": [x, y], "expect": lambda x: np.r_[x[:32], ~x[:32]]}


@entry()
def hipkittens_40(version: str = "before") -> LaunchDict:
    x, y = In("u32", (2, 128), "bits"), Out("u32", 128)
    expect = lambda x: (x[0] + np.uint32(3) * x[1])[np.arange(128) ^ 64]  # noqa: E731
    return {"grid": 1, "block": 128, "args": [x, y], "expect": expect}


@entry()
def aiter_5561(version: str = "before", turns: int = 3) -> LaunchDict:
    x, y = In("u32", (turns, 128), "bits"), Out("u32", 128)
    weights = (3 ** np.arange(turns)[::-1]).astype(np.uint32)[:, None]
    expect = lambda x: (x * weights).sum(0, dtype=np.uint32)[np.arange(128) ^ 64]  # noqa: E731
    return {"grid": 1, "block": 128, "args": [x, y, turns], "expect": expect}


@entry()
def aiter_3633(version: str = "before") -> LaunchDict:
    a, b, c = A("f16", (16, 32)), B("f16", (32, 16), order="column"), C("f32", (16, 16))
    return {"grid": 1, "block": 64, "args": [a, b, c], "expect": a @ b}


@entry()
def llvm_75245(version: str = "before") -> LaunchDict:
    x, y = In("u32", 32, "bits"), Out("u32", 32)
    return {"grid": 1, "block": 32, "args": [x, y], "expect": lambda x: x}


@entry()
def rocm_systems_10202(version: str = "before") -> LaunchDict:
    x, y = In("u32", 32, "bits"), Out("u32", 32)
    return {"grid": 1, "block": 32, "args": [x, y], "expect": lambda x: x}
