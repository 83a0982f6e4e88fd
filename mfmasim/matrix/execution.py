"""From decoded operands to the arithmetic: signs, formats, sparse selection, scales, batch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.errors import MfmasimError
from mfmasim.matrix.arithmetic import multiply
from mfmasim.matrix.modifiers import sign
from mfmasim.matrix.rules import SCALE_BLOCK

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.matrix.fragment import Fragment
    from mfmasim.matrix.instruction import MatrixInstruction
    from mfmasim.matrix.modifiers import Modifiers

__all__ = ["Inputs", "Mode", "compute", "moved"]


@dataclass(frozen=True)
class Inputs:
    """Raw codes of the operands, each with leading batch axes."""

    a: NDArray[Any]
    b: NDArray[Any]
    c: NDArray[Any]
    scale_a: NDArray[Any] | None
    """(..., M, K/32)"""
    scale_b: NDArray[Any] | None
    """(..., K/32, N)"""
    index: NDArray[Any] | None
    """(..., M, K/2), 0..3"""


@dataclass(frozen=True)
class Mode:
    """What rounding depends on besides the operands."""

    clamp: bool
    fp16_ovfl: bool
    denormals: bool


def compute(op: MatrixInstruction, inputs: Inputs, modifiers: Modifiers, mode: Mode) -> NDArray[Any]:
    """D of every batch element; the broadcasts of CBSZ and BLGP are already in A and B."""
    words = op.row.modifiers.split()
    a_format, b_format = op.a, op.b
    if "signed" in words:
        a_format, b_format = _signed(a_format, modifiers.neg & 1), _signed(b_format, modifiers.neg & 2)
    inputs = _signs(inputs, modifiers, words)
    given = [inputs.a, inputs.b, inputs.c, inputs.scale_a, inputs.scale_b, inputs.index]
    shapes = [codes.shape[:-2] for codes in given if codes is not None]
    try:
        batch = np.broadcast_shapes(*shapes)
    except ValueError:
        axes = ", ".join(dict.fromkeys(map(str, shapes)))
        raise MfmasimError(f"leading axes of the operands of {op.name} do not fit together: {axes}") from None
    a, b, c = (np.broadcast_to(codes, (*batch, *codes.shape[-2:])) for codes in (inputs.a, inputs.b, inputs.c))
    scale_a, scale_b = _scales(op, inputs, batch)
    selection = None
    if inputs.index is not None:
        group = np.arange(op.k // 2) // 2 * 4
        selection = np.broadcast_to(group + inputs.index, (*batch, op.m, op.k // 2))
    d: NDArray[Any] = multiply(
        op.model, a_format, b_format, op.d, a, b, c,
        scale_a=scale_a, scale_b=scale_b, selection=selection,
        clamp=mode.clamp, fp16_ovfl=mode.fp16_ovfl, denormals=mode.denormals,
    )  # fmt: skip
    return d


def moved(codes: NDArray[Any], fragment: Fragment) -> NDArray[Any]:
    """Matrix after broadcasting: each element replaced by the one whose place it is read from."""
    if fragment.origin is None:
        return codes
    flat = codes.reshape(*codes.shape[: codes.ndim - len(fragment.shape)], -1)
    return np.take(flat, fragment.origin, axis=-1).reshape(codes.shape)


def _signs(inputs: Inputs, modifiers: Modifiers, words: list[str]) -> Inputs:
    """Signs that modifiers flip in whole operands; the halves of A and B were flipped in their registers."""
    if "negate" in words:
        a, b, c = (
            sign(codes, negate=bool(modifiers.blgp & bit), absolute=False)
            for codes, bit in ((inputs.a, 1), (inputs.b, 2), (inputs.c, 4))
        )
        return replace(inputs, a=a, b=b, c=c)
    if {"neg", "neg_c"} & set(words):
        negate, absolute = bool(modifiers.neg & 4), bool(modifiers.neg_hi & 4)
        return replace(inputs, c=sign(inputs.c, negate=negate, absolute=absolute))
    return inputs


def _signed(fmt: str, bit: int) -> str:
    return f"i{fmt[1:]}" if bit else fmt


def _scales(
    op: MatrixInstruction, inputs: Inputs, batch: tuple[int, ...]
) -> tuple[NDArray[Any] | None, NDArray[Any] | None]:
    """Both scales over the batch; one that is missing counts as 2^0, two as no scaling."""
    if inputs.scale_a is None and inputs.scale_b is None:
        return None, None
    one, groups = np.full((1, 1), 127, np.uint8), op.k // SCALE_BLOCK
    return (
        np.broadcast_to(one if inputs.scale_a is None else inputs.scale_a, (*batch, op.m, groups)),
        np.broadcast_to(one if inputs.scale_b is None else inputs.scale_b, (*batch, groups, op.n)),
    )
