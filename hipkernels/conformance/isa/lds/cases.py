"""LDS in every width, alone and in pairs, with atomics, and as a tile, a double buffer, a scan, a histogram."""

from functools import partial

import numpy as np

from hipkernels.conformance.isa.lds import reference
from hipkernels.conformance.isa.targets import ARCHS
from mfmasim.verify import In, InOut, LaunchDict, Out, case

declare = partial(case, "lds.hip", arch=ARCHS)


@declare(
    kernel="lds_pairs",
    executes=[
        "ds_(write2st64|store_2addr_stride64)_b32",
        "ds_(read2|load_2addr)_b32",
        "ds_(read2st64|load_2addr_stride64)_b32",
        "ds_(write2st64|store_2addr_stride64)_b64",
        "ds_(read2|load_2addr)_b64",
    ],
)
def lds_pairs() -> LaunchDict:
    shape = (2, 4, 128)
    args = [In("u32", shape, "bits"), In("f64", shape), Out("u32", shape), Out("f64", shape)]
    return {"grid": 2, "block": 128, "args": args, "expect": reference.lds_pairs}


@declare(
    kernel="lds_bytes",
    executes=[
        "ds_(write|store)_b8",
        "ds_(write|store)_b8_d16_hi",
        "ds_(write|store)_b16",
        "ds_(write|store)_b16_d16_hi",
        "ds_(read|load)_u8(_d16)?",
        "ds_(read|load)_u16(_d16)?",
        "ds_(read|load)_i16",
    ],
)
def lds_bytes() -> LaunchDict:
    args = [In("u32", (3, 64), "bits"), Out("i32", (4, 3, 64)), Out("u32", (2, 3, 64))]
    return {"grid": 3, "block": 64, "args": args, "expect": reference.lds_bytes}


@declare(
    kernel="lds_wide",
    executes=[f"ds_({a}|{b})_b{n}" for a, b in (("read", "load"), ("write", "store")) for n in (64, 96, 128)],
)
def lds_wide() -> LaunchDict:
    args = [In("u32", (3, 64, 4), "bits"), Out("u32", (3, 64, 4)), Out("u32", (2, 3, 64, 3)), Out("u32", (3, 64, 2))]
    return {"grid": 3, "block": 64, "args": args, "expect": reference.lds_wide}


@declare(
    kernel="lds_atomics",
    executes=[
        f"ds_{what}"
        for what in (
            "add_u32",
            "and_b32",
            "or_b32",
            "xor_b32",
            "max_u32",
            "inc_u32",
            "dec_u32",
            "min_i32",
            "max_i32",
            "add_u64",
            "max_u64",
            "min_u64",
            "xor_b64",
        )
    ],
)
def lds_atomics(data: str = "bits") -> LaunchDict:
    args = [In("u32", (2, 200), data), Out("u32", (2, 18))]
    return {"grid": 2, "block": 200, "args": args, "expect": reference.lds_atomics}


@declare(
    kernel="lds_atomics_returning",
    executes=[
        "ds_add_rtn_u32",
        "ds_inc_rtn_u32",
        "ds_min_rtn_i32",
        "ds_xor_rtn_b32",
        "ds_(cmpst|cmpstore)_rtn_b32",
        "ds_(wrxchg|storexchg)_rtn_b32",
        "ds_dec_rtn_u32",
        "ds_add_rtn_u64",
        "ds_(cmpst|cmpstore)_rtn_b64",
        "ds_(wrxchg|storexchg)_rtn_b64",
    ],
)
def lds_atomics_returning() -> LaunchDict:
    args = [In("u32", 128), Out("u32", (8, 128)), Out("u64", (3, 128))]
    return {"grid": 2, "block": 64, "args": args, "expect": reference.lds_atomics_returning}


@declare(kernel="lds_atomics_float", executes=["ds_add_rtn_f32", "ds_add_f32"])
def lds_atomics_float() -> LaunchDict:
    args = [In("f32", (2, 64), "normal"), In("f32", (2, 64), "integers"), Out("f32", (2, 2, 64)), Out("f64", (2, 64))]
    return {"grid": 2, "block": 64, "args": args, "expect": reference.lds_atomics_float}


@declare(
    kernel="lds_atomics_packed",
    arch=[a for a in ARCHS if a not in ("gfx1030", "gfx1151")],
    executes=["ds_pk_add_rtn_f16", "ds_pk_add_bf16"],
)
def lds_atomics_packed() -> LaunchDict:
    rng = np.random.default_rng(5)
    halves = rng.normal(size=(2, 64, 2)).astype(np.float16).view(np.uint32)[..., 0]
    brains = (rng.normal(size=(2, 64, 2)).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16).view(np.uint32)
    args = [In("u32", (2, 64), halves), In("u32", (2, 64), brains[..., 0]), Out("u32", (3, 2, 64))]
    return {"grid": 2, "block": 64, "args": args, "expect": reference.lds_atomics_packed}


@declare(kernel="lds_transpose", executes=["ds_(write|store)_b32", "ds_(read|load)_b32", "s_barrier.*"])
def lds_transpose(rows: int = 37, columns: int = 53) -> LaunchDict:
    args = [In("f32", (rows, columns), "bits"), Out("f32", (columns, rows), nan="bits"), rows, columns]
    grid = (-(-columns // 16), -(-rows // 16))
    return {"grid": grid, "block": (16, 4), "args": args, "expect": reference.lds_transpose}


@declare(kernel="lds_dynamic", executes=["ds_(write|store)_b16", "ds_(read|load)_u16.*"])
def lds_dynamic(block: int = 100) -> LaunchDict:
    args = [In("u16", 3 * block, "bits"), Out("u32", 3 * block)]
    expect = lambda x: reference.lds_dynamic(x, block)  # noqa: E731
    return {"grid": 3, "block": block, "args": args, "expect": expect, "shared_bytes": 6 * block}


@declare(kernel="lds_double_buffer", executes=["s_barrier.*", "ds_(read|load)_b32"])
def lds_double_buffer(steps: int = 5) -> LaunchDict:
    args = [In("i32", (2, steps, 128), "bits"), Out("i32", 256), steps]
    return {"grid": 2, "block": 128, "args": args, "expect": reference.lds_double_buffer}


@declare(kernel="lds_scan", executes=["s_barrier.*"])
def lds_scan(count: int = 517, block: int = 200) -> LaunchDict:
    args = [In("u32", count, "bits"), Out("u32", count), count]
    expect = lambda x: reference.lds_scan(x, block)  # noqa: E731
    return {"grid": -(-count // block), "block": block, "args": args, "expect": expect}


@declare(kernel="lds_histogram", executes=["ds_add_u32", "global_atomic_add(_u32)?"])
def lds_histogram(count: int = 1000) -> LaunchDict:
    args = [In("u8", count), InOut("u32", 256), count]
    return {"grid": 3, "block": 96, "args": args, "expect": reference.lds_histogram}
