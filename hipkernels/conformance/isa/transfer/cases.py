"""Loads that go to the LDS directly, and reads of the LDS that transpose."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hipkernels.conformance.isa.targets import ARCHS
from hipkernels.conformance.isa.transfer import reference
from mfmasim.verify import In, LaunchDict, Out, case

declare = partial(case, "transfer.hip")
CDNA = [arch for arch in ARCHS if arch in ("gfx942", "gfx950")]
SEED = 23
"""A case is the same each time it is built."""


def places(count: int, limit: int) -> NDArray[Any]:
    return np.random.default_rng(SEED).integers(0, limit, count).astype(np.uint32)


@declare(kernel="load_to_lds", arch=CDNA, executes=["global_load_lds_dword .*", "global_load_lds_dword .* offset:512"])
def load_to_lds() -> LaunchDict:
    args = [In("u32", 500, "bits"), In("u32", 256, places(256, 372)), Out("u32", (2, 256))]
    return {"grid": 2, "block": 128, "args": args, "expect": reference.load_to_lds}


@declare(
    kernel="buffer_to_lds",
    arch=CDNA,
    executes=["buffer_load_ubyte .* lds", "buffer_load_ushort .* lds", "buffer_load_dword .* lds"],
)
def buffer_to_lds() -> LaunchDict:
    args = [In("u8", 2048, "bits"), In("u32", 256, places(256, 500)), Out("u32", (3, 256)), 2048]
    return {"grid": 2, "block": 128, "args": args, "expect": reference.buffer_to_lds}


@declare(kernel="load_wide_to_lds", arch="gfx950", executes=["global_load_lds_dwordx4", "global_load_lds_dwordx3"])
def load_wide_to_lds() -> LaunchDict:
    args = [In("u32", (100, 4), "bits"), In("u32", 128, places(128, 100)), Out("u32", (2, 2, 64, 4))]
    return {"grid": 2, "block": 64, "args": args, "expect": reference.load_wide_to_lds}


@declare(
    kernel="transposed_reads",
    arch="gfx950",
    executes=["ds_read_b64_tr_b16", "ds_read_b64_tr_b8", "ds_read_b64_tr_b4", "ds_read_b96_tr_b6"],
)
def transposed_reads() -> LaunchDict:
    args = [In("u32", (64, 4), "bits"), Out("u32", (3, 64, 2)), Out("u32", (64, 3))]
    return {"grid": 1, "block": 64, "args": args, "expect": reference.transposed_reads}


@declare(kernel="transposed_load", arch=[arch for arch in ARCHS if arch == "gfx1201"], executes="global_load_tr_b128")
def transposed_load() -> LaunchDict:
    args = [In("u16", (32, 8), "bits"), Out("u16", (32, 8))]
    return {"grid": 1, "block": 32, "args": args, "expect": reference.transposed_load}
