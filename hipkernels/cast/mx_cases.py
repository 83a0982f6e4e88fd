"""Cases of the formats with a scale for each 32 elements; `cases.py` includes them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import mfmasim
from hipkernels.cast.mx_reference import FORMATS, RULES, dequantise, quantise, shapes
from hipkernels.cast.reference import widened
from mfmasim.formats import ScaleRule
from mfmasim.verify import In, LaunchDict, Out, case

GIVEN, WAYS = ["f32", "f16", "bf16"], ["row", "column"]
EVERY = [{"given": g, "target": t, "way": w} for g in GIVEN for t in FORMATS for w in WAYS]
HARDWARE, SOFTWARE = "gfx950", ["gfx942", "gfx1201"]
"""Only gfx950 has conversions with a scale."""
SOME = "rows >= 1 and cols >= 1"
EDGES = [448.0, 464.0, 480.0, 512.0, 57344.0, 61440.0, 6.0, 6.5, 7.0, 7.5, 1.75, 1.9375, 2.0**-120, 2.0**-149]
"""Largest magnitudes at which rules differ or scales change, and magnitudes too small for any scale."""


def matrix(given: str, rows: int, cols: int, data: str) -> NDArray[Any]:
    """Blocks of very different size, some of zeros; in ``special`` some hold an infinity or a NaN.

    Every row and every column has a different magnitude, and every fourth block in both directions has one of `EDGES`.
    """
    rng = np.random.default_rng([rows, cols])
    sizes = np.arange(rows)[:, None] % 7 * 9.0 + np.arange(cols) % 5 * 9.0 - 50
    x = rng.normal(size=(rows, cols)) * np.exp2(np.clip(sizes, -20, 12) if given == "f16" else sizes)
    for place, edge in enumerate(EDGES):
        row, col = 5 * place % rows, 7 * place % cols
        x[row, col // 32 * 32 : col // 32 * 32 + 32] = edge / 64
        x[row // 32 * 32 : row // 32 * 32 + 32, col] = edge / 64
        x[row, col] = edge * (-1) ** place
    x[1 % rows, :32], x[:32, 33 % cols] = 0.0, -0.0
    if given != "f16":
        x[2 % rows, -1], x[3 % rows, 5 % cols] = 3.0e38, -3.0e38
    if data == "special":
        x[5 % rows, 40 % cols], x[rows - 1, cols - 1], x[6 % rows, 70 % cols] = -np.inf, np.nan, -np.nan
    codes = mfmasim.format(given).encode(x, overflow="infinity_or_nan")
    return codes if given == "bf16" else codes.view({"f32": np.float32, "f16": np.float16}[given])


def launch_quantise(
    x: NDArray[Any], given: str, target: str, way: str, rule: ScaleRule, arch: str = "gfx950"
) -> LaunchDict:
    """Arguments and expected outputs."""
    rows, cols = x.shape
    codes, scales = shapes(rows, cols, target, way)
    blocks = 4 * scales[0] * scales[1] if way == "row" else scales[0] * scales[1]
    out, out_scales = Out("u8" if target == "e2m1" else FORMATS[target], codes), Out("e8m0fnu", scales)
    args = [In(given, x.shape, x, drawn="special"), out, out_scales, rows, cols, RULES.index(rule)]

    def expect(held: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        return quantise(widened(held), target, way, rule, arch)

    return {"grid": -(-blocks // 256), "block": 256, "args": args, "expect": expect}


@case(
    "mx.hip",
    kernel="mx_{given}_{target}_{way}",
    arch=HARDWARE,
    needs=SOME,
    draws={"rule": RULES},
    each=EVERY,
    executes=["v_cvt_scalef32_pk_(fp8|bf8|fp4)_f32"],
)
def mx_quantise(
    given: str = "f32",
    target: str = "e4m3",
    way: str = "row",
    rule: ScaleRule = "ocp",
    rows: int = 70,
    cols: int = 107,
    data: str = "special",
) -> LaunchDict:
    """Converted and scaled in one instruction."""
    return launch_quantise(matrix(given, rows, cols, data), given, target, way, rule)


@case("mx.hip", kernel="mx_{given}_{target}_{way}", arch=SOFTWARE, needs=SOME, draws={"rule": RULES}, each=EVERY)
def mx_software(
    given: str = "f32",
    target: str = "e4m3",
    way: str = "row",
    rule: ScaleRule = "ocp",
    rows: int = 70,
    cols: int = 107,
    data: str = "special",
    arch: str = "gfx1201",
) -> LaunchDict:
    """The same bytes, with FP8 conversions of gfx1201 (whose NaN is negative) or with none."""
    return launch_quantise(matrix(given, rows, cols, data), given, target, way, rule, arch)


SIZES = [(1, 1), (1, 32), (32, 1), (31, 33), (33, 31), (64, 96), (5, 259)]


@case(
    "mx.hip",
    kernel="mx_{given}_{target}_{way}",
    arch=[HARDWARE, *SOFTWARE],
    each=[{"rows": r, "cols": c, "target": t, "way": w} for r, c in SIZES for t in ("e4m3", "e2m1") for w in WAYS],
)
def mx_size(
    rows: int = 1, cols: int = 1, target: str = "e4m3", way: str = "row", given: str = "f32", rule: ScaleRule = "rceil"
) -> LaunchDict:
    """Whole blocks, shorter ones, odd ends, single elements."""
    return launch_quantise(matrix(given, rows, cols, "finite"), given, target, way, rule)


@case(
    "mx.hip",
    kernel="mx_f32_{target}_{way}",
    arch=[HARDWARE, *SOFTWARE],
    each=[{"target": t, "rule": r} for t in FORMATS for r in RULES],
)
def mx_rule(target: str = "e4m3", rule: ScaleRule = "ocp", way: str = "row", rows: int = 64) -> LaunchDict:
    """Each rule at each side of where its scale changes: the largest magnitude of a block goes through a binade."""
    tops = np.float32(2.0) ** np.arange(-6, 10, dtype=np.float32)
    steps = np.array([1.0, 1.03, 1.25, 1.4, 1.5, 1.5625, 1.74, 1.75, 1.76, 1.8, 1.875, 1.9, 1.9375, 1.97], np.float32)
    both = np.concatenate([steps, np.nextafter(steps, np.float32(2)), np.nextafter(steps, np.float32(1))])
    x = np.random.default_rng(3).uniform(-0.99, 0.99, (rows, 32 * len(both))).astype(np.float32)
    x *= tops[np.arange(rows) % 16][:, None]
    x[:, 7::32] = tops[np.arange(rows) % 16][:, None] * both
    return launch_quantise(x, "f32", target, way, rule)


@case(
    "mx.hip",
    kernel="mx_{target}_{way}_back",
    arch=[HARDWARE, *SOFTWARE],
    needs=SOME,
    each=[{"target": t, "way": w} for t in FORMATS for w in WAYS],
)
def mx_dequantise(target: str = "e4m3", way: str = "row", rows: int = 70, cols: int = 107) -> LaunchDict:
    """Every code with scales of every size, those with an infinite or denormal product as well."""
    rng = np.random.default_rng(5)
    of_codes, of_scales = shapes(rows, cols, target, way)
    codes = rng.permutation(np.arange(of_codes[0] * of_codes[1]) % 256).astype(np.uint8).reshape(of_codes)
    scales = rng.integers(0, 256, of_scales).astype(np.uint8)
    scales.flat[:4] = 0, 1, 254, 255
    given = In("u8" if target == "e2m1" else FORMATS[target], of_codes, codes, drawn="bits")
    args = [given, In("e8m0fnu", of_scales, scales, drawn="bits"), Out("f32", (rows, cols)), rows, cols]

    def expect(held: NDArray[Any], powers: NDArray[Any]) -> NDArray[Any]:
        return dequantise(held, powers, (rows, cols), target, way)

    return {"grid": -(-rows * cols // 256), "block": 256, "args": args, "expect": expect}
