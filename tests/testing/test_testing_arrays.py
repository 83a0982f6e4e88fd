"""Strategies of operands, instructions, accesses, swizzles, layouts and grids: legal, complete, small."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

from mfmasim import MfmasimError, instructions
from mfmasim.lds import layout_offsets, phase_table
from mfmasim.testing import (
    CuteLayout,
    codes,
    cute_layouts,
    grid_layouts,
    lds_accesses,
    lds_swizzles,
    matrix_instructions,
    sparse_changes,
)


@given(sparse_changes((6, 7), codes("f16"), np.uint16, most=3))
def test_few_elements_differ_from_the_others(array):
    assert (array.shape, array.dtype) == ((6, 7), np.dtype(np.uint16))
    assert Counter(array.ravel().tolist()).most_common(1)[0][1] >= 42 - 3


def test_what_fails_shrinks_to_the_element_that_matters():
    smallest = find(sparse_changes(9, codes("f16"), np.uint16), lambda array: array[4] == 0x7C00)
    assert smallest.tolist() == [0x7C00] * 9 or smallest.tolist() == [0] * 4 + [0x7C00] + [0] * 4


@pytest.mark.parametrize("arch", ["gfx90a", "gfx950", "gfx1201", "gfx1250"])
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_every_element_is_where_an_instruction_with_modifiers_reads_it(arch, data):
    op, modes = data.draw(matrix_instructions(arch))
    fragments = op.under(modes)
    assert set(fragments) == set(op.operands)
    for fragment in fragments.values():
        row, col, block = (
            data.draw(st.integers(0, most - 1)) for most in (fragment.rows, fragment.cols, fragment.blocks)
        )
        for place in fragment.locate(row, col, block):
            assert (row, col, block) in fragment.elements(*place)


@pytest.mark.parametrize("arch", ["gfx90a", "gfx942"])
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_registers_and_matrices_agree_under_modifiers(arch, data):
    op, modes = data.draw(matrix_instructions(arch, "v_mfma"))
    words = {"cbsz": modes.cbsz, "abid": modes.abid, "blgp": modes.blgp}
    source = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    fragments = op.A, op.B, op.C
    tops = [2**f.width - 1 for f in fragments]
    a, b, c = (
        source.integers(0, top, f.shape, np.uint64, endpoint=True).astype(f.dtype)
        for top, f in zip(tops, fragments, strict=True)
    )
    found = op.D.unpack(op.execute(op.A.pack(a), op.B.pack(b), op.C.pack(c), **words))
    np.testing.assert_array_equal(found, op.multiply(a, b, c, **words))


@pytest.mark.parametrize(
    ("arch", "match", "wanted"),
    [
        ("gfx90a", "", {"cbsz": 4, "abid": 15}),
        ("gfx90a", "", {"blgp": 7}),
        ("gfx942", "f64", {"blgp": 7}),
        ("gfx950", "scale", {"scale_a_byte": 3, "scale_b_byte": 2}),
        ("gfx1201", "swmmac", {"op_sel": 1, "neg": 3}),
        ("gfx1250", "scale", {"scale_a_format": 2, "scale_b_format": 2}),
    ],
)
def test_modifiers_of_every_kind_are_drawn(arch, match, wanted):
    op, modes = find(
        matrix_instructions(arch, match),
        lambda drawn: wanted.items() <= vars(drawn[1]).items(),
        settings=settings(max_examples=20_000, deadline=None),
    )
    assert match in op.name
    assert modes is not None


def test_every_instruction_is_drawn():
    seen = set()

    @settings(max_examples=400, deadline=None)
    @given(matrix_instructions("gfx942"))
    def draw(drawn):
        seen.add(drawn[0].name)

    draw()
    assert len(seen) > 0.8 * len(instructions("gfx942"))


READS = [("gfx942", "ds_read_b64"), ("gfx950", "ds_read_b96"), ("gfx1201", "ds_store_b8")]


@given(lds_accesses(READS, most=9, aligned=True))
def test_aligned_accesses_are_aligned(access):
    arch, name, addresses, active = access
    size = {"ds_read_b64": 8, "ds_read_b96": 16, "ds_store_b8": 1}[name]
    assert (addresses % size == 0).all()
    assert addresses.max() <= 9 * size
    assert addresses.shape == active.shape == (64,)
    assert phase_table(arch, name.replace("ds_store", "ds_write"))


def test_some_accesses_are_not_aligned():
    assert find(lds_accesses(READS), lambda access: access[1] == "ds_read_b64" and access[2][5] % 8 == 1)[2][5] == 1


def test_a_drawn_instruction_prints_its_modifiers():
    drawn = find(matrix_instructions("gfx90a", "4x4x1f32"), lambda drawn: drawn.modes.abid == 1)
    assert repr(drawn).startswith("<v_mfma_f32_4x4x1f32 on gfx90a")
    assert repr(drawn).endswith("> cbsz:1 abid:1")


@given(st.integers(0, 7), st.data())
def test_swizzles_keep_what_is_aligned_and_change_something(low, data):
    swizzle = data.draw(lds_swizzles(1 << low))
    assert swizzle.keeps_alignment(1 << low)
    assert swizzle.bijective


def test_swizzles_are_not_all_the_same():
    assert find(lds_swizzles(16), lambda swizzle: any(swizzle.row_images)).rows == 2


@given(cute_layouts(most=9))
def test_layouts_are_what_the_command_reads(layout):
    count = int(np.prod(np.array(str(layout.shape).replace("[", " ").replace("]", " ").replace(",", " ").split(), int)))
    assert layout_offsets(str(layout), count).shape == (count,)


def test_a_layout_prints_as_cute_writes_it():
    assert str(CuteLayout([4, [2, 2]], [1, [8, 4]])) == "(4, (2, 2)):(1, (8, 4))"


@given(grid_layouts(most=6))
def test_grids_are_permutations_by_default(found):
    assert found.permutation
    assert max(found.grid.rows, found.grid.cols) <= 6


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: matrix_instructions("gfx942", "wmma"), "unknown instruction 'wmma' on gfx942"),
        (lambda: lds_swizzles(3), "alignment 3: a power of two from 1 to 128"),
        (lambda: grid_layouts(["hilbrt"]), "did you mean 'hilbert'"),
    ],
)
def test_bad_arguments(build, message):
    with pytest.raises(MfmasimError, match=message):
        build()
