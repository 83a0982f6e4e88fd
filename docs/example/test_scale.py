"""Tests of scale.hip: run `pytest` here, or `pytest --mfmasim-device hip` on a machine with a GPU."""

import numpy as np
import pytest

from mfmasim.testing import assert_same_bits


@pytest.mark.mfmasim(arch=["gfx942", "gfx1201"])
@pytest.mark.parametrize("n", [64, 100, 257])
def test_scale(mfmasim_device, mfmasim_compile, n):
    kernel = mfmasim_compile("scale.hip")["scale"]
    x, y = np.linspace(-3, 3, n, dtype=np.float32), np.zeros(n, np.float32)
    report = mfmasim_device.launch(kernel, -(-n // 64), 64, [x, y, np.float32(0.1), np.int32(n)])
    assert_same_bits(y, np.float32(0.1) * x)
    assert report.lds["bytes"] == 256


@pytest.mark.mfmasim(checks="bounds,races", fail_on="warning")
def test_scale_gives_what_it_always_gave(mfmasim_device, mfmasim_compile, mfmasim_golden):
    kernel = mfmasim_compile("scale.hip", flags=["-O2"])["scale"]
    x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    mfmasim_device.launch(kernel, 1, 64, [x, y, np.float32(1 / 3), np.int32(64)])
    mfmasim_golden.check(y)
