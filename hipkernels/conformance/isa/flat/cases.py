"""Generic addresses: memory, LDS and scratch behind one pointer."""

from collections.abc import Callable
from typing import Any

from hipkernels.conformance.isa.flat import reference
from hipkernels.conformance.isa.targets import ARCHS
from mfmasim.verify import In, InOut, LaunchDict, Out, case

N = 192


def launch(args: list[Any], expect: Callable[..., Any]) -> LaunchDict:
    return {"grid": 3, "block": 64, "args": args, "expect": expect}


@case("flat.hip", kernel="flat_spaces", arch=ARCHS, executes=["flat_load_(dword|b32)", "flat_store_(dword|b32)"])
def flat_spaces() -> LaunchDict:
    return launch([InOut("u32", N, "bits"), In("u32", N, "bits"), Out("u32", N)], reference.flat_spaces)


@case(
    "flat.hip",
    kernel="flat_widths",
    arch=ARCHS,
    executes=[
        "flat_load_(dwordx4|b128)", "flat_load_(dwordx3|b96)", "flat_load_(sbyte|i8)",
        "flat_load_(ubyte|u8)", "flat_load_(sshort|i16)", "flat_load_(ushort|u16)",
    ],
)  # fmt: skip
def flat_widths() -> LaunchDict:
    return launch([In("u32", (3, 64, 4), "bits"), Out("u32", (3, 64, 4)), Out("i32", (4, N))], reference.flat_widths)


@case(
    "flat.hip",
    kernel="flat_atomics",
    arch=ARCHS,
    executes=["flat_atomic_add(_u32)?", "flat_atomic_swap(_b32)?", "flat_atomic_xor(_b32)?"],
)
def flat_atomics() -> LaunchDict:
    return launch([InOut("u32", N, "bits"), In("u32", N, "bits"), Out("u32", (3, N))], reference.flat_atomics)


@case("flat.hip", kernel="flat_apertures", arch=ARCHS, executes=["v_cmp_(eq|ne)_u32"])
def flat_apertures() -> LaunchDict:
    return launch([In("u32", N, "bits"), Out("u32", N)], reference.flat_apertures)
