"""Floats in registers as dwords: tests for NaN and Inf, and their text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mfmasim.arrays import U32, Flags
    from mfmasim.isa import Operand
    from mfmasim.machine.events import ValueEvent

# Mask of a format's exponent in a dword, by part: all ones is NaN or Inf.
EXPONENTS = {
    "f32": (0x7F800000,), "pk_f32": (0x7F800000,), "xf32": (0x7F800000,), "f16": (0x7C00,), "bf16": (0x7F80,),
    "pk_f16": (0x7C00, 0x7C000000), "pk_bf16": (0x7F80, 0x7F800000),
}  # fmt: skip
WHOLE = {"i32", "u32", "i16", "u16", "b32", "b16"}


def words_not_finite(word: NDArray[np.uint32], kind: str) -> Flags:
    """Where a dword of a format in `EXPONENTS`, or an f64's high dword, holds NaN or Inf; False for other formats."""
    masks = (0x7FF00000,) if kind == "f64" else EXPONENTS.get(kind, ())
    found: Flags = np.zeros(word.shape, np.bool_)
    for mask in masks:
        found |= word & np.uint32(mask) == np.uint32(mask)
    return found


MANTISSAS = {
    "f32": (0x7FFFFF,), "pk_f32": (0x7FFFFF,), "xf32": (0x7FFFFF,), "f16": (0x3FF,), "bf16": (0x7F,),
    "pk_f16": (0x3FF, 0x3FF0000), "pk_bf16": (0x7F, 0x7F0000),
}  # fmt: skip
"""Masks of the mantissas of the formats of `EXPONENTS`, in the same order."""


def words_nan(word: U32, kind: str, low: U32) -> Flags:
    """Where one dword of a format holds NaN.

    Args:
        word: the dword; of an f64 the high one.
        kind: a format of `EXPONENTS`, or f64.
        low: the other dword of an f64.
    """
    if kind == "f64":
        return np.asarray(words_not_finite(word, kind) & ((word & np.uint32(0xFFFFF) != 0) | (low != 0)))
    found: Flags = np.zeros(word.shape, np.bool_)
    for exponent, mantissa in zip(EXPONENTS.get(kind, ()), MANTISSAS.get(kind, ()), strict=True):
        found |= (word & np.uint32(exponent) == np.uint32(exponent)) & (word & np.uint32(mantissa) != 0)
    return found


def not_finite(words: tuple[NDArray[np.uint32], ...], operand: Operand, *, result: bool, matrix: bool) -> Flags | bool:
    """Where an operand holds NaN or Inf.

    Args:
        words: its registers, each (waves, lanes).
        operand: its format and kind.
        result: whether it is a destination.
        matrix: whether the instruction is a matrix instruction.

    Returns:
        A mask, (waves, lanes); True if the format is not examined.
    """
    kind, half = operand.type, 0
    if matrix and kind in ("f16", "bf16"):
        kind = f"pk_{kind}"
    if kind == "f64":
        return _any([words[k] & np.uint32(0x7FF00000) == 0x7FF00000 for k in range(1, len(words), 2)])
    if kind in WHOLE and not matrix:
        return False
    if kind not in EXPONENTS:
        return True
    masks = EXPONENTS[kind]
    if not result and kind in ("f16", "bf16") and operand.kind != "const":
        masks = (*masks, masks[0] << 16)  # either half may hold the value
    used = words[:1] if operand.kind == "const" else words
    return _any([w & np.uint32(mask << half) == mask for w in used for mask in masks])


def _any(parts: list[Flags]) -> Flags:
    found = parts[0]
    for part in parts[1:]:
        found = found | part
    return found


def at(words: tuple[NDArray[np.uint32], ...], wave: int, lane: int) -> list[int]:
    """Value of one lane.

    Args:
        words: registers, each (1 or waves, 1 or lanes).
        wave: row.
        lane: column.
    """
    return [int(w[min(wave, len(w) - 1), min(lane, w.shape[-1] - 1)]) for w in words]


