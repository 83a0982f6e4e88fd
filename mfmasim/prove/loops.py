"""Loops: turn by turn if the turns are few, else by induction over the number of turns.

After some turns the registers of two successive headers differ by polynomials D that do not depend on the turn. The
hypothesis is that after n further turns they hold ``R + n D``. One turn (or two, where a register alternates) is
executed from that state with n as a symbol. Registers other than ``R + (n + 1) D`` are forgotten, and the turn is
executed again, until the state repeats itself: then it describes every turn. Inequalities that hold at the end of a
turn become facts of the next one if they hold before the first (Flanagan and Leino's Houdini: assume all, drop what
fails).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from mfmasim.prove.contents import LDS, changed, grown, without
from mfmasim.prove.inequality import never_negative
from mfmasim.prove.paths import Stopped
from mfmasim.prove.polynomial import Polynomial, Symbol, TooLarge, of, tightened
from mfmasim.prove.trace import Loop
from mfmasim.prove.words import Word

if TYPE_CHECKING:
    from mfmasim.prove.flow import Flow
    from mfmasim.prove.state import State

__all__ = ["Explorer", "Turn", "through"]

PEELED = 9
"""Most turns of a loop without an invariant whose end depends on sizes."""
UNROLLED = 300
"""Most turns of a loop whose end depends on constants."""


@dataclass
class Turn:
    """The successors of a state: states at the header of the loop, and states that ended or left the loop."""

    returned: list[State] = field(default_factory=list)
    left: list[State] = field(default_factory=list)


class Explorer(Protocol):
    """The part of a symbolic execution that loops use."""

    flow: Flow
    turns: dict[tuple[int, int, int, int], Symbol]

    def explore(self, states: list[State], header: int | None, body: frozenset[int] | None) -> Turn:
        """Follow states to the header of a loop, or out of its body.

        Args:
            states: the first states.
            header: the first instruction of the loop.
            body: its instructions.
        """


def through(execution: Explorer, state: State) -> list[State]:
    """Execute a loop whose header a state has reached; returns the states that have left the loop."""
    own = execution.flow.loops[state.pc]
    going: list[State] = []
    chains = [[state]]
    while chains:
        chain = chains.pop()
        last = chain[-1]
        decided = len(last.decisions)
        turn = execution.explore([last.copy()], last.pc, own)
        going += turn.left
        for returned in turn.returned:
            longer = [*chain, returned]
            if len(returned.decisions) == decided:
                if len(longer) > UNROLLED:
                    raise Stopped(f"more than {UNROLLED} turns", last.pc)
                chains.append(longer)
                continue
            exits = _by_induction(execution, longer, own)
            if exits is not None:
                going += exits
            elif len(longer) > PEELED:
                raise Stopped(f"no invariant of the loop at {last.pc:#x} was found", last.pc)
            else:
                chains.append(longer)
    return going


def _by_induction(execution: Explorer, chain: list[State], own: frozenset[int]) -> list[State] | None:
    """States that leave the loop after any number of further turns; None if no hypothesis holds."""
    for period in (1, 2):
        if len(chain) <= 2 * period:
            continue
        before, middle, last = chain[-1 - 2 * period], chain[-1 - period], chain[-1]
        if not _together(before, last) or not _together(middle, last):
            continue
        turns = _symbol(execution, last, period, len(chain))
        steps = _steps(before, middle, last)
        if steps is None or (period == 1 and _alternates(chain)):
            continue
        facts = _of_this(execution, _extended(before, middle, last, turns), turns)
        found = _invariant(execution, last, steps, turns, period, own, facts)
        if found == []:
            raise Stopped("the loop may never end", last.pc)
        if found is not None:
            return found
    return None


def _symbol(execution: Explorer, state: State, period: int, peeled: int) -> Symbol:
    """The symbol for a loop's number of periods; waves that enter the loop in the same way share it."""
    key = (state.pc, state.turns.get(state.pc, 0), period, peeled)
    if key not in execution.turns:
        execution.turns[key] = Symbol(f"n{len(execution.turns)}")
    return execution.turns[key]


def _extended(before: State, middle: State, last: State, turns: Symbol) -> list[Polynomial]:
    """Facts that changed by a constant in the last two periods, extrapolated to all later periods."""
    gained = last.gained[len(middle.gained) :]
    older = middle.gained[len(before.gained) :]
    if len(gained) != len(older):
        return []
    found = {}
    for new, old in zip(gained, older, strict=True):
        step = new - old
        if step.is_constant and step.terms:
            candidate = new + step * of(turns)
            found[candidate.key] = candidate
    return list(found.values())


def _alternates(chain: list[State]) -> bool:
    """Whether a register alternates between two values."""
    if len(chain) < 3 or not all(_together(one, chain[-1]) for one in chain[-3:]):
        return False
    a, b, c = chain[-3:]
    for place in ("s", "v"):
        mine = getattr(c, place)
        for register, word in mine.items():
            other, older = getattr(b, place).get(register), getattr(a, place).get(register)
            if other is not None and older is not None and word.same(older) and not word.same(other):
                return True
    return False


def _steps(before: State, middle: State, last: State) -> dict[tuple[str, object], Polynomial] | None:
    """The difference of each register in a period; registers without a constant difference are omitted."""
    if last.exec != middle.exec or last.flights != middle.flights:
        return None
    steps: dict[tuple[str, object], Polynomial] = {}
    for place in ("s", "v", "c"):
        for register, word in getattr(last, place).items():
            if place == "c":  # the execution of a turn checks the difference
                steps[place, register] = grown(word, middle.c.get(register))
                continue
            words = [getattr(s, place).get(register) for s in (before, middle)]
            try:
                if any(w is None or w.part != word.part or w.under != word.under for w in words):
                    continue
                step = word.value - words[1].value
                if step.same(words[1].value - words[0].value):
                    steps[place, register] = step
            except TooLarge:
                continue
    return steps


