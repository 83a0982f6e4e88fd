"""Codes in dwords: against a bit string in Python integers, and back."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mfmasim import MfmasimError, formats

WIDTHS = {name: 32 // math.gcd(32, fmt.bits) for name, fmt in formats.FORMATS.items()}
"""Codes of the smallest group that fills whole dwords."""


@given(data=st.data(), name=st.sampled_from(sorted(WIDTHS)))
def test_packing_is_one_string_of_bits(data, name):
    fmt = formats.format(name)
    count = WIDTHS[name] * data.draw(st.integers(0, 4))
    codes = data.draw(st.lists(st.integers(0, fmt.mask), min_size=count, max_size=count))
    string = sum(code << (fmt.bits * i) for i, code in enumerate(codes))
    dwords = formats.pack(codes, name)
    assert dwords.dtype == np.uint32
    assert dwords.tolist() == [string >> (32 * i) & 0xFFFFFFFF for i in range(count * fmt.bits // 32)]
    assert formats.unpack(dwords, name).tolist() == codes


def test_any_integers_are_codes_of_64_bits():
    """NumPy alone would make floats of some of these lists."""
    for codes in ([0, 1 << 63], [1, (1 << 64) - 1], [np.uint64(1 << 63), 0]):
        assert formats.pack(codes, "f64").view(np.uint64).tolist() == codes
    for codes, shown in (([-1, 1 << 63], "code -1 does"), ([1 << 64, 0], "0x10000000000000000"), ([1 << 70], "0x4000")):
        with pytest.raises(MfmasimError, match=shown):
            formats.pack(codes, "f64")
    with pytest.raises(MfmasimError, match="unsigned integers, not float64"):
        formats.pack([1.0, 1 << 63], "f64")


def test_the_low_nibble_comes_first_unless_named_otherwise():
    codes = np.array([1, 2, 3, 4, 5, 6, 7, 8], np.uint8)
    assert formats.pack(codes, "fp4").tolist() == [0x87654321]
    assert formats.pack(codes, "fp4", order="high_first").tolist() == [0x78563412]
    assert formats.unpack(np.uint32([0x78563412]), "fp4", order="high_first").tolist() == codes.tolist()
    assert formats.pack([1, 2, 3, 4], "e4m3fn", order="high_first").tolist() == [0x01020304]


def test_32_six_bit_codes_fill_six_dwords_across_their_borders():
    dwords = formats.pack(np.arange(32), "e2m3fn")
    assert dwords.shape == (6,)
    # Code 5 has its low two bits at the top of dword 0 and its upper four at the bottom of dword 1.
    assert int(dwords[0]) >> 30 == 5 & 3
    assert int(dwords[1]) & 0xF == 5 >> 2


def test_leading_axes_are_kept():
    codes = np.random.default_rng(1).integers(0, 64, (3, 5, 32), dtype=np.uint8)
    dwords = formats.pack(codes, "e3m2fn")
    assert dwords.shape == (3, 5, 6)
    np.testing.assert_array_equal(formats.unpack(dwords, "e3m2fn"), codes)
    np.testing.assert_array_equal(formats.pack(codes[:, ::-1], "e3m2fn"), dwords[:, ::-1])


def test_bytes_of_scale_registers():
    register = np.array([0x7F807E81], np.uint32)
    assert [int(formats.select_byte(register, byte)[0]) for byte in range(4)] == [0x81, 0x7E, 0x80, 0x7F]
    assert formats.insert_byte(register, 2, np.uint32([0x1FF])).tolist() == [0x7FFF7E81]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: formats.pack([1, 2, 3], "e4m3fn"), "multiple of 4"),
        (lambda: formats.pack(np.zeros((2, 8), np.uint8), "e2m3fn"), "multiple of 16"),
        (lambda: formats.pack([1, 2, 3, 300], "e4m3fn"), "0x12c does not fit the 8 bits"),
        (lambda: formats.pack([1] * 8, "fp4", order="middle"), "allowed: low_first, high_first"),
        (lambda: formats.pack([1] * 16, "fp6", order="high_first"), "only packing order"),
        (lambda: formats.unpack(np.zeros(4, np.uint32), "fp6"), "groups of 3 dwords"),
        (lambda: formats.unpack(np.uint32(7), "e4m3fn"), "groups of 1 dwords along the last axis"),
        (lambda: formats.pack(np.uint8(7), "e4m3fn"), "multiple of 4"),
        (lambda: formats.unpack(np.zeros(4, np.float32), "fp4"), "unsigned integers, not float32"),
        (lambda: formats.select_byte(np.zeros(4, np.uint32), 4), "allowed: 0, 1, 2, 3"),
    ],
)
def test_bad_packing_is_explained(call, text):
    with pytest.raises(MfmasimError, match=text):
        call()


@pytest.mark.parametrize("name", ["fp4", "fp6", "e4m3fn", "f16"])
@pytest.mark.parametrize("shape", [(0,), (0, 32), (3, 0)])
def test_nothing_packs_into_nothing(name, shape):
    dwords = formats.pack(np.zeros(shape, np.uint8), name)
    assert dwords.shape == (*shape[:-1], shape[-1] * formats.format(name).bits // 32)
    assert formats.unpack(dwords, name).shape == shape
