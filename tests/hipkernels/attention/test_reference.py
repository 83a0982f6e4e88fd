"""The references of hipkernels/attention: float64, its bound, and the replay, each held to something simpler."""

import math
from fractions import Fraction

import numpy as np
import pytest

from mfmasim.errors import MfmasimError
from mfmasim.verify import find

((_, CASES),) = find("attention")
HERE = CASES[0].build.__globals__
replay, operands, decode, attention = HERE["replay"], HERE["operands"], HERE["decode"], HERE["attention"]
fma, power = replay.fma, replay.power


def by_hand(q, k, v, causal, scale):
    """Attention for one head by Python's own numbers: sums without rounding, no largest score."""
    queries, keys, out = len(q), len(k), np.zeros(q.shape)
    for i, row in enumerate(q):
        last = {0: keys, 1: i + 1, 2: keys - queries + i + 1}[causal]
        seen = range(max(0, min(keys, last)))
        weights = [
            math.exp(scale * math.fsum(float(x) * float(y) for x, y in zip(row, k[j], strict=True))) for j in seen
        ]
        for d in range(q.shape[1]):
            if weights:
                products = (w * float(v[j, d]) for w, j in zip(weights, seen, strict=True))
                out[i, d] = math.fsum(products) / math.fsum(weights)
    return out


@pytest.mark.parametrize("causal", [0, 1, 2])
@pytest.mark.parametrize("sizes", [(9, 5), (4, 11), (7, 7)])
def test_the_reference_is_attention(causal, sizes):
    rng = np.random.default_rng(sizes)
    q, k, v = (rng.normal(size=(n, 8)) for n in (*sizes, sizes[1]))
    found, _ = attention("f16", *(x[None, None] for x in (q, k, v)), causal, -0.5)
    np.testing.assert_allclose(found[0, 0], by_hand(q, k, v, causal, -0.5), rtol=1e-13, atol=1e-15)


def test_what_the_reference_defines():
    q, k, v = np.ones((1, 1, 3, 4)), np.ones((1, 1, 3, 4)), np.arange(12.0).reshape(1, 1, 3, 4)
    assert (attention("f16", q, k, v, 0, 0.0)[0] == v.mean(axis=2)).all()  # scale 0: the average
    none = attention("f16", q, k[:, :, :1], v[:, :, :1], 2, None)[0]
    assert (none[0, 0, :2] == 0).all()  # no key: 0
    assert (none[0, 0, 2] == v[0, 0, 0]).all()  # one key: its row
    assert (attention("f16", q, k[:, :, :0], v[:, :, :0], 0, None)[0] == 0).all()
    k[0, 0, :, 0] = -np.inf
    assert (attention("f16", q, k, v, 0, None)[0] == 0).all()  # scores of -Inf alone
    assert np.isnan(attention("f16", q, k, v, 0, -1.0)[0]).all()  # +Inf
    k[0, 0, 0] = v[0, 0, 2] = np.nan
    found = attention("f16", q, k, v, 1, None)[0]
    assert np.isnan(found).all()  # the first key is seen by all
    k[0, 0] = 1
    found = attention("f16", q, k, v, 1, None)[0]
    assert np.isfinite(found[0, 0, :2]).all()  # a hidden NaN is none
    assert np.isnan(found[0, 0, 2]).all()


def test_fma_rounds_once():
    rng = np.random.default_rng(3)
    a, b = (rng.normal(size=4000).astype(np.float32) for _ in "ab")
    c = np.ldexp(rng.normal(size=4000), rng.integers(-60, 60, 4000)).astype(np.float32)
    c[:1000] = (-(a[:1000].astype(np.float64) * b[:1000])).astype(np.float32)
    found = fma(a, b, c)
    for i in range(4000):
        exact = Fraction(float(a[i])) * Fraction(float(b[i])) + Fraction(float(c[i]))
        near = [found[i], np.nextafter(found[i], np.float32(-np.inf)), np.nextafter(found[i], np.float32(np.inf))]
        gaps = [abs(Fraction(float(x)) - exact) for x in near]
        assert gaps[0] == min(gaps)
        if gaps.count(gaps[0]) > 1:
            assert int(found[i].view(np.uint32)) & 1 == 0


@pytest.mark.parametrize("arch", ["gfx942", "gfx1201"])
def test_powers_of_two(arch):
    x = np.array([0, 1e-40, -1, 3, -126, -126.5, -np.inf, np.inf, 128], np.float32)
    assert power(arch, x).tolist() == [1, 1, 0.5, 8, 2.0**-126, 0, 0, np.inf, np.inf]
    assert np.isnan(power(arch, np.float32([np.nan]))).all()