def _invariant(
    execution: Explorer,
    base: State,
    steps: dict[tuple[str, object], Polynomial],
    turns: Symbol,
    period: int,
    own: frozenset[int],
    facts: list[Polynomial],
) -> list[State] | None:
    """Find the invariant of a loop; returns the states that leave the loop, None if there is no invariant."""
    first, masks = True, set(base.masks)
    for _ in range(12):
        head = _head(base, steps, turns, facts, masks)
        end = _turns(execution, head, period, own)
        if end is None or head.exec != end.exec or head.flights != end.flights:
            return None
        wrong = [key for key in steps if not _continues(head, end, key, steps[key])]
        for key in wrong:
            if key[1] == LDS and LDS in end.c:
                base = base.copy()
                base.c[LDS], steps[key] = without(changed(head.c[LDS], end.c[LDS], steps[key]), base.c[LDS], steps[key])
            else:
                del steps[key]
        other = {n for n in masks if n not in end.masks or head.masks[n] != end.masks[n]}
        masks -= other
        kept = [f for f in facts if never_negative(_next(f, turns), end.facts)]
        if first:
            known = {f.key for f in facts}
            kept += [f for f in _of_this(execution, _candidates(head, end, base, turns), turns) if f.key not in known]
        if first or wrong or other or len(kept) < len(facts):
            facts, first = kept, False
            continue
        return _final(execution, head, period, own, turns)
    return None


def _head(
    base: State, steps: dict[tuple[str, object], Polynomial], turns: Symbol, facts: list[Polynomial], masks: set[int]
) -> State:
    """The state before turn `turns`, by the hypothesis."""
    head = base.copy()
    for place in ("s", "v", "c"):
        registers = getattr(head, place)
        for register in list(registers):
            if (place, register) in steps:
                word = registers[register]
                registers[register] = Word(word.value + steps[place, register] * of(turns), word.part, word.under)
            else:
                del registers[register]
    head.masks = {n: m for n, m in base.masks.items() if n in masks}
    head.scc = None
    for fact in facts:
        head.learn(fact)
    head.turns[base.pc] = head.turns.get(base.pc, 0) + 1
    return head


def _turns(execution: Explorer, head: State, period: int, own: frozenset[int]) -> State | None:
    """The state after a period; None if there are several."""
    state = head.copy()
    for _ in range(period):
        turn = execution.explore([state.copy()], head.pc, own)
        if len(turn.returned) != 1 or not _together(turn.returned[0], head):
            return None
        state = turn.returned[0]
    return state


def _together(one: State, other: State) -> bool:
    """Whether two states have the same waves."""
    return bool(one.waves.tolist() == other.waves.tolist())


def _continues(head: State, end: State, key: tuple[str, object], step: Polynomial) -> bool:
    place, register = key
    mine, after = getattr(head, place).get(register), getattr(end, place).get(register)
    if mine is None or after is None or mine.part != after.part or mine.under != after.under:
        return False
    try:
        if register == LDS:
            return not changed(mine, after, step).any()
        return bool(after.value.same(mine.value + step))
    except TooLarge:
        return False


def _of_this(execution: Explorer, facts: list[Polynomial], turns: Symbol) -> list[Polynomial]:
    """Facts without the turn numbers of other loops: an inner loop gets a new turn number in each turn of this one."""
    others = set(execution.turns.values()) - {turns}
    return [fact for fact in facts if not fact.symbols & others]


def _next(fact: Polynomial, turns: Symbol) -> Polynomial:
    return fact.substituted({turns: of(turns) + 1})


def _candidates(head: State, end: State, base: State, turns: Symbol) -> list[Polynomial]:
    """Inequalities that hold before the first turn, and that may hold before every turn.

    Symbols made after `turns` are minima and quotients that contain it: the next turn has other symbols.
    """
    gained = [fact for fact in end.gained[len(head.gained) :] if turns in fact.symbols]
    for condition, holds in end.decisions.items():
        if condition not in head.decisions and condition.value is not None and condition.kind == "eq" and not holds:
            gained += [condition.value, -condition.value]
    found = {}
    for fact in gained:
        for candidate in (fact.substituted({turns: of(turns) - 1}), fact):
            small = tightened(candidate)
            start = small.substituted({turns: Polynomial({})})
            fixed = all(symbol.serial <= turns.serial for symbol in small.symbols)
            if fixed and turns in small.symbols and never_negative(start, base.facts):
                found[small.key] = small
    return list(found.values())


def _final(execution: Explorer, head: State, period: int, own: frozenset[int], turns: Symbol) -> list[State]:
    """Execute a period once more, and return the states that leave the loop."""
    left: list[State] = []
    state = head.copy()
    state.trace = []
    for _ in range(period):
        turn = execution.explore([state.copy()], head.pc, own)
        left += turn.left
        if len(turn.returned) != 1:
            raise Stopped(f"the loop at {head.pc:#x} has several ways", head.pc)
        state = turn.returned[0]
    loop = Loop(head.pc, turns, tuple(state.trace), len(head.flights))
    for one in left:
        one.trace = [*head.trace, loop, *one.trace]
    return left
