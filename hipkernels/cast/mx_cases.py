"""Cases of the formats with a scale for each 32 elements: `cases.py` takes them in."""

import numpy as np
import reference

import mfmasim
from mfmasim.verify import In, Out, case

FORMATS = {"e4m3": "e4m3fn", "e5m2": "e5m2", "e2m1": "e2m1fn"}
WAYS = [(target, way) for target in FORMATS for way in ("row", "column") if (target, way) != ("e2m1", "column")]


EDGES = [448.0, 450.0, 57344.0, 57600.0, 6.0, 6.03125, 2.0**-120, 2.0**-149]
"""Largest magnitudes at which a scale changes, and so small ones that it cannot."""


def matrix(given, rows, cols, data):
    """Blocks of very different size, some of zeros; in ``special`` some hold an infinity or a NaN."""
    rng = np.random.default_rng(7)
    x = rng.normal(size=(rows, cols)) * np.exp2(np.arange(rows) % 9 * 16.0 - 70)[:, None]
    for place, edge in enumerate(EDGES):
        x[4 * place % rows, :32], x[:32, 64 + place] = edge / 64, edge / 64
        x[4 * place % rows, place], x[place, 64 + place] = -edge, edge
    x[1, :32], x[:32, 33], x[2, 32:64], x[3, 5] = 0.0, -0.0, 3.0e38, -3.0e38
    if data == "special":
        x[5, 40], x[rows - 1, cols - 1], x[6, 70] = -np.inf, np.nan, np.nan
    codes = mfmasim.format(given).encode(x, overflow="infinity_or_nan")
    return codes.view(np.float32) if given == "f32" else codes


@case(
    "mx.hip",
    kernel="mx_{given}_{target}_{way}",
    arch="gfx950",
    needs="rows % 32 == 0 and cols % 32 == 0",
    each=[{"given": g, "target": t, "way": w} for g in ("f32", "bf16") for t, w in WAYS],
    executes="v_cvt_pk_(fp8|bf8)_f32|v_cvt_scalef32_pk_fp4_f32",
)
def mx_quantise(given="f32", target="e4m3", way="row", rows=64, cols=96, data="finite"):
    """Scales by rows or by columns; codes stay where their elements were."""
    x, fmt = matrix(given, rows, cols, data), FORMATS[target]
    codes, scales = reference.mx_quantise(x, fmt, way)
    out = Out("u8", codes.shape) if target == "e2m1" else Out(fmt, codes.shape)
    args = [In(given, x.shape, x), out, Out("u8", scales.size), rows, cols]
    return {"grid": -(-scales.size // 256), "block": 256, "args": args, "expect": lambda _: (codes, scales)}


@case(
    "mx.hip",
    kernel="mx_{given}_{target}_{way}",
    arch="gfx950",
    each=[{"given": g, "target": t, "way": w} for g in ("f32", "bf16") for t, w in WAYS if t != "e2m1"],
)
def mx_special(given="f32", target="e4m3", way="row", rows=32, cols=96):
    """Infinities and NaNs, which are of their own block alone."""
    return mx_quantise(given, target, way, rows, cols, "special")


@case(
    "mx.hip",
    kernel="mx_{target}_{way}_back",
    arch="gfx950",
    each=[{"target": t, "way": w} for t, w in WAYS if t != "e2m1"],
    executes="v_cvt_f32_(fp8|bf8)(_sdwa)?",
)
def mx_dequantise(target="e4m3", way="row", rows=64, cols=96):
    """Every code with scales of every size, those with an infinite or denormal product as well."""
    rng, fmt = np.random.default_rng(5), FORMATS[target]
    codes = rng.permutation(np.arange(rows * cols) % 256).astype(np.uint8).reshape(rows, cols)
    scales = rng.integers(0, 256, rows * cols // 32).astype(np.uint8)
    scales[:4] = 0, 1, 254, 255
    args = [In(fmt, codes.shape, codes), In("u8", scales.size, scales), Out("f32", codes.shape), rows, cols]
    expect = reference.mx_dequantise(codes, scales, fmt, way)
    return {"grid": -(-codes.size // 256), "block": 256, "args": args, "expect": expect}
