"""Initial state of a kernel: indices, arguments, constants, globals, the dispatch packet."""

from functools import partial
from typing import Any

import numpy as np

from hipkernels.conformance.isa.launch import reference
from hipkernels.conformance.isa.targets import ARCHS
from mfmasim.verify import In, LaunchDict, Out, case

declare = partial(case, "launch.hip", arch=ARCHS)
CDNA3 = [arch for arch in ARCHS if arch in ("gfx942", "gfx950")]


@declare(
    kernel="indices",
    each=[
        {"grid": g, "block": b} for g, b in (((2, 3, 4), (5, 3, 2)), ((3, 1, 2), (1, 37, 3)), ((4, 2, 1), (70, 1, 1)))
    ],
    executes="v_bfe_u32|v_and_b32|v_mad_u64_u32",  # RDNA2 has the three ids in registers of their own
)
def indices(grid: tuple[int, int, int] = (1, 1, 1), block: tuple[int, int, int] = (1, 1, 1)) -> LaunchDict:
    x, y, z = (g * b for g, b in zip(grid, block, strict=True))
    return {"grid": grid, "block": block, "args": [Out("u32", (z, y, x, 4))], "expect": reference.indices(grid, block)}


@declare(kernel="stencil", executes=["v_(add|sub|dual_add)_f32", "s_and_saveexec_b(32|64)|v_cmpx.*|s_and_b(32|64)"])
def stencil(width: int = 45, height: int = 23) -> LaunchDict:
    args = [In("f32", (height, width)), Out("f32", (height, width)), width, height]
    grid = (-(-width // 16), -(-height // 8))
    return {"grid": grid, "block": (16, 8), "args": args, "expect": reference.stencil}


@declare(kernel="arguments", executes="s_load_.*")
def arguments() -> LaunchDict:
    values = [np.uint8(250), -1.5e300, np.int16(-32000), np.uint64(2**63 + 2**11), True, np.float16(0.1), -(2**31)]
    values += [np.int8(-128), np.float32(1e-40)]
    args = [*values, Out("f64", 100)]
    return {"grid": 2, "block": 50, "args": args, "expect": reference.arguments(values, 100)}


@declare(kernel="structure", executes="s_load_.*")
def structure() -> LaunchDict:
    part = np.dtype([("low", "u1"), ("high", "u1"), ("mask", "<u4")], align=True)
    layout = [("tag", "i1"), ("scale", "<f8"), ("steps", "<i2", 5), ("origin", "<f4", 3), ("range", part, 2)]
    p = np.zeros((), np.dtype(layout, align=True))
    p["tag"], p["scale"], p["steps"], p["origin"] = -7, 0.37, [1, -2, 3, -4, 32767], [1.5, -2.25, 1e10]
    p["range"] = [(10, 100, 0x55AA55AA), (90, 255, 0x0FF0)]
    args = [p, Out("u32", 100), Out("f64", 100)]
    return {"grid": 2, "block": 50, "args": args, "expect": reference.structure(p, 100)}


@declare(kernel="globals", executes=["s_getpc_b64", "global_atomic_add(_u32)?"])
def globals_() -> LaunchDict:
    args = [In("u32", 64, "bits"), Out("u32", 64), Out("f64", 64), Out("u32", 64)]
    return {"grid": 1, "block": 64, "args": args, "expect": reference.globals_}


@declare(kernel="packet", executes="s_load_.*")
def packet(grid: tuple[int, int] = (3, 1), block: tuple[int, int] = (20, 4)) -> LaunchDict:
    count = grid[0] * block[0] * block[1]
    return {"grid": grid, "block": block, "args": [Out("u32", count)], "expect": reference.packet(grid, block)}


def _preload(**numbers: Any) -> LaunchDict:
    args = [In("i32", 100, "bits"), Out("i32", 100), *numbers.values()]
    return {"grid": 2, "block": 50, "args": args, "expect": partial(reference.preload, **numbers)}


@declare(kernel="preload", executes="s_load_.*")
def memory_arguments(a: int = 3, b: int = -77, c: int = 0x1234, d: int = -(2**50) + 12345, e: int = 99) -> LaunchDict:
    return _preload(a=a, b=b, c=c, d=d, e=e)


@declare(kernel="preload", arch=CDNA3, flags=["-mllvm", "-amdgpu-kernarg-preload-count=16"], executes="s_load_.*")
def preloaded_arguments(
    a: int = 3, b: int = -77, c: int = 0x1234, d: int = -(2**50) + 12345, e: int = 99
) -> LaunchDict:
    return _preload(a=a, b=b, c=c, d=d, e=e)