def is_nan(words: list[int], kind: str) -> bool:
    """Whether a value, or either half of a packed value, is NaN."""
    if kind == "f64":
        return (words[1] & 0xFFFFF) != 0 or words[0] != 0
    mantissa = {"f32": 0x7FFFFF, "pk_f32": 0x7FFFFF, "f16": 0x3FF, "bf16": 0x7F}.get(kind, 0)
    exponent = EXPONENTS[kind][0]
    return any(w & exponent == exponent and w & mantissa for w in words)


def text(words: list[int], kind: str) -> str:
    """A value as text; empty for a format without a short form."""
    if kind == "f32":
        return str(np.array(words[:1], np.uint32).view(np.float32)[0])
    if kind == "f16":
        return str(np.array([words[0] & 0xFFFF], np.uint16).view(np.float16)[0])
    if kind == "f64" and len(words) > 1:
        return str(np.array(words[:2], np.uint32).view(np.float64)[0])
    return ""


def deciding(event: ValueEvent) -> Sequence[tuple[Operand, Sequence[U32]]]:
    """Operands that decide whether a result is finite; for the end of a division its divisor and dividend.

    The intermediate quotient is NaN for a divisor of 0, and the result is Inf (V_DIV_SCALE_F32, V_DIV_FIXUP_F32 in the
    "CDNA3" ISA manual).
    """
    pairs = list(zip(event.instruction.src, event.sources, strict=True))
    return pairs[1:] if event.instruction.opcode.ends_division else pairs


def operand_not_finite(source: Operand, words: Sequence[U32], *, matrix: bool) -> Flags:
    """Where an operand is not finite, (1 or waves, 1 or lanes).

    Args:
        source: the operand.
        words: its dwords, each (1 or waves, 1 or lanes).
        matrix: whether it is one of a matrix instruction, then in its whole wave.
    """
    kind = f"pk_{source.type}" if matrix and source.type in ("f16", "bf16") else source.type
    found: Flags = np.zeros((1, 1), np.bool_)
    if kind == "f64":
        words = words[1::2]
    for word in words[: 1 if source.kind == "const" else None]:
        found = found | words_not_finite(word, kind)
    return np.asarray(found.any(axis=1, keepdims=True)) if matrix else found


def operand_nan(source: Operand, words: Sequence[U32], *, matrix: bool) -> Flags:
    """Where an operand holds NaN, (1 or waves, 1 or lanes); True for a float format that is not examined.

    Args:
        source: the operand.
        words: its dwords, each (1 or waves, 1 or lanes).
        matrix: whether it is one of a matrix instruction, then in its whole wave.
    """
    kind = f"pk_{source.type}" if matrix and source.type in ("f16", "bf16") else source.type
    if kind not in (*EXPONENTS, "f64"):
        return np.full((1, 1), kind not in WHOLE or matrix)
    found: Flags = np.zeros((1, 1), np.bool_)
    if kind == "f64":
        for low, high in zip(words[::2], words[1::2], strict=False):
            found = found | words_nan(high, kind, low)
    else:
        either = f"pk_{kind}" if kind in ("f16", "bf16") and source.kind != "const" else kind
        for word in words[: 1 if source.kind == "const" else None]:
            found = found | words_nan(word, either, word)
    return np.asarray(found.any(axis=1, keepdims=True)) if matrix else found


def given_by(event: ValueEvent, *, nan: bool = False) -> str:
    """The first operand that is not finite, or is NaN; for a matrix instruction with its lane."""
    matrix = bool(event.instruction.opcode.matrix)
    holds = operand_nan if nan else operand_not_finite
    for source, words in deciding(event):
        if words and holds(source, words, matrix=matrix).any():
            if source.kind not in ("v", "a"):
                return "a constant or scalar operand"
            file, first = source.written
            if not matrix:
                return f"operand {file}{first}"
            kind = f"pk_{source.type}" if source.type in ("f16", "bf16") else source.type
            for number, word in enumerate(words):
                if (bad := words_not_finite(word, kind)).any():
                    return f"operand {file}{first + number} in lane {int(np.argwhere(bad)[0][1])}"
    return "an operand"
