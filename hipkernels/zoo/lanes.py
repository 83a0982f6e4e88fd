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
