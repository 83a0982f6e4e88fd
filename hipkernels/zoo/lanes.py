"""Lanes that are off, that do not exist, or that a wave of another size has; exchanges between them."""

import numpy as np

from hipkernels.zoo.entry import entry
from mfmasim.verify import DependsOn, In, LaunchDict, Out


@entry()
def hrx_667(version: str = "before") -> LaunchDict:
    x, y = In("i32", 33, "integers"), Out("i32", 33)
    expect = lambda x: np.full(33, x.sum(), np.int32)  # noqa: E731
    return {"grid": 1, "block": 33, "args": [x, y], "expect": expect, "sources": [DependsOn(y, x)]}


@entry()
def llvm_141825(version: str = "before") -> LaunchDict:
    x, y = In("i32", 64, "integers"), Out("i32", 64)
    expect = lambda x: np.full(64, x.sum(), np.int32)  # noqa: E731
    return {"grid": 1, "block": 64, "args": [x, y], "expect": expect, "sources": [DependsOn(y, x)]}


@entry()
def llvm_210661(version: str = "before") -> LaunchDict:
    x, y = In("i32", 64, "integers"), Out("i32", 64)
    return {"grid": 1, "block": 64, "args": [x, y], "expect": lambda x: x[::-1]}


@entry()
def hip_3172(version: str = "before") -> LaunchDict:
    x, y = In("i32", 64, "integers"), Out("i32", 40)
    return {"grid": 1, "block": 64, "args": [x, y], "expect": lambda x: np.full(40, x[50] + 1)}


@entry()
def hipkittens_58(version: str = "before") -> LaunchDict:
    x, y = In("i32", 32, np.arange(1, 33, dtype=np.int32)), Out("i32", 1)
    return {"grid": 1, "block": 32, "args": [x, y], "expect": np.full(1, 528, np.int32)}


@entry()
def llamacpp_14196(version: str = "before") -> LaunchDict:
    x, y = In("f32", (2, 32), "integers"), Out("f32", (2, 32))
    expect = lambda x: np.repeat(x.sum(1), 32).reshape(2, 32)  # noqa: E731
    sources = [DependsOn(y, x, lambda i, j: (i, np.arange(32)))]
    return {"grid": 1, "block": 64, "args": [x, y], "expect": expect, "sources": sources}


@entry()
def pytorch_186229(version: str = "before") -> LaunchDict:
    x, y = In("f32", 256, np.ones(256, np.float32)), Out("f32", 256)
    expect = np.full(256, 1 / 256, np.float32)
    return {"grid": 1, "block": 256, "args": [x, y], "expect": expect, "sources": [DependsOn(y, x)]}
