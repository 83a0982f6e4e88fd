"""Sums of ``aligned`` steps in C: equal to NumPy's in every bit, and which addends are left to it."""

from __future__ import annotations

import numpy as np
import pytest

from mfmasim.matrix.arithmetic import aligned_steps, compiled
from mfmasim.matrix.arithmetic.bounds import EMPTY, aligned_parameters
from mfmasim.matrix.arithmetic.factors import Factors
from mfmasim.matrix.models import MODELS

SHAPES = {
    "tiles": ((16, 3, 16, 1), (16, 3, 1, 16)),
    "few columns": ((8, 2, 5, 1), (8, 2, 1, 7)),
    "wide": ((4, 1, 3, 1), (4, 1, 1, 150)),
    "tiles last": ((8, 4, 1, 70), (8, 1, 5, 70)),
}


def _factors(rng, shape, kind):
    """Random values with their exponents, some zero; int16 exponents spread over the whole range."""
    spread = 12 if kind == np.int8 else 120
    exponent = rng.integers(-spread, spread + 1, shape).astype(kind)
    value = np.ldexp(
        rng.integers(1024, 2048, shape) * rng.choice([-1.0, 1.0], shape), exponent.astype(int) - 10
    ).astype(np.float32)
    zero = rng.random(shape) < rng.choice([0.0, 0.3, 0.9])
    return Factors(np.where(zero, np.float32(0), value), np.where(zero, EMPTY[np.dtype(kind)], exponent), None, None)


def _models():
    """Rows of each combination of what the loops depend on."""
    found = {}
    for model in MODELS.values():
        if aligned_parameters(model):
            found.setdefault((model.partial_sums, model.drop_addend_below), model)
    return list(found.values())


@pytest.mark.parametrize("model", _models(), ids=lambda m: f"{m.partial_sums}-{m.drop_addend_below}")
@pytest.mark.parametrize("kind", [np.int8, np.int16])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_every_bit(monkeypatch, model, kind, shape):
    rng = np.random.default_rng(7)
    if not compiled.LIBRARY.library(1 << 40):
        pytest.skip("no C compiler")
    rests = 0
    for _ in range(6):
        a, b = (_factors(rng, each, kind) for each in SHAPES[shape])
        found = []
        for how in ("off", "forced"):
            monkeypatch.setenv("MFMASIM_NATIVE", how)
            total = aligned_steps.product_sum(model, a, b, slice(0, len(a.value)))
            parts = (total.value, total.e, total.empty, total.scale)
            total = aligned_steps.Sum(*(None if part is None else np.array(part) for part in parts))
            found.append(total)
        one, other = found
        assert one.value.tobytes() == other.value.tobytes()
        assert one.e.tobytes() == other.e.tobytes()
        assert (one.empty is None) == (other.empty is None)
        assert one.empty is None or one.empty.tobytes() == other.empty.tobytes()
        assert one.scale is None or one.scale.tobytes() == other.scale.tobytes()
        c = rng.integers(0, 1 << 32, one.value.shape, dtype=np.uint32).view(np.float32)
        near = np.ldexp(rng.standard_normal(c.shape), one.e + rng.integers(-60, 9, c.shape)).astype(np.float32)
        c = np.where(rng.random(c.shape) < 0.8, near, c).astype(np.float32)
        monkeypatch.setenv("MFMASIM_NATIVE", "off")
        expected = aligned_steps.add(model, one, c, 0).copy()
        monkeypatch.setenv("MFMASIM_NATIVE", "forced")
        assert aligned_steps.add(model, other, c, 1).view(np.uint32).tolist() == expected.view(np.uint32).tolist()
        if one.scale is not None:
            d = np.empty_like(c)
            rest = compiled.add(c, one.value, one.scale, one.empty, model.drop_addend_below, d)
            rests += rest.size
    assert rests or model.partial_sums == 2
