"""Loads and stores of every width."""

from functools import partial

import numpy as np

from hipkernels.conformance.isa.memory import reference
from hipkernels.conformance.isa.targets import ARCHS, per_element
from mfmasim.verify import In, InOut, LaunchDict, Out, case

BLOCK = 96
declare = partial(case, "memory.hip", arch=ARCHS)
launch = per_element(BLOCK)


@declare(
    kernel="widths",
    executes=[
        f"global_{way}_({old}|{new})"
        for way in ("load", "store")
        for old, new in (("dword", "b32"), ("dwordx2", "b64"), ("dwordx3", "b96"), ("dwordx4", "b128"))
    ],
)
def widths(n: int = 500) -> LaunchDict:
    shapes: list[int | tuple[int, int]] = [n, (n, 2), (n, 3), (n, 4)]
    args = [*(In("i32", shape, "bits") for shape in shapes), *(Out("i32", shape) for shape in shapes)]
    return launch(n, args, reference.widths)


@declare(
    kernel="members", needs="n > 0", executes=["global_load_(dwordx[24]|b64|b128)", "global_store_(byte|b8|d16_hi_b8)"]
)
def members(n: int = 500) -> LaunchDict:
    args = [In("u8", (n, 16), "bits"), Out("f64", n), Out("i32", n), InOut("u8", (n, 16), "bits")]
    return launch(n, args, reference.members)


@declare(kernel="uniform_loads", needs="n > 0", executes="s_load_(dwordx8|b256)")
def uniform_loads(n: int = 500) -> LaunchDict:
    args = [In("i32", (-(-n // BLOCK), 8), "bits"), In("i32", n, "bits"), Out("i32", n)]
    return launch(n, args, lambda table, x: reference.uniform_loads(table.reshape(-1), x, BLOCK))


@declare(kernel="variables", needs="n >= 64", executes=["s_getpc_b64", "global_load_(dword|b32)"])
def variables(n: int = 300) -> LaunchDict:
    return launch(n, [In("u32", n, "bits"), Out("i32", n), Out("u32", 64)], reference.variables)


@declare(kernel="gather_scatter", needs="n > 0", executes=["global_load_(dword|b32)", "global_store_(dword|b32)"])
def gather_scatter(n: int = 500, shift: int = 1 << 20) -> LaunchDict:
    where = np.random.default_rng(9).permutation(n).astype(np.int32)
    args = [In("i32", n, "integers"), In("i32", n, where), Out("i32", (2, n))]
    return launch(n, args, reference.gather_scatter, shift)


@declare(kernel="streaming", needs="n > 0", executes=["global_load_(dword|b32)", "v_mul_f32|v_dual_mul_f32"])
def streaming(n: int = 500) -> LaunchDict:
    return launch(n, [In("f32", n), Out("f32", (2, n))], reference.streaming)
