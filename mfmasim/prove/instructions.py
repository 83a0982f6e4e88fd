"""One instruction of some waves: registers, masks and flags after it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.isa.operands import EXEC, VCC
from mfmasim.prove import comparisons
from mfmasim.prove.constants import computed, executed, truth_table
from mfmasim.prove.inequality import never_negative
from mfmasim.prove.mask_operations import MASKS, is_mask, mask_operand, mask_operation, save
from mfmasim.prove.masks import Condition, Mask
from mfmasim.prove.operations import WIDE, WORDS, shifted_right
from mfmasim.prove.paths import Stopped, decide
from mfmasim.prove.polynomial import Polynomial, TooLarge, constant
from mfmasim.prove.state import Carry
from mfmasim.prove.words import Word, bits, known, pair, settled, signed, unsigned, unsigned_pair

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mfmasim.isa import Instruction, Operand
    from mfmasim.prove.state import State

__all__ = ["execute_alu"]

MODIFIERS = ("clamp", "omod", "op_sel", "neg_lo", "neg_hi")
UNSAFE = {"setreg", "index", "index_mode", "msb", "fork", "relative"}
"""Kinds of operations that change what later ones mean."""


def execute_alu(state: State, ins: Instruction) -> None:
    """Execute an instruction that touches neither memory nor the program counter.

    Raises:
        Fork, Split: it depends on a condition that is not decided.
        Stopped: it is not followed, and what it changes is not known.
    """
    for part in ins.halves:
        _refuse(part)
    if ins.halves:
        _dual(state, ins)
        return
    _refuse(ins)
    try:
        if ins.opcode.unit == "SALU":
            _scalar(state, ins)
        else:
            _vector(state, ins)
    except TooLarge:
        _forget(state, ins)


def _refuse(ins: Instruction) -> None:
    opcode = ins.opcode
    if opcode.kind in UNSAFE or opcode.relative or "setreg" in ins.name or "s_set_gpr_idx" in ins.name:
        raise Stopped(f"{ins.text} is not followed", ins.pc)


def _dual(state: State, ins: Instruction) -> None:
    """Both halves of a dual instruction read before either writes."""
    found = []
    for part in ins.halves:
        copy = state.copy()
        try:
            _vector(copy, part)
        except TooLarge:
            _forget(copy, part)
        found.append([(o, [copy.v.get((o.kind, o.index + k)) for k in range(o.count)]) for o in part.dst])
    for results in found:
        for operand, words in results:
            for k, word in enumerate(words):
                if word is None:
                    state.v.pop((operand.kind, operand.index + k), None)
                else:
                    state.v[operand.kind, operand.index + k] = word


def _forget(state: State, ins: Instruction) -> None:
    """Nothing is known of what an instruction writes."""
    for operand in ins.dst:
        state.write(operand, [])
    if ins.opcode.unit == "SALU":
        state.scc = None
        if ins.opcode.saves_exec or "wrexec" in ins.name:
            state.write_mask(EXEC, Mask(state.every().on, frozenset({(Condition.opaque(), True)})))


def _sources(state: State, ins: Instruction) -> list[Word | None]:
    return [state.operand(operand) for operand in ins.src]


# Scalar.


def _scalar(state: State, ins: Instruction) -> None:
    name = ins.name
    lanes = f"b{state.lanes}"
    stem = name.removeprefix("s_").removesuffix("_" + lanes)
    if name.endswith(lanes):
        if stem.endswith("_saveexec"):
            save(state, ins, stem.removesuffix("_saveexec"))
            return
        if stem == "mov" and is_mask(state, ins.src[0].index if ins.src[0].kind == "s" else -1, ins.dst[0].index):
            state.write_mask(ins.dst[0].index, mask_operand(state, ins, 0))
            return
        if stem in (*MASKS, "not", "orn2", "or_not1", "nand", "nor", "xnor") and any(
            is_mask(state, o.index if o.kind == "s" else -1, ins.dst[0].index) for o in ins.src
        ):
            mask_operation(state, ins, stem)
            return
    if name in ("s_cselect_b32", "s_cselect_b64"):
        _select(state, ins)
        return
    if comparisons.COMPARE.match(name):
        found = comparisons.compared(state, ins)
        state.scc = _decided(state, found) if found is not None else None
        return
    if name.startswith(("s_cmp", "s_bitcmp")):
        values = [known(word) for word in _sources(state, ins)]
        results = computed(name, _sources(state, ins)) if all(v is not None for v in values) else None
        state.scc = None if not results else np.asarray(known(results[0])) != 0
        return
    if name in ("s_addc_u32", "s_add_co_ci_u32"):
        _carry_in(state, ins)
        return
    if name in WIDE:
        _wide(state, ins)
        state.scc = None if name != "s_mov_b64" else state.scc
        return
    _plain_scalar(state, ins)


def _decided(state: State, found: tuple[Condition, bool]) -> np.ndarray:
    condition, holds = found
    value = condition.value
    if value is not None and value.is_constant:
        number = np.asarray(value.constant)
        return np.atleast_2d((number >= 0 if condition.kind == "ge" else number == 0) == holds)
    return np.array([[decide(state, condition) == holds]])


def _plain_scalar(state: State, ins: Instruction) -> None:
    """An operation of dwords, and what it makes of SCC."""
    name, sources = ins.name, _sources(state, ins)
    keeps = name in (
        "s_mov_b32",
        "s_movk_i32",
        "s_mul_i32",
        "s_mulk_i32",
        "s_mul_hi_u32",
        "s_mul_hi_i32",
        "s_nop",
        "s_pack_ll_b32_b16",
        "s_sext_i32_i8",
        "s_sext_i32_i16",
        "s_brev_b32",
    )
    results = computed(name, sources)
    if results is not None and ins.dst:
        state.write(ins.dst[0], [results[0]])
        if len(results) > 1:
            state.scc = np.asarray(known(results[1])) != 0
        if name in ("s_add_u32", "s_add_co_u32"):
            state.scc = _carry(sources)
        return
    rule = WORDS.get(name)
    if rule is not None and len(ins.dst) == 1:
        state.write(ins.dst[0], [rule(sources, state.facts)])
        if name in ("s_add_u32", "s_add_co_u32"):
            state.scc = _carry(sources)
        elif not keeps:
            state.scc = None
        return
    if ins.opcode.kind in (
        "nop",
        "sleep",
        "delay",
        "priority",
        "message",
        "hint",
        "nothing",
        "clock",
        "icache",
        "trace",
    ):
        for operand in ins.dst:
            state.write(operand, [])
        return
    if name.startswith("s_") and not ins.opcode.flow and not ins.opcode.barrier:
        for operand in ins.dst:
            state.write(operand, [])
        if not keeps:
            state.scc = None
        if ins.opcode.saves_exec or any(o.kind == "s" and o.index == EXEC for o in ins.dst):
            state.write_mask(EXEC, Mask(state.every().on, frozenset({(Condition.opaque(), True)})))
        return
    raise Stopped(f"{ins.text} is not followed", ins.pc)


def _carry(sources: list[Word | None]) -> Carry | None:
    values = []
    for word in sources[:2]:
        number = known(word)
        if number is not None:
            values.append(constant(number))
        elif word is not None and not word.part:
            values.append(word.value)
    return Carry(values[0], values[1]) if len(values) == 2 else None


def _carry_in(state: State, ins: Instruction) -> None:
    """S_ADDC_U32 after S_ADD_U32 of the low words: word 1 of the sum."""
    carry = state.scc
    words = [state.operand(o) for o in ins.src[:2]]
    state.scc = None
    result = _high_sum(carry, words, state)
    state.write(ins.dst[0], [result])


def _high_sum(carry: object, highs: list[Word | None], state: State) -> Word | None:
    if not isinstance(carry, Carry):
        return None
    for lows in ((carry.a, carry.b), (carry.b, carry.a)):  # the sum is the same whichever high word is whose
        values = [pair(settled(low), high, state.facts) for low, high in zip(lows, highs, strict=True)]
        if values[0] is not None and values[1] is not None:
            return _upper(values[0] + values[1], state)
    return None


def _upper(value: Polynomial, state: State) -> Word:
    """Word 1 of a polynomial; as a constant where it is one."""
    if value.is_constant:
        number = value.constant
        return bits(number >> 32 & 0xFFFFFFFF)
    if never_negative(value, state.facts) and never_negative(-value + 0xFFFFFFFF, state.facts):
        return bits(0)
    return Word(value, 1)


def _wide(state: State, ins: Instruction) -> None:
    """Operations with a result of 64 bits."""
    how, src = WIDE[ins.name], ins.src
    if how == "move":
        words = [state.operand(src[0], k) for k in range(2)]
        state.write(ins.dst[0], words)
        return
    if how.startswith("mad"):
        take = unsigned if how.endswith("unsigned") else signed
        factors = [take(state.operand(o), state.facts) for o in src[:2]]
        rest = pair(state.operand(src[2]), state.operand(src[2], 1), state.facts)
        value = None if factors[0] is None or factors[1] is None or rest is None else factors[0] * factors[1] + rest
    else:
        values = [
            None if o.count == 1 and o.kind != "const" else pair(state.operand(o), state.operand(o, 1), state.facts)
            for o in src
        ]
        amounts = [known(state.operand(o)) for o in src]
        value = _wide_right(state, how, src) if how.startswith("right") else _wide_value(how, values, amounts)
    low, high = (None, None) if value is None else (settled(value), _upper(value, state))
    if value is None and how.startswith("mad"):  # the low word needs the low words alone
        product = WORDS["v_mul_lo_u32"]([state.operand(o) for o in src[:2]], state.facts)
        added = state.operand(src[2])
        if product is not None:
            number = known(product)
            nothing = number is not None and not np.any(number)
            low = added if nothing else WORDS["v_add_u32"]((product, added), state.facts)
    state.write(ins.dst[0], [low, high])
    for operand in ins.dst[1:]:  # the carry of a multiply-add
        if operand.kind == "s":
            state.write(operand, [])


def _wide_value(how: str, values: list[Polynomial | None], amounts: Sequence[object]) -> Polynomial | None:
    def times(value: Polynomial | None, amount: object) -> Polynomial | None:
        return None if value is None or not isinstance(amount, int) else value.scaled(1 << (amount & 63))

    if how == "shift add":
        amount = amounts[1]
        if not isinstance(amount, int) or amount > 4:  # what larger shifts give is not followed
            return None
        first, rest = times(values[0], amount), values[2]
        return None if first is None or rest is None else first + rest
    if how == "shift":
        return times(values[0], amounts[1])
    if how == "shift reversed":
        return times(values[1], amounts[0])
    a, b = values[:2]
    if a is None or b is None:
        return None
    return a + b if how == "add" else a - b if how == "subtract" else a * b


def _wide_right(state: State, how: str, src: Sequence[Operand]) -> Polynomial | None:
    """A shift to the right of 64 bits, unsigned."""
    operand, by = reversed(src) if how.endswith("reversed") else src
    amount = known(state.operand(by))
    exact = unsigned_pair(state.operand(operand), state.operand(operand, 1), state.facts)
    return shifted_right(exact, amount & 63) if exact is not None and isinstance(amount, int) else None


def _select(state: State, ins: Instruction) -> None:
    if not isinstance(state.scc, np.ndarray):
        for operand in ins.dst:
            state.write(operand, [])
        return
    flags = state.scc
    if flags.all() or not flags.any():
        chosen = ins.src[0 if flags.all() else 1]
        if (
            ins.name.endswith(f"b{state.lanes}")
            and chosen.kind == "s"
            and is_mask(state, chosen.index, ins.dst[0].index)
        ):
            state.write_mask(ins.dst[0].index, state.mask(chosen.index))
            return
        state.write(ins.dst[0], [state.operand(chosen, k) for k in range(ins.dst[0].count)])
        return
    state.write(ins.dst[0], [])


# Vector.


def _changed(ins: Instruction) -> bool:
    """Whether modifiers change sources or result in ways that are not followed."""
    if ins.encoding in ("SDWA", "DPP", "DPP8"):
        return True
    if any(ins.modifiers.get(name) for name in MODIFIERS):
        return True
    return any(o.neg or o.abs or o.half or o.sext for o in (*ins.src, *ins.dst))


def _vector(state: State, ins: Instruction) -> None:
    name = ins.name
    if ins.opcode.matrix:  # it writes all lanes, whatever EXEC says
        for operand in ins.dst:
            for k in range(operand.count):
                state.v.pop((operand.kind, operand.index + k), None)
        return
    if ins.opcode.compare:
        mask = comparisons.mask_of(state, ins, followed=not _changed(ins))
        for operand in ins.dst:
            if operand.kind == "s":
                state.write_mask(operand.index, mask)
        if name.startswith("v_cmpx"):
            state.exec = mask
        return
    if ins.opcode.lane == "readfirstlane":
        state.write(ins.dst[0], [_first_lane(state, ins)])
        return
    if ins.opcode.lane == "readlane":
        state.write(ins.dst[0], [])
        return
    own = not ins.opcode.lane and ins.encoding not in ("DPP", "DPP8")
    if own and _changed(ins) and (word := executed(state, ins)) is not None:
        state.write(ins.dst[0], [word])
        return
    if ins.opcode.lane or _changed(ins):
        # A lane that is written whatever EXEC says, and what other lanes hold, is not followed.
        for operand in ins.dst:
            for k in range(operand.count):
                if operand.kind in ("v", "a"):
                    state.v.pop((operand.kind, operand.index + k), None)
                elif operand.kind == "s":
                    state.write_scalar(operand.index + k, None)
        return
    if name == "v_cndmask_b32":
        state.write(ins.dst[0], [_chosen(state, ins)])
        return
    if name in WIDE:
        _wide(state, ins)
        return
    if name in ("v_addc_co_u32", "v_add_co_ci_u32"):
        _vector_carry(state, ins)
        return
    sources = _sources(state, ins)
    if name == "v_add_co_u32":
        word = WORDS[name](sources, state.facts)
        carry = _carry(sources)
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
        # Without any lane in EXEC the instruction reads lane 0, whatever was written under the mask.
        return word if some or whole is None or whole.under is None else None
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
    if state.exec.within(mask):
        return yes
    if not active.on.any():
        return no
    return None


def _vector_carry(state: State, ins: Instruction) -> None:
    carry = None
    for operand in ins.src[2:]:
        if operand.kind == "s":
            carry = state.masks.get(operand.index)
    words = [state.operand(o) for o in ins.src[:2]]
    added = isinstance(carry, Carry) and (carry.under is None or state.exec.within(carry.under))
    state.write(ins.dst[0], [_high_sum(carry, words, state) if added else None])
    for operand in ins.dst[1:]:
        state.write(operand, [])
