"""What the modifiers of a matrix instruction do to its operands.

Sources: CDNA3 ISA manual 7.1.5 and 13.3 (CBSZ, ABID, BLGP), CDNA4 ISA manual 7.1.6, 7.2 and 7.5 (format codes, sparse
index sets); RDNA3 ISA manual 7.9 and RDNA4 ISA manual 7.12 (NEG, NEG_HI, OPSEL).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.errors import MfmasimError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.matrix.rows import Row

__all__ = ["F8F6F4", "Modifiers", "broadcast_block", "negate_half", "permute_lane", "sign"]

F8F6F4 = ("e4m3fn", "e5m2", "e2m3fn", "e3m2fn", "e2m1fn")
"""Formats of the f8f6f4 instructions by their code in CBSZ (A) and BLGP (B); CDNA4 ISA manual 7.1.5."""


@dataclass(frozen=True)
class Modifiers:
    """Modifier fields of one instruction word; each defaults to the value it has when it is not written."""

    cbsz: int = 0
    abid: int = 0
    blgp: int = 0
    op_sel: int = 0
    neg: int = 0
    neg_hi: int = 0
    scale_a_byte: int = 0
    scale_b_byte: int = 0

    def check(self, name: str, row: Row, formats: tuple[str, str]) -> None:
        """Refuse values that the manual leaves undefined, and modifiers the instruction does not have.

        Raises:
            MfmasimError: the modifier, its value and what is allowed.
        """
        words = set(row.modifiers.split())
        small = row.a == "f8f6f4"
        if small:
            for field, given, fmt in (("cbsz", self.cbsz, formats[0]), ("blgp", self.blgp, formats[1])):
                if given not in (0, F8F6F4.index(fmt)):
                    raise MfmasimError(
                        f"{field}={given} of {name} names another format than {fmt}, which it was made for"
                    )
        elif "cbsz" in words:
            self._allow(name, "cbsz", range(row.blocks.bit_length()), f" with {row.blocks} blocks")
            self._allow(name, "abid", range(1 << self.cbsz), f" with cbsz={self.cbsz}")
        elif "abid_index" in words or row.a == "f64":  # sets of indices; f64 ignores both fields
            self._allow(name, "cbsz", range(8))
            self._allow(name, "abid", range(16))
        else:
            self._allow(name, "cbsz", range(1))
            self._allow(name, "abid", range(1))
        if not small:
            self._allow(name, "blgp", range(8 if {"blgp", "negate"} & words else 1))
        self._allow(name, "op_sel", range(8 if row.kind in {"wmma", "swmmac"} else 1))
        neg, neg_hi = _legal_neg(words, sparse=row.sparse)
        self._allow(name, "neg", neg)
        self._allow(name, "neg_hi", neg_hi)
        for field in ("scale_a_byte", "scale_b_byte"):
            self._allow(name, field, range(4 if row.kind == "mfma_scale" else 1))

    def _allow(self, name: str, field: str, allowed: range, why: str = "") -> None:
        value = getattr(self, field)
        if value not in allowed:
            every = f"0 to {allowed[-1]}" if len(allowed) > 2 else " or ".join(map(str, allowed))
            raise MfmasimError(f"{field}={value} is not legal for {name}: it takes {every}{why}")


def _legal_neg(words: set[str], *, sparse: bool) -> tuple[range, range]:
    """Values of NEG and NEG_HI: bits 0 and 1 for A and B, bit 2 for C, which a sparse instruction does not name."""
    if "neg_c" in words:
        return range(0, 8, 4), range(0, 8, 4)
    if "neg" in words:
        return range(4 if sparse else 8), range(4 if sparse else 8)
    return range(4 if "signed" in words else 1), range(1)


def broadcast_block(block: NDArray[np.int64], cbsz: int, abid: int) -> NDArray[np.int64]:
    """Block of A that each block reads: in every aligned group of 2^CBSZ blocks, block ABID of the group."""
    return block >> cbsz << cbsz | abid if cbsz else block


def permute_lane(lane: NDArray[np.int64], blgp: int) -> NDArray[np.int64]:
    """Lane of B that each lane reads (64 lanes; CDNA4 ISA manual table 29)."""
    if blgp in (1, 2):
        return lane % 32 + 32 * (blgp - 1)
    if blgp == 3:
        return (lane + 16) % 64
    if blgp >= 4:
        return lane % 16 + 16 * (blgp - 4)
    return lane


def negate_half(registers: NDArray[np.uint32], low: bool, high: bool) -> NDArray[np.uint32]:
    """Flip the signs of the low or high 16-bit elements of registers."""
    mask = 0x8000 * low | 0x80000000 * high
    return registers ^ np.uint32(mask) if mask else registers


def sign(codes: NDArray[Any], *, negate: bool, absolute: bool) -> NDArray[Any]:
    """Clear the sign bits (absolute), then flip them (negate)."""
    top = codes.dtype.type(1 << (codes.dtype.itemsize * 8 - 1))
    if absolute:
        codes = codes & ~top
    return codes ^ top if negate else codes
