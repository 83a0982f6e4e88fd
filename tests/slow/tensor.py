"""The slow model of the tensor data mover: loops over bytes, Python integers, from the manual's tables and pseudocode.

Source: CDNA5 ISA manual, 10.11.2 to 10.11.4. Bits are taken from one integer of 640 bits, so that no table of fields is
shared with the fast model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["copied"]


def copied(words: Sequence[int], *, store: bool) -> list[tuple[int, int | None]]:
    """Bytes in the order in which they move: LDS address, and memory address or None where the tensor ends.

    Args:
        words: the 20 dwords of the descriptor.
        store: whether from the LDS to memory.
    """
    whole = 0
    for number, word in enumerate(words):
        whole |= word << 32 * number
    g0, g1 = whole & (1 << 128) - 1, whole >> 128 & (1 << 256) - 1
    g2, g3 = whole >> 384 & (1 << 128) - 1, whole >> 512

    def bits(group: int, high: int, low: int) -> int:
        return group >> low & (1 << high - low + 1) - 1

    if bits(g0, 1, 0) == 0 or bits(g1, 127, 112) == 0:
        return []
    size = 2 ** bits(g1, 17, 16)
    gather = bits(g0, 31, 31) == 1
    repeat = bits(g1, 19, 19) == 1 and not gather
    pad = bits(g1, 20, 20) == 1 and not store
    out: list[tuple[int, int | None]] = []
    for turn in range(bits(g2, 127, 112) + 1 if repeat else 1):
        lds, memory = bits(g0, 63, 32), bits(g0, 120, 64)
        if repeat:
            lds += turn * bits(g2, 63, 32) * size
            memory += turn * bits(g2, 111, 64) * size
        stored = 0
        for row, fits in _rows(g1, g2, g3, gather=gather, wide=bits(g0, 30, 30) == 1, repeat=repeat):
            for x in range(bits(g1, 127, 112)):
                there = fits and x < bits(g1, 79, 48)
                for byte in range(size):
                    out.append((lds, memory + (row + x) * size + byte if there else None))
                    lds += 1
                stored += size
                if pad and stored // 8 >= 2 ** bits(g1, 24, 22):
                    stored = 0
                    lds += 4 * (bits(g1, 31, 25) + 1)
    return out


def _rows(g1: int, g2: int, g3: int, *, gather: bool, wide: bool, repeat: bool) -> Iterator[tuple[int, bool]]:
    """Element at which each row begins, and whether the tensor has it."""

    def bits(group: int, high: int, low: int) -> int:
        return group >> low & (1 << high - low + 1) - 1

    stride0 = bits(g1, 207, 160)
    if gather:
        width = 32 if wide else 16
        indices = [bits(group, at + width - 1, at) for group in (g2, g3) for at in range(0, 128, width)]
        for index in indices[: bits(g1, 143, 128)]:
            yield index * stride0, index < bits(g1, 111, 80)
        return
    tiles = [bits(g1, 143, 128), bits(g1, 159, 144), bits(g2, 127, 112), bits(g3, 95, 80)]
    if repeat:
        tiles[2:] = [0, 0]
    t1, t2, t3, t4 = (max(tile, 1) for tile in tiles)
    limits = [bits(g1, 111, 80), bits(g2, 31, 0), bits(g2, 63, 32), bits(g3, 79, 48)]
    strides = [stride0, bits(g1, 255, 208), bits(g2, 111, 64), bits(g3, 47, 0)]
    for w in range(t4):
        for zz in range(t3):
            for z in range(t2):
                for y in range(t1):
                    places = [y, z, zz, w]
                    used = [i for i in range(4) if tiles[i]]
                    yield (sum(places[i] * strides[i] for i in used), all(places[i] < limits[i] for i in used))
