"""Choices between dwords, against np.where."""

import itertools

import numpy as np
import pytest

from mfmasim.machine.numerics.lane_select import FEW, blend, dwords_of, select


@pytest.mark.parametrize("waves", [1, FEW // 64, FEW // 64 + 1, 40])
def test_every_kind_of_operand(waves):
    """Registers, rows, constants in registers, numbers of waves, and numbers without axes."""
    random = np.random.default_rng(waves)
    full = random.integers(0, 1 << 32, (waves, 64), np.uint32)
    row = random.integers(0, 1 << 32, (1, 64), np.uint32)
    constant = np.broadcast_to(np.full((1, 1), 77, np.uint32), (1, 64))
    numbers = random.integers(0, 1 << 32, waves, np.uint32)[:, None]
    operands = [full, row, constant, np.broadcast_to(constant, full.shape), numbers, np.array(5, np.uint32)]
    operands += [full.view(np.float32), constant.view(np.int32)]
    for mask in (random.integers(0, 2, (waves, 64)).astype(np.bool_), np.zeros((waves, 64), np.bool_)):
        before = mask.copy()
        for yes, no in itertools.product(operands, repeat=2):
            out = select(mask, yes, no)
            assert out.dtype == np.uint32
            expected = np.where(mask, yes.view(np.uint32), no.view(np.uint32))
            np.testing.assert_array_equal(out, expected)
            np.testing.assert_array_equal(blend(dwords_of(mask), yes, no), expected)
        np.testing.assert_array_equal(mask, before)


def test_a_mask_of_waves():
    """One boolean for all lanes of a wave, beside constants of as many lanes."""
    mask = np.random.default_rng(3).integers(0, 2, (FEW + 1, 1)).astype(np.bool_)
    yes, no = (np.broadcast_to(np.full((1, 1), value, np.uint32), (1, 64)) for value in (3, 9))
    np.testing.assert_array_equal(select(mask, yes, no), np.where(mask, yes, no))
    np.testing.assert_array_equal(blend(dwords_of(mask), yes, no), np.where(mask, yes, no))
