"""Layouts of CuTe and linear ones against coordinates that are counted up one by one."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mfmasim import MfmasimError
from mfmasim.cli import main
from mfmasim.lds import layout_offsets
from mfmasim.testing import cute_layouts


def leaves(mode):
    return [mode] if isinstance(mode, int) else [leaf for part in mode for leaf in leaves(part)]


def counted_up(extents, strides):
    """An odometer whose first wheel turns fastest."""
    wheels, places = [0] * len(extents), []
    while True:
        places.append(sum(wheel * stride for wheel, stride in zip(wheels, strides, strict=True)))
        for n, extent in enumerate(extents):
            wheels[n] += 1
            if wheels[n] < extent:
                break
            wheels[n] = 0
        else:
            return places


def exchanged(place, bits, base, shift):
    """Each bit of the upper field flips the bit `shift` below it; a negative shift swaps the roles."""
    for n in range(bits):
        source, target = (base + shift + n, base + n) if shift >= 0 else (base + n, base - shift + n)
        if place >> source & 1:
            place ^= 1 << target
    return place


@given(cute_layouts(), st.data())
def test_equals_an_odometer(text, data):
    want = counted_up(leaves(text.shape), leaves(text.stride))
    assert layout_offsets(str(text), len(want)).tolist() == want
    bits, base, shift = (data.draw(st.integers(*ends)) for ends in ((0, 4), (0, 5), (-5, 5)))
    if abs(shift) >= bits:  # the fields do not overlap
        found = layout_offsets(f"Swizzle<{bits},{base},{shift}> o {text}", len(want))
        assert found.tolist() == [exchanged(place, bits, base, shift) for place in want]


@given(st.lists(st.integers(0, 2**20), min_size=0, max_size=7))
def test_linear_layouts_are_sums_without_carry(bases):
    found = layout_offsets(f"linear {', '.join(map(str, bases))}", 1 << len(bases)).tolist()
    assert found[0] == 0
    assert [found[1 << n] for n in range(len(bases))] == bases
    assert all(found[a ^ b] == found[a] ^ found[b] for a in range(len(found)) for b in range(0, len(found), 7))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "expected a layout such as"),
        ("(16,4)", "expected a layout such as"),
        ("(16,4:(1,2)", "expected a layout such as"),
        ("(16,4):(1,-2)", "expected a layout such as"),
        ("(16,4):(1,2):(3,4)", "expected a layout such as"),
        ("(16,(4)):(1,2)", "shape and stride have different modes"),
        ("(16,0):(1,2)", "an extent is 0"),
        ("(8,4):(1,2)", "has 32 elements, 64 are needed"),
        ("64:2147483647", "a place is 135291469761, below 2147483648 is allowed"),
        ("Swizzle<9,9,20> o 64:1", "moves bits above 31"),
        ("linear 1 2 x", "expected a layout such as"),
        ("linear 1 2", "has 4 elements, 64 are needed"),
        ("(" * 5000, "expected a layout such as"),
    ],
)
def test_what_is_no_layout_is_refused(text, why):
    with pytest.raises(MfmasimError, match=re.escape(why)):
        layout_offsets(text, 64)


def test_the_command_counts_a_layout_as_the_same_addresses(capsys):
    def printed(*args):
        assert main(["lds", "gfx942", "ds_read_b64", *args]) == 0
        return capsys.readouterr().out

    layout = printed("--layout", "((4,16)):((8,128))", "--element-bytes", "4")
    assert layout == printed("--address", "lane % 4 * 32 + lane // 4 * 512")
    assert "degrees 1,1" not in layout
    assert "degrees 1,1" in printed("--layout", "Swizzle<4,3,4> o (16,4):(128,8)", "--element-bytes", "1")
    assert main(["lds", "gfx942", "ds_read_b64", "--layout", "64:1", "--stride", "4"]) == 2
    assert "--stride and --layout cannot be combined" in capsys.readouterr().err
    np.testing.assert_array_equal(layout_offsets("64:4", 64), np.arange(64) * 4)
