"""Faces and coordinates of a cube map. Source: CDNA3 and RDNA4 ISA manuals, V_CUBEID_F32 and its kin.

No denormals on either side (RDNA4 ISA manual, 7.2.4).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.machine.forms import F32
from mfmasim.machine.registry import vector

if TYPE_CHECKING:
    from collections.abc import Callable

    U = Any  # float32 arrays


def _cube(pick: Callable[[U, U, U, U, U], U]) -> Callable[[U, U, U], U]:
    """A function of x, y, z and of where z, or else y, has the largest magnitude."""

    def run(s0: U, s1: U, s2: U) -> U:
        x, y, z = (F32.flushed(s) for s in (s0, s1, s2))
        size = [np.abs(part) for part in (x, y, z)]
        along_z = (size[2] >= size[0]) & (size[2] >= size[1])
        along_y = ~along_z & (size[1] >= size[0])
        return F32.flushed(np.asarray(pick(x, y, z, along_z, along_y)).astype(np.float32))

    return run


def _three(along_z: U, along_y: U, of_z: U, of_y: U, of_x: U) -> U:
    return np.where(along_z, of_z, np.where(along_y, of_y, of_x))


FACES: dict[str, Callable[[U, U, U, U, U], U]] = {
    "id": lambda x, y, z, az, ay: _three(
        az, ay, np.where(z < 0, 5.0, 4.0), np.where(y < 0, 3.0, 2.0), np.where(x < 0, 1.0, 0.0)
    ),
    "sc": lambda x, _y, z, az, ay: _three(az, ay, np.where(z < 0, -x, x), x, np.where(x < 0, z, -z)),
    "tc": lambda _x, y, z, az, ay: _three(az, ay, -y, np.where(y < 0, -z, z), -y),
    "ma": lambda x, y, z, az, ay: _three(az, ay, z * 2, y * 2, x * 2),
}
for _name, _body in FACES.items():
    vector(f"v_cube{_name}_f32", "f32 f32 f32 -> f32", "assumed")(_cube(_body))
