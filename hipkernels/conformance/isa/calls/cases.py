"""Calls: structures by value, arguments on the stack, recursion, pointers to functions, virtual functions."""

from functools import partial

from hipkernels.conformance.isa.calls import reference
from hipkernels.conformance.isa.targets import ARCHS, on_grid
from mfmasim.verify import In, LaunchDict, Out, case

GRID, BLOCK = 3, 72
N = GRID * BLOCK
CALLS = ["s_swappc_b64", "s_setpc_b64"]
declare = partial(case, "calls.hip", arch=ARCHS)
launch = on_grid(GRID, BLOCK)


@declare(kernel="call_struct", executes=CALLS)
def call_struct() -> LaunchDict:
    return launch([In("u32", N, "bits"), In("f64", N), Out("u32", N), Out("f64", N)], reference.call_struct)


@declare(kernel="call_many", executes=[*CALLS, "(scratch|buffer)_load_(sshort|i16)"])
def call_many() -> LaunchDict:
    return launch([In("u32", N, "bits"), Out("u32", N)], reference.call_many)


@declare(kernel="recursion", executes=[*CALLS, "v_writelane_b32|(scratch|buffer)_store_(dword|b32)"])
def recursion() -> LaunchDict:
    return launch([In("u32", N, "bits"), Out("u32", N)], reference.recursion)


@declare(kernel="mutual_recursion", executes=CALLS)
def mutual_recursion() -> LaunchDict:
    return launch([In("u32", N, "bits"), Out("u32", N)], reference.mutual_recursion)


@declare(kernel="function_pointers", executes=[*CALLS, "v_readfirstlane_b32"])
def function_pointers(length: int = 9) -> LaunchDict:
    args = [In("i32", N, "bits"), In("u8", length, "bits"), Out("i32", N), length]
    return launch(args, reference.function_pointers)


@declare(kernel="virtual_calls", executes=[*CALLS, "flat_load_(dwordx2|b64)"])
def virtual_calls() -> LaunchDict:
    return launch([In("i32", N, "bits"), Out("i32", N)], reference.virtual_calls)
