"""Effects of the modifiers of a matrix instruction on its operands.

Sources: CDNA3 ISA manual 7.1.5 and 13.3 (CBSZ, ABID, BLGP), CDNA4 ISA manual 7.1.6, 7.2 and 7.5 (format codes, sparse
index sets); RDNA3 ISA manual 7.9 and RDNA4 ISA manual 7.12 (NEG, NEG_HI, OPSEL);
CDNA5 ISA manual 7.12 and 7.12.6 (NEG and NEG_HI of C, scales).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.errors import MfmasimError
from mfmasim.formats import FORMATS
from mfmasim.matrix.request import F8F6F4

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mfmasim.matrix.form import MatrixForm
    from mfmasim.matrix.request import Modes, Operands


def check(op: MatrixForm, modes: Modes) -> None:
    """Refuse values that the manual leaves undefined, and modifiers the instruction does not have.

    Raises:
        MfmasimError: the modifier, its value and what is allowed.
    """
    row, words = op.row, op.row.words

    def allow(field: str, allowed: range, why: str = "") -> None:
        value = getattr(modes, field)
        if value not in allowed:
            every = f"0 to {allowed[-1]}" if len(allowed) > 2 else " or ".join(map(str, allowed))
            raise MfmasimError(f"{field}={value} is not legal for {op.name}: it takes {every}{why}")

    if row.a == "f8f6f4":
        for field, given, fmt in (("cbsz", modes.cbsz, op.a), ("blgp", modes.blgp, op.b)):
            if given not in (0, F8F6F4.index(fmt)):
                raise MfmasimError(
                    f"{field}={given} of {op.name} names another format than {fmt}, the format of the instruction"
                )
    elif "cbsz" in words:
        allow("cbsz", range(row.blocks.bit_length()), f" with {row.blocks} blocks")
        allow("abid", range(1 << modes.cbsz), f" with cbsz={modes.cbsz}")
    elif "abid_index" in words or row.a == "f64":  # sets of indices; f64 ignores both fields
        allow("cbsz", range(8))
        allow("abid", range(16))
    else:
        allow("cbsz", range(1))
        allow("abid", range(1))
    if row.a != "f8f6f4":
        allow("blgp", range(8 if {"blgp", "negate"} & words else 1))
    allow("op_sel", range(8 if row.kind in {"wmma", "swmmac"} and "reuse" not in words else 1))
    neg, neg_hi = _legal_neg(words, sparse=row.sparse)
    allow("neg", neg)
    allow("neg_hi", neg_hi)
    _check_scales(op, modes, allow)


def _check_scales(op: MatrixForm, modes: Modes, allow: Callable[..., None]) -> None:
    """Where scales lie, and their formats: E5M3 and E4M3 are for FP4 only, and of two FP4 operands both are alike."""
    row, names = op.row, op.generation.scale_formats
    several = row.scaled and len(names) > 1
    for field in ("scale_a_byte", "scale_b_byte"):
        allow(field, range(4 if row.scaled and not several else 1))
    for field, rows in (("scale_a_row", row.m), ("scale_b_row", row.n)):
        allow(
            field,
            range(2 if several and rows == 16 else 1),
            " (32 rows fill all lanes)" if several and rows > 16 else "",
        )
    codes = {"scale_a_format": modes.scale_a_format, "scale_b_format": modes.scale_b_format}
    for field in codes:
        allow(field, range(len(names) if row.scaled else 1))
    if not any(codes.values()):
        return
    for (field, code), fmt in zip(codes.items(), (op.a, op.b), strict=True):
        if code and FORMATS[fmt].bits != 4:
            raise MfmasimError(
                f"{field}={code} ({names[code]}) of {op.name} scales {fmt}, but only FP4 takes {names[code]}"
            )
    first, second = codes.values()
    if FORMATS[op.a].bits == FORMATS[op.b].bits == 4 and first != second:
        raise MfmasimError(
            f"{op.name} with two FP4 operands takes scales of one format, not {names[first]} and {names[second]}"
        )


def _legal_neg(words: frozenset[str], *, sparse: bool) -> tuple[range, range]:
    """Values of NEG and NEG_HI: bits 0 and 1 for A and B, bit 2 for C, which a sparse instruction does not name."""
    if "neg_c" in words:
        return range(0, 8, 4), range(0, 8, 4)
    if "neg" in words:
        return range(4 if sparse else 8), range(4 if sparse else 8)
    if words & {"neg_32", "neg_64"}:
        return range(8), range(0, 8, 4)
    return range(8 if "any_c" in words else 4 if "signed" in words else 1), range(1)


def broadcast_block(block: NDArray[np.int64], cbsz: int, abid: int) -> NDArray[np.int64]:
    """Block of A that each block reads: in every aligned group of 2^CBSZ blocks, block ABID of the group.

    Args:
        block: numbers of blocks.
        cbsz: CBSZ field.
        abid: ABID field.
    """
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


def signed(fmt: str, bit: int) -> str:
    """Format of an integer operand under its bit of NEG."""
    return f"i{fmt[1:]}" if bit else fmt


def negate_halves(registers: Operands, modes: Modes, words: frozenset[str], *, sparse: bool = False) -> Operands:
    """Flip the signs of the low (NEG) and high (NEG_HI) 16-bit elements of the registers of A and B, or of 32-bit ones.

    Args:
        registers: uint32 (..., vgprs, lanes) of each operand.
        modes: the modifiers.
        words: those that the instruction has, as its row says.
        sparse: A is. NEG of B then acts by the place of the element of A, which the element of B is selected for: a
            product changes its sign, whichever k it has (captured on gfx1201: bjacob/goc, rdna4_swmmac16_hardware.h).
    """
    if not words & {"neg", "neg_32"}:
        return registers
    low = 0x80000000 if "neg_32" in words else 0x8000

    def flipped(array: NDArray[np.uint32], bit: int) -> NDArray[np.uint32]:
        mask = low * bool(modes.neg & bit) | 0x80000000 * bool(modes.neg_hi & bit)
        return array ^ np.uint32(mask) if mask else array

    first = flipped(registers.a, 1)
    if sparse:
        return replace(registers, a=flipped(first, 2))
    return replace(registers, a=first, b=flipped(registers.b, 2))


def negate_operands(operands: Operands, modes: Modes, words: frozenset[str]) -> Operands:
    """Negate whole matrices: BLGP or NEG of f64 A, B and C; NEG and NEG_HI the sign and magnitude of C.

    Args:
        operands: matrices of codes.
        modes: the modifiers.
        words: those that the instruction has, as its row says.
    """
    if "negate" in words and modes.blgp:
        a, b, c = (
            _sign(codes, negate=modes.blgp & bit) for codes, bit in ((operands.a, 1), (operands.b, 2), (operands.c, 4))
        )
        return replace(operands, a=a, b=b, c=c)
    if "neg_64" in words and modes.neg & 3:
        a, b = (_sign(codes, negate=modes.neg & bit) for codes, bit in ((operands.a, 1), (operands.b, 2)))
        operands = replace(operands, a=a, b=b)
    if (modes.neg | modes.neg_hi) & 4 and words & {"neg", "neg_32", "neg_64", "neg_c"}:
        return replace(operands, c=_sign(operands.c, negate=modes.neg & 4, absolute=modes.neg_hi & 4))
    return operands


def _sign(codes: NDArray[Any], *, negate: int, absolute: int = 0) -> NDArray[Any]:
    """Clear the sign bits (absolute), then flip them (negate)."""
    top = codes.dtype.type(1 << (codes.dtype.itemsize * 8 - 1))
    if absolute:
        codes = codes & ~top
    return codes ^ top if negate else codes
