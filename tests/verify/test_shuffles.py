"""Orders in which libraries store scales: against their formulas, there and back, and what they refuse."""

import numpy as np
import pytest

import mfmasim
from mfmasim.errors import MfmasimError
from mfmasim.verify.roles import ScaleA, ScaleB, bytes_of, codes_of
from mfmasim.verify.shuffles import SHUFFLES
from tests.slow import shuffles

ARCH = mfmasim.arch("gfx950")


@pytest.mark.parametrize("name", SHUFFLES)
@pytest.mark.parametrize(("rows", "blocks"), [(64, 8), (192, 24)])
def test_every_scale_lies_where_the_formula_says(name, rows, blocks):
    codes = np.random.default_rng(5).integers(0, 256, (rows, blocks, 1), np.uint8)
    across = codes.transpose(1, 0, 2)
    made = ScaleA((rows, blocks), shuffle=name), ScaleB((blocks, rows), order="column", shuffle=name)
    for tensor, held in zip(made, (codes, across), strict=True):
        memory = bytes_of(tensor, held, ARCH)
        assert memory.size == rows * blocks
        assert (codes_of(tensor, memory, ARCH) == held).all()
        for row in range(rows):
            for block in range(blocks):
                assert memory[getattr(shuffles, name)(row, block, rows, blocks)] == codes[row, block, 0]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: ScaleA((48, 8), shuffle="hipblaslt_32x8"),
            "scale_A: hipblaslt_32x8 needs a multiple of 32 rows, not 48",
        ),
        (
            lambda: ScaleB((4, 64), shuffle="hipblaslt_32x8"),
            "scale_B: hipblaslt_32x8 needs a multiple of 8 blocks, not 4",
        ),
        (lambda: ScaleA((64, 6), shuffle="hipkittens_rows"), "a multiple of 4 blocks, not 6"),
        (lambda: ScaleA((64, 8), shuffle="hipblaslt"), "unknown order of scales 'hipblaslt'.*hipblaslt_32x8"),
        (lambda: ScaleA((64, 8), bytes=4, shuffle="hipkittens_rows"), "stores one byte a scale"),
    ],
)
def test_what_does_not_fit_is_refused(make, words):
    with pytest.raises(MfmasimError, match=words):
        make()
