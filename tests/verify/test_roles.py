"""Arguments in memory: every order, gap and width comes back; sub-byte formats are packed low first."""

import numpy as np
import pytest

import mfmasim
from mfmasim.errors import MfmasimError
from mfmasim.verify.roles import A, B, C, ScaleA, bytes_of, codes_of, format_of

ARCH = mfmasim.arch("gfx950")


@pytest.mark.parametrize("name", ["f64", "f32", "f16", "bf16", "fp8", "bf8", "e2m3fn", "e2m1fn"])
@pytest.mark.parametrize("order", ["row", "column"])
@pytest.mark.parametrize("gap", [0, 16])
def test_round_trip(name, order, gap):
    tensor = A(name, (16, 32), order, ld=(32 if order == "row" else 16) + gap)
    fmt = format_of(tensor, ARCH)
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 1 << min(fmt.bits, 62), (16, 32), dtype=np.uint64).astype(fmt.carrier)
    memory = bytes_of(tensor, codes, ARCH)
    assert memory.dtype == np.uint8
    assert memory.size * 8 == tensor.ld * tensor.lines * fmt.bits
    assert (codes_of(tensor, memory, ARCH) == codes).all()


def test_fp4_pairs_stand_low_nibble_first():
    memory = bytes_of(A("e2m1fn", (1, 4)), np.array([[1, 2, 3, 4]], np.uint8), ARCH)
    assert memory.tolist() == [0x21, 0x43]


def test_scale_words():
    tensor = ScaleA((2, 3), bytes=4, select=1)
    codes = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    memory = bytes_of(tensor, codes, ARCH)
    assert memory.tolist() == list(range(24))
    assert (codes_of(tensor, memory, ARCH) == codes).all()


def test_fp8_is_the_architectures_own():
    assert format_of(A("fp8", (1, 1)), mfmasim.arch("gfx942")).name == "e4m3fnuz"
    assert format_of(B("bf8", (1, 1)), ARCH).name == "e5m2"
    with pytest.raises(MfmasimError, match="gfx1100 has no native fp8"):
        format_of(A("fp8", (1, 1)), mfmasim.arch("gfx1100"))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: A("f16", (2, 3), order="diagonal"), "unknown order 'diagonal'"),
        (lambda: A("f16", (2, 3), ld=2), "ld 2, less than the 3"),
        (lambda: C("f32", (0, 3)), "two positive sizes"),
        (lambda: ScaleA((2, 1), bytes=4, select=4), "selects byte 4 of 4"),
        (lambda: A("f16", (2, 3)) @ B("f16", (4, 2)), "inner sizes differ"),
        (lambda: A("f16", (2, 48)) * ScaleA((2, 5)), "evenly"),
    ],
)
def test_wrong_declarations(make, words):
    with pytest.raises(MfmasimError, match=words):
        make()
