"""Accesses that hardly come again: counted in C they give NumPy's account; and groups of different size."""

from __future__ import annotations

import numpy as np
import pytest

from mfmasim.lds import Accounts, accounting, compiled


def test_groups_of_different_size_at_the_same_addresses():
    """A row may stand for several waves: four, then two."""
    accounts, addresses = Accounts("gfx942", 64), np.arange(64)[None] * 4
    for waves in (4, 2, 4):
        accounts.add("here", "ds_read_b32", addresses, None, 0, waves)
    account = accounts.by_place["here"]
    assert account.executions == 10
    assert (account.histogram.sum(axis=1) == 10).all()


@pytest.mark.parametrize("name", ["ds_read_b32", "ds_write_b64", "ds_read_b128", "ds_write_b8"])
def test_irregular(monkeypatch, name):
    if not compiled.LIBRARY.library(1 << 40):
        pytest.skip("no C compiler")
    monkeypatch.setattr(accounting, "IRREGULAR", 3)
    size = {"32": 4, "64": 8, "28": 16, "b8": 1}[name[-2:]]
    rng = np.random.default_rng(size)
    for _ in range(4):
        calls = []
        for _ in range(40):
            rows = int(rng.choice([1, 4]))
            addresses = rng.integers(0, rng.choice([2, 8, 64]), (rows, 64)) * rng.choice([size, 4, 1])
            active = None if rng.random() < 0.3 else rng.random((rows, 64)) < rng.choice([0.0, 0.1, 0.9])
            calls.append(
                (name, addresses + rng.integers(0, 4, (rows, 1)) * 256, active, 0, rows * int(rng.choice([1, 2])))
            )
        found = []
        for how in ("off", "forced"):
            monkeypatch.setenv("MFMASIM_NATIVE", how)
            accounts = Accounts("gfx942", 64)
            for call in calls:
                accounts.add("here", *call)
            account = accounts.by_place["here"]
            samples = [(s.addresses.tolist(), s.active.tolist(), s.degrees.tolist(), s.base) for s in account.samples]
            found.append((account.histogram.tolist(), account.lowest, account.highest, account.worst_lanes(), samples))
        assert found[0] == found[1]
        assert len(found[0][-1]) == 32
