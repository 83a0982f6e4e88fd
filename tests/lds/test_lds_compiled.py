"""Bank conflicts counted in C: equal to NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

from mfmasim.lds import compiled
from mfmasim.lds.counting import count_degrees


@pytest.mark.parametrize("size", [1, 2, 4, 8, 12, 16])
def test_degrees(monkeypatch, size):
    if not compiled.LIBRARY.library(1 << 40):
        pytest.skip("no C compiler")
    rng = np.random.default_rng(size)
    worst = 0
    for _ in range(30):
        lanes, phases, waves = int(rng.choice([32, 64])), int(rng.choice([1, 2, 4, 8])), int(rng.integers(1, 7))
        cuts = np.sort(rng.choice(np.arange(1, lanes), phases - 1, replace=False))  # phases of different lengths
        sets = tuple(tuple(part.tolist()) for part in np.split(rng.permutation(lanes), cuts))
        addresses = rng.integers(0, rng.choice([4, 64, 4096]), (waves, lanes)) * rng.choice([1, 4, 16])
        active = None if rng.random() < 0.4 else rng.random((waves, lanes)) < rng.random()
        banks, found = int(rng.choice([32, 64])), []
        for how in ("off", "forced"):
            monkeypatch.setenv("MFMASIM_NATIVE", how)
            found.append(count_degrees(sets, banks, addresses, size, active))
        worst = max(worst, int(found[0].max()))
        assert found[0].dtype == found[1].dtype
        assert (found[0] == found[1]).all()
    assert worst > 4
