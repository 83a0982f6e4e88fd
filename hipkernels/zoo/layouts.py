"""Elements of fragments and scales at the wrong place, and numbers read or written in another format."""

import numpy as np
from numpy.typing import NDArray

from hipkernels.zoo.entry import entry
from mfmasim import format as find_format
from mfmasim.verify import A, B, C, DependsOn, In, Index, LaunchDict, Out, ScaleA, ScaleB, every, sparse


def product(m: int, n: int, k: int, a: str = "f16", b: str = "f16", c: str = "f32", block: int = 64) -> LaunchDict:
    """One wave: A by rows, B by columns."""
    left, right, out = A(a, (m, k)), B(b, (k, n), order="column"), C(c, (m, n))
    return {"grid": 1, "block": block, "args": [left, right, out], "expect": left @ right}


@entry()
def iree_17973(version: str = "before") -> LaunchDict:
    return product(16, 16, 16)


@entry()
def iree_23806(version: str = "before") -> LaunchDict:
    return product(16, 16, 16, c="f16", block=32)


@entry()
def rocm_6025(version: str = "before") -> LaunchDict:
    return product(16, 16, 16, block=32)


@entry()
def flydsl_544(version: str = "before") -> LaunchDict:
    return product(16, 16, 16, block=32)


@entry()
def triton_9567(version: str = "before") -> LaunchDict:
    return product(16, 16, 32, "bf8", "fp8")


@entry()
def triton_10290(version: str = "before") -> LaunchDict:
    return product(16, 16, 32)


@entry()
def hipblaslt_11962(version: str = "before") -> LaunchDict:
    return product(16, 32, 16)


@entry()
def fbgemm_4280(version: str = "before") -> LaunchDict:
    given = {"before": "e4m3fnuz", "after": "e4m3fn"}[version]
    return product(16, 16, 32, given, given)


@entry()
def vllm_45562(version: str = "before") -> LaunchDict:
    x, y = In("e4m3fnuz", 256, np.arange(256, dtype=np.uint8)), Out("f32", 256)
    return {
        "grid": 1,
        "block": 256,
        "args": [x, y],
        "expect": lambda x: find_format("e4m3fnuz").decode(x).astype(np.float32),
    }


