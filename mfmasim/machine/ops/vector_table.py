"""Tables of 16 entries looked up 16 times, bytes saturated to four bits. Source: CDNA5 ISA manual, VOP1 and VOP3."""

from __future__ import annotations

from functools import partial

import numpy as np

from mfmasim.arrays import U
from mfmasim.machine.opcodes.registry import vector

FIFTEEN = np.uint32(15)


def _field(words: list[U], start: U, width: int) -> U:
    """Bits of a number in dwords, from a bit that differs from lane to lane."""
    out: U = np.array(0, np.uint32)
    for number, word in enumerate(words):
        distance = start.astype(np.int64) - 32 * number
        down = np.clip(distance, 0, 32).astype(np.uint64)
        up = np.clip(-distance, 0, 32).astype(np.uint64)
        wide = word.astype(np.uint64) >> down << up
        out = out | np.where((distance > -32) & (distance < 32), wide, np.uint64(0)).astype(np.uint32)
    return out & np.uint32((1 << width) - 1)


def _looked_up(width: int, high: U, low: U, indices: U) -> U:
    """Entries of `width` bits, of which the first source holds the upper ones."""
    table = [*low, *high]
    shape = np.broadcast_shapes(*(np.shape(word) for word in (*table, *indices)))
    out = np.zeros((width // 2, *shape), np.uint32)
    for entry in range(16):
        index = indices[entry // 8] >> np.uint32(4 * (entry % 8)) & FIFTEEN
        found = _field(table, index * np.uint32(width), width).astype(np.uint64) << np.uint64(width * entry % 32)
        word = width * entry // 32
        out[word] |= (found & np.uint64(0xFFFFFFFF)).astype(np.uint32)
        if word + 1 < len(out):
            out[word + 1] |= (found >> np.uint64(32)).astype(np.uint32)
    return out


for _width, _high, _low in ((4, 1, 1), (6, 1, 2), (8, 2, 2)):
    vector(f"v_perm_pk16_b{_width}_u4", f"b32x{_high} b32x{_low} b32x2 -> b32x{_width // 2}")(
        partial(_looked_up, _width)
    )


def _saturated(signed: bool, s0: U) -> U:
    """Four bytes to four bits each."""
    out: U = np.array(0, np.uint16)
    for place in range(4):
        byte = (s0 >> np.uint32(8 * place)).astype(np.uint8)
        value = np.clip(byte.view(np.int8), -8, 7) if signed else np.minimum(byte, np.uint8(15))
        out = out | (value.astype(np.uint16) & np.uint16(15)) << np.uint16(4 * place)
    return out


vector("v_sat_pk4_i4_i8", "u32 -> u16")(partial(_saturated, True))
vector("v_sat_pk4_u4_u8", "u32 -> u16")(partial(_saturated, False))
