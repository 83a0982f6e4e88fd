"""Private memory: arrays with run-time indices in scratch and in registers, spills, alloca."""

from collections.abc import Callable
from functools import partial
from typing import Any

from hipkernels.conformance.isa.scratch import reference
from hipkernels.conformance.isa.targets import ARCHS
from mfmasim.verify import In, LaunchDict, Out, case

GRID, BLOCK = 3, 72
N = GRID * BLOCK


def launch(args: list[Any], expect: Callable[..., Any]) -> LaunchDict:
    return {"grid": GRID, "block": BLOCK, "args": args, "expect": expect}


@case(
    "scratch.hip",
    kernel="scratch_words",
    arch=ARCHS,
    executes=["scratch_load_(dword|b32)", "scratch_store_(dword.*|b.*)"],
)
def scratch_words() -> LaunchDict:
    return launch([In("u32", N, "bits"), Out("u32", N)], reference.scratch_words)


@case(
    "scratch.hip",
    kernel="scratch_bytes",
    arch=ARCHS,
    executes=["scratch_store_(byte|b8)", "scratch_(store_(short|b16)|load_.*)"],
)
def scratch_bytes() -> LaunchDict:
    return launch([In("u32", N, "bits"), Out("i32", N)], reference.scratch_bytes)


@case(
    "scratch.hip",
    kernel="scratch_wide",
    arch=ARCHS,
    executes=["scratch_load_(dwordx4|b128)", "scratch_store_(dwordx4|b128)"],
)
def scratch_wide() -> LaunchDict:
    return launch([In("f32", (N, 4)), Out("f32", (N, 4))], reference.scratch_wide)


@case("scratch.hip", kernel="spills", arch=ARCHS, executes=["scratch_store_(dword|b).*", "scratch_load_(dword|b).*"])
def spills() -> LaunchDict:
    return launch([In("u32", N, "bits"), Out("u32", N)], reference.spills)


@case("scratch.hip", kernel="stack_alloca", arch=ARCHS, executes=["flat_load_(dword|b32)|scratch_load_(dword|b32)"])
def stack_alloca(words: int = 7) -> LaunchDict:
    return launch([In("u32", N, "bits"), Out("u32", N), words], partial(reference.stack_alloca, words=words))


@case(
    "scratch.hip",
    kernel="register_index",
    arch=ARCHS,
    each=[{"uniform": u} for u in (0x1A4, 0x777)],
    executes="s_set_gpr_idx_on|v_movrels_b32",
)
def register_index(uniform: int = 0) -> LaunchDict:
    expect = partial(reference.register_index, uniform=uniform)
    return launch([In("u32", N, "bits"), Out("u32", (2, N)), uniform], expect)


@case(
    "scratch.hip",
    kernel="register_index_wide",
    arch=ARCHS,
    each=[{"uniform": u} for u in (0o352, 0o77)],
    executes="s_set_gpr_idx_on|v_movrels_b32",
)
def register_index_wide(uniform: int = 0) -> LaunchDict:
    expect = partial(reference.register_index_wide, uniform=uniform)
    return launch([In("f64", N), Out("f64", (2, N)), uniform], expect)
