"""Numbers that are cast, packed and added up: formats by hand, signs of integers, what rounding loses."""

import numpy as np
from numpy.typing import NDArray

from hipkernels.zoo.entry import entry
from mfmasim import format as find_format
from mfmasim.verify import In, InOut, LaunchDict, Out

Bytes = NDArray[np.uint8]
Floats = NDArray[np.float32]


def bf16(values: Floats) -> NDArray[np.uint16]:
    """Codes of numbers, to the nearest."""
    return find_format("bf16").encode(values.astype(np.float64)).astype(np.uint16)


@entry()
def vllm_46676(version: str = "before") -> LaunchDict:
    codes = In("u8", 4096, np.repeat(np.arange(16, dtype=np.uint8), 256))
    scales = In("u8", 4096, np.tile(np.r_[np.arange(255), 127].astype(np.uint8), 16))

    def expect(codes: Bytes, scales: Bytes) -> NDArray[np.uint16]:
        numbers = find_format("e2m1fn").decode(codes) * 2.0 ** (scales.astype(int) - 127)
        return find_format("bf16").encode(numbers, overflow="infinity_or_nan").astype(np.uint16)

    return {"grid": 16, "block": 256, "args": [codes, scales, Out("bf16", 4096)], "expect": expect}


@entry()
def rocm_systems_10591(version: str = "before") -> LaunchDict:
    bits = np.arange(2048, dtype=np.uint32) << 20  # signless, three bits of the fraction
    x, y = In("f32", 2048, bits.view(np.float32)), Out("e5m2", 2048)
    cast = lambda x: find_format("e5m2").encode(x.astype(np.float64), overflow="infinity_or_nan")  # noqa: E731
    return {"grid": 8, "block": 256, "args": [x, y, 2048], "expect": cast}


@entry()
def misa_179(version: str = "before") -> LaunchDict:
    signalling = np.uint32(0x7F810000)
    bits = np.where(np.arange(512) % 7, np.uint32(0x3F800000), signalling).astype(np.uint32)
    x, y = In("f32", 512, bits.view(np.float32)), Out("bf16", 512)
    return {"grid": 1, "block": 256, "args": [x, y], "expect": lambda x: (x.view(np.uint32) >> 16).astype(np.uint16)}


@entry()
def rocm_6126(version: str = "before") -> LaunchDict:
    q, k, y = In("i8", (64, 4), "integers"), In("i8", (64, 4), "integers"), Out("i32", 64)
    return {
        "grid": 1,
        "block": 64,
        "args": [q, k, y],
        "expect": lambda q, k: (q.astype(np.int32) * k).sum(1, dtype=np.int32),
    }


@entry(checks="all,numerics")
def aiter_5535(version: str = "before") -> LaunchDict:
    scores = np.full(64, -7, np.float32)
    scores[0] = 0
    x, y = In("f32", 64, scores), Out("f32", 1, absolute=2e-2)
    return {"grid": 1, "block": 64, "args": [x, y], "expect": lambda scores: np.ones(1, np.float32)}


@entry()
def vllm_54706(version: str = "before", parts: int = 3) -> LaunchDict:
    x, y = In("f32", (parts, 128), "normal"), InOut("bf16", 128, "zeros", absolute=0.05)
    room, count = InOut("f32", (parts, 128), "zeros"), InOut("u32", 1, "zeros")

    def expect(x: Floats, room: Floats, count: NDArray[np.uint32], y: NDArray[np.uint16]) -> list[NDArray[np.generic]]:
        if version == "before":
            return [room, count, bf16(x.sum(0))]
        return [x, count + np.uint32(parts), bf16(x.sum(0))]

    return {"grid": parts, "block": 64, "args": [x, room, count, y], "expect": expect}
