"""f32 arithmetic: IEEE 754's operations bit for bit, the hardware's approximations within a unit."""

from collections.abc import Callable
from functools import partial
from typing import Any

from hipkernels.conformance.isa.exactly import fma32
from hipkernels.conformance.isa.maths import reference
from hipkernels.conformance.isa.targets import ARCHS, per_element
from mfmasim.verify import In, LaunchDict, Out, case

declare = partial(case, "maths.hip", arch=ARCHS)
launch = per_element(192)  # three full waves of 64, and a last workgroup that the grid does not fill


def unary(expect: Callable[..., Any], n: int, rows: int, data: str = "special", ulp: int = 0) -> LaunchDict:
    return launch(n, [In("f32", n, data), Out("f32", (rows, n) if rows > 1 else n, ulp)], expect)


def binary(expect: Callable[..., Any], n: int, rows: int, data: str = "special") -> LaunchDict:
    return launch(n, [In("f32", n, data), In("f32", n, data), Out("f32", (rows, n) if rows > 1 else n)], expect)


BOTH = [{"data": "special"}, {"data": "normal"}]


@declare(kernel="fused", needs="n > 0", executes="v_fma_f32|v_fmac_f32", each=BOTH)
def fused(n: int = 1000, data: str = "special") -> LaunchDict:
    return launch(n, [In("f32", n, data), In("f32", n, data), In("f32", n, data), Out("f32", n)], fma32)


@declare(kernel="arithmetic", needs="n > 0", executes=["v_add_f32", "v_sub_f32", "v_mul_f32"], each=BOTH)
def arithmetic(n: int = 1000, data: str = "special") -> LaunchDict:
    return binary(reference.arithmetic, n, 3, data)


@declare(
    kernel="divide",
    needs="n > 0",
    executes=["v_div_scale_f32", "v_rcp_f32", "v_fma_f32|v_fmac_f32", "v_div_fmas_f32", "v_div_fixup_f32"],
    each=BOTH,
)
def divide(n: int = 1000, data: str = "special") -> LaunchDict:
    return binary(reference.divide, n, 1, data)


@declare(kernel="square_root", needs="n > 0", executes=["v_sqrt_f32", "v_fma_f32|v_fmac_f32"])
def square_root(n: int = 1500) -> LaunchDict:
    return unary(reference.square_root, n, 1)


@declare(
    kernel="rounding", needs="n > 0", executes=["v_floor_f32", "v_ceil_f32", "v_trunc_f32", "v_rndne_f32"], each=BOTH
)
def rounding(n: int = 1000, data: str = "special") -> LaunchDict:
    return unary(reference.rounding, n, 5, data)


@declare(
    kernel="minimum_maximum", needs="n > 0", executes=[r"v_min(_num)?_f32", r"v_max(_num)?_f32", r"v_med3(_num)?_f32"]
)
def minimum_maximum(n: int = 1500) -> LaunchDict:
    return binary(reference.minimum_maximum, n, 4)


@declare(kernel="exponents", needs="n > 0", executes=["v_frexp_(mant|exp_i32)_f32", "v_ldexp_f32"])
def exponents(n: int = 1000) -> LaunchDict:
    args = [In("f32", n), In("i32", n, "normal"), Out("f32", n), Out("i32", n), Out("f32", n)]
    return launch(n, args, reference.exponents)


@declare(kernel="classify", needs="n > 0", executes="v_cmp_class_f32")
def classify(n: int = 1000) -> LaunchDict:
    return launch(n, [In("f32", n), Out("u32", n)], reference.classify)


@declare(kernel="compare", needs="n > 0", executes=["v_cmp_lt_f32", "v_cmp_n?le_f32|v_cmp_n?gt_f32", "v_cmp_u_f32"])
def compare(n: int = 1000) -> LaunchDict:
    return launch(n, [In("f32", n), In("f32", n), Out("u32", n)], reference.compare)


@declare(kernel="polynomial", needs="n > 0", executes="v_(dual_)?fmaak_f32|v_(dual_)?fmamk_f32", each=BOTH)
def polynomial(n: int = 1000, data: str = "normal") -> LaunchDict:
    return unary(reference.polynomial, n, 1, data)


@declare(kernel="signs", needs="n > 0", executes=["v_bfi_b32", "v_mul_f32", "v_fma_f32"])
def signs(n: int = 1000) -> LaunchDict:
    return binary(reference.signs, n, 3)


@declare(kernel="approximations", needs="n > 0", executes=["v_exp_f32", "v_log_f32", "v_rcp_f32", "v_rsq_f32"])
def approximations(n: int = 1000) -> LaunchDict:
    return unary(reference.approximations, n, 4, "normal", ulp=1)


@declare(kernel="fractions", needs="n > 0", executes="v_fract_f32")
def fractions(n: int = 1000) -> LaunchDict:
    return unary(reference.fractions, n, 1)


@declare(kernel="trigonometry", needs="n > 0", executes=["v_sin_f32", "v_cos_f32"])
def trigonometry(n: int = 1000) -> LaunchDict:
    """RDNA's sine is up to 6 places from the exact one here, as captures show; no manual bounds the error."""
    return launch(n, [In("f32", n, reference.turns(n)), Out("f32", (2, n), ulp=6)], reference.trigonometry)


@declare(
    kernel="pairs",
    needs="n > 0",
    executes=["v_(pk_|dual_)?add_f32", "v_(pk_|dual_)?mul_f32", "v_pk_fma_f32|v_(dual_)?fmac?_f32"],
    each=BOTH,
)
def pairs(n: int = 500, data: str = "special") -> LaunchDict:
    args = [In("f32", (n, 2), data), In("f32", (n, 2), data), In("f32", (n, 2), data), Out("f32", (3, n, 2))]
    return launch(n, args, reference.pairs)
