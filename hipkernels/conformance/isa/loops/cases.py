"""Loops whose lanes leave together or one by one."""

from functools import partial

import numpy as np

from hipkernels.conformance.isa.loops import reference
from hipkernels.conformance.isa.targets import ARCHS, per_element
from mfmasim.verify import In, LaunchDict, Out, case

LEAVE = r"s_(andn2|and_not1)_b(32|64)|s_(andn2|and_not1)_wrexec_b(32|64)|s_(or|and)_saveexec_b(32|64)"
SCALAR = ["s_cmp_(eq|lg|lt|gt|ge)_[iu](32|64)", "s_cbranch_scc[01]"]
declare = partial(case, "loops.hip", arch=ARCHS)
launch = per_element(160)


@declare(kernel="collatz", needs="n > 0", executes=[LEAVE, "s_cbranch_execn?z", "v_cmpx?_[gl][te]_u64"])
def collatz(n: int = 300) -> LaunchDict:
    start = np.arange(1, n + 1, dtype=np.uint32) * np.uint32(2)
    return launch(n, [In("u32", n, start), Out("u32", n), Out("u64", n)], reference.collatz)


@declare(
    kernel="euclid", needs="n > 0", executes=[LEAVE, "v_rcp_iflag_f32"], each=[{"data": "normal"}, {"data": "special"}]
)
def euclid(n: int = 300, data: str = "normal") -> LaunchDict:
    return launch(n, [In("u32", n, data), In("u32", n, data), Out("u32", n)], reference.euclid)


@declare(kernel="matrix_times_vector", executes=SCALAR)
def matrix_times_vector(rows: int = 300, columns: int = 13) -> LaunchDict:
    args = [In("i32", (rows, columns), "bits"), In("i32", columns, "bits"), Out("i32", rows)]
    return launch(rows, args, reference.matrix_times_vector, columns)


@declare(kernel="factors", needs="n > 0", executes=[LEAVE, "s_cbranch_execn?z"])
def factors(n: int = 300) -> LaunchDict:
    return launch(n, [In("u32", n, np.arange(1, n + 1, dtype=np.uint32)), Out("u32", (3, n))], reference.factors)


@declare(kernel="integer_root", needs="n > 0", executes=["v_cmpx?_[gl][te]_u64"])
def integer_root(n: int = 400) -> LaunchDict:
    return launch(n, [In("u64", n), Out("u32", n)], reference.integer_root)


@declare(kernel="mandelbrot", executes=[LEAVE, "v_(dual_)?mul_f32|v_pk_mul_f32", r"v_cmpx?_\w+_f32"])
def mandelbrot(width: int = 37, height: int = 30, limit: int = 60, step: float = 0.08) -> LaunchDict:
    args = [Out("u32", (height, width)), width, height, limit, np.float32(step)]
    expect = reference.mandelbrot(width, height, limit, step)
    return {"grid": (3, 4), "block": (16, 9), "args": args, "expect": expect}


@declare(kernel="grid_stride", needs="n > 0", executes=[LEAVE, "v_mul_lo_u32|v_mad_(co_)?u64_u32"])
def grid_stride(n: int = 1000) -> LaunchDict:
    return {"grid": 2, "block": 96, "args": [In("u32", n), Out("u32", n), n], "expect": reference.grid_stride}


@declare(kernel="sort_eight", needs="n > 0", executes=["v_min_i32|v_dual_min_i32", "v_max_i32|v_dual_max_i32"])
def sort_eight(n: int = 200) -> LaunchDict:
    return launch(n, [In("i32", (n, 8)), Out("i32", (n, 8))], reference.sort_eight)
