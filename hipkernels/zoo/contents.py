"""What memory and registers hold before anything is written, and NaN and infinities that come of it."""

import numpy as np
from numpy.typing import NDArray

from hipkernels.zoo.entry import entry
from mfmasim.verify import In, LaunchDict, Out

Floats = NDArray[np.float32]


@entry()
def llamacpp_28339(version: str = "before") -> LaunchDict:
    x, y = In("f32", 32, "integers"), Out("f32", 32)
    return {"grid": 1, "block": 32, "args": [x, y, 1], "expect": lambda x: x}


@entry()
def vllm_34570(version: str = "before", head: int = 32) -> LaunchDict:
    v, y = In("f32", head, "integers"), Out("f32", head)
    return {"grid": 1, "block": 256, "args": [v, y, head], "expect": lambda v: 2 * v}


@entry()
def flashattention_179(version: str = "before", queries: int = 0) -> LaunchDict:
    q, y = In("f32", 64, "integers"), Out("f32", 64)
    return {"grid": 1, "block": 64, "args": [q, y, queries], "expect": np.zeros(64, np.float32)}


@entry(checks="all,numerics:origin")
def vllm_53856(version: str = "before", context: int = 10) -> LaunchDict:
    cache = np.full((16, 32), np.nan, np.float32)
    cache[:context] = np.arange(32) - 9
    weights, values, y = In("f32", 16, "integers"), In("f32", (16, 32), cache), Out("f32", 32)

    def expect(weights: Floats, values: Floats) -> Floats:
        return weights[:context] @ values[:context]

    return {"grid": 1, "block": 32, "args": [weights, values, y, context], "expect": expect}


@entry(checks="all,numerics:origin")
def te_737(version: str = "before") -> LaunchDict:
    numbers = np.stack([np.arange(64) - 30, 1e-40 * np.arange(64)]).astype(np.float32)
    x, y = In("f32", (2, 64), numbers), Out("f32", (2, 64), relative=1e-5, absolute=1e-6)

    def expect(x: Floats) -> Floats:
        most = np.maximum(abs(x).max(1, keepdims=True), np.float32(1e-30))
        return x * (np.float32(448) / most)

    return {"grid": 2, "block": 64, "args": [x, y], "expect": expect}
