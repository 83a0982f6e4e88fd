"""Layout rules of CDNA5's matrix core (gfx1250), in the notation of `mfmasim.matrix.layout`.

Numbers of k are those of the CDNA5 ISA manual, 7.12.2 to 7.12.6. Its tables of 8-bit elements number k in runs of 8 for
the instructions with formats in their names and in runs of 16 for f8f6f4: where A and B both have 8 bits this is the
same place for the same pair of elements, under two numberings.
"""

from __future__ import annotations

from mfmasim.matrix.layout import Layout, parse

# Digits of k in lane and item; f64 as f32, assumed: no table of it is public. CDNA5 ISA manual 7.12.2 (dense),
# 7.12.4 and 7.12.5 (B of sparse), 7.12.6.1 (f8f6f4, f4).
#   case     width   lane       item
_INPUT = {
    ("dense", 64): ("k/2%2", "k%2"),
    ("dense", 32): ("k/2%2", "k%2"),
    ("dense", 16): ("k/8%2", "k%8, k/16%2"),
    ("dense", 8): ("k/8%2", "k%8, k/16%{runs}"),
    ("sparse", 16): ("k/16%2", "k%16, k/32%2"),
    ("sparse", 8): ("k/16%2", "k%16, k/32%4"),
    ("f8f6f4", 8): ("k/16%2", "k%16, k/32%4"),
    ("f8f6f4", 6): ("k/32%2", "k%32, k/64%2"),
    ("f8f6f4", 4): ("k/32%2", "k%32, k/64%2"),
}


def matrix_input(
    outer: str, size: int, k: int, blocks: int, wave: int, width: int, *, sparse: bool, small: bool
) -> Layout:
    """Layout of A or B, from the table above; of 32 rows, the second 16 follow the first in further registers.

    Args:
        outer: letter of the rows of A (``i``) or the columns of B (``j``).
        size: how many of them.
        k: summed elements.
        blocks: independent products.
        wave: lanes of the wave.
        width: bits of an element.
        sparse: whether A of the instruction is sparse.
        small: whether the formats of A and B are chosen independently (f8f6f4), or both are FP4.
    """
    del blocks, wave
    lane, item = _INPUT["f8f6f4" if small else "sparse" if sparse else "dense", width]
    second = f", {outer}/16%2" if size == 32 else ""
    return parse(f"lane = {outer}%16, {lane} ; item = {item.format(runs=k // 16)}{second}", width)


def output(m: int, n: int, blocks: int, wave: int, width: int) -> Layout:
    """Layout of C and D (CDNA5 ISA manual 7.12.2): eight rows per lane, of 32 rows the second 16 in further registers.

    Args:
        m: rows.
        n: columns.
        blocks: independent products.
        wave: lanes of the wave.
        width: bits of an element.
    """
    del blocks, wave
    second = ", i/16%2" if m == 32 else ""
    return parse(f"lane = j%{n}, i/8%2 ; item = i%8{second}", width)


def scale(outer: str, size: int, k: int, block: int) -> Layout:
    """Layout of the scales of A or B (CDNA5 ISA manual 7.12.6.2): one lane per row, its bytes in the order of k.

    Args:
        outer: letter of the rows of A (``i``) or the columns of B (``j``).
        size: how many of them.
        k: summed elements.
        block: elements along K that share a scale.
    """
    return parse(f"lane = {outer}%{size} ; item = g%{k // block}", 8)


def index(kept: Layout) -> Layout:
    """Layout of sparse indices: not in the lane of the element that they belong to, but in the order of k.

    For 16-bit elements this is the loop of the CDNA5 ISA manual, 7.12.4: lane 0 holds the indices of k 0 to 31, lane 16
    those of k 32 to 63. The manual's sentences in 7.12.3 say the opposite (the lane that holds the elements holds
    their indices). For 8-bit elements it is what rocjitsu found that kernels need which pass on hardware: the first
    register of lane 0 holds the indices of that lane's first four registers of A, the second those of lane 16's.

    Args:
        kept: layout of the kept elements of A.
    """
    lane, item = ("s/16%2", "s%16") if kept.width == 16 else ("s/32%2", "s%8, s/16%2, s/8%2")
    return parse(f"lane = i%16, {lane} ; item = {item}", 2)
