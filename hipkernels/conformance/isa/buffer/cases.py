"""Buffer resources: every width in and out of range, records by index, atomics."""

from functools import partial

import numpy as np

from hipkernels.conformance.isa.buffer import reference
from hipkernels.conformance.isa.targets import ARCHS, on_grid
from mfmasim.verify import In, InOut, LaunchDict, Out, case

GRID, BLOCK = 3, 72
N = GRID * BLOCK
declare = partial(case, "buffer.hip", arch=ARCHS)
launch = on_grid(GRID, BLOCK)


# A scalar offset counts for the range on RDNA and does not on CDNA: with one, all loads stay inside.
@declare(
    kernel="buffer_loads",
    each=[{"limit": 1024, "scalar": 0}, {"limit": 4096, "scalar": 32}],
    executes=[
        "buffer_load_(ubyte|u8)",
        "buffer_load_(sshort|i16)",
        "buffer_load_(dword|b32)",
        "buffer_load_(dwordx2|b64)",
        "buffer_load_(dwordx3|b96)",
        "buffer_load_(dwordx4|b128)",
    ],
)
def buffer_loads(limit: int = 1024, scalar: int = 32) -> LaunchDict:
    rng = np.random.default_rng(7)
    where = (16 * rng.integers(0, 75, N)).astype(np.uint32)
    if not scalar:
        where[::9] = rng.choice(np.array([0x7FFFFFF0, 0x80000000, 0xF0000000], np.uint32), where[::9].size)
    args = [In("u32", 1024, "bits"), In("u32", N, where), Out("u32", (3, N, 4)), limit, scalar]
    return launch(args, partial(reference.buffer_loads, limit=limit, scalar=scalar))


@declare(
    kernel="buffer_stores",
    executes=[
        "buffer_store_(byte|b8)",
        "buffer_store_(short|b16)",
        "buffer_store_(dword|b32)",
        "buffer_store_(dwordx2|b64)",
        "buffer_store_(dwordx3|b96)",
        "buffer_store_(dwordx4|b128)",
    ],
)
def buffer_stores(limit: int = 64 * (N - 11)) -> LaunchDict:
    args = [In("u32", N, "bits"), InOut("u32", (N, 16)), limit]
    return launch(args, partial(reference.buffer_stores, limit=limit))


@declare(
    kernel="buffer_structured",
    executes=["buffer_load_(dword|b32) .* idxen offset:16", "buffer_load_(dword|b32) .* idxen offen"],
)
def buffer_structured(records: int = 30) -> LaunchDict:
    index = np.random.default_rng(8).integers(0, 44, N).astype(np.uint32)
    args = [In("u32", (44, 5), "bits"), In("u32", N, index), Out("u32", (2, N)), records]
    return launch(args, partial(reference.buffer_structured, records=records))


@declare(kernel="buffer_atomics", executes="buffer_atomic_add(_u32)?")
def buffer_atomics(limit: int = 4 * (N - 23)) -> LaunchDict:
    args = [InOut("i32", N, "bits"), In("i32", N, "bits"), Out("i32", N), limit]
    return launch(args, partial(reference.buffer_atomics, limit=limit))
