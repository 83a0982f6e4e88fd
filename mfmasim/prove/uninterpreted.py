"""Uniform results without a rule, as symbols: the same operation on the same operands has the same symbol.

Scalar registers, and the sequence of a 64-bit division, hold numbers that are no polynomials. All waves of a workgroup
have the same number, as the operation is a function of uniform operands: a loop whose end depends on it has the same
number of turns in all waves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfmasim.isa.operands import EXEC
from mfmasim.machine.opcodes.registry import OPERATIONS
from mfmasim.prove.masks import Condition
from mfmasim.prove.memos import Memo
from mfmasim.prove.polynomial import Symbol, of
from mfmasim.prove.state import Carry
from mfmasim.prove.words import Word

if TYPE_CHECKING:
    from mfmasim.isa import Instruction
    from mfmasim.prove.state import State

__all__ = ["Sources", "depends", "filled", "residue", "sources_of"]

DWORDS = {"u32": 1, "i32": 1, "f32": 1, "u64": 2, "i64": 2, "f64": 2}
"""Dwords of the types that are followed."""
LARGEST = (1 << 32) - 1
Sources = tuple[list[Word], object]
"""The dwords that an operation reads, and SCC."""
_symbols: Memo[object, Symbol] = Memo(20_000)
_every: Memo[Symbol, None] = Memo(20_000)


def residue(word: Word | None) -> Word | None:
    """A word that depends on such results and may wrap, as a new number of 32 bits; None for other words."""
    if word is None or word.part or word.under is not None or not word.value.uniform:
        return None
    if _every.keys().isdisjoint(word.value.symbols):
        return None
    if len(word.value.terms) == 1 and word.value.same(of(one := next(iter(word.value.symbols)))):
        return Word(of(one))
    return Word(of(_symbol(("residue", word.value.key))))


def depends(condition: Condition) -> bool:
    """Whether a condition depends on such results, or on their flags."""
    value = condition.value
    return condition.key[0] == "flag" if value is None else not _every.keys().isdisjoint(value.symbols)


def sources_of(state: State, ins: Instruction) -> Sources | None:
    """The operands of an operation before it writes; None if its result may differ between waves.

    Args:
        state: before it.
        ins: a scalar operation, or a vector operation without a mask.
    """
    operation = OPERATIONS.get(ins.name)
    if operation is None or operation.shaped or operation.unit == "direct" or not (ins.dst or operation.results):
        return None
    kinds = [kind for kind in operation.sources if kind not in ("mode", "scc")]
    if len(kinds) != len(ins.src) or not {*kinds, *operation.results} <= {*DWORDS, "scc"} or not kinds:
        return None
    if ins.opcode.lane or ins.opcode.saves_exec or ins.encoding in ("SDWA", "DPP", "DPP8") or not state.rounds:
        return None
    flag: object = None
    if "scc" in operation.sources:
        scc = state.scc
        if isinstance(scc, Carry):
            flag = (scc.a.key, scc.b.key) if scc.under is None and scc.a.uniform and scc.b.uniform else None
        elif isinstance(scc, tuple):
            flag = (scc[0].key, scc[1]) if scc[0].uniform else None
        elif isinstance(scc, np.ndarray) and (scc == scc.flat[0]).all():
            flag = bool(scc.flat[0])
        if flag is None:
            return None
    words = []
    for operand, kind in zip(ins.src, kinds, strict=True):
        for k in range(DWORDS[kind]):
            word = state.operand(operand, k)
            if word is None or word.under is not None or not word.value.uniform:
                return None
            words.append(word)
    return words, flag


def filled(state: State, ins: Instruction, sources: Sources | None) -> None:
    """Write a symbol to each unknown destination of an operation, and a condition to SCC.

    Args:
        state: after the operation.
        ins: the operation.
        sources: its operands.
    """
    if sources is None:
        return
    words, flag = sources
    operation = OPERATIONS[ins.name]
    open_flag = "scc" in operation.results and state.scc is None
    whole = not state.exec.literals and bool(state.exec.on.all())
    open_dwords = []
    for number, operand in enumerate(ins.dst):
        for k in range(operand.count):
            place = operand.index + k
            lost = operand.kind == "v" and whole and state.vector("v", place) is None
            if lost or (operand.kind == "s" and _unknown(state, place)):
                open_dwords.append((number, k))
    if not open_dwords and not open_flag:
        return
    modifiers = tuple(sorted((name, str(value)) for name, value in ins.modifiers.items() if value))
    marks = tuple((o.neg, o.abs, o.half, o.sext) for o in ins.src)
    key = (operation.name, modifiers, marks, flag, tuple((w.part, w.value.key) for w in words))
    for number, k in open_dwords:
        operand = ins.dst[number]
        word = Word(of(_symbol((*key, number, k))))
        if operand.kind == "s":
            state.write_scalar(operand.index + k, word)
        else:
            state.write_vector("v", operand.index + k, word)
    if open_flag:
        reads = frozenset(s for word in words for s in word.value.symbols)
        state.scc = (Condition.opaque(("flag", *key), uniform=True, reads=reads), True)


def _unknown(state: State, number: int) -> bool:
    held = any(first in state.masks and first + state.lanes // 32 > number for first in (number, number - 1))
    return number not in (EXEC, EXEC + 1) and not held and state.s.get(number) is None


def _symbol(key: object) -> Symbol:
    if key not in _symbols:
        symbol = Symbol(f"u{len(_symbols)}", 0, LARGEST)
        _symbols[key], _every[symbol] = symbol, None
    return _symbols[key]
