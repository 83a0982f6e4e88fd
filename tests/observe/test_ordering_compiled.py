"""The order of LDS accesses in C: what a stretch touches, and what it leaves in the shadow, as in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from mfmasim.observe.ordering import compiled
from mfmasim.observe.ordering.records import Sort
from mfmasim.observe.ordering.shadow import Shadow
from mfmasim.observe.ordering.stretch import touched_together
from mfmasim.observe.ordering.touched import NO_UNIT, Patterns

READ, WRITE = (Sort(kind, ("lgkm", "in order"), direct=False) for kind in ("read", "write"))


@pytest.fixture(autouse=True)
def _compiler():
    if not compiled.LIBRARY.library(1 << 40):
        pytest.skip("no C compiler")


def _ordered(last):
    """A list of units by their places."""
    if last is None:
        return []
    return sorted(zip(*(column.tolist() for column in last), strict=True))


def _stretch(rng, per, groups, lds_bytes):
    """Accesses of some waves: most of them of a wave's own part, so that many are apart."""
    waves = np.sort(rng.choice(per * groups, int(rng.integers(1, per * groups + 1)), replace=False))
    if groups == 1:
        waves = np.arange(per)
    part = lds_bytes // per
    parts, kinds, sizes = [], [], []
    for _ in range(int(rng.integers(1, 5))):
        size = int(rng.choice([1, 2, 4, 8, 16]))
        kinds.append(str(rng.choice(["read", "write"])))
        own = (waves % per * part)[:, None] if rng.random() < 0.8 else 0
        addresses = own + rng.integers(0, part, (len(waves), 8)) // size * size
        addresses = addresses + rng.choice([0, 0, 0, 1, lds_bytes, -lds_bytes])
        active = np.broadcast_to(True, addresses.shape) if rng.random() < 0.3 else rng.random(addresses.shape) < 0.7
        parts.append((addresses.astype(np.int64), active))
        sizes.append(size)
    return waves, parts, kinds, sizes


def test_stretches(monkeypatch):
    monkeypatch.setattr(compiled, "FEW", 0)
    rng = np.random.default_rng(3)
    outcomes = {"apart": 0, "together": 0}
    for _ in range(150):
        per, groups, unit, lds_bytes = int(rng.choice([1, 2, 4])), int(rng.choice([1, 3])), int(rng.choice([1, 4])), 256
        shadows = [Shadow(lds_bytes // unit) for _ in range(2)]
        if groups > 1:
            for shadow in shadows:
                shadow.widen(groups)
        for _ in range(3):
            waves, parts, kinds, sizes = _stretch(rng, per, groups, lds_bytes)
            patterns = Patterns(lds_bytes, unit, per)
            total = per * groups
            made = [patterns.of(waves, *part, size, groups, total) for part, size in zip(parts, sizes, strict=True)]
            one = touched_together(kinds, [READ if kind == "read" else WRITE for kind in kinds], made, len(waves))
            other = compiled.examined(parts, sizes, kinds, waves, (groups, per, lds_bytes, unit), total)
            assert (other.touched == [len(touched.units) > 0 for touched, *_ in made]).all()
            some = other.low < NO_UNIT  # waves that touch nothing have no units between these
            low, high = (np.stack([pattern[end] for pattern in made]) for end in (1, 2))
            assert (some == (low < NO_UNIT)).all()
            assert (other.low[some] == low[some]).all()
            assert (other.high[some] == high[some]).all()
            assert (other.low > other.high)[~some].all()
            if not other.touched.all():
                continue
            assert (one is not None) == other.apart
            outcomes["apart" if other.apart else "together"] += 1
            if one is None:
                continue
            assert _ordered(one.reads) == _ordered(other.reads)
            assert _ordered(one.writes) == _ordered(other.writes)
            joined, found = int(rng.integers(0, 4)), []
            for how, shadow, last in (("off", shadows[0], one), ("forced", shadows[1], other)):
                monkeypatch.setenv("MFMASIM_NATIVE", how)
                found.append(shadow.all_ordered(last.reads, last.writes, joined))
                wave = np.tile(waves % per, len(kinds))
                marks = shadow.marks.add(wave, np.full(len(wave), joined, np.int32), 0)
                shadow.put_last(last.reads, last.writes, int(marks[0]))
            assert found[0] == found[1]
            assert (shadows[0].last == shadows[1].last).all()
    assert min(outcomes.values()) > 30
