"""One scalar instruction of some waves: registers, masks and SCC after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfmasim.architectures import arch as find_arch
from mfmasim.isa.immediates import register_field
from mfmasim.isa.operands import EXEC
from mfmasim.machine.opcodes.registry import OPERATIONS
from mfmasim.prove import comparisons, uninterpreted
from mfmasim.prove.constants import computed, computed_wide
from mfmasim.prove.effects import dropped, strange
from mfmasim.prove.mask_operations import MASKS, is_mask, mask_operand, mask_operation, save
from mfmasim.prove.masks import Condition, Mask
from mfmasim.prove.operations import WIDE, WORDS
from mfmasim.prove.paths import Split, Stopped, decide
from mfmasim.prove.quotients import defined, estimates, selected, stage_of
from mfmasim.prove.wide_instructions import carry_in, carry_of, execute_wide
from mfmasim.prove.words import Word, known, literal

if TYPE_CHECKING:
    from mfmasim.isa import Instruction
    from mfmasim.prove.state import State

__all__ = ["execute_scalar"]

IMMEDIATE = frozenset({"simm16"})
"""Modifiers of scalar operations that are sources, too: the immediate."""


def execute_scalar(state: State, ins: Instruction) -> None:
    """Registers, masks and SCC after a scalar instruction."""
    if strange(ins, IMMEDIATE):
        dropped(state, ins)
        return
    sources = uninterpreted.sources_of(state, ins)
    _execute(state, ins)
    uninterpreted.filled(state, ins, sources)


def _execute(state: State, ins: Instruction) -> None:
    name = ins.name
    lanes = f"b{state.lanes}"
    stem = name.removeprefix("s_").removesuffix("_" + lanes)
    if name.endswith(lanes):
        if ins.opcode.saves_exec and not ins.opcode.returns_exec:
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
        values = [known(word) for word in state.sources(ins)]
        results = computed(name, state.sources(ins)) if all(v is not None for v in values) else None
        state.scc = None if not results else np.asarray(known(results[0])) != 0
        return
    if name in ("s_addc_u32", "s_add_co_ci_u32"):
        carry_in(state, ins)
        return
    if ins.dst and any(o.count > 1 for o in (*ins.src, *ins.dst)) and _constant(state, ins):
        return
    if name in WIDE:
        execute_wide(state, ins)
        state.scc = state.scc if _keeps_flag(ins) else None
        return
    if ins.opcode.kind == "getreg":
        state.write(ins.dst[0], [_hardware(ins)])
        return
    _plain_scalar(state, ins)


def _keeps_flag(ins: Instruction) -> bool:
    """Whether an operation is known to keep SCC."""
    operation = OPERATIONS.get(ins.name)
    plain = operation is not None and operation.unit == "scalar" and "scc" not in operation.results
    return plain or ins.opcode.kind == "setreg"


def _hardware(ins: Instruction) -> Word | None:
    """A field of a hardware register with one value in all waves of launches without clusters; None for others."""
    number, offset, mask = register_field(ins)
    register = find_arch(ins.arch).hardware_registers.by_number.get(number)
    total = 0
    for _, first, width, holds in () if register is None else register.fields:
        if (1 << width) - 1 << first & mask << offset:
            value = 0 if holds in ("cluster", "workgroup_in_cluster") else int(holds) if holds.isdigit() else None
            if value is None:
                return None
            total |= value << first
    return None if register is None else literal(total >> offset & mask)


def _constant(state: State, ins: Instruction) -> bool:
    """Write the results of an operation of 64 bits on constants; whether it was one."""
    found = computed_wide(state, ins)
    if found is None:
        return False
    state.write(ins.dst[0], found[0])
    if len(found) > 1:
        state.scc = np.asarray(known(found[1][0])) != 0
    return True


def _decided(state: State, found: tuple[Condition, bool]) -> np.ndarray | tuple[Condition, bool]:
    condition, holds = found
    if estimates(condition) or uninterpreted.depends(condition):  # S_CSELECT may follow, which needs no decision
        return found
    value = condition.value
    if value is not None and value.is_constant:
        number = np.asarray(value.constant)
        return np.atleast_2d((number >= 0 if condition.kind == "ge" else number == 0) == holds)
    try:
        return np.array([[decide(state, condition) == holds]])
    except Split:  # S_CSELECT of a lane mask may follow, which is a condition of each wave
        return found


def _plain_scalar(state: State, ins: Instruction) -> None:
    """An operation on dwords, and its effect on SCC."""
    name, sources = ins.name, state.sources(ins)
    keeps = _keeps_flag(ins)
    results = computed(name, sources)
    if results is not None and ins.dst:
        state.write(ins.dst[0], [results[0]])
        if len(results) > 1:
            state.scc = np.asarray(known(results[1])) != 0
        if name in ("s_add_u32", "s_add_co_u32"):
            state.scc = carry_of(sources)
        return
    rule = WORDS.get(name)
    if rule is not None and len(ins.dst) == 1:
        word = rule(sources, state.facts)
        if word is None and state.rounds:
            word = stage_of(name, sources, state.facts)
        defined(state, word, sources)
        state.write(ins.dst[0], [word])
        if name in ("s_add_u32", "s_add_co_u32"):
            state.scc = carry_of(sources)
        elif not keeps:
            state.scc = None
        return
    if ins.opcode.kind in (
        "nop",
        "sleep",
        "delay",
        "priority",
        "message",
        "halt",
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
        stage = stage_of(name, sources, state.facts) if state.rounds and len(ins.dst) == 1 else None
        bits = [known(state.operand(o, k)) for o in ins.src for k in range(o.count)]
        some = name in ("s_or_b32", "s_or_b64") and any(isinstance(number, int) and number for number in bits)
        for operand in ins.dst:
            state.write(operand, [stage])
        if not keeps:
            state.scc = np.ones((1, 1), np.bool_) if some else None
        if ins.opcode.saves_exec or any(o.kind == "s" and o.index == EXEC for o in ins.dst):
            state.write_mask(EXEC, Mask(state.every().on, frozenset({(Condition.opaque(), True)})))
        return
    raise Stopped(f"{ins.text} is not followed", ins.pc)


def _select(state: State, ins: Instruction) -> None:
    if isinstance(state.scc, tuple):
        condition, holds = state.scc
        sources = [state.operand(operand) for operand in (ins.src[:2] if holds else ins.src[1::-1])]
        word = selected(condition, sources[0], sources[1], state.facts) if ins.name.endswith("b32") else None
        if word is not None:
            defined(state, word, sources)
            state.write(ins.dst[0], [word])
            return
        mask = _all_lanes(state, ins, condition, holds)
        if mask is not None and (not condition.uniform or condition.value is None):
            state.write_mask(ins.dst[0].index, mask)
            return
        if uninterpreted.depends(condition) and (condition.value is None or ins.name.endswith("b32")):
            state.write(ins.dst[0], [])
            return
        state.scc = np.array([[decide(state, condition) == holds]])
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


def _all_lanes(state: State, ins: Instruction, condition: Condition, holds: bool) -> Mask | None:
    """The mask of a selection between all lanes and no lane, by a condition; None for other selections."""
    if not ins.name.endswith(f"b{state.lanes}"):
        return None
    ones, zeros = [0xFFFFFFFF] * ins.dst[0].count, [0] * ins.dst[0].count
    sides = [[known(state.operand(o, k)) for k in range(ins.dst[0].count)] for o in ins.src[:2]]
    if any(not isinstance(value, int) for side in sides for value in side) or sides not in (
        [ones, zeros],
        [zeros, ones],
    ):
        return None
    return Mask(state.every().on, frozenset({(condition, holds == (sides[0] == ones))}))
