"""One vector instruction of some waves: registers and masks after it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.isa.operands import EXEC, VCC
from mfmasim.prove import comparisons, uninterpreted
from mfmasim.prove.constants import computed, executed, truth_table
from mfmasim.prove.effects import dropped, plain
from mfmasim.prove.masks import Mask
from mfmasim.prove.operations import WIDE, WORDS
from mfmasim.prove.quotients import defined, selected, stage_of
from mfmasim.prove.state import Carry
from mfmasim.prove.wide_instructions import carry_of, execute_wide, high_sum
from mfmasim.prove.words import Word, known

if TYPE_CHECKING:
    from mfmasim.isa import Instruction
    from mfmasim.prove.state import State

__all__ = ["execute_vector"]

_TABLES = {0x40: "v_and_b32", 0x54: "v_or_b32", 0x14: "v_xor_b32"}
"""Operations by truth table of V_BITOP2_B32; a third source of 0 selects the rows of the table."""


def execute_vector(state: State, ins: Instruction) -> None:
    """Registers and masks after a vector instruction."""
    sources = uninterpreted.sources_of(state, ins)
    _execute(state, ins)
    uninterpreted.filled(state, ins, sources)


def _execute(state: State, ins: Instruction) -> None:
    name = ins.name if ins.name != "v_bitop2_b32" else _TABLES.get(ins.modifiers["bitop3"] & 0x55, ins.name)
    if ins.opcode.matrix:  # the instruction ignores EXEC, and writes all lanes
        dropped(state, ins)
        return
    if ins.opcode.compare:
        mask = comparisons.mask_of(state, ins, followed=plain(ins))
        for operand in ins.dst:
            if operand.kind == "s":
                state.write_mask(operand.index, mask)
        if ins.opcode.writes_exec:
            state.write_mask(EXEC, mask)
        return
    if ins.opcode.lane == "readfirstlane":
        state.write(ins.dst[0], [_first_lane(state, ins)])
        return
    if ins.opcode.lane == "readlane":
        state.write(ins.dst[0], [])
        return
    own = not ins.opcode.lane and ins.encoding not in ("DPP", "DPP8")
    if own and not plain(ins) and (word := executed(state, ins)) is not None:
        state.write(ins.dst[0], [word])
        return
    if ins.opcode.lane or not plain(ins):
        # Writes to inactive lanes, and reads of other lanes, are not followed.
        dropped(state, ins)
        return
    if name == "v_cndmask_b32":
        word = _chosen(state, ins)
        defined(state, word, state.sources(ins))
        state.write(ins.dst[0], [word])
        return
    if name in WIDE:
        execute_wide(state, ins)
        return
    if name in ("v_addc_co_u32", "v_add_co_ci_u32"):
        _vector_carry(state, ins)
        return
    sources = state.sources(ins)
    if name == "v_add_co_u32":
        word = WORDS[name](sources, state.facts)
        carry = carry_of(sources)
        state.write(ins.dst[0], [word])
        if carry is None:
            state.write(ins.dst[1], [])
        else:
            state.write_mask(ins.dst[1].index, replace(carry, under=state.exec))
        return
    results: list[Word | None] | None
    results = computed(name, sources) if name != "v_bitop3_b32" else truth_table(sources, ins.modifiers["bitop3"])
    if results is None and name in WORDS:
        results = [WORDS[name](sources, state.facts)]
    elif results is None and (word := executed(state, ins)) is not None:
        results = [word]
    if state.rounds and len(ins.dst) == 1 and (results is None or results[0] is None):
        results = [stage_of(name, sources, state.facts)]
    if results is not None:
        defined(state, results[0], sources)
    for k, operand in enumerate(ins.dst):
        one = (
            [results[k]]
            if results is not None and k < len(results) and operand.count == 1 and operand.kind != "s"
            else []
        )
        state.write(operand, one)


def _first_lane(state: State, ins: Instruction) -> Word | None:
    operand = ins.src[0]
    word = state.operand(operand)
    if word is None:
        return None
    on = state.exec.on
    some = not state.exec.literals and bool(on.any(axis=1).all())
    if word.value.uniform:
        whole = state.v.get((operand.kind, operand.index))
        # With EXEC 0 the instruction reads lane 0, which the mask does not cover.
        everywhere = whole is None or (whole.under is None and whole.value.uniform)
        return word if some or everywhere else None
    if not some or any(s.varies for s in word.value.symbols):
        return None
    first = on.argmax(axis=1)
    shape = on.shape
    return replace(
        word, value=word.value.mapped(lambda c: np.broadcast_to(c, shape)[np.arange(shape[0]), first][:, None])
    )


def _chosen(state: State, ins: Instruction) -> Word | None:
    """V_CNDMASK_B32: the second source where the mask is set."""
    no, yes = state.operand(ins.src[0]), state.operand(ins.src[1])
    mask_at = ins.src[2].index if len(ins.src) > 2 and ins.src[2].kind == "s" else VCC
    mask = state.mask(mask_at)
    if no is not None and yes is not None and no.same(yes):
        return no
    active = mask.both(state.exec)
    if mask.known:
        on = mask.on if not mask.literals else mask.on & False
        relevant = state.exec.on
        if not (on & relevant).any():
            return no
        if not (~on & relevant).any():
            return yes
        if no is not None and yes is not None and no.part == yes.part:
            from mfmasim.prove.state import _either

            return Word(_either(on, yes.value, no.value), yes.part)
        one, lanes = (yes, on) if no is None else (no, ~on)
        if one is not None and relevant.all() and not state.exec.literals:  # known in some lanes
            return replace(one, under=Mask(np.broadcast_to(lanes, relevant.shape)))
    if state.exec.within(mask):
        return yes
    if not active.on.any():
        return no
    extra = mask.literals - state.exec.literals
    if len(extra) == 1 and not (state.exec.on & ~mask.on).any():
        ((condition, holds),) = extra
        word = selected(condition, *((yes, no) if holds else (no, yes)), state.facts)
        if word is not None:
            return word
    whole = bool(state.exec.on.all()) and not state.exec.literals  # the register is written in all lanes
    if whole and yes is not None and no is not None and yes.part == no.part == 0:
        if isinstance(known(no), int):
            return Word(yes.value, under=mask, rest=no)
        if isinstance(known(yes), int) and len(mask.literals) == 1 and mask.on.all():
            ((condition, holds),) = mask.literals
            return Word(no.value, under=Mask(mask.on, frozenset({(condition, not holds)})), rest=yes)
    return None


def _vector_carry(state: State, ins: Instruction) -> None:
    carry = None
    for operand in ins.src[2:]:
        if operand.kind == "s":
            carry = state.masks.get(operand.index)
    words = [state.operand(o) for o in ins.src[:2]]
    added = isinstance(carry, Carry) and (carry.under is None or state.exec.within(carry.under))
    state.write(ins.dst[0], [high_sum(carry, words, state) if added else None])
    for operand in ins.dst[1:]:
        state.write(operand, [])
