"""Direct-to-LDS loads: the LDS address of each lane's data.

The destination depends only on the lane's number, M0 and the immediate offset, so LDS is filled in lane order and a
swizzle must be applied to the global address: the lane that fills place p loads the byte whose swizzled place is p.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfmasim.architectures import Arch, arch
from mfmasim.architectures.direct import direct_problem
from mfmasim.errors import MfmasimError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.lds.swizzles import Swizzle


def direct_sizes(architecture: str | Arch) -> tuple[int, ...]:
    """Bytes that a lane of a direct-to-LDS load may move, empty where the architecture has none."""
    return arch(architecture).lds.direct_bytes


def direct_to_lds(
    architecture: str | Arch, size: int, *, base: int = 0, m0: int = 0, offset: int = 0
) -> NDArray[np.int64]:
    """LDS byte address that each lane of a direct-to-LDS load writes.

    Args:
        architecture: such as ``gfx950``.
        size: bytes per lane. 1 and 2 bytes are widened to a dword; 12 bytes use a slot of 16.
        base: where the workgroup's LDS begins.
        m0: the wave's offset in M0.
        offset: immediate offset (it is added to the global address as well).

    Returns:
        int64 (lanes,): base + M0 + offset + lane * 4, or * 16 for 12 and 16 bytes. Source: CDNA4 ISA manual, section
        9.1.9 (another document has 12 bytes packed; the manual is followed).

    Raises:
        MfmasimError: the architecture has no such load, or it would leave LDS.

    >>> direct_to_lds("gfx950", 16, m0=1024)[:3].tolist()
    [1024, 1040, 1056]
    """
    target = arch(architecture)
    problem = direct_problem(target, size)
    if problem:
        raise MfmasimError(problem)
    step = 16 if size > 4 else 4
    place = base + m0 + offset + np.arange(target.wave_sizes[0], dtype=np.int64) * step
    if place[0] < 0 or place[-1] + step > target.lds_bytes:
        raise MfmasimError(f"lanes write LDS bytes {place[0]}..{place[-1] + step - 1}, outside {target.lds_bytes}")
    return place


def fetch(swizzle: Swizzle, places: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Row and column byte of the tile that the lanes must load, given the LDS places (from the tile's start) they fill.

    Raises:
        MfmasimError: the swizzle has no inverse, or a place is outside the tile's data.
    """
    linear = swizzle.source_of(places)
    return linear // swizzle.pitch, linear % swizzle.pitch