@entry()
def sglang_29275(version: str = "before", rows: int = 6, blocks: int = 16) -> LaunchDict:
    shape = rows, 4 * blocks
    x = In("f32", shape, np.arange(1, 4 * rows * blocks + 1, dtype=np.float32).reshape(shape))
    scale, y = In("f32", (blocks, rows), "normal"), Out("f32", shape)
    return {
        "grid": rows,
        "block": 4 * blocks,
        "args": [x, scale, y, rows, blocks],
        "expect": lambda x, scale: x * np.repeat(scale.T, 4, axis=1),
        "sources": [DependsOn(y, scale, lambda i, j: (j // 4, i))],
    }


@entry()
def primus_383(version: str = "before", rows: int = 32, blocks: int = 6) -> LaunchDict:
    scale, y = In("u8", (rows, blocks), "bits"), Out("u8", 8 * rows)

    def expect(scale: NDArray[np.uint8]) -> NDArray[np.uint8]:
        padded = np.pad(scale, ((0, 0), (0, 8 - blocks)))
        return padded.reshape(2, 16, 2, 4).transpose(3, 1, 2, 0).reshape(-1)

    return {"grid": 1, "block": 256, "args": [scale, y, blocks], "expect": expect}


@entry()
def uccl_804(version: str = "before", n: int = 256) -> LaunchDict:
    fmt = {"before": "e4m3fn", "after": "e4m3fnuz"}[version]
    x, y = In("f32", n, "integers"), Out(fmt, n)
    return {"grid": 1, "block": 64, "args": [x, y], "expect": lambda x: find_format(fmt).encode(x)}


def steps(most: float, n: int = 64) -> NDArray[np.float32]:
    """Numbers up to a limit."""
    return np.linspace(-most, most, n, dtype=np.float32)


@entry()
def vllm_50467(version: str = "before") -> LaunchDict:
    x, y = In("f32", 64, steps(448)), Out("e4m3fn", 64)
    return {"grid": 1, "block": 64, "args": [x, y], "expect": lambda x: find_format("e4m3fn").encode(x)}


@entry(checks="all,numerics")
def vllm_45681(version: str = "before") -> LaunchDict:
    x, y = In("f32", 64, steps(1)), Out("e4m3fnuz", 64)
    return {"grid": 1, "block": 64, "args": [x, y], "expect": lambda x: find_format("e4m3fnuz").encode(x * 240)}


def cast(target: str, most: float) -> LaunchDict:
    """Every bf16 number, to the nearest code of an FP8 format within a limit."""
    x, y = In("bf16", 1 << 16, every("bf16")), Out(target, 1 << 16)

    def expect(x: NDArray[np.uint16]) -> NDArray[np.uint8]:
        values = (x.astype(np.uint32) << 16).view(np.float32)
        limited = np.where(np.isnan(values), values, np.clip(values, -most, most))
        return find_format(target).encode(limited.astype(np.float64))

    return {"grid": 256, "block": 256, "args": [x, y, 1 << 16], "expect": expect}


@entry()
def sglang_37140(version: str = "before") -> LaunchDict:
    return cast("e4m3fn", 448)


@entry()
def sglang_40581(version: str = "before") -> LaunchDict:
    return cast("e4m3fnuz", 224)


@entry()
def sglang_26884(version: str = "before", tiles: int = 4) -> LaunchDict:
    order = {"before": "aiter_gate_up_16", "after": "aiter_16x16"}[version]
    a, b, c = A("e2m1fn", (16, 128)), B("e2m1fn", (128, 16 * tiles), shuffle=order), C("f32", (16, 16 * tiles))
    return {"grid": 1, "block": 64, "args": [a, b, c, tiles], "expect": a @ b}


@entry()
def flydsl_580(version: str = "before") -> LaunchDict:
    return product(16, 16, 16, "i8", "i8", "i32", 32)


@entry()
def ck_3759(version: str = "before") -> LaunchDict:
    a, index, b, c = A("f16", (16, 16)), Index((16, 16)), B("f16", (32, 16), order="column"), C("f32", (16, 16))
    return {"grid": 1, "block": 32, "args": [a, index, b, c], "expect": sparse(a, index) @ b}


@entry()
def hipblaslt_7386(version: str = "before") -> LaunchDict:
    a, b, c = A("e4m3fn", (16, 128)), B("e4m3fn", (128, 16), order="column"), C("f32", (16, 16))
    scale_a, scale_b = ScaleA((16, 4)), ScaleB((4, 16), order="column")
    args = [a, scale_a, b, scale_b, c]
    return {"grid": 1, "block": 32, "args": args, "expect": (a * scale_a) @ (b * scale_b)}


@entry()
def hipblaslt_10887(version: str = "before") -> LaunchDict:
    return product(16, 16, 16, "i8", "i8", "i32", 32)


@entry()
def tilelang_2105(version: str = "before") -> LaunchDict:
    return product(32, 32, 16)


@entry()
def triton_11313(version: str = "before", turns: int = 2) -> LaunchDict:
    a, b, c = A("f16", (16, 32 * turns)), B("f16", (32 * turns, 16), order="column"), C("f32", (16, 16))
    return {"grid": 1, "block": 32, "args": [a, b, c, turns], "expect": a @ b}


@entry()
def tinygrad_9838(version: str = "before") -> LaunchDict:
    return product(16, 16, 16, block=32)


@entry()
def hipblaslt_8406(version: str = "before") -> LaunchDict:
    return product(16, 16, 64, block=32)


@entry()
def iree_18206(version: str = "before") -> LaunchDict:
    return product(16, 16, 16, c="f16", block=32)


@entry()
def hipblaslt_12226(version: str = "before", alpha: float = 0.5, beta: float = 2.0) -> LaunchDict:
    a, b, c = A("f16", (16, 16)), B("f16", (16, 32), order="column"), C("f32", (16, 32))
    return {"grid": 1, "block": 64, "args": [a, b, c, alpha, beta], "expect": alpha * (a @ b) + beta * c}


@entry()
def atlas_174(version: str = "before", blocks: int = 3) -> LaunchDict:
    numbers = np.arange(1, 128 * blocks + 1, dtype=np.float32).reshape(blocks, 128)
    x, scale, y = In("f32", (blocks, 128), numbers), In("f32", blocks, "normal"), Out("f32", (blocks, 128))
    sources = [DependsOn(y, scale, lambda i, j: i)]
    expect = lambda x, scale: x * scale[:, None]  # noqa: E731
    return {"grid": blocks, "block": 128, "args": [x, scale, y], "expect": expect, "sources": sources}
