"""Private memory: arrays with run-time indices in scratch and in registers, spills, alloca."""

from functools import partial

from hipkernels.conformance.isa.scratch import reference
from hipkernels.conformance.isa.targets import ARCHS, on_grid
from mfmasim.verify import In, LaunchDict, Out, case

GRID, BLOCK = 3, 72
N = GRID * BLOCK
declare = partial(case, "scratch.hip", arch=ARCHS)
launch = on_grid(GRID, BLOCK)


@declare(kernel="scratch_words", executes=["(scratch|buffer)_load_(dword|b32)", "(scratch|buffer)_store_(dword.*|b.*)"])
def scratch_words() -> LaunchDict:
    return launch([In("u32", N, "bits"), Out("u32", N)], reference.scratch_words)


@declare(
    kernel="scratch_bytes",
    executes=["(scratch|buffer)_store_(byte|b8)", "(scratch|buffer)_(store_(short|b16)|load_.*)"],
)
def scratch_bytes() -> LaunchDict:
    return launch([In("u32", N, "bits"), Out("i32", N)], reference.scratch_bytes)


@declare(
    kernel="scratch_wide",
    executes=["scratch_load_(dwordx4|b128)|buffer_load_dword", "scratch_store_(dwordx4|b128)|buffer_store_dword"],
)
def scratch_wide() -> LaunchDict:
    return launch([In("f32", (N, 4)), Out("f32", (N, 4))], reference.scratch_wide)


@declare(kernel="spills", executes=["(scratch|buffer)_store_(dword|b).*", "(scratch|buffer)_load_(dword|b).*"])
def spills() -> LaunchDict:
    return launch([In("u32", N, "bits"), Out("u32", N)], reference.spills)


@declare(kernel="stack_alloca", executes=["flat_load_(dword|b32)|(scratch|buffer)_load_(dword|b32)"])
def stack_alloca(words: int = 7) -> LaunchDict:
    return launch([In("u32", N, "bits"), Out("u32", N), words], partial(reference.stack_alloca, words=words))


@declare(
    kernel="register_index", each=[{"uniform": u} for u in (0x1A4, 0x777)], executes="s_set_gpr_idx_on|v_movrels_b32"
)
def register_index(uniform: int = 0) -> LaunchDict:
    expect = partial(reference.register_index, uniform=uniform)
    return launch([In("u32", N, "bits"), Out("u32", (2, N)), uniform], expect)


@declare(
    kernel="register_index_wide",
    each=[{"uniform": u} for u in (0o352, 0o77)],
    executes="s_set_gpr_idx_on|v_movrels_b32",
)
def register_index_wide(uniform: int = 0) -> LaunchDict:
    expect = partial(reference.register_index_wide, uniform=uniform)
    return launch([In("f64", N), Out("f64", (2, N)), uniform], expect)
