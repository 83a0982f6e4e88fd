"""Layout rules: one function per generation of matrix core, from the shape of an instruction to its layouts.

Sources are named beside each rule. "Calculator" is AMD's Matrix Instruction Calculator 1.3.2, whose numbering of k is
used where it covers an instruction. All rules give layouts in the notation of `mfmasim.matrix.layout`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import ceil
from typing import NamedTuple

from mfmasim.matrix import rules_cdna5
from mfmasim.matrix.layout import Digit, Layout, parse


def cdna_input(
    outer: str, size: int, k: int, blocks: int, wave: int, width: int, *, sparse: bool, small: bool
) -> Layout:
    """Layout of A or B on CDNA.

    CDNA3 ISA manual 7.1.4.1: a lane holds ``K_L = K / (64 / (M*B))`` values of one row, and the lanes walk over rows,
    blocks, then k. A lane takes at most 128 bits of consecutive k before the next lane follows: CDNA4 ISA manual
    7.1.5.1 and 7.5.1.3 print this for i8, f16 and the sparse forms. The 6-bit formats keep their 192 bits together.

    Args:
        outer: letter of the rows of A (``i``) or the columns of B (``j``).
        size: how many of them.
        k: summed elements.
        blocks: independent products.
        wave: lanes of the wave.
        width: bits of an element.
        sparse: whether A of the instruction is sparse.
        small: whether the formats of A and B are chosen independently, or both are FP4.
    """
    del sparse, small  # B of a sparse instruction follows the dense rule
    lanes_of_k = wave // (size * blocks)
    per_lane = k // lanes_of_k
    chunk = per_lane if width == 6 else min(per_lane, max(1, 128 // width))
    return parse(
        f"lane = {outer}%{size}, b%{blocks}, k/{chunk}%{lanes_of_k} ; "
        f"item = k%{chunk}, k/{chunk * lanes_of_k}%{per_lane // chunk}",
        width,
    )


def cdna_output(m: int, n: int, blocks: int, wave: int, width: int) -> Layout:
    """Layout of C and D on CDNA (CDNA3 ISA manual 7.1.4.2): groups of H rows, then lanes, then registers.

    Args:
        m: rows.
        n: columns.
        blocks: independent products.
        wave: lanes of the wave.
        width: bits of an element.
    """
    height = 1 if width == 64 else 4
    blocks_per_item = ceil(wave / (m * n // height))
    rows_per_item = wave // blocks_per_item // n
    groups = m // (height * rows_per_item)
    return parse(
        f"lane = j%{n}, b%{blocks_per_item}, i/{height}%{rows_per_item} ; "
        f"item = i%{height}, i/{height * rows_per_item}%{groups}, b/{blocks_per_item}%{blocks // blocks_per_item}",
        width,
    )


def rdna3_input(
    outer: str, size: int, k: int, blocks: int, wave: int, width: int, *, sparse: bool, small: bool
) -> Layout:
    """Layout of A or B on RDNA3 (RDNA3 ISA manual 7.9): every 16 lanes hold the whole matrix again.

    Args:
        outer: letter of the rows of A (``i``) or the columns of B (``j``).
        size: how many of them.
        k: summed elements.
        blocks: independent products.
        wave: lanes of the wave.
        width: bits of an element.
        sparse: whether A of the instruction is sparse.
        small: whether the formats of A and B are chosen independently, or both are FP4.
    """
    del sparse, small, blocks
    return parse(f"lane = {outer}%{size}, r%{wave // size} ; item = k%{k}", width)


def rdna3_output(m: int, n: int, blocks: int, wave: int, width: int) -> Layout:
    """Layout of C and D on RDNA3 (calculator): rows alternate over the groups of 16 lanes.

    A 16-bit element takes one half of a register; the other half is preserved.

    Args:
        m: rows.
        n: columns.
        blocks: independent products.
        wave: lanes of the wave.
        width: bits of an element.
    """
    del blocks
    groups = wave // n
    return parse(f"lane = j%{n}, i%{groups} ; item = i/{groups}%{m // groups}", width, max(width, 32))


# Digits of k in lane and item on RDNA4. Sources: calculator; RDNA4 ISA manual 7.12.2 agrees for 4, 8 and 32 bits.
#   sparse  wave width  k     lane           item
_GFX12_INPUT = {
    (False, 32, 16, 16): ("k/4%2", "k%4, k/8%2"),
    (False, 32, 8, 16): ("k/8%2", "k%8"),
    (False, 32, 4, 16): ("k/8%2", "k%8"),
    (False, 32, 4, 32): ("k/16%2", "k%16"),
    (False, 64, 16, 16): ("k/4%2, k/8%2", "k%4"),
    (False, 64, 8, 16): ("k/8%2, k/4%2", "k%4"),
    (False, 64, 4, 16): ("k/8%2", "k%8"),  # lanes 32 to 63 hold nothing
    (False, 64, 4, 32): ("k/16%2, k/8%2", "k%8"),
    (True, 32, 16, 32): ("k/8%2", "k%8, k/16%2"),
    (True, 32, 8, 32): ("k/16%2", "k%16"),
    (True, 32, 4, 32): ("k/16%2", "k%16"),
    (True, 32, 4, 64): ("k/32%2", "k%32"),
    (True, 64, 16, 32): ("k/8%4", "k%8"),
    (True, 64, 8, 32): ("k/16%2, k/8%2", "k%8"),
    (True, 64, 4, 32): ("k/16%2, k/8%2", "k%8"),
    (True, 64, 4, 64): ("k/32%2, k/16%2", "k%16"),
}

# Sparse A and its index follow the half of B's digits, with one exception: these use lanes 0 to 31 only.
#   wave width  k     lane      item
_GFX12_KEPT = {(64, 4, 32): ("s/8%2", "s%8")}


def rdna4_input(
    outer: str, size: int, k: int, blocks: int, wave: int, width: int, *, sparse: bool, small: bool
) -> Layout:
    """Layout of A or B on RDNA4, from the table above.

    Args:
        outer: letter of the rows of A (``i``) or the columns of B (``j``).
        size: how many of them.
        k: summed elements.
        blocks: independent products.
        wave: lanes of the wave.
        width: bits of an element.
        sparse: whether A of the instruction is sparse.
        small: whether the formats of A and B are chosen independently, or both are FP4.
    """
    del blocks, small
    lane, item = _GFX12_INPUT[sparse, wave, width, k]
    return parse(f"lane = {outer}%{size}, {lane} ; item = {item}", width)


def rdna4_output(m: int, n: int, blocks: int, wave: int, width: int) -> Layout:
    """Layout of C and D on RDNA4 (RDNA4 ISA manual 7.12.2).

    Args:
        m: rows.
        n: columns.
        blocks: independent products.
        wave: lanes of the wave.
        width: bits of an element.
    """
    del blocks
    rows = m * n // wave
    lane = "i/8%2" if wave == 32 else "i/8%2, i/4%2"
    return parse(f"lane = j%{n}, {lane} ; item = i%{rows}", width)


def kept(dense: Layout, wave: int, k: int) -> Layout:
    """Layout of the kept elements of a sparse A, from the layout its dense form would have.

    A lane keeps two of every four k that it would hold densely, so every digit of k loses a factor of two. That A and
    B have the same k inside a lane is stated by the calculator for CDNA3 and RDNA4. For the CDNA4 forms it is inferred:
    the index tables of the CDNA4 ISA manual 7.5.1.3 order the kept elements by register, but do not print their k.

    Args:
        dense: layout of A if it were dense.
        wave: lanes of the wave.
        k: summed elements, dense.
    """
    del wave, k
    return Layout(_half(dense.lane), _half(dense.item), dense.width, dense.stride)


def rdna4_kept(dense: Layout, wave: int, k: int) -> Layout:
    """Layout of the kept elements of a sparse A on RDNA4: half of the dense form, with one exception.

    Args:
        dense: layout of A if it were dense.
        wave: lanes of the wave.
        k: summed elements, dense.
    """
    exception = _GFX12_KEPT.get((wave, dense.width, k))
    if exception is None:
        return kept(dense, wave, k)
    outer = ", ".join(str(digit) for digit in dense.lane if digit.coordinate != "k")
    return parse(f"lane = {outer}, {exception[0]} ; item = {exception[1]}", dense.width)


def _half(digits: tuple[Digit, ...]) -> tuple[Digit, ...]:
    halved = []
    for digit in digits:
        if digit.coordinate != "k":
            halved.append(digit)
        elif digit.divisor == 1:
            halved.append(Digit("s", 1, digit.radix // 2))
        else:
            halved.append(Digit("s", digit.divisor // 2, digit.radix))
    return tuple(halved)


def cdna_scale(outer: str, size: int, k: int, block: int) -> Layout:
    """Layout of the E8M0 scales of A or B: one byte of each lane.

    Lane ``row + M*(K-block)``. CDNA4 ISA manual 7.2.1 says that one byte over 64 lanes holds them all; the order of
    lanes comes from Triton's and Composable Kernel's scale operands.

    Args:
        outer: letter of the rows of A (``i``) or the columns of B (``j``).
        size: how many of them.
        k: summed elements.
        block: elements along K that share a scale.
    """
    return parse(f"lane = {outer}%{size}, g%{k // block} ; item = g%1", 8)


def index_beside(kept: Layout) -> Layout:
    """Layout of sparse indices that lie in the lane of their elements, in the order of registers.

    Args:
        kept: layout of the kept elements of A.
    """
    return replace(kept, width=2, stride=2)


class Rule(NamedTuple):
    """Layout functions of one generation of matrix core."""

    input: Callable[..., Layout]
    output: Callable[..., Layout]
    kept: Callable[[Layout, int, int], Layout]
    scale: Callable[[str, int, int, int], Layout] = cdna_scale
    indices: Callable[[Layout], Layout] = index_beside


RULES = {
    "cdna": Rule(cdna_input, cdna_output, kept),
    "rdna3": Rule(rdna3_input, rdna3_output, kept),
    "rdna4": Rule(rdna4_input, rdna4_output, rdna4_kept),
    "cdna5": Rule(rules_cdna5.matrix_input, rules_cdna5.output, kept, rules_cdna5.scale, rules_cdna5.index),
}
"""Layout functions by the name that a table of rows gives."""
