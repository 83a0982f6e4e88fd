"""Registers that are written under lane masks hold, in each lane, what was written last."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mfmasim.prove.masks import Condition, Mask
from mfmasim.prove.polynomial import Symbol, constant, of
from mfmasim.prove.state import State
from mfmasim.prove.words import Word, known

if TYPE_CHECKING:
    from numpy.typing import NDArray

LANES = 4
EVERY = np.ones((1, LANES), np.bool_)


def concrete(mask: Mask | None, below: dict[Condition, int]) -> NDArray[np.bool_]:
    """Lanes of a mask where each condition admits the lanes below a number."""
    on = EVERY if mask is None else mask.on
    for condition, holds in () if mask is None else mask.literals:
        admitted = np.arange(LANES)[None, :] < below[condition]
        on = on & (admitted if holds else ~admitted)
    return on


def held_in(word: Word | None, lanes: NDArray[np.bool_], held: NDArray[np.int64]) -> None:
    """Compare what is known of a register with what it holds, in some lanes."""
    if word is not None:
        value = np.broadcast_to(np.asarray(known(word), np.int64), (1, LANES))
        assert (value == held)[lanes].all()


@given(data=st.data())
@settings(max_examples=250, deadline=None)
def test_registers_hold_what_was_written_last_in_each_lane(data: st.DataObject) -> None:
    below: dict[Condition, int] = {}
    for _ in range(2):
        value = of(Symbol("s", 0, LANES)) - constant(np.arange(LANES, dtype=np.int64)[None, :]) - 1
        below[Condition.of("ge", value)] = data.draw(st.integers(0, LANES))
    state, held = State(np.arange(1), Mask(EVERY), 0), np.full((1, LANES), 1 << 20)
    flags = st.lists(st.booleans(), min_size=LANES, max_size=LANES)
    for step in range(data.draw(st.integers(1, 6))):
        literals = frozenset((c, data.draw(st.booleans())) for c in below if data.draw(st.booleans()))
        on = EVERY if data.draw(st.booleans()) else np.array([data.draw(flags)])
        state.exec = Mask(on, literals)
        active = concrete(state.exec, below)
        read = state.vector("v", 0)
        held_in(read, active, held)
        if state.v.get(("v", 0)) is not None:
            held_in(state.beyond(state.v["v", 0]), ~active, held)
        kind = data.draw(st.sampled_from(("unknown", "number", "lanes", "same")))
        numbers = {"number": np.full((1, LANES), 7), "lanes": np.arange(LANES)[None, :]}.get(kind)
        word = read if kind == "same" else None if numbers is None else Word(constant(numbers.astype(np.int64)))
        if word is None:
            numbers = np.full((1, LANES), (2 << 20) + step)  # whatever it is
        state.write_vector("v", 0, word)
        held = np.where(active, held if numbers is None else numbers, held)
        found = state.v.get(("v", 0))
        if found is not None:
            lanes = concrete(found.under, below)
            held_in(found, lanes, held)
            held_in(found.rest, ~lanes, held)
    state.exec, word = Mask(EVERY), Word(constant(5))
    state.write_vector("v", 0, word)
    found = state.vector("v", 0)
    assert found is not None
    assert found.same(word)
