"""Contents and words of 64 bits hold what the machine computes: bytes and numbers are drawn, moved, and compared."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mfmasim.isa import Operand
from mfmasim.machine.opcodes.registry import OPERATIONS
from mfmasim.prove.content_rules import _moved
from mfmasim.prove.masks import Mask
from mfmasim.prove.operations import WIDE
from mfmasim.prove.polynomial import Symbol, TooLarge, of
from mfmasim.prove.state import State
from mfmasim.prove.wide_instructions import execute_wide
from mfmasim.prove.words import Word, literal
from tests.prove.test_prove_operations import LANES, registers, value_in, words

MOVES = {
    "v_lshlrev_b32": 2, "v_lshrrev_b32": 2, "v_perm_b32": 3, "v_alignbyte_b32": 3, "v_alignbit_b32": 3, "v_and_b32": 2,
    "v_bfi_b32": 3, "v_or_b32": 2, "v_or3_b32": 3, "v_lshl_or_b32": 3, "v_and_or_b32": 3,
}  # fmt: skip
MASKS = st.sampled_from(
    (0xFF, 0xFF00, 0xFFFF0000, 0xFFFFFF, 0x00FF00FF, 0, 0xFFFFFFFF, 0x07060302, 0x0C0C0100, 0x0D010504)
)
NUMBERS = st.one_of(st.sampled_from((0, 8, 16, 24, 7, 32, 40)), MASKS, st.integers(0, (1 << 32) - 1))


class Drawn:
    """An instruction of vector registers 0, 2, 4 as the rules read one."""

    def __init__(self, name: str, counts: list[int]) -> None:
        self.name, self.modifiers = name, {}
        self.src = [Operand("v", 2 * k, count) for k, count in enumerate(counts)]
        self.dst = [Operand("v", 10, 2)]


def state_of() -> State:
    return State(np.arange(1), Mask(np.ones((1, LANES), np.bool_)), 0)


@pytest.mark.parametrize("name", sorted(MOVES))
@given(data=st.data())
@settings(max_examples=20, deadline=None)
def test_moved_bytes_are_those_of_the_machine(name: str, data: st.DataObject) -> None:
    state, values, held = state_of(), {}, []
    for k in range(MOVES[name]):
        number = data.draw(NUMBERS)
        state.v["v", 2 * k] = literal(number)
        if data.draw(st.booleans()):
            del state.v["v", 2 * k]
            number = 0
            for byte in range(4):
                symbol = Symbol(f"b{k}{byte}", 0, 255)
                values[symbol] = data.draw(st.integers(0, 255))
                number |= values[symbol] << 8 * byte
                state.c["v", 2 * k, byte] = Word(of(symbol))
        held.append(np.full((1, LANES), number, np.uint32))
    found = _moved(state, Drawn(name, [1] * MOVES[name]))  # type: ignore[arg-type]
    assert found is None or len(found) == 4
    exact = int(np.asarray(OPERATIONS[name].body(*held)).flat[0])
    for byte, content in enumerate(found or ()):
        assert content is not None
        assert int(value_in(content, values)[0, 0]) == exact >> 8 * byte & 0xFF, (name, held)


def wide(kind: str, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """A source as the machine's function takes it."""
    if kind in ("u64", "i64", "b64"):
        return (low.astype(np.uint64) | high.astype(np.uint64) << np.uint64(32)).view(
            np.int64 if kind == "i64" else np.uint64
        )
    return low.view(np.int32) if kind == "i32" else low


@pytest.mark.parametrize("name", sorted(n for n in WIDE if n in OPERATIONS and OPERATIONS[n].unit != "direct"))
@given(data=st.data())
@settings(max_examples=20, deadline=None)
def test_words_of_64_bits_are_those_of_the_machine(name: str, data: st.DataObject) -> None:
    operation, state, values = OPERATIONS[name], state_of(), {}
    kinds = [kind for kind in operation.sources if kind != "mode"]
    given_: list[Any] = []
    for k, kind in enumerate(kinds):
        shift = kind == "u32" and "mad" not in name
        parts = [literal(data.draw(st.integers(0, 63))) if shift else data.draw(words(values)) for _ in range(2)]
        if data.draw(st.booleans()):
            parts[1] = data.draw(st.sampled_from((literal(0), Word(parts[0].value, 1))))
        for part, word in enumerate(parts):
            state.v["v", 2 * k + part] = word
        given_.append(wide(kind, *(np.broadcast_to(registers(w, values), (1, LANES)).copy() for w in parts)))
    try:
        execute_wide(state, Drawn(name, [2 if kind in ("u64", "i64", "b64") else 1 for kind in kinds]))  # type: ignore[arg-type]
    except TooLarge:  # not followed
        return
    results = operation.body(*given_)
    exact = np.asarray(results[0] if isinstance(results, tuple) else results).view(np.uint64)
    for part in range(2):
        word = state.v.get(("v", 10 + part))
        if word is not None:
            wanted = (exact >> np.uint64(32 * part)).astype(np.uint32)
            assert (registers(word, values) == wanted).all(), (name, part, given_)