@pytest.mark.parametrize("fmt", ["f16", "bf16"])
@pytest.mark.parametrize(("kind", "causal", "scale"), [("normal", 0, None), ("normal", 2, -3.0), ("large", 1, None)])
def test_the_replays_lie_within_the_bound(fmt, kind, causal, scale):
    codes = operands.draw(kind, fmt, (1, 2, 40, 32), (1, 2, 75, 32))
    numbers = [decode(fmt, c).astype(np.float64) for c in codes]
    for found, tile, inner in (
        (replay.scalar("gfx942", fmt, *codes, causal, scale), 1, "f32"),
        (replay.tiled("gfx1201", fmt, *codes, causal, scale), 32, fmt),
    ):
        exact, bound = attention(fmt, *numbers, causal, scale, tile=tile, weights_in=inner)
        used = np.abs(decode(fmt, found) - exact) / np.where(bound > 0, bound, 1)
        assert used.max() <= 1
        assert kind == "large" or used.max() > 0.2  # a bound that says something


@pytest.mark.parametrize(("score", "found"), [(-200.0, np.nan), (-20.0, -np.inf)])
def test_a_weight_that_is_lost_leaves_nan_of_an_infinite_value(score, found):
    """2**-289 is no single: 0 times infinity is NaN; in float64 it counts, and gives infinity."""
    q, k, v = np.ones((1, 1, 1, 2)), np.zeros((1, 1, 2, 2)), np.array([[-np.inf, 3.0], [1.0, 5.0]])[None, None]
    k[0, 0, 0, 0] = score
    codes = [replay.encode("bf16", x) for x in (q, k, v)]
    out = HERE["expected"]("scalar", "gfx942", "bf16", codes, 0, 1.0)
    np.testing.assert_array_equal(decode("bf16", out)[0, 0, 0, 0], found)
    exact, bound = attention("bf16", q, k, v, 0, 1.0, tile=1, weights_in="f32")
    assert exact[0, 0, 0, 0] == -np.inf
    assert bound[0, 0, 0, 0] == (np.inf if np.isnan(found) else 0)
    assert np.isfinite(bound[0, 0, 0, 1])


def test_nan_is_wrong_where_no_weight_is_lost(monkeypatch):
    q, k, v = np.ones((1, 1, 1, 2)), np.zeros((1, 1, 2, 2)), np.array([[-np.inf, 3.0], [1.0, 5.0]])[None, None]
    codes = [replay.encode("bf16", x) for x in (q, k, v)]
    monkeypatch.setattr(replay, "scalar", lambda *_: np.full((1, 1, 1, 2), 0x7FC0, np.uint16))
    with pytest.raises(MfmasimError, match="2 of 2 elements lie outside the bound"):
        HERE["expected"]("scalar", "gfx942", "bf16", codes, 0, 1.0)


@pytest.mark.long
@pytest.mark.parametrize("fmt", ["f16", "bf16"])
@pytest.mark.parametrize("arch", ["gfx942", "gfx950", "gfx1151", "gfx1201", "scalar"])
def test_no_problem_of_many_uses_more_than_the_bound_and_some_almost_all_of_it(arch, fmt):
    rng, most = np.random.default_rng(12), 0
    for number in range(40):
        queries, keys, causal = int(rng.integers(1, 40)), int(rng.integers(1, 150)), int(rng.integers(0, 3))
        scale = [None, rng.normal(), 10 * rng.normal(), rng.normal() / 100, 0.0][number % 5]
        q, k, v = (2.0 ** rng.integers(-12, 10) * rng.normal(size=(1, 1, n, 32)) for n in (queries, keys, keys))
        if number % 3 == 1:
            q, k = abs(q), abs(k)
        if number % 4 == 1:
            v += 50 * abs(v).mean()  # far from 0
        codes = [replay.encode(fmt, np.clip(x, -60000, 60000)) for x in (q, k, v)]
        if arch == "scalar":
            found, how = replay.scalar("gfx942", fmt, *codes, causal, scale), {"tile": 1, "weights_in": "f32"}
        else:
            found, how = replay.tiled(arch, fmt, *codes, causal, scale), {"tile": 32, "weights_in": fmt}
        exact, bound = attention(fmt, *(decode(fmt, c).astype(np.float64) for c in codes), causal, scale, **how)
        most = max(most, (np.abs(decode(fmt, found) - exact) / bound).max())
    assert 0.8 < most <= 1


def test_a_result_outside_the_bound_is_told(monkeypatch):
    monkeypatch.setitem(
        replay.tiled.__globals__, "base_of", lambda top: np.where(np.isinf(top), np.float32(0), top / 2)
    )
    monkeypatch.setitem(replay.tiled.__globals__, "sum_of_row", lambda x: x.sum(axis=-1) * np.float32(1.01))
    codes = operands.draw("normal", "f16", (1, 1, 3, 32), (1, 1, 40, 32))
    with pytest.raises(MfmasimError, match=r"95 of 96 elements lie outside the bound, O\[0, 0, 0, 0\]"):
        HERE["expected"]("tiled", "gfx1151", "f16", codes, 0, None)
