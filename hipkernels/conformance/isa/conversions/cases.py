"""Conversions between number formats, on every value where there are few enough."""

from functools import partial

import numpy as np

from hipkernels.conformance.isa.conversions import reference
from hipkernels.conformance.isa.targets import ARCHS, per_element
from mfmasim.verify import In, LaunchDict, Out, case

EVERY = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
BOTH = [{"data": "special"}, {"data": "normal"}]
declare = partial(case, "conversions.hip", arch=ARCHS)
launch = per_element(256)


@declare(kernel="float_to_int", needs="n > 0", executes=["v_cvt_i32_f32", "v_cvt_u32_f32"], each=BOTH)
def float_to_int(n: int = 1000, data: str = "special") -> LaunchDict:
    return launch(n, [In("f32", n, data), Out("i32", (2, n))], reference.float_to_int)


@declare(kernel="int_to_float", needs="n > 0", executes=["v_cvt_f32_i32", "v_cvt_f32_u32"], each=BOTH)
def int_to_float(n: int = 1000, data: str = "special") -> LaunchDict:
    return launch(n, [In("i64", n, data), Out("f32", (4, n))], reference.int_to_float)


@declare(
    kernel="int_and_double",
    needs="n > 0",
    executes=["v_cvt_f64_i32", "v_cvt_f64_u32", "v_cvt_i32_f64", "v_cvt_u32_f64", "v_ldexp_f64"],
    each=BOTH,
)
def int_and_double(n: int = 600, data: str = "special") -> LaunchDict:
    return launch(n, [In("i64", n, data), Out("f64", (4, n)), Out("i64", (4, n))], reference.int_and_double)


@declare(kernel="half_and_float", executes=["v_cvt_f32_f16", "v_cvt_f16_f32"])
def half_and_float(n: int = 1 << 16) -> LaunchDict:
    args = [In("f16", n, EVERY), In("f32", n), Out("f32", n), Out("f16", n)]
    return launch(n, args, reference.half_and_float)


@declare(kernel="double_to_less", needs="n > 0", executes=["v_cvt_f32_f64", "v_cvt_f64_f32"], each=BOTH)
def double_to_less(n: int = 1000, data: str = "special") -> LaunchDict:
    args = [In("f64", n, data), In("f32", n, data), Out("f32", n), Out("f64", n), Out("f16", n)]
    return launch(n, args, reference.double_to_less)


@declare(kernel="bytes_to_float", needs="n > 0", executes=[f"v_cvt_f32_ubyte{k}" for k in range(4)])
def bytes_to_float(n: int = 1000) -> LaunchDict:
    return launch(n, [In("u32", n, "bits"), Out("f32", (4, n))], reference.bytes_to_float)


@declare(
    kernel="narrow_integers",
    needs="n > 0",
    executes=["global_load_(sbyte|i8)", "global_load_(sshort|i16)|v_bfe_i32", "global_store_(byte|b8)"],
)
def narrow_integers(n: int = 1000) -> LaunchDict:
    args = [In("i8", n), In("i16", n), In("i32", n), Out("i32", (4, n)), Out("i16", n), Out("u8", n)]
    return launch(n, args, reference.narrow_integers)


@declare(
    kernel="pack",
    executes=[
        "v_cvt_pk_?rtz_f16_f32",
        "v_cvt_pk_?norm_i16_f32",
        "v_cvt_pk_?norm_u16_f32",
        "v_cvt_pk_i16_i32",
        "v_cvt_pk_u16_u32",
    ],
)
def pack(n: int = 1000) -> LaunchDict:
    args = [In("f32", (n, 2)), In("i32", n, "normal"), Out("f16", (n, 2)), Out("u32", (4, n))]
    return launch(n, args, reference.pack)


@declare(
    kernel="eight_bits",
    executes=["v_cvt_pk_f32_fp8", "v_cvt_pk_f32_bf8", "v_cvt_f32_fp8", "v_cvt_f32_bf8", "v_cvt_pk_[bf][fp]8_f32"],
    skip=dict.fromkeys(("gfx1030", "gfx1151"), "RDNA2 and RDNA3 have no 8-bit floats"),
)
def eight_bits(n: int = 200, arch: str = "gfx950") -> LaunchDict:
    args = [In("u32", n, reference.numbers(n)), Out("f32", (2, 4 * n)), Out("u32", (2, n))]
    return launch(n, args, lambda x: reference.eight_bits(x, "fnuz" if arch == "gfx942" else "ocp"))


@declare(
    kernel="stochastic",
    needs="n > 0",
    executes=["v_cvt_sr_fp8_f32", "v_cvt_sr_bf8_f32"],
    skip=dict.fromkeys(("gfx1030", "gfx1151"), "RDNA2 and RDNA3 have no 8-bit floats"),
)
def stochastic(n: int = 600, arch: str = "gfx950") -> LaunchDict:
    values, random = reference.steps(n)
    args = [In("f32", n, values), In("i32", n, random), Out("u32", (2, n))]
    return launch(n, args, lambda x, r: reference.stochastic(x, r, arch))


@declare(
    kernel="scaled",
    arch="gfx950",
    executes=[f"v_cvt_scalef32_pk_{name}" for name in ("f32_fp8", "f32_bf8", "f32_fp4", "fp4_f32")],
)
def scaled(n: int = 500) -> LaunchDict:
    args = [In("u32", n, reference.numbers(n)), In("u32", n, "bits"), In("f32", n, reference.powers(n))]
    return launch(n, [*args, Out("f32", (4, n, 2)), Out("u32", n)], reference.scaled)
