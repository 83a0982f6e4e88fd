"""Half precision: one element, two packed, and halves as operands of single precision."""

from functools import partial

import numpy as np

import mfmasim
from hipkernels.conformance.isa.f16 import reference
from hipkernels.conformance.isa.targets import ARCHS, per_element
from mfmasim.verify import In, LaunchDict, Out, case

EVERY = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
"""Every f16 code."""
BOTH = [{"data": "special"}, {"data": "normal"}]
declare = partial(case, "f16.hip", arch=ARCHS)
launch = per_element(160)


@declare(kernel="arithmetic", needs="n > 0", executes=["v_add_f16", "v_sub_f16", "v_mul_f16", "v_fmac?_f16"], each=BOTH)
def arithmetic(n: int = 1000, data: str = "special") -> LaunchDict:
    return launch(n, [*(In("f16", n, data) for _ in range(3)), Out("f16", (4, n))], reference.arithmetic)


@declare(kernel="packed", needs="n > 0", executes=["v_pk_add_f16", "v_pk_mul_f16", "v_pk_fma_f16"], each=BOTH)
def packed(n: int = 500, data: str = "special") -> LaunchDict:
    args = [*(In("f16", (n, 2), data) for _ in range(3)), Out("f16", (5, n, 2))]
    return launch(n, args, reference.packed)


@declare(kernel="divide", needs="n > 0", executes=["v_div_fixup_f16", "v_rcp_f16|v_rcp_f32"], each=BOTH)
def divide(n: int = 2000, data: str = "special") -> LaunchDict:
    return launch(n, [In("f16", n, data), In("f16", n, data), Out("f16", n)], reference.divide)


@declare(kernel="approximations", needs="n > 0", executes=["v_sqrt_f16", "v_rcp_f16", "v_rsq_f16"])
def approximations(n: int = 2000) -> LaunchDict:
    return launch(n, [In("f16", n, "normal"), Out("f16", (3, n), ulp=1)], reference.approximations)


@declare(kernel="rounding", executes=["v_floor_f16", "v_ceil_f16", "v_trunc_f16", "v_rndne_f16"])
def rounding(n: int = 1 << 16) -> LaunchDict:
    return launch(n, [In("f16", n, EVERY), Out("f16", (4, n))], reference.rounding)


@declare(kernel="compare", needs="n > 0", executes=["v_min(_num)?_f16", "v_max(_num)?_f16", r"v_cmp_\w+_f16"])
def compare(n: int = 1500) -> LaunchDict:
    args = [In("f16", n), In("f16", n), Out("f16", (2, n)), Out("u32", n)]
    return launch(n, args, reference.compare)


@declare(kernel="mixed", needs="n > 0", executes=["v_fma_mix_f32", "v_fma_mixlo_f16", "v_fma_mixhi_f16"], each=BOTH)
def mixed(n: int = 700, data: str = "special", arch: str = "gfx950") -> LaunchDict:
    expect = partial(reference.mixed, once=mfmasim.arch(arch).floats.mix_rounds_once)
    given = [In("f16", (n, 2), data), In("f16", (n, 2), data), In("f32", n, data)]
    return launch(n, [*given, Out("f32", (2, n)), Out("f16", (n, 2)), Out("f16", n)], expect)


@declare(kernel="exponents", needs="n > 0", executes=["v_frexp_mant_f16", "v_frexp_exp_i16_f16", "v_ldexp_f16"])
def exponents(n: int = 1000) -> LaunchDict:
    shifts = np.random.default_rng(3).integers(-45, 45, n).astype(np.int32)
    args = [In("f16", n), In("i32", n, shifts), Out("f16", (2, n)), Out("i32", n)]
    return launch(n, args, reference.exponents)
