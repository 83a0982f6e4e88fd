"""The arguments of the kernels of pairs.hip and unequal.hip: one case stands for all of a file, its kernel for none."""

import numpy as np

from mfmasim.verify import In, Out, case

SIZE = 300


def launch():
    arrays = [Out("f32", SIZE), In("f32", SIZE), In("f32", SIZE)]
    return {"grid": 2, "block": 256, "args": [*arrays, np.int32(SIZE)], "expect": np.zeros(SIZE, np.float32)}


@case("pairs.hip", kernel="copy_a", arch=["gfx942", "gfx950", "gfx1201"])
def pairs():
    return launch()


@case("unequal.hip", kernel="last_a", arch=["gfx942", "gfx950", "gfx1201"])
def unequal():
    return launch()


@case("hostile.hip", kernel="last_a", arch=["gfx942", "gfx950", "gfx1201"])
def hostile():
    return launch()
