"""Tensor descriptors that the host makes for the tensor data mover: a kernel argument of 48 or 80 bytes.

The compiler says block, bits of an element and padding (``tensordesc_meta``); waves share a block, whose dimensions are
halved from the first on while they can be (Triton's ``TDMCommon.h``). The kernel adds its own place and the mask.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mfmasim.errors import MfmasimError
from mfmasim.machine.tensor.descriptor import Descriptor

KIND = "tensordesc"
"""Triton's type of such an argument."""
RANKS = range(1, 6)


@dataclass(frozen=True)
class HostTile:
    """A descriptor whose address is that of a tensor."""

    base: Any
    """The tensor."""
    address: int
    fields: Mapping[str, Any]
    """Of the descriptor, without the address."""

    def packed(self) -> bytes:
        """The argument's bytes.

        Raises:
            MfmasimError: a value does not fit into its field.
        """
        return struct.pack("<20I", *Descriptor(global_addr=self.address, type=2, **self.fields).words())


def part_of_wave(block: Sequence[int], waves: int) -> list[int]:
    """What of a block one wave moves.

    Args:
        block: its elements in each dimension, the slowest first.
        waves: of a workgroup, a power of two.

    >>> part_of_wave([32, 32], 4), part_of_wave([2, 64], 8), part_of_wave([100], 8)
    ([8, 32], [1, 16], [13])
    """
    if len(block) == 1:
        return [-(-block[0] // waves)]
    parts = []
    for size in block:
        share = 1
        while waves > 1 and 2 * share <= size:
            share, waves = 2 * share, waves // 2
        parts.append(-(-size // share))
    return parts


def host_tile(descriptor: Any, about: Mapping[str, Any], waves: int) -> HostTile:
    """The descriptor of a ``triton.tools.tensor_descriptor.TensorDescriptor``.

    Args:
        descriptor: the program's: base, shape, strides.
        about: what the compiler says of it: ``block_size``, ``elem_bits``, ``interval_padding_pairs``.
        waves: of a workgroup.

    Raises:
        MfmasimError: not one to five dimensions; elements that are no whole bytes.
    """
    shape, strides = [int(n) for n in descriptor.shape], [int(n) for n in descriptor.strides]
    bits = int(about["elem_bits"])
    if len(shape) not in RANKS:
        raise MfmasimError(f"a tensor descriptor of {len(shape)} dimensions: 1 to 5 are expected")
    if bits not in (8, 16, 32, 64):
        raise MfmasimError(f"a tensor descriptor with elements of {bits} bits: 8, 16, 32 or 64 are expected")
    part = part_of_wave([int(n) for n in about["block_size"]], waves)
    fields: dict[str, int] = {"data_size": (bits // 8).bit_length() - 1}
    for dimension, (size, tile) in enumerate(zip(reversed(shape), reversed(part), strict=True)):
        fields |= {f"tensor_dim{dimension}": size, f"tile_dim{dimension}": tile}
    for dimension, stride in enumerate(reversed(strides[:-1])):
        fields[f"tensor_dim{dimension}_stride"] = stride
    for interval, amount in about.get("interval_padding_pairs") or ():
        dwords = interval * bits // 32, amount * bits // 32
        if all(dwords):
            fields |= {"pad_enable": 1, "pad_interval": dwords[0].bit_length() - 2, "pad_amount": dwords[1] - 1}
    return HostTile(descriptor.base, int(descriptor.base.data_ptr()), fields)
