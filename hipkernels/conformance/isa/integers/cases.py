"""Integers of 16, 32 and 64 bits: everything is defined, so everything is compared bit for bit."""

from collections.abc import Callable
from functools import partial
from typing import Any

from hipkernels.conformance.isa.integers import reference, wide
from hipkernels.conformance.isa.targets import ARCHS
from mfmasim.verify import In, LaunchDict, Out, case

declare = partial(case, "integers.hip", arch=ARCHS)
BLOCK = 96  # a full and a half wave of 64
BOTH = [{"data": "special"}, {"data": "normal"}]


def launch(
    expect: Callable[..., Any], n: int, rows: int, formats: list[str], data: str = "special", out: str = ""
) -> LaunchDict:
    args = [*(In(f, n, data) for f in formats), Out(out or formats[0], (rows, n) if rows > 1 else n), n]
    return {"grid": -(-n // BLOCK), "block": BLOCK, "args": args, "expect": expect}


@declare(kernel="multiply", needs="n > 0", executes=["v_mul_lo_u32", "v_mul_hi_u32", "v_mul_hi_i32"])
def multiply(n: int = 1000) -> LaunchDict:
    return launch(reference.multiply, n, 3, ["u32", "u32"])


@declare(
    kernel="multiply24", needs="n > 0", executes=["v_mul_u32_u24", "v_mul_i32_i24", "v_mad_u32_u24", "v_mad_i32_i24"]
)
def multiply24(n: int = 1000) -> LaunchDict:
    return launch(reference.multiply24, n, 4, ["u32", "u32"])


@declare(kernel="divide", needs="n > 0", executes=["v_rcp_iflag_f32", "v_mul_hi_u32"], each=BOTH)
def divide(n: int = 1000, data: str = "special") -> LaunchDict:
    return launch(reference.divide, n, 4, ["u32", "u32"], data)


@declare(kernel="divide_by_constants", needs="n > 0", executes="v_mul_hi_i32|v_mad_(co_)?[iu]64_[iu]32")
def divide_by_constants(n: int = 1000) -> LaunchDict:
    return launch(reference.divide_by_constants, n, 5, ["i32"])


@declare(
    kernel="shifts",
    executes=["v_lshlrev_b32", "v_lshrrev_b32", "v_ashrrev_i32", "v_lshl_add_u32", "v_add_lshl_u32", "v_lshl_or_b32"],
)
def shifts(n: int = 1000) -> LaunchDict:
    return launch(reference.shifts, n, 6, ["u32", "u32"])


@declare(
    kernel="counts",
    needs="n > 0",
    executes=["v_bcnt_u32_b32", "v_ffbh_u32|v_clz_i32_u32", "v_ffbl_b32|v_ctz_i32_b32", "v_bfrev_b32"],
)
def counts(n: int = 1000, data: str = "normal") -> LaunchDict:
    return launch(reference.counts, n, 5, ["u32"], data)


@declare(
    kernel="fields", needs="n > 0", executes=["v_bfe_u32", "v_bfe_i32", "v_bfi_b32|v_bitop3_b32", "v_alignbit_b32"]
)
def fields(n: int = 1000, data: str = "bits") -> LaunchDict:
    return launch(reference.fields, n, 6, ["u32", "u32"], data)


@declare(kernel="permute_bytes", needs="n > 0", executes=["v_perm_b32", "v_alignbyte_b32"])
def permute_bytes(n: int = 1000) -> LaunchDict:
    given = launch(reference.permute_bytes, n, 5, ["u32", "u32", "u32"], "bits")
    # Most random bytes are above 12 and select ones; these selectors lie around the limits.
    args = [*given["args"][:2], In("u32", n, reference.selectors(n)), *given["args"][3:]]
    return {**given, "args": args}


@declare(
    kernel="minimum_maximum",
    needs="n > 0",
    executes=["v_min_i32", "v_max_u32", "v_min3_i32", "v_max3_u32", "v_med3_i32"],
)
def minimum_maximum(n: int = 1000) -> LaunchDict:
    return launch(reference.minimum_maximum, n, 6, ["i32", "i32"])


@declare(
    kernel="saturating",
    needs="n > 0",
    executes=["v_add_(nc_)?u32", "v_sub_(nc_)?u32", "v_add_(nc_)?i32", "v_sub_(nc_)?i32"],
)
def saturating(n: int = 1000) -> LaunchDict:
    return launch(reference.saturating, n, 4, ["u32", "u32"])


@declare(kernel="three_operands", needs="n > 0", executes=["v_add3_u32", "v_and_or_b32|v_bitop3_b32"])
def three_operands(n: int = 1000) -> LaunchDict:
    return launch(reference.three_operands, n, 7, ["u32", "u32", "u32"])


@declare(kernel="differences", needs="n > 0", executes=["v_sad_u8", "v_sad_u16", "v_sad_u32", "v_msad_u8", "v_lerp_u8"])
def differences(n: int = 1000) -> LaunchDict:
    return launch(reference.differences, n, 5, ["u32", "u32"])


@declare(kernel="short_elements", needs="n > 0", executes=["v_mul_lo_u16"])
def short_elements(n: int = 1000) -> LaunchDict:
    return launch(reference.short_elements, n, 6, ["u16", "u16"])


@declare(
    kernel="packed",
    needs="n > 0",
    executes=["v_pk_add_u16", "v_pk_mul_lo_u16", "v_pk_mad_u16", "v_pk_max_i16", "v_pk_lshlrev_b16", "v_pk_sub_u16"],
)
def packed(n: int = 600) -> LaunchDict:
    given = launch(reference.packed, n, 6, ["u16", "u16"])
    args = [In("u16", (n, 2)), In("u16", (n, 2)), Out("u16", (6, n, 2)), *given["args"][3:]]
    return {**given, "args": args}


@declare(kernel="hashes", needs="n > 0", executes=["v_mul_lo_u32", "v_xor_b32|v_xad_u32|v_bitop3_b32"])
def hashes(n: int = 1000) -> LaunchDict:
    return launch(reference.hashes, n, 2, ["u32"])


@declare(
    kernel="scalars",
    executes=["s_mul_i32|v_mad_(co_)?u64_u32", "s_mul_hi_u32", "s_mul_hi_i32", "s_bcnt1_i32_b32", "s_sext_i32_i(8|16)"],
    each=[{"pick": k} for k in range(3)],
)
def scalars(pick: int = 0, block: int = 40) -> LaunchDict:
    values = reference.SCALARS[pick]
    args = [*values, Out("u32", (15, block))]
    return {"grid": 1, "block": block, "args": args, "expect": reference.scalars(*values, block)}


@case(
    "wide.hip",
    kernel="add_wide",
    needs="n > 0",
    arch=ARCHS,
    executes=["v_add_co_(ci_)?u32|v_lshl_add_u64", "v_sub_co_u32"],
)
def add_wide(n: int = 1000) -> LaunchDict:
    return launch(wide.add_wide, n, 5, ["u64", "u64"])


@case(
    "wide.hip",
    kernel="multiply_wide",
    needs="n > 0",
    arch=ARCHS,
    executes=["v_mad_(co_)?u64_u32", "v_mad_(co_)?i64_i32|v_mul_hi_i32"],
)
def multiply_wide(n: int = 600) -> LaunchDict:
    return launch(wide.multiply_wide, n, 5, ["u64", "u64"])


@case(
    "wide.hip", kernel="divide_wide", needs="n > 0", arch=ARCHS, executes=["v_mul_hi_u32", "s_cbranch_execz"], each=BOTH
)
def divide_wide(n: int = 400, data: str = "special") -> LaunchDict:
    return launch(wide.divide_wide, n, 4, ["u64", "u64"], data)


@case(
    "wide.hip",
    kernel="shift_wide",
    needs="n > 0",
    arch=ARCHS,
    executes=["v_lshlrev_b64", "v_lshrrev_b64", "v_ashrrev_i64", "v_bfrev_b32", "v_bcnt_u32_b32"],
)
def shift_wide(n: int = 600, data: str = "normal") -> LaunchDict:
    return launch(wide.shift_wide, n, 7, ["u64", "u64"], data)


@case(
    "wide.hip",
    kernel="compare_wide",
    needs="n > 0",
    arch=ARCHS,
    executes=["v_cmp_[lg][te]_i64", "v_cmp_[lg][te]_u64", "v_cndmask_b32"],
)
def compare_wide(n: int = 600) -> LaunchDict:
    return launch(wide.compare_wide, n, 4, ["i64", "i64"])
