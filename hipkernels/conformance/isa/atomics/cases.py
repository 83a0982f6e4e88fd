"""Atomic operations on global memory: returning or not, integers and floats, and loops around compare-and-swap."""

from functools import partial

import numpy as np

from hipkernels.conformance.isa.atomics import reference
from hipkernels.conformance.isa.targets import ARCHS, per_element
from mfmasim.verify import In, InOut, LaunchDict, Out, case

declare = partial(case, "atomics.hip", arch=ARCHS)
launch = per_element(160)


@declare(kernel="histogram", needs="n > 0", executes="global_atomic_add(_u32)?")
def histogram(n: int = 1000) -> LaunchDict:
    return launch(n, [In("u8", n, "bits"), InOut("u32", 32, "bits")], reference.histogram)


@declare(kernel="tickets", needs="n > 0", executes="global_atomic_add(_u32)?")
def tickets(n: int = 700) -> LaunchDict:
    args = [In("i32", n, "bits"), InOut("u32", 1, "zeros"), InOut("u32", n, "index")]
    return launch(n, args, reference.tickets)


@declare(
    kernel="returning",
    executes=[
        "global_atomic_add(_u32)?",
        "global_atomic_sub(_u32)?",
        "global_atomic_(umin|min_u32)",
        "global_atomic_(smax|max_i32)",
        "global_atomic_and(_b32)?",
        "global_atomic_or(_b32)?",
        "global_atomic_xor(_b32)?",
        "global_atomic_swap(_b32)?",
        "global_atomic_cmpswap(_b32)?",
        "global_atomic_inc(_u32)?",
        "global_atomic_dec(_u32)?",
    ],
)
def returning(n: int = 400) -> LaunchDict:
    args = [InOut("u32", (11, n), "special"), In("u32", n), Out("u32", (11, n))]
    return launch(n, args, reference.returning)


@declare(
    kernel="returning_wide",
    executes=[
        "global_atomic_(add_x2|add_u64)",
        "global_atomic_(umax_x2|max_u64)",
        "global_atomic_(smin_x2|min_i64)",
        "global_atomic_xor_(x2|b64)",
        "global_atomic_swap_(x2|b64)",
        "global_atomic_cmpswap_(x2|b64)",
    ],
)
def returning_wide(n: int = 400) -> LaunchDict:
    args = [InOut("u64", (6, n), "special"), In("u64", n), Out("u64", (6, n))]
    return launch(n, args, reference.returning_wide)


@declare(
    kernel="extremes",
    needs="n > 0",
    executes=["global_atomic_(smin|min_i32)", "global_atomic_(umax|max_u32)", "global_atomic_(umax_x2|max_u64)"],
)
def extremes(n: int = 500) -> LaunchDict:
    ends = np.array([0x7FFFFFFF, 0x80000000, 0, 0xFFFFFFFF, 77], np.uint32)
    args = [In("u32", n, "bits"), InOut("i32", 2), InOut("u32", 5, ends), InOut("u64", 2)]
    return launch(n, args, reference.extremes)


@declare(kernel="wrapping", needs="n > 0", executes=["global_atomic_inc(_u32)?", "global_atomic_dec(_u32)?"])
def wrapping(n: int = 500) -> LaunchDict:
    start = np.array([4, 300], np.uint32)
    return launch(n, [InOut("u32", 2, start)], lambda counters: reference.wrapping(counters, n))


@declare(kernel="float_sums", needs="n > 0", executes=["global_atomic_(add_f32|cmpswap)"])
def float_sums(n: int = 600) -> LaunchDict:
    args = [In("f32", n, "integers"), InOut("f32", 7, "integers"), InOut("f64", 5, "integers")]
    return launch(n, args, reference.float_sums)


@declare(
    kernel="float_returning",
    needs="n > 0",
    executes="global_atomic_(add_f32|cmpswap)",
    each=[{"data": "special"}, {"data": "normal"}],
)
def float_returning(n: int = 800, data: str = "special") -> LaunchDict:
    given = [reference.no_denormals(n, seed) if data == "special" else data for seed in (1, 2)]
    args = [InOut("f32", n, given[0]), In("f32", n, given[1]), Out("f32", n, nan="bits")]
    return launch(n, args, reference.float_returning)


@declare(kernel="product_by_cas", needs="n > 0", executes=["global_atomic_cmpswap(_b32)?", "s_cbranch_execn?z"])
def product_by_cas(n: int = 200) -> LaunchDict:
    exponents = np.random.default_rng(6).integers(-1, 2, n).astype(np.int32)
    start = np.array([1.5, -3, 0.75], np.float32)
    return launch(n, [In("i32", n, exponents), InOut("f32", 3, start)], reference.product_by_cas)


@declare(kernel="pair_by_cas", needs="n > 0", executes=["global_atomic_cmpswap_(x2|b64)", "s_cbranch_execn?z"])
def pair_by_cas(n: int = 200) -> LaunchDict:
    return launch(n, [In("u32", n, "bits"), InOut("u64", 2, "zeros")], reference.pair_by_cas)


@declare(
    kernel="float_maximum", needs="n > 0", executes=["global_atomic_(umin|min_u32)", "global_atomic_(smax|max_i32)"]
)
def float_maximum(n: int = 600) -> LaunchDict:
    start = np.array([-np.inf], np.float32)
    return launch(n, [In("f32", n), InOut("f32", 1, start)], reference.float_maximum)


@declare(
    kernel="double_returning",
    needs="n > 0",
    executes=["global_atomic_(add_f64|cmpswap_(x2|b64))", "global_atomic_(max_f64|cmpswap_x2|cmpswap_b64)"],
)
def double_returning(n: int = 500) -> LaunchDict:
    args = [InOut("f64", (3, n), "normal"), In("f64", n, "normal"), Out("f64", (3, n))]
    return launch(n, args, reference.double_returning)


@declare(
    kernel="packed_halves",
    needs="n > 0",
    executes="global_atomic_pk_add_f16",
    skip=dict.fromkeys(("gfx1030", "gfx1151"), "RDNA2 and RDNA3 have no packed atomics on halves"),
)
def packed_halves(n: int = 300) -> LaunchDict:
    args = [In("f16", (n, 2), "integers"), InOut("f16", (6, 2), "integers")]
    return launch(n, args, reference.packed_halves)
