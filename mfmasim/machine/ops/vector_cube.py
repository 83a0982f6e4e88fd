"""Faces and coordinates of a cube map. Source: CDNA3 and RDNA4 ISA manuals, V_CUBEID_F32 and its kin.

Denormal inputs and results are flushed (RDNA4 ISA manual, 7.2.4; assumed of the others).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.machine.forms import F32
from mfmasim.machine.registry import vector

if TYPE_CHECKING:
    from collections.abc import Callable

    U = Any  # float32 arrays


def _three(along_z: U, along_y: U, of_z: U, of_y: U, of_x: U) -> U:
    return np.where(along_z, of_z, np.where(along_y, of_y, of_x))


def _cube(pick: Callable[[U, U, U, U, U], U]) -> Callable[[U, U, U], U]:
    """A function of x, y, z and of where z, or else y, has the largest magnitude."""

    def run(s0: U, s1: U, s2: U) -> U:
        x, y, z = (F32.flushed(s) for s in (s0, s1, s2))
        sizes = [np.abs(part) for part in (x, y, z)]
        along_z = (sizes[2] >= sizes[0]) & (sizes[2] >= sizes[1])
        along_y = ~along_z & (sizes[1] >= sizes[0])
        return F32.flushed(np.asarray(pick(x, y, z, along_z, along_y), np.float32))

    return run


def _doubled(value: U) -> U:
    return F32.settled(value * np.float32(2), value)


FACES: dict[str, Callable[[U, U, U, U, U], U]] = {
    "id": lambda x, y, z, az, ay: _three(
        az, ay, np.where(z < 0, 5.0, 4.0), np.where(y < 0, 3.0, 2.0), np.where(x < 0, 1.0, 0.0)
    ),
    "sc": lambda x, _y, z, az, ay: _three(az, ay, np.where(z < 0, -x, x), x, np.where(x < 0, z, -z)),
    "tc": lambda _x, y, z, az, ay: _three(az, ay, -y, np.where(y < 0, -z, z), -y),
    "ma": lambda x, y, z, az, ay: _doubled(_three(az, ay, z, y, x)),
}
for _name, _body in FACES.items():
    vector(f"v_cube{_name}_f32", "f32 f32 f32 -> f32", "assumed")(_cube(_body))


@vector("v_cvt_pk_u8_f32 v_cvt_pkaccum_u8_f32", "f32 u32 u32 -> u32", "assumed")
def v_cvt_pk_u8_f32(s0: U, s1: U, s2: U) -> U:
    """A number from 0 to 255 into the byte of S2 that S1 chooses; it is truncated as by V_CVT_U32_F32 (not stated).

    S2 of V_CVT_PKACCUM is the destination (Vega ISA manual, VOP3).
    """
    byte = np.where(np.isnan(s0), 0, np.clip(np.trunc(s0), 0, 255)).astype(np.uint32)
    shift = (s1 & np.uint32(3)) << np.uint32(3)
    return s2 & ~(np.uint32(0xFF) << shift) | byte << shift
