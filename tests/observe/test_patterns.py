"""Each pattern is named for what it is, and none is named where none fits."""

import numpy as np
import pytest

from mfmasim.observe.fragments.groups import of_other_lanes
from mfmasim.observe.fragments.patterns import Memory, explain

MEMORY = Memory((8, 8), "row")
NEEDS = np.array([(i, k) for i in range(1, 5) for k in range(1, 5) if i != k])


def tell(holds, others=None, memory=MEMORY, summed=1, slots=NEEDS):
    return explain(NEEDS, np.asarray(holds), slots, others or {}, memory, summed)


@pytest.mark.parametrize(
    ("holds", "words"),
    [
        (NEEDS[:, ::-1], "exchanging row and column"),
        (np.add(NEEDS, (0, 2)), "columns by +2"),
        (np.add(NEEDS, (1, -1)), "rows by +1 and columns by -1"),
        (NEEDS ^ (0, 1), "neighbouring columns"),
        (NEEDS ^ (1, 0), "neighbouring rows"),
        (np.stack([NEEDS[:, 0], (3 * NEEDS[:, 1] + 1) % 8], axis=-1), "K is permuted in this operand only"),
        (np.stack([(3 * NEEDS[:, 0] + 1) % 8, NEEDS[:, 1]], axis=-1), "the row alone"),
    ],
)
def test_patterns(holds, words):
    assert words in tell(holds)


LANES = np.arange(64).repeat(4)
POSITION = LANES // 16 * 4 + np.tile(np.arange(4), 64)
"""A of 16x16x16: a lane holds four K in a group."""


def grouped(group, inner=POSITION % 4):
    holds = 4 * group + inner
    wrong = holds != POSITION
    return of_other_lanes(*(part[wrong] for part in (32 + POSITION, 32 + holds, POSITION, LANES)), 16, 64)


def test_a_group_of_k_from_other_bits_of_the_lane():
    said = "all in the summed index alone: the group of 4 in K depends on {}, and by the layout on lane // 16"
    assert grouped(LANES % 4) == said.format("lane % 4")
    assert grouped(LANES // 4 % 4) == said.format("lane // 4 % 4")
    assert grouped(LANES // 16) == ""
    assert grouped((LANES * 3 + LANES // 16) % 4) == ""
    assert grouped(LANES % 4, inner=3 - POSITION % 4) == ""


def test_an_exchange_within_each_tile():
    """Of 64x64 elements in a matrix of 128x192; a part of the wrong places does not look like smaller tiles."""
    place = np.stack(np.meshgrid(np.arange(128), np.arange(192), indexing="ij"), axis=-1).reshape(-1, 2)
    corner = place // 64 * 64
    needs = place[(place - corner)[:, 0] != (place - corner)[:, 1]]
    corner = needs // 64 * 64
    holds = corner + (needs - corner)[:, ::-1]
    said = explain(needs, holds, needs % 16, {}, Memory((128, 192), "row"), 1)
    assert said == "A is transposed within each 64x64 tile"
    assert "tile" not in explain(needs, corner + needs[:, ::-1] % 32, needs % 16, {}, Memory((128, 192), "row"), 1)


def test_other_storage_order():
    address = NEEDS[:, 1] * 8 + NEEDS[:, 0] * 1  # column-major address of what is needed
    holds = np.stack([address // 8, address % 8], axis=-1)
    assert "row and column" in tell(holds)
    wide = Memory((4, 16), "row")
    address = NEEDS[:, 1] * 4 + NEEDS[:, 0]
    assert "stored in the other order" in tell(np.stack([address // 16, address % 16], axis=-1), memory=wide)


def test_shift_in_memory_across_lines():
    address = NEEDS[:, 0] * 8 + NEEDS[:, 1] + 6
    assert "+6 elements in memory" in tell(np.stack([address // 8, address % 8], axis=-1))


def test_another_layout_is_named():
    guess = (NEEDS * 5 + 3) % 8
    assert "e2m1fn layout" in tell(guess, {"e2m1fn": guess})


def test_a_few_places_without_an_element_do_not_hide_a_pattern():
    holds = (np.add(NEEDS, (0, 2))).copy()
    holds[3] = -1
    assert "columns by +2 (except 1 that holds no element)" in tell(holds)
    holds[:6] = -1
    assert tell(holds) == ""


def test_no_pattern_is_invented():
    rng = np.random.default_rng(1)
    assert tell(rng.integers(0, 8, NEEDS.shape)) == ""


@pytest.mark.parametrize(("order", "used", "ld"), [("row", 6, 0), ("row", 11, 0), ("column", 5, 0), ("row", 7, 9)])
def test_another_leading_dimension_is_named(order, used, ld):
    """Where the address is beyond the matrix, or in the padding, a place holds no element."""
    line, place = (side.ravel() for side in np.meshgrid(np.arange(1, 8), np.arange(8), indexing="ij"))
    address, length = line * used + place, ld or 8
    holds = np.stack([address // length, address % length], axis=-1)
    holds[(address >= 8 * length) | (holds[:, 1] >= 8)] = -1
    turn = slice(None, None, 1 if order == "row" else -1)
    needs, memory = np.stack([line, place], axis=-1)[:, turn], Memory((8, 8), order, ld)
    said = f"all as if the leading dimension were {used}, not {length}"
    assert explain(needs, holds[:, turn], needs, {}, memory, 1) == said
    beyond = np.flatnonzero((holds >= 0).all(axis=1))[0]
    holds[beyond] = -1  # an element that lies within the matrix, but is not there
    assert explain(needs, holds[:, turn], needs, {}, memory, 1) != said


def test_a_transposed_tile_of_results_names_exchanged_operands():
    said = explain(*_tile_of(8), {}, Memory((128, 192), "row"), -1)
    assert said == "C is transposed within each 8x8 tile, as if A and B were exchanged in the instruction"


def _tile_of(size):
    place = np.stack(np.meshgrid(np.arange(16), np.arange(16), indexing="ij"), axis=-1).reshape(-1, 2)
    needs = place[place[:, 0] % size != place[:, 1] % size]
    corner = needs // size * size
    return needs, corner + (needs - corner)[:, ::-1], needs
