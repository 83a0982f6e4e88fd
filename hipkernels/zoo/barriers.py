"""Barriers that are missing, or that do not wait for what they should order; workgroups that hand over values."""

import numpy as np

from hipkernels.zoo.entry import entry
from mfmasim.verify import A, B, C, In, InOut, LaunchDict, Out


@entry()
def hipfire_575(version: str = "before", n: int = 256) -> LaunchDict:
    x, y = In("f32", n, "integers"), Out("f32", n)
    return {"grid": 1, "block": n, "args": [x, y], "expect": lambda x: (x**2).sum() + x[np.arange(n) ^ 64]}


@entry()
def hipblaslt_11373(version: str = "before") -> LaunchDict:
    x, y = In("f32", (8, 64), "normal"), Out("f32", 64)
    return {"grid": 1, "block": 512, "args": [x, y], "expect": lambda x: abs(x).max(0)}


@entry()
def pytorch_177149(version: str = "before", n: int = 128) -> LaunchDict:
    x, y = In("i32", n, "integers"), Out("i32", n)

    def expect(x: np.ndarray) -> np.ndarray:
        counts = (np.bincount(x & 3, minlength=4) << 8 * np.arange(4)).sum()
        return np.full_like(x, counts + (x == counts).any())

    return {"grid": 1, "block": n, "args": [x, y], "expect": expect}


@entry()
def triton_11765(version: str = "before", n: int = 128) -> LaunchDict:
    x, y = In("u32", (2, n), "bits"), Out("u32", n)
    return {"grid": 1, "block": n, "args": [x, y], "expect": lambda x: (x[0] + x[1])[np.arange(n) ^ 64]}


def exchange(n: int, distance: int = 64) -> LaunchDict:
    """Each work-item has the number of the one at that distance."""
    x, y = In("u32", n, "bits"), Out("u32", n)
    return {"grid": 1, "block": n, "args": [x, y], "expect": lambda x: x[np.arange(n) ^ distance]}


@entry()
def ck_10893(version: str = "before") -> LaunchDict:
    return exchange(256)


@entry()
def llvm_207883(version: str = "before", n: int = 128) -> LaunchDict:
    x, y = In("f32", n, "integers"), Out("f32", n)

    def expect(x: np.ndarray) -> np.ndarray:
        for _ in range(3):
            x = x.sum() - x
        return x

    return {"grid": 1, "block": n, "args": [x, y], "expect": expect}


@entry()
def aiter_3832(version: str = "before") -> LaunchDict:
    a, b, c = A("f16", (16, 16)), B("f16", (16, 32), order="column"), C("f32", (16, 32))
    return {"grid": 1, "block": 128, "args": [a, b, c], "expect": a @ b}


@entry()
def llvm_163615(version: str = "before") -> LaunchDict:
    return exchange(128, 32)


@entry()
def acceleratedkernels_41(version: str = "before", n: int = 128) -> LaunchDict:
    x, y = In("u32", n, "bits"), Out("u32", n)

    def expect(x: np.ndarray) -> np.ndarray:
        x[64:] += x[:64].copy()
        return x[np.arange(n) ^ 64]

    return {"grid": 1, "block": n, "args": [x, y], "expect": lambda x: expect(x.copy())}


@entry()
def rccl_1830(version: str = "before", n: int = 128) -> LaunchDict:
    args = [In("u32", n, "bits"), InOut("u32", n, "zeros"), InOut("u32", 1, "zeros"), Out("u32", n)]
    return {"grid": 2, "block": n, "args": args, "expect": lambda x, room, flag: [x, flag + np.uint32(1), x]}


@entry()
def mscclpp_497(version: str = "before", n: int = 64) -> LaunchDict:
    args = [In("u32", 2 * n, "bits"), InOut("u32", 2 * n, "zeros"), InOut("u32", 1, "zeros"), Out("u32", 2 * n)]
    return {
        "grid": 2,
        "block": n,
        "args": args,
        "expect": lambda x, room, count: [x, count + np.uint32(2), np.roll(x, n)],
    }


