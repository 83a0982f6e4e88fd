"""Kernels that do not use uninitialised values: no check may report them.

Each of them has wrong variants in mutants.py.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.verify import In, InOut, LaunchDict, Out, case

ARCHS = ["gfx942", "gfx950", "gfx1151", "gfx1201"]
BITS = np.random.default_rng(7).integers(0, 1 << 32, 512, np.uint32)


def launch(args: list[Any], expect: Callable[..., Any], n: int = 128) -> LaunchDict:
    return {"grid": 1, "block": n, "args": args, "expect": expect}


def declare(name: str, expect: Callable[..., Any], *more: int, n: int = 128, inputs: Any = None) -> None:
    """A case for a kernel from dwords to dwords, one a thread."""

    def build() -> LaunchDict:
        return launch([In("u32", inputs or n, BITS[: inputs or n]), Out("u32", n), *more], expect, n)

    build.__name__ = name
    case("unset.hip", kernel=name, arch=ARCHS)(build)


def padded(x: NDArray[Any]) -> NDArray[Any]:
    rows = x.reshape(-1, 4)
    return np.repeat(rows[:, 0] + rows[:, 1] * np.uint32(3) + rows[:, 2] * np.uint32(5), 4)


def table(x: NDArray[Any]) -> NDArray[Any]:
    own = x[:128]
    return x[16 + ((own + (own & 15)) & 15)]


def flags(x: NDArray[Any]) -> NDArray[Any]:
    value = x.view(np.float32)
    with np.errstate(all="ignore"):
        twice = (value + value).view(np.uint32)
    other = x.reshape(-1, 2)[:, ::-1].reshape(-1)
    return np.where(other & 1, twice ^ other, x)


declare("tail", lambda x: np.full(128, x[:100].sum(dtype=np.uint32)), 100)
declare("flag", lambda x: x)
declare("padding", padded)
declare("table", table)
declare("exchange", lambda x: x[np.arange(128) | 1])
declare("chosen", lambda x: np.where(np.arange(128) < 100, x, 0).astype(np.uint32), 100)
declare("merged", lambda x: x & 0xFF)
declare("permuted", lambda x: x.byteswap())
declare("counters", lambda x: np.tile(np.bincount(x & 31, minlength=32), 4).astype(np.uint32))


@case("unset.hip", kernel="first", arch=ARCHS)
def first(wave: int = 64) -> LaunchDict:
    return launch([In("u32", 128, BITS[:128]), Out("u32", 128)], lambda x: np.repeat(x[::wave], wave))


@case("unset.hip", kernel="flags", arch=ARCHS)
def flags_in_the_lds() -> LaunchDict:
    numbers = (np.arange(128, dtype=np.float32) * 3 + 0.5).view(np.uint32) | np.arange(128, dtype=np.uint32) // 3 % 2
    return launch([In("u32", 128, numbers), Out("u32", 128)], flags)


@case("unset.hip", kernel="scaled", arch=ARCHS, each=[{"beta": 0.0}, {"beta": 0.5}])
def scaled(beta: float = 0.0) -> LaunchDict:
    c = Out("f32", 64) if beta == 0 else InOut("f32", 64, "integers")
    expect = (lambda x: 2 * x) if beta == 0 else (lambda x, c: 2 * x + np.float32(beta) * c)
    return launch([In("f32", 64, "integers"), c, 2.0, beta], expect, 64)


@case("unset.hip", kernel="sum", arch=ARCHS)
def summed(cleared: int = 1) -> LaunchDict:
    total = InOut("u32", 1) if cleared else Out("u32", 1)
    expect = (lambda x, _: x.sum(dtype=np.uint32, keepdims=True)) if cleared else (lambda x: x[:1])
    return launch([In("u32", 64, BITS[:64]), total], expect, 64)


@case("unset.hip", kernel="workspace", arch=ARCHS)
def workspace() -> LaunchDict:
    x = BITS[:64].copy()
    x[::5] = 0x80000000
    args = [In("u32", 64, x), Out("u32", 64), Out("u32", 64)]
    kept = np.where(x == 0x80000000, 7, x * np.uint32(5)).astype(np.uint32)
    return launch(args, lambda x: (kept, kept + np.uint32(1)), 64)


@case("unset.hip", kernel="halves", arch=ARCHS)
def halves() -> LaunchDict:
    args = [In("u16", 128, "bits"), Out("u32", 64)]
    return launch(args, lambda x: x[:64].astype(np.uint32) | x[64:].astype(np.uint32) << np.uint32(16), 64)


@case("matrix.hip", kernel="product", arch=ARCHS, executes="v_mfma_f32_16x16x16_f16|v_wmma_f32_16x16x16_f16")
def product(wave: int = 64) -> LaunchDict:
    size = {64: 4, 32: 16}[wave]
    results = {64: 4, 32: 8}[wave]
    args = [In("u16", 64 * size, "zeros"), Out("f32", wave), 100]
    return launch(args, lambda x: np.full(wave, np.float32(results)), wave)
