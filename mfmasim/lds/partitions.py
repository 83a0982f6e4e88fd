"""Partitions: a second kind of LDS conflict, between waves of different SIMDs instead of lanes of one wave.

On CDNA5 the LDS is five memories of 64 KB, and two paths lead to it, one from each pair of SIMDs. Both are served in a
cycle if they access different partitions; else one waits (AMD's measurement: 510 against 255 bytes a clock). The text
names neither the SIMDs of a pair nor where an allocation begins: SIMDs 0 and 1, 2 and 3, waves spread over the SIMDs in
turn, and an allocation from the start of a partition are assumed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mfmasim.architectures import Arch, arch

PARTITION_CONFIDENCE = "vendor; pairs of SIMDs and the start of an allocation assumed"
SIMDS, PAIR = 4, 2


def partitions(architecture: str | Arch, addresses: ArrayLike, active: ArrayLike | None = None) -> NDArray[np.uint32]:
    """Which partitions the lanes of waves access.

    Args:
        architecture: an architecture whose LDS has partitions, or its name.
        addresses: bytes from the start of the LDS allocation, (..., lanes).
        active: lanes that take part, of the same shape; by default all.

    Returns:
        A mask for each wave, (...): bit n is partition n. Zeros where the LDS has no partitions.

    >>> partitions("gfx1250", [[0, 65535], [65536, 131072]]).tolist()
    [1, 6]
    """
    size = arch(architecture).lds.partition_bytes
    where: NDArray[Any] = np.asarray(addresses, np.int64)
    if not size:
        return np.zeros(where.shape[:-1], np.uint32)
    bits = np.left_shift(1, np.clip(where // size, 0, 31)).astype(np.uint32)
    if active is not None:
        bits = np.where(active, bits, np.uint32(0))
    out: NDArray[np.uint32] = np.bitwise_or.reduce(bits, axis=-1)
    return out


def pair_of_wave(wave: ArrayLike) -> NDArray[np.int64]:
    """The pair of SIMDs, 0 or 1, of a wave by its number in the workgroup."""
    pair: NDArray[np.int64] = np.asarray(wave, np.int64) % SIMDS // PAIR
    return pair


def partition_note(architecture: str | Arch) -> str:
    """What is known of an architecture's partitions, in one line; empty where there are none."""
    found = arch(architecture)
    size = found.lds.partition_bytes
    if not size:
        return ""
    return (
        f"{found.lds_bytes // size} partitions of {size:,} bytes: waves of both pairs of SIMDs that access one in the "
        f"same cycle take turns ({found.lds.partition_source}; {PARTITION_CONFIDENCE})"
    )
