"""The tensor data mover: what is held of a drawn descriptor is what the machine moves; a right kernel is proved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mfmasim.machine.tensor import decode, moves
from mfmasim.prove import prove_case
from mfmasim.prove.masks import Mask
from mfmasim.prove.paths import Stopped
from mfmasim.prove.polynomial import Symbol, constant, of
from mfmasim.prove.quotients import defined, quotient
from mfmasim.prove.state import State
from mfmasim.prove.tensor import moved
from mfmasim.prove.words import Word, bits, reduced
from tests.machine import harness
from tests.prove.test_prove_operations import registers, value_in
from tests.prove.tile_faults import RIGHT

if TYPE_CHECKING:
    from mfmasim.isa import Instruction
    from mfmasim.prove.polynomial import Polynomial
    from mfmasim.prove.trace import Access

INT = (1 << 31) - 1


def instruction() -> Instruction:
    kernel = harness.kernel("tensor_load_to_lds s[0:3], s[4:11]\n s_endpgm", "gfx1250")
    return next(ins for ins in kernel.decodable if ins.opcode.kind == "tensor")


def touched(access: Access, values: dict[Symbol, Any]) -> set[int]:
    """The bytes of an access, for values of the symbols."""
    assert access.address is not None
    lanes = access.mask.on.shape[1]
    on = access.mask.on[0].copy()
    for condition, holds in access.mask.literals:
        assert condition.value is not None
        assert condition.kind == "ge"
        on &= (value_in(condition.value, values, lanes)[0] >= 0) == holds
    place = value_in(access.address, values, lanes)[0][on]
    return {int(at) + k for at in place for k in range(access.size)}


def test_the_bytes_of_drawn_descriptors_are_those_that_the_machine_moves() -> None:
    followed: list[int] = []
    compared(followed)
    assert len(followed) >= 5


@given(data=st.data())
@settings(max_examples=80, deadline=None)
def compared(followed: list[int], data: st.DataObject) -> None:
    """Draw a descriptor and its sizes, and compare where it is followed."""

    def number(low: int, high: int) -> int:
        return data.draw(st.integers(low, high))

    values: dict[Symbol, Any] = {}
    pointer = Symbol("&A", 1 << 12, 1 << 47)
    values[pointer] = data.draw(st.sampled_from((1 << 12, (1 << 32) - 4, 123 << 32, (1 << 47) - 4096)))
    state = State(np.arange(1), Mask(np.ones((1, 32), np.bool_)), 0)

    def size(name: str) -> Polynomial:
        if data.draw(st.booleans()):
            return constant(number(0, 12) if data.draw(st.booleans()) else 65536 * number(0, 2) + number(0, 12))
        symbol = Symbol(name, 0)
        values[symbol] = data.draw(st.one_of(st.integers(0, 12), st.sampled_from((65535, 65536, 65543, 131072))))
        state.learn(-of(symbol) + INT)
        return of(symbol)

    columns, rows, stride = size("c"), size("r"), size("s")
    others = (columns, columns + 65536, columns + 1, rows)
    upper = data.draw(st.sampled_from((columns, columns, columns, *others)))  # of which the upper half is passed
    quotients = [quotient(one, constant(1 << 16), state.facts) for one in (upper, rows)]
    for one in quotients:
        defined(state, reduced(one), [])
    element = number(0, 2)
    width = 4 * number(1, 3) if element == 0 else 2 * number(1, 4)
    pad = data.draw(st.sampled_from((0, 1 << 20, 1 << 20 | 1 << 22 | 2 << 25)))
    start = of(pointer) + 4 * number(0, 40)
    fields = data.draw(st.sampled_from((0x80000000, 0x80000000, 0x80000000, 0x40000000, 0x80000001, 0xC0000000)))
    words = [
        bits(data.draw(st.sampled_from((1, 1, 1, 0)))),
        bits(4 * number(0, 40)),
        reduced(start),
        Word(start + (((fields + (1 << 31)) % (1 << 32) - (1 << 31)) << 32), 1),
        bits(element << 16 | pad),
        reduced(columns.scaled(1 << 16)),
        reduced(quotients[0] + rows.scaled(1 << 16)),
        reduced(quotients[1] + constant(width << 16)),
        bits(number(0, 4)),
        reduced(stride),
        bits(number(0, 3) // 3),
        bits(0),
    ]
    for number_, word in enumerate(words):
        state.s[number_] = word
    plain = [int(registers(word, values)[0, 0]) for word in words]
    try:
        read, written = moved(state, instruction(), None)
    except Stopped:
        return
    tile = decode(plain)
    assert not tile.problems(store=False)
    found = moves(tile, most=tile.element_bytes)
    piece = np.arange(found.size)
    memory = tile.global_addr + found.memory[found.inside].astype(object)[:, None] + piece
    assert touched(read, values) == set(memory.ravel().tolist())
    assert touched(written, values) == set((tile.lds_addr + found.lds[:, None] + piece).ravel().tolist())
    followed.append(len(found.lds))


def test_a_tile_of_any_tensor_is_proved() -> None:
    proof = prove_case(RIGHT.case(), "gfx1250", kernel=RIGHT.kernel(), replays=False)
    assert {one.kind: one.verdict for one in proof.obligations} == dict.fromkeys(
        ("bounds", "lds races", "waits", "global races", "bank conflicts"), "proved"
    ), proof.obligations
