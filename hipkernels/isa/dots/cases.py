"""Dot products of packed elements."""

import reference
from targets import ARCHS

from mfmasim.verify import In, Out, case

BLOCK = 128


def launch(n, args, expect):
    return {"grid": -(-n // BLOCK), "block": BLOCK, "args": [*args, n], "expect": expect}


@case("dots.hip", kernel="bytes", arch=ARCHS, executes=["v_dot4c?_i32_iu?8", "v_dot4_u32_u8"])
def bytes4(n=500):
    return launch(n, [In("u32", n, "bits"), In("u32", n, "bits"), Out("u32", (3, n))], reference.bytes4)


@case("dots.hip", kernel="nibbles", arch=ARCHS, executes=["v_dot8c?_i32_iu?4", "v_dot8_u32_u4"])
def nibbles(n=500):
    return launch(n, [In("u32", n, "bits"), In("u32", n, "bits"), Out("u32", (2, n))], reference.nibbles)


@case("dots.hip", kernel="halves", arch=ARCHS, executes="v_dot2c?_f32_f16|v_dot2acc_f32_f16|v_dual_dot2acc_f32_f16")
def halves(n=500):
    args = [In("f16", (n, 2), "integers"), In("f16", (n, 2), "integers"), In("f32", n, "integers"), Out("f32", n)]
    return launch(n, args, reference.halves)


@case(
    "dots.hip",
    kernel="shorts",
    arch=ARCHS,
    executes=["v_dot2c?_i32_i16", "v_dot2_u32_u16"],
    skip={a: "gfx11 and gfx12 have no dot products of 16-bit integers" for a in ARCHS if a[:4] != "gfx9"},
)
def shorts(n=500):
    args = [In("i16", (n, 2)), In("i16", (n, 2)), Out("i32", (3, n))]
    return launch(n, args, reference.shorts)
