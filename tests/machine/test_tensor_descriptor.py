"""The tensor descriptor: fields, and which bytes a descriptor moves, against the slow model."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mfmasim.errors import MfmasimError
from mfmasim.machine.tensor import FIELDS, Descriptor, decode, moves
from mfmasim.machine.tensor.fields import DWORDS, GROUPS, RESERVED
from tests.slow.tensor import copied

SMALL = st.integers(0, 5)


@st.composite
def descriptors(draw: st.DrawFn) -> Descriptor:
    """Descriptors of small tiles, in each form."""
    form = draw(st.sampled_from(["dense", "dense", "iterate", "gather"]))
    values = {name: draw(SMALL) for name in ("tensor_dim0", "tensor_dim1", "tensor_dim2", "tile_dim1", "tile_dim2")}
    values |= {"tile_dim0": draw(st.integers(0, 40)), "tensor_dim0": draw(st.integers(0, 48))}
    values |= {"data_size": draw(st.integers(0, 3)), "pad_enable": draw(st.integers(0, 1))}
    values |= {"pad_interval": draw(st.integers(0, 3)), "pad_amount": draw(st.integers(0, 9))}
    values |= {"tensor_dim0_stride": draw(st.integers(0, 1 << 20)), "tensor_dim1_stride": draw(st.integers(0, 1 << 40))}
    values |= {"lds_addr": draw(st.integers(0, 99)) * draw(st.sampled_from([1, 4]))}
    values |= {"global_addr": draw(st.integers(0, 1 << 47))}
    if form == "dense":
        values |= {name: draw(SMALL) for name in ("tensor_dim3", "tile_dim3", "tensor_dim4", "tile_dim4")}
        values |= {"tensor_dim2_stride": draw(SMALL) << 20, "tensor_dim3_stride": draw(SMALL) << 30}
    if form == "iterate":
        values |= {"iterate_enable": 1, "iterate_count": draw(SMALL), "lds_addr_increment": draw(st.integers(0, 64))}
        values |= {"global_addr_increment": draw(st.integers(0, 1 << 40))}
    rows: tuple[int, ...] = ()
    if form == "gather":
        wide = draw(st.integers(0, 1))
        values |= {"gather_mode": 1, "gather_index_size": wide, "tensor_dim1": draw(st.integers(0, 9))}
        del values["tensor_dim2"]
        rows = tuple(draw(st.lists(st.integers(0, 9), min_size=16 >> wide, max_size=16 >> wide)))
    return Descriptor(**values, rows=rows)


@settings(max_examples=150, deadline=None)
@given(descriptors(), st.booleans())
def test_moves_equal_the_slow_model(descriptor: Descriptor, store: bool) -> None:
    words = descriptor.words()
    assert decode(words) == descriptor
    found = moves(descriptor, store=store)
    bytes_moved = [
        (descriptor.lds_addr + lds + byte, descriptor.global_addr + memory + byte if inside else None)
        for memory, lds, inside in zip(found.memory.tolist(), found.lds.tolist(), found.inside.tolist(), strict=True)
        for byte in range(found.size)
    ]
    assert bytes_moved == copied(words, store=store)


@pytest.mark.parametrize(
    ("form", "group"),
    [("dense", n) for n in range(4)] + [("iterate", n) for n in range(3)] + [("gather", n) for n in range(2)],
)
def test_fields_do_not_overlap_and_cover_every_bit(form: str, group: int) -> None:
    """Group 3 of an iteration and groups 2 and 3 of a gather have no fields of their own."""
    fields = [f for f in FIELDS if f.group == group and form in f.forms]
    bits = [bit for f in fields for bit in range(f.low, f.low + f.width)]
    bits += [bit for g, low, width in RESERVED for bit in range(low, low + width) if g == group]
    assert sorted(bits) == list(range(32 * GROUPS[group]))


def test_two_groups_are_four_with_zeros() -> None:
    tile = Descriptor(data_size=1, tensor_dim0=8, tensor_dim1=4, tile_dim0=8, tile_dim1=4, tensor_dim0_stride=8)
    assert decode(tile.words()[:12]) == tile
    with pytest.raises(MfmasimError, match="descriptor of 13 dwords: 12 or 20"):
        decode([0] * 13)
    assert len(tile.words()) == DWORDS


def test_a_field_that_is_too_large() -> None:
    with pytest.raises(MfmasimError, match="tile_dim0 65536: 0 to 65535"):
        Descriptor(tile_dim0=65536).words()
    with pytest.raises(MfmasimError, match="at most 8 row indices of 32 bits"):
        Descriptor(gather_mode=1, gather_index_size=1, rows=tuple(range(9))).words()


GOOD = Descriptor(data_size=1, tensor_dim0=8, tensor_dim1=4, tile_dim0=8, tile_dim1=4, tensor_dim0_stride=8)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"type": 0}, "type 0: 2 is expected"),
        ({"count": 3}, "count 3: 0 or 1 is expected"),
        ({"gather_mode": 1, "tile_dim1": 17}, "tile_dim1 17: a gather has at most 16 row indices of 16 bits"),
        ({"iterate_enable": 1, "iterate_count": 300}, "iterate_count 300: at most 255 is described"),
        ({"pad_enable": 1, "tile_dim0": 7}, "tile_dim0 7 of 2 bytes each: with padding a row is a multiple of 4 bytes"),
    ],
)
def test_problems(change: dict[str, int], expected: str) -> None:
    assert GOOD.problems(store=False) == []
    assert replace(GOOD, **change).problems(store=False) == [expected]


def test_reserved_bits_are_reported() -> None:
    words = GOOD.words()
    words[0] |= 1 << 12
    assert decode(words).problems(store=False) == ["bits 29:11 of group 0, 0x2: reserved, 0 is expected"]
