"""Labels: numbers cut into pieces come back, and what is no element does not pass for one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mfmasim.observe.fragments.labels import (
    CONSTANT_ZERO,
    NOT_AN_ELEMENT,
    POISON,
    Alphabet,
    LabelSpace,
    scramble,
    unscramble,
)
from mfmasim.observe.fragments.trace import Tracer

WIDTHS = [4, 6, 8, 16, 32]


@given(st.integers(20, 64), st.lists(st.integers(0, 2**63), min_size=1, max_size=20))
def test_scrambling_is_one_to_one(bits, numbers):
    values = np.array([n % (1 << bits) for n in numbers], np.uint64)
    mixed = scramble(values, bits)
    assert (mixed <= np.uint64((1 << bits) - 1)).all()
    assert (unscramble(mixed, bits) == values).all()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("size", [5, 4096, 70_000])
def test_labels_come_back(width, size):
    space = LabelSpace()
    block = space.add("A", (size,))
    alphabet = Alphabet(width)
    runs = space.runs(width)
    observed = [space.codes(block.numbers, run, runs, alphabet) for run in range(runs)]
    assert all((codes < 1 << width).all() for codes in observed)
    assert (space.decode(observed, alphabet) == block.numbers.astype(np.int64)).all()
    assert space.block_of(int(block.numbers[-1])) == (block, (size - 1,))


@pytest.mark.parametrize("width", WIDTHS)
def test_mixtures_and_constants_are_no_elements(width):
    rng = np.random.default_rng(width)
    space = LabelSpace()
    block = space.add("A", (2048,))
    alphabet, runs = Alphabet(width), space.runs(width)
    observed = [space.codes(block.numbers, run, runs, alphabet) for run in range(runs)]
    half = np.uint64((1 << width // 2) - 1)
    mixed = [(codes & half) | (np.roll(codes, 1) & ~half) for codes in observed]
    assert (space.decode(mixed, alphabet) == NOT_AN_ELEMENT).all()
    constant = [np.full(64, rng.integers(1, 1 << width), np.uint64)] * runs
    assert (space.decode(constant, alphabet) == NOT_AN_ELEMENT).all()
    zero = [np.zeros(64, np.uint64)] * runs
    assert (space.decode(zero, alphabet) == CONSTANT_ZERO).all()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("size", [300, 1 << 44])
def test_one_bit_in_any_run_makes_it_no_element(width, size):
    """Also in the runs that repeat what earlier ones hold, of which large arrays of narrow formats have some."""
    space = LabelSpace()
    space.add("A", (size,))
    alphabet, runs = Alphabet(width), space.runs(width)
    numbers = np.linspace(1, size, 300).astype(np.uint64)
    observed = [space.codes(numbers, run, runs, alphabet) for run in range(runs)]
    assert (space.decode(observed, alphabet) == numbers.astype(np.int64)).all()
    assert (runs * width > 64) == (size > 300)
    for run in range(runs):
        broken = [codes ^ np.uint64(number == run) for number, codes in enumerate(observed)]
        assert (space.decode(broken, alphabet) == NOT_AN_ELEMENT).all()


def test_random_bits_are_no_elements():
    rng = np.random.default_rng(0)
    space = LabelSpace()
    space.add("A", (4096,))
    alphabet, runs = Alphabet(8), space.runs(8)
    noise = [rng.integers(0, 256, 200_000).astype(np.uint64) for _ in range(runs)]
    assert (space.decode(noise, alphabet) == NOT_AN_ELEMENT).all()


def test_an_alphabet_restricts_the_codes():
    table = np.arange(1000, 1256, dtype=np.uint64)
    alphabet = Alphabet(8, table)
    space = LabelSpace()
    block = space.add("D", (300,))
    runs = space.runs(8)
    observed = [space.codes(block.numbers, run, runs, alphabet) for run in range(runs)]
    assert all(np.isin(codes, table).all() for codes in observed)
    assert (space.decode(observed, alphabet) == block.numbers.astype(np.int64)).all()
    broken = [codes.copy() for codes in observed]
    broken[1][7] = 5
    assert space.decode(broken, alphabet)[7] == NOT_AN_ELEMENT


def test_labels_of_results_are_numbered_by_wave_order_and_slot_before_those_of_c():
    tracer = Tracer(3, (4, 5))
    tracer._slots, tracer._count[:] = 8, [1, 2, 2]
    tracer.begin(0, 1)
    waves, order = np.repeat(np.arange(3), 2), np.tile(np.arange(2), 3)
    labels = tracer._numbers(waves, order, 8).astype(np.int64)
    assert labels.reshape(-1).tolist() == list(range(1, 3 * 2 * 8 + 1))
    wave, number, slot = tracer.result_of(labels)
    assert (wave == waves[:, None]).all()
    assert (number == order[:, None]).all()
    assert (slot == np.arange(8)).all()
    assert tracer.is_result(labels).all()
    assert (tracer.element_of_c(labels) == -1).all()
    initial = tracer.initial.numbers.astype(np.int64)
    assert initial[0, 0] == 3 * 2 * 8 + 1
    assert not tracer.is_result(initial).any()
    assert not tracer.is_result(np.array([CONSTANT_ZERO, NOT_AN_ELEMENT, POISON])).any()
    assert (tracer.element_of_c(initial) == np.stack(np.indices((4, 5)), axis=-1)).all()