@entry()
def rocm_triton_968(version: str = "before", n: int = 128) -> LaunchDict:
    args = [In("u32", n, "bits"), InOut("u32", n, "zeros"), Out("u32", n)]
    return {"grid": 1, "block": n, "args": args, "expect": lambda x, room: [x, x[np.arange(n) ^ 64]]}


@entry()
def triton_11289(version: str = "before", n: int = 128) -> LaunchDict:
    args = [In("u32", n, "bits"), InOut("u32", n, "zeros"), Out("u32", n)]
    return {"grid": 1, "block": n, "args": args, "expect": lambda x, room: [x, x[np.arange(n) ^ 64]]}


@entry()
def hipblaslt_8488(version: str = "before", n: int = 32) -> LaunchDict:
    args = [In("f32", (2, n), "normal"), InOut("f32", n, "zeros"), InOut("u32", 1, "zeros"), Out("f32", n)]
    return {"grid": 2, "block": n, "args": args, "expect": lambda x, part, slot: [x[0], slot, x[1] + x[0]]}


@entry()
def iree_24309(version: str = "before") -> LaunchDict:
    x, y = In("i32", 64, "index"), Out("i32", 1)
    return {"grid": 1, "block": 64, "args": [x, y], "expect": lambda x: x.max(keepdims=True)}


@entry()
def hipblaslt_2470(version: str = "before", tiles: int = 3, per_tile: int = 4) -> LaunchDict:
    partials, y = In("f32", (4, 2, 64), "integers"), Out("f32", 64)
    iteration = (tiles + 2) * per_tile
    args = [partials, y, iteration, tiles, per_tile]
    return {"grid": 1, "block": 64, "args": args, "expect": lambda x: x[2].sum(0)}


@entry()
def fbgemm_5894(version: str = "before", n: int = 192) -> LaunchDict:
    x, y = In("f32", n, "integers"), Out("f32", n)
    expect = lambda x: np.where(x > abs(x).max() / 2, x, 0)  # noqa: E731
    return {"grid": 1, "block": 256, "args": [x, y, n], "expect": expect}


@entry()
def hipblaslt_11779(version: str = "before", turns: int = 5) -> LaunchDict:
    x, y = In("u32", (turns, 64), "bits"), Out("u32", 64)
    weights = (3 ** np.arange(turns)[::-1]).astype(np.uint32)[:, None]
    expect = lambda x: np.roll((x * weights).sum(0, dtype=np.uint32), 32)  # noqa: E731
    return {"grid": 1, "block": 64, "args": [x, y, turns], "expect": expect}


@entry()
def rocsolver_10909(version: str = "before") -> LaunchDict:
    x = In("f32", 128, np.r_[np.float32(4), np.arange(127, dtype=np.float32)])
    return {"grid": 1, "block": 128, "args": [x, Out("f32", 128)], "expect": lambda x: x / 2}


@entry()
def ck_2934(version: str = "before") -> LaunchDict:
    x, y = In("f32", 128, np.arange(128, dtype=np.float32)), Out("f32", 128)
    return {"grid": 1, "block": 128, "args": [x, y], "expect": np.repeat([1, 0], 64).astype(np.float32)}


@entry()
def aiter_4523(version: str = "before") -> LaunchDict:
    a, b, c = A("f16", (16, 32)), B("f16", (32, 32), order="column"), C("f32", (16, 32))
    return {"grid": 1, "block": 64, "args": [a, b, c], "expect": a @ b}


@entry()
def rocke_10410(version: str = "before") -> LaunchDict:
    x, y = In("u32", 32, "bits"), Out("u32", 32)
    return {"grid": 1, "block": 64, "args": [x, y], "expect": lambda x: x[np.arange(32) ^ 3] + np.uint32(1)}


@entry()
def rocmlir_1853(version: str = "before", turns: int = 3) -> LaunchDict:
    keys, y = In("f32", (turns, 64), "integers"), Out("f32", 64)
    expect = lambda x: np.tile(x.sum(0).reshape(8, 8).sum(0), 8)  # noqa: E731
    return {"grid": 1, "block": 64, "args": [keys, y, turns], "expect": expect}
