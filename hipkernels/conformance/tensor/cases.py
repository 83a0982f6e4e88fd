"""Tensor instructions: descriptors of every form, and those whose meaning the manual leaves open (`assumed_...`)."""

from typing import Any

import numpy as np

from hipkernels.conformance.tensor import reference
from mfmasim.machine.tensor import Descriptor
from mfmasim.verify import In, InOut, LaunchDict, Out, case

DWORDS = reference.BYTES // 4
_HALVES: dict[str, Any] = {
    "data_size": 1,
    "tensor_dim0": 24,
    "tensor_dim1": 7,
    "tile_dim0": 32,
    "tile_dim1": 8,
    "lds_addr": 32,
}
_PLAIN: dict[str, Any] = {**_HALVES, "tensor_dim0_stride": 40, "global_addr": 16}
_PADDED: dict[str, Any] = {**_PLAIN, "pad_enable": 1, "pad_amount": 2}
_TURNS: dict[str, Any] = {**_PLAIN, "tile_dim1": 2, "iterate_enable": 1, "iterate_count": 2}
FORMS = {
    "plain": Descriptor(**_PLAIN),
    "bytes": Descriptor(**{**_PLAIN, "data_size": 0, "tile_dim0": 13, "lds_addr": 3}),
    "dwords": Descriptor(**{**_PLAIN, "data_size": 2}),
    "eight_bytes": Descriptor(**{**_PLAIN, "data_size": 3, "tile_dim0": 9, "tensor_dim0": 8}),
    "one_row": Descriptor(data_size=2, tensor_dim0=100, tile_dim0=300),
    "three_dimensions": Descriptor(**_PLAIN, tile_dim2=3, tensor_dim2=2, tensor_dim1_stride=400),
    "five_dimensions": Descriptor(
        data_size=1, tile_dim0=6, tile_dim1=2, tile_dim2=2, tile_dim3=2, tile_dim4=3, tensor_dim0=5, tensor_dim1=2,
        tensor_dim2=2, tensor_dim3=1, tensor_dim4=3, tensor_dim0_stride=30, tensor_dim1_stride=70,
        tensor_dim2_stride=140, tensor_dim3_stride=200,
    ),
    **{f"padding_{k}": Descriptor(**_PADDED, pad_interval=k) for k in range(8)},
    "gather": Descriptor(**{**_PLAIN, "tile_dim1": 5}, gather_mode=1, rows=(0, 2, 2, 5, 9)),
    "gather_wide": Descriptor(
        **{**_PLAIN, "tile_dim1": 5}, gather_mode=1, gather_index_size=1, rows=(0, 1, 3, 5, 6)
    ),
    "iteration": Descriptor(**_TURNS, global_addr_increment=80, lds_addr_increment=72),
    "nothing": Descriptor(**{**_PLAIN, "tile_dim0": 0}),
    "no_tensor": Descriptor(**_PLAIN, count=0),
    # What the manual leaves open, or says in two ways: docs/gfx1250.md.
    "assumed_first_gap": Descriptor(**{**_PADDED, "pad_amount": 0}),
    "assumed_order_of_16_indices": Descriptor(
        **{**_PLAIN, "tile_dim1": 16, "tensor_dim1": 16}, gather_mode=1, rows=tuple(range(16))
    ),
    "assumed_gather_backwards": Descriptor(**{**_PLAIN, "tile_dim1": 6}, gather_mode=1, rows=(6, 9, 3, 8, 0, 7)),
    "assumed_bounds_of_iterations": Descriptor(
        **{**_TURNS, "tile_dim1": 5}, global_addr_increment=200, lds_addr_increment=160
    ),
    "assumed_gaps_of_iterations": Descriptor(
        **{**_TURNS, "tile_dim0": 20}, global_addr_increment=80, lds_addr_increment=100, pad_enable=1, pad_interval=4,
        pad_amount=1,
    ),
    "assumed_many_iterations": Descriptor(
        data_size=0, tensor_dim0=4, tile_dim0=4, iterate_enable=1, iterate_count=255, global_addr_increment=8,
        lds_addr_increment=8,
    ),
}  # fmt: skip
EACH = [{"form": form} for form in FORMS]


@case("descriptor.hip", kernel="to_lds", arch="gfx1250", executes="tensor_load_to_lds", each=EACH)
def load(form: str = "plain") -> LaunchDict:
    descriptor = FORMS[form]
    words = np.array(descriptor.words(), np.uint32)
    args = [In("u32", 20, words), In("u32", DWORDS, drawn="bits"), Out("u32", DWORDS)]
    return {"grid": 1, "block": 32, "args": args, "expect": lambda words, source: reference.loaded(descriptor, source)}


@case("descriptor.hip", kernel="from_lds", arch="gfx1250", executes="tensor_store_from_lds", each=EACH)
def store(form: str = "plain") -> LaunchDict:
    descriptor = FORMS[form]
    words = np.array(descriptor.words(), np.uint32)
    args = [In("u32", 20, words), In("u32", DWORDS, drawn="bits"), InOut("u32", DWORDS, drawn="bits")]
    return {
        "grid": 1,
        "block": 32,
        "args": args,
        "expect": lambda words, source, out: reference.stored(descriptor, source, out),
    }
