"""Double precision."""

from functools import partial

import numpy as np

from hipkernels.conformance.isa.f64 import reference
from hipkernels.conformance.isa.targets import ARCHS, per_element
from mfmasim.verify import In, LaunchDict, Out, case

BOTH = [{"data": "special"}, {"data": "normal"}]
declare = partial(case, "f64.hip", arch=ARCHS)
launch = per_element(192)


@declare(kernel="arithmetic", needs="n > 0", executes=["v_add_f64", "v_mul_f64", "v_fmac?_f64"], each=BOTH)
def arithmetic(n: int = 500, data: str = "special") -> LaunchDict:
    return launch(n, [*(In("f64", n, data) for _ in range(3)), Out("f64", (4, n))], reference.arithmetic)


@declare(
    kernel="divide_and_root",
    needs="n > 0",
    executes=["v_div_scale_f64", "v_rcp_f64", "v_div_fmas_f64", "v_div_fixup_f64", "v_rsq_f64"],
    each=BOTH,
)
def divide_and_root(n: int = 600, data: str = "special") -> LaunchDict:
    return launch(n, [In("f64", n, data), In("f64", n, data), Out("f64", (2, n))], reference.divide_and_root)


@declare(
    kernel="rounding",
    needs="n > 0",
    executes=["v_floor_f64", "v_ceil_f64", "v_trunc_f64", "v_rndne_f64", "v_fract_f64"],
    each=BOTH,
)
def rounding(n: int = 800, data: str = "special") -> LaunchDict:
    return launch(n, [In("f64", n, data), Out("f64", (5, n))], reference.rounding)


@declare(
    kernel="compare",
    needs="n > 0",
    executes=["v_min(_num)?_f64", "v_max(_num)?_f64", "v_cmp_n?[lg][te]_f64", "v_cmp_class_f64"],
)
def compare(n: int = 1000) -> LaunchDict:
    args = [In("f64", n), In("f64", n), Out("f64", (2, n)), Out("u32", n)]
    return launch(n, args, reference.compare)


@declare(kernel="exponents", needs="n > 0", executes=["v_frexp_mant_f64", "v_frexp_exp_i32_f64", "v_ldexp_f64"])
def exponents(n: int = 800) -> LaunchDict:
    shifts = np.random.default_rng(5).integers(-2200, 2200, n).astype(np.int32)
    args = [In("f64", n), In("i32", n, shifts), Out("f64", (2, n)), Out("i32", n)]
    return launch(n, args, reference.exponents)


@declare(kernel="compensated_sum", executes=["v_add_f64", "s_cbranch_scc[01]|s_cbranch_vccn?z"])
def compensated_sum(rows: int = 300, columns: int = 11) -> LaunchDict:
    return launch(rows, [In("f64", (rows, columns), "normal"), Out("f64", rows)], reference.compensated_sum, columns)
