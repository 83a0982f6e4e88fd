"""Packed 16-bit integers: the same operation on two halves.

Source: CDNA3 ISA manual, VOP3P and 6.7; for those of three sources CDNA5 ISA manual, 7.7: clamp turns negative results
into zeros.
op_sel picks the half of each source that the low result uses, op_sel_hi the one of the high result.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from mfmasim.architectures import Arch
from mfmasim.arrays import U
from mfmasim.isa import Instruction
from mfmasim.machine.opcodes.refusal import unsupported
from mfmasim.machine.opcodes.registry import shaped
from mfmasim.machine.opcodes.undefined_rules import parts

WHOLE: dict[str, Any] = {"u16": np.uint16, "i16": np.int16}
FIFTEEN = 15

# What one half becomes, in int64, where every result is exact: wrapped or, with clamp, saturated afterwards.
ROWS: tuple[tuple[str, str, int, bool, Callable[..., U]], ...] = (
    # mnemonic            type    sources, takes clamp
    ("v_pk_add_u16", "u16", 2, True, lambda a, b: a + b),
    ("v_pk_add_i16", "i16", 2, True, lambda a, b: a + b),
    ("v_pk_sub_u16", "u16", 2, True, lambda a, b: a - b),
    ("v_pk_sub_i16", "i16", 2, True, lambda a, b: a - b),
    ("v_pk_mul_lo_u16", "u16", 2, False, lambda a, b: a * b),
    ("v_pk_mad_u16", "u16", 3, True, lambda a, b, c: a * b + c),
    ("v_pk_mad_i16", "i16", 3, True, lambda a, b, c: a * b + c),
    ("v_pk_min_u16", "u16", 2, False, np.minimum),
    ("v_pk_min_i16", "i16", 2, False, np.minimum),
    ("v_pk_max_u16", "u16", 2, False, np.maximum),
    ("v_pk_max_i16", "i16", 2, False, np.maximum),
    ("v_pk_lshlrev_b16", "u16", 2, False, lambda a, b: b << (a & FIFTEEN)),
    ("v_pk_lshrrev_b16", "u16", 2, False, lambda a, b: b >> (a & FIFTEEN)),
    ("v_pk_ashrrev_i16", "i16", 2, False, lambda a, b: b >> (a & FIFTEEN)),
)
CHOICES: tuple[tuple[str, Callable[..., U]], ...] = (("min", np.minimum), ("max", np.maximum))


def _half(value: U, kind: Any, high: int) -> U:
    """One half of a dword as int64."""
    return (value >> np.uint32(16 * high)).astype(np.uint16).view(kind).astype(np.int64)


def _packed(
    whole: Any,
    saturates: bool,
    body: Callable[..., U],
    instruction: Instruction,
    _arch: Arch,
    *,
    floor: int | None = None,
) -> Callable[..., U]:
    modifiers = instruction.modifiers
    clamp = bool(modifiers.get("clamp"))
    if clamp and not saturates:
        raise unsupported(instruction, "clamp on an operation that cannot overflow")
    if modifiers.get("neg_lo") or modifiers.get("neg_hi"):
        raise unsupported(instruction, "neg on a packed integer")
    picks = [(modifiers.get("op_sel", 0) >> i & 1, modifiers.get("op_sel_hi", 0) >> i & 1) for i in range(3)]
    limits = np.iinfo(whole)
    lowest = limits.min if floor is None else floor

    def run(*sources: U) -> U:
        halves = []
        for part in range(2):
            exact = body(*[_half(s, whole, pick[part]) for s, pick in zip(sources, picks, strict=False)])
            if clamp:
                exact = np.clip(exact, lowest, limits.max)
            halves.append(exact.astype(np.uint16).astype(np.uint32))
        return halves[0] | (halves[1] << np.uint32(16))

    return run


for _name, _kind, _count, _saturates, _body in ROWS:
    shaped(_name, f"{'u32 ' * _count}-> u32", undefined=parts("half", packed=True))(
        partial(_packed, WHOLE[_kind], _saturates, _body)
    )


def _third(choose: Callable[..., U]) -> Callable[..., U]:
    """The first two, then with the third."""
    return lambda a, b, c: choose(choose(a, b), c)


def _sum_then(choose: Callable[..., U], whole: Any) -> Callable[..., U]:
    """The sum of the first two, saturated, and the third."""
    limits = np.iinfo(whole)
    return lambda a, b, c: choose(np.clip(a + b, limits.min, limits.max), c)


for _word, _choose in CHOICES:
    for _kind, _whole in WHOLE.items():
        for _name, _body in (
            (f"v_pk_{_word}3_{_kind}", _third(_choose)),
            (f"v_pk_add_{_word}_{_kind}", _sum_then(_choose, _whole)),
        ):
            shaped(_name, "u32 u32 u32 -> u32", undefined=parts("half", packed=True))(
                partial(_packed, _whole, True, _body, floor=0)
            )
