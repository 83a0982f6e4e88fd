"""Generic addresses: memory, LDS and scratch behind one pointer."""

from functools import partial

from hipkernels.conformance.isa.flat import reference
from hipkernels.conformance.isa.targets import ARCHS, on_grid
from mfmasim.verify import In, InOut, LaunchDict, Out, case

N = 192
declare = partial(case, "flat.hip", arch=ARCHS)
launch = on_grid(3, 64)


@declare(kernel="flat_spaces", executes=["flat_load_(dword|b32)", "flat_store_(dword|b32)"])
def flat_spaces() -> LaunchDict:
    return launch([InOut("u32", N, "bits"), In("u32", N, "bits"), Out("u32", N)], reference.flat_spaces)


@declare(
    kernel="flat_widths",
    executes=[
        "flat_load_(dwordx4|b128)",
        "flat_load_(dwordx3|b96)",
        "flat_load_(sbyte|i8)",
        "flat_load_(ubyte|u8)",
        "flat_load_(sshort|i16)",
        "flat_load_(ushort|u16)",
    ],
)
def flat_widths() -> LaunchDict:
    return launch([In("u32", (3, 64, 4), "bits"), Out("u32", (3, 64, 4)), Out("i32", (4, N))], reference.flat_widths)


@declare(
    kernel="flat_atomics", executes=["flat_atomic_add(_u32)?", "flat_atomic_swap(_b32)?", "flat_atomic_xor(_b32)?"]
)
def flat_atomics() -> LaunchDict:
    return launch([InOut("u32", N, "bits"), In("u32", N, "bits"), Out("u32", (3, N))], reference.flat_atomics)


@declare(kernel="flat_apertures", executes=["v_cmp_(eq|ne)_u32"])
def flat_apertures() -> LaunchDict:
    return launch([In("u32", N, "bits"), Out("u32", N)], reference.flat_apertures)
