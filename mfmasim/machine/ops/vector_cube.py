"""Faces and coordinates of a cube map. Source: CDNA3 and RDNA4 ISA manuals, V_CUBEID_F32 and its kin.

Denormals are zeros where magnitudes and signs are compared, and in the major axis, whose zero is +0; the coordinates
are components as they stand, a NaN quiet (captured on gfx1201: bjacob/goc, cube_hardware.h; assumed of the others).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mfmasim.arrays import U
from mfmasim.machine.numerics import ieee
from mfmasim.machine.numerics.float_formats import F32
from mfmasim.machine.numerics.float_mode import FloatMode
from mfmasim.machine.opcodes.registry import shaped, vector


def _three(along_z: U, along_y: U, of_z: U, of_y: U, of_x: U) -> U:
    return np.where(along_z, of_z, np.where(along_y, of_y, of_x))


def _cube(pick: Callable[[list[U], list[U], U, U], U]) -> Callable[[U, U, U], U]:
    """A function of x, y, z, of whether each is negative, and of where z, or else y, has the largest magnitude."""

    def run(s0: U, s1: U, s2: U) -> U:
        flushed = [F32.flushed(s) for s in (s0, s1, s2)]
        sizes = [np.abs(part) for part in flushed]
        along_z = (sizes[2] >= sizes[0]) & (sizes[2] >= sizes[1])
        along_y = ~along_z & (sizes[1] >= sizes[0])
        out = pick([F32.quieted(s) for s in (s0, s1, s2)], [part < 0 for part in flushed], along_z, along_y)
        return np.asarray(out, np.float32)

    return run


def _minus(value: U) -> U:
    """The other sign, of a NaN as well."""
    return (F32.bits(value) ^ F32.sign).view(np.float32)


def _doubled(value: U) -> U:
    value = F32.flushed(value)
    return np.where(value == 0, np.float32(0), F32.settled(value * np.float32(2), value))


FACES: dict[str, Callable[[list[U], list[U], U, U], U]] = {
    "id": lambda _, below, az, ay: _three(
        az, ay, np.where(below[2], 5.0, 4.0), np.where(below[1], 3.0, 2.0), np.where(below[0], 1.0, 0.0)
    ),
    "sc": lambda v, below, az, ay: _three(
        az, ay, np.where(below[2], _minus(v[0]), v[0]), v[0], np.where(below[0], v[2], _minus(v[2]))
    ),
    "tc": lambda v, below, az, ay: _three(az, ay, _minus(v[1]), np.where(below[1], _minus(v[2]), v[2]), _minus(v[1])),
    "ma": lambda v, _, az, ay: _doubled(_three(az, ay, v[2], v[1], v[0])),
}
for _name, _body in FACES.items():
    vector(f"v_cube{_name}_f32", "f32 f32 f32 -> f32", "assumed")(_cube(_body))


BYTE_ROUNDINGS = (np.rint, np.ceil, np.floor, np.trunc)
"""By FP_ROUND."""


def _into_byte(s0: U, s1: U, s2: U, mode: FloatMode) -> U:
    """A number from 0 to 255 into the byte of S2 that S1 chooses; rounded as MODE says.

    The manuals do not state the rounding; so do a gfx1201 (AMD's rocjitsu, conversions measured on it) and, to nearest
    even, with and without CLAMP, an RX 9070 (bjacob/goc, byte_pack_hardware.h).

    S2 of V_CVT_PKACCUM is the destination (Vega ISA manual, VOP3).
    """
    s0 = ieee.entering(s0, F32, mode)
    whole = BYTE_ROUNDINGS[mode.rounding(32)](s0)
    byte = np.where(np.isnan(s0), 0, np.clip(whole, 0, 255)).astype(np.uint32)
    shift = (s1 & np.uint32(3)) << np.uint32(3)
    return s2 & ~(np.uint32(0xFF) << shift) | byte << shift


shaped("v_cvt_pk_u8_f32 v_cvt_pkaccum_u8_f32", "f32 u32 u32 mode -> u32", "assumed")(lambda _i, _arch: _into_byte)
