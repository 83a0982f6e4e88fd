"""Few tiles at once: equal to the plain path, taken within its bounds, and left to others beyond them."""

from dataclasses import replace

import numpy as np
import pytest

from mfmasim import format as number_format
from mfmasim.errors import MfmasimError
from mfmasim.matrix.arithmetic import aligned_steps, bounds, dispatch, small_batches
from mfmasim.matrix.arithmetic import multiply as multiply_operands
from mfmasim.matrix.arithmetic.product import checked_product
from mfmasim.matrix.models import MODELS
from mfmasim.matrix.request import Formats, Modes, Operands
from tests.matrix.flat import multiply

AT_ONCE, BY_STEPS, ELSEWHERE = "at once", "by steps", "elsewhere"
BY_PRODUCTS, BY_MATMUL = ("cdna3_16bit", "f16", 8), ("cdna3_fp8", "e4m3fnuz", 16)


def f32(values):
    return np.asarray(values, np.float32).view(np.uint32)


def outcome(monkeypatch, given, k=None, modes=None):
    """Compare D with the plain path's; whether few tiles' own way gave it, and the additions of `aligned_steps` within.

    `given` is (model, format, K of an instruction) of the way, and A, B, C as codes.
    """
    (name, fmt, _), a, b, c = given
    arguments = MODELS[name], Formats(fmt, fmt, "f32"), Operands(a, b, c), modes or Modes(), k
    found_by, original, add = [], dispatch.SMALL.compute, aligned_steps.add

    def watched(*args):
        found_by.append(AT_ONCE)
        d = original(*args)
        found_by.append(ELSEWHERE if d is None else found_by[-1])
        return d

    with monkeypatch.context() as patch:
        patch.setattr(dispatch, "SMALL", dispatch.SMALL._replace(compute=watched))
        patch.setattr(aligned_steps, "add", lambda *args: (found_by.append(BY_STEPS), add(*args))[1])
        found = multiply_operands(*arguments)
        ways = list(found_by)
    with monkeypatch.context() as patch:
        patch.setattr(bounds, "aligned_parameters", lambda _: False)
        patch.setattr(dispatch, "_all_finite", lambda *_: False)
        expected = multiply_operands(*arguments)
    np.testing.assert_array_equal(found, expected)
    return ELSEWHERE if ELSEWHERE in ways else ways[-1]


def tile(way, left, right, addend, sizes=(3, 2)):
    """One tile: every row of A holds `left`, every column of B `right`, every element of C `addend`."""
    _, fmt, k = way
    row = number_format(fmt)
    m, n = sizes
    a, b = np.zeros((m, k)), np.zeros((k, n))
    a[:, : len(left)] = left
    b[: len(right)] = np.array(right)[:, None]
    return way, row.encode(a), row.encode(b), np.full((m, n), f32(addend))


@pytest.mark.parametrize("way", [BY_PRODUCTS, BY_MATMUL, ("cdna3_16bit", "bf16", 8), ("cdna3_xf32", "xf32", 8)])
def test_every_addend_of_a_product(monkeypatch, way):
    """Addends from far below the grid to far above, of both signs, and their neighbours."""
    ways = []
    powers = np.ldexp(1.0, np.arange(-150, 128))
    values = np.concatenate((powers, powers * (1 + 2.0**-23), powers * (1 - 2.0**-24), powers * 1.37, [0.0]))
    addends = np.concatenate((f32(values), f32(-values), f32([np.inf, -np.inf, np.nan])))
    for left in ([1.0], [1.5, -1.25, 0.125], [-1.0, 1.0]):
        for c in np.split(addends, range(40, len(addends), 40)):
            a, b = tile(way, np.resize(left, 8), np.resize([1.0, 1.0, 0.75], 8), 0.0, (len(c), 1))[1:3]
            ways.append(outcome(monkeypatch, (way, a, b, c.reshape(-1, 1))))
    assert 15 < ways.count(AT_ONCE) < len(ways) - 3
    assert (ways.count(ELSEWHERE) == 0) == (way != BY_MATMUL)


@pytest.mark.parametrize(
    ("way", "left", "right", "addend", "taken"),
    [
        # The grid's exponent, and the addend in units of it.
        (BY_PRODUCTS, [2.0**12], [2.0**12], 1.0, AT_ONCE),
        (BY_PRODUCTS, [2.0**13], [2.0**12], 1.0, BY_STEPS),
        (BY_PRODUCTS, [2.0**13], [2.0**12], -(2.0**-149), BY_STEPS),
        (BY_PRODUCTS, [2.0**12], [2.0**12], -(2.0**-149), AT_ONCE),
        (BY_PRODUCTS, [1.0], [1.0], 63.9, AT_ONCE),
        (BY_PRODUCTS, [1.0], [1.0], -64.0, BY_STEPS),
        (BY_PRODUCTS, [1.0], [1.0], np.inf, BY_STEPS),
        (BY_PRODUCTS, [65504.0] * 8, [65504.0] * 8, -np.inf, BY_STEPS),
        (BY_PRODUCTS, [1.0], [1.0], np.nan, BY_STEPS),
        (BY_PRODUCTS, [0.0], [1.0], 1.0, BY_STEPS),
        (("cdna3_16bit", "bf16", 8), [0.0], [1.0], 1.0, BY_STEPS),
        (("cdna3_16bit", "bf16", 8), [0.0], [1.0], -0.0, BY_STEPS),
        (("cdna3_16bit", "bf16", 8), [2.0**-50], [2.0**-50], 2.0**-96, AT_ONCE),
        (("cdna3_16bit", "bf16", 8), [2.0**-51], [2.0**-50], 2.0**-96, ELSEWHERE),
        (("cdna3_16bit", "bf16", 8), [2.0**62], [2.0**62], 1.0, BY_STEPS),
        (("cdna3_16bit", "bf16", 8), [2.0**63], [2.0**62], 1.0, ELSEWHERE),
        (BY_PRODUCTS, [0.0], [2.0**15], 2.0**-35 * (1 + 2.0**-23), BY_STEPS),
        (BY_PRODUCTS, [2.0**-24], [2.0**-24], 2.0**-35 * (1 + 2.0**-23), AT_ONCE),
        (("cdna3_fp8", "f16", 16), [1.0], [1.0], 1.0, ELSEWHERE),
        (BY_PRODUCTS, [1.0, 2.0**-24], [1.0, 2.0**-1], 1.0, AT_ONCE),
        (BY_PRODUCTS, [1.0, np.nan], [1.0], 1.0, BY_STEPS),
        # Least exponent of the format's products -14, their grain 2^-20: grids up to 2^(4 - 24).
        (BY_MATMUL, [4.0], [4.0], 0.1, AT_ONCE),
        (BY_MATMUL, [8.0], [4.0], 0.1, ELSEWHERE),
        (BY_MATMUL, [4.0, 2.0**-10], [4.0, 2.0**-10], 0.1, AT_ONCE),
        (BY_MATMUL, [2.0**-10], [2.0**-10], 2047.0, AT_ONCE),
        (BY_MATMUL, [2.0**-10], [2.0**-10], 2048.0, ELSEWHERE),
        (BY_MATMUL, [4.0], [4.0], 1023.0, AT_ONCE),
        (BY_MATMUL, [1.0], [1.0], np.nan, AT_ONCE),
        (BY_MATMUL, [1.0], [1.0], -np.inf, ELSEWHERE),
        (BY_MATMUL, [0.0], [1.0], 1.0, AT_ONCE),
        (BY_MATMUL, [-1.0, 0.0], [0.0, -1.0], -0.0, AT_ONCE),
        (BY_MATMUL, [0.0], [-1.0], -(2.0**-149), AT_ONCE),
        (BY_MATMUL, [0.0], [240.0], 2.0**-126 * (1 + 2.0**-23), AT_ONCE),
        (BY_MATMUL, [0.0], [0.0], -2047.0, AT_ONCE),
        (BY_MATMUL, [0.0], [0.0], np.inf, ELSEWHERE),
        (BY_MATMUL, [1.0, np.nan], [1.0], 1.0, AT_ONCE),
        # Addends that are dropped 2^25 below the largest exponent, and not.
        (BY_MATMUL, [1.0], [1.0], -(2.0**-25), AT_ONCE),
        (BY_MATMUL, [1.0], [1.0], -(2.0**-25) * (1 - 2.0**-24), AT_ONCE),
    ],
)
def test_bounds(monkeypatch, way, left, right, addend, taken):
    assert outcome(monkeypatch, tile(way, left, right, addend)) == taken


def test_the_largest_addend_may_be_any_element(monkeypatch):
    """A sum of squares above its bound does not mean that an element is."""
    way, a, b, c = tile(BY_MATMUL, [1.0], [1.0], 1500.0, (16, 16))
    assert outcome(monkeypatch, (way, a, b, c)) == AT_ONCE
    c[3, 5] = f32(2049.0)
    assert outcome(monkeypatch, (way, a, b, c)) == ELSEWHERE
    way, a, b, c = tile(BY_PRODUCTS, [1.0], [1.0], 60.0, (16, 16))
    assert outcome(monkeypatch, (way, a, b, c)) == AT_ONCE
    c[3, 5] = f32(-65.0)
    assert outcome(monkeypatch, (way, a, b, c)) == BY_STEPS
    for way, factor, largest in ((BY_MATMUL, 2.0**-10, 2049.0), (BY_PRODUCTS, 1.0, -65.0)):
        assert outcome(monkeypatch, tile(way, [factor], [factor], largest, (1, 1))) != AT_ONCE


@pytest.mark.parametrize("place", [(0, 0, 0), (1, 2, 7)])
@pytest.mark.parametrize("operand", [1, 2])
@pytest.mark.parametrize("code", [0x7C00, 0xFC00, 0x7E01, 0xFFFF])
def test_special_factors_of_16_bits(monkeypatch, place, operand, code):
    source = np.random.default_rng(code)
    values = [source.standard_normal((2, 8, 8)) for _ in range(3)]
    given = [BY_PRODUCTS, *(number_format("f16").encode(x) for x in values[:2]), f32(values[2])]
    assert outcome(monkeypatch, given) == AT_ONCE
    given[operand][place] = code
    assert outcome(monkeypatch, given) == (ELSEWHERE if code in (0x7C00, 0xFC00) else BY_STEPS)


@pytest.mark.parametrize(("fmt", "code"), [("e4m3fnuz", 0x80), ("e4m3fn", 0x7F), ("e4m3fn", 0xFF)])
@pytest.mark.parametrize("steps", [1, 3])
def test_nan_factors_of_8_bits(monkeypatch, fmt, code, steps):
    """Beside factors of zero too, in any step; others of the tile stay as they are."""
    source = np.random.default_rng(code)
    values = [source.standard_normal(shape) for shape in ((4, 48), (48, 4), (4, 4))]
    a, b = (number_format(fmt).encode(x) for x in values[:2])
    a, b, way = a[:, : 16 * steps].copy(), b[: 16 * steps].copy(), ("cdna4_fp8", fmt, 16)
    a[1], b[5] = 0, 0
    assert outcome(monkeypatch, (way, a, b, f32(values[2])), k=16) == AT_ONCE
    a[2, 5] = code
    assert outcome(monkeypatch, (way, a, b, f32(values[2])), k=16) == AT_ONCE
    b[3, 2], values[2][3, 3] = code, -np.nan
    assert outcome(monkeypatch, (way, a, b, f32(values[2])), k=16) == AT_ONCE


@pytest.mark.parametrize("pair", [("e5m2", "e5m2"), ("e4m3fn", "e5m2"), ("e5m2fnuz", "e4m3fnuz")])
def test_formats_of_a_wide_range_go_other_ways(pair):
    product = checked_product(MODELS["cdna4_fp8"], Formats(*pair, "f32"), Modes(), 16)
    assert product.carriers is None


@pytest.mark.parametrize(
    ("pair", "changes"),
    [
        (("f16", "bf16"), {}),
        (("f32", "f32"), {}),
        (("f16", "f16"), {"partial_sums": 2}),
        (("f16", "f16"), {"drop_addend_below": 25}),
        (("f16", "f16"), {"nan_rules": "rdna"}),
    ],
)
def test_other_models_go_other_ways(pair, changes):
    model = MODELS["cdna3_16bit"]
    assert checked_product(model, Formats("f16", "f16", "f32"), Modes(), 8).carriers is not None
    assert checked_product(replace(model, **changes), Formats(*pair, "f32"), Modes(), 8).carriers is None


def test_an_addend_that_grows_beyond_its_bound(monkeypatch):
    way, a, b, c = tile(("cdna3_fp8", "e4m3fnuz", 32), [1.0] * 16, [1.0] * 16, 2031.0)
    assert outcome(monkeypatch, (way, a, b, c), k=16) == AT_ONCE
    a[:, 20], b[20] = 1, 1
    assert outcome(monkeypatch, (way, a, b, c), k=16) == AT_ONCE
    assert outcome(monkeypatch, (way, a, b, np.full_like(c, f32(2033.0))), k=16) == ELSEWHERE


def test_codes_of_every_kind(monkeypatch):
    """Every pair of codes of FP8, subnormals and zeros included, several steps, several tiles."""
    source, taken = np.random.default_rng(7), 0
    for _ in range(40):
        magnitude = source.integers(0, 0x4B, (2, 2, 16, 32), dtype=np.uint8)
        sign = source.integers(0, 2, magnitude.shape, dtype=np.uint8) << 7
        a, b = np.where(magnitude == 0, 0, magnitude | sign).astype(np.uint8)
        c = f32(source.standard_normal((2, 16, 16)) * 2.0 ** source.integers(-20, 8, (2, 16, 16)))
        taken += outcome(monkeypatch, (BY_MATMUL, a, b.swapaxes(1, 2), c), k=16 * (1 + taken % 2)) == AT_ONCE
    assert taken > 20


def test_results_are_fresh_memory():
    source = np.random.default_rng(1)
    for name, fmt, k in (BY_PRODUCTS, BY_MATMUL):
        a, b = (number_format(fmt).encode(source.standard_normal(shape)) for shape in ((16, k), (k, 16)))
        c = f32(source.standard_normal((16, 16)))
        first = multiply(MODELS[name], fmt, fmt, "f32", a, b, c)
        kept = first.copy()
        multiply(MODELS[name], fmt, fmt, "f32", a, b, first)
        np.testing.assert_array_equal(first, kept)


def test_what_has_to_be_checked_first_is(monkeypatch):
    way, a, b, c = tile(BY_MATMUL, [1.0], [1.0], 0.5)
    assert outcome(monkeypatch, (way, a, b, c)) == AT_ONCE
    signed = a.astype(np.int64)
    assert outcome(monkeypatch, (way, signed, b, c)) == ELSEWHERE
    assert outcome(monkeypatch, (way, a, b[None], c)) == ELSEWHERE
    with pytest.raises(MfmasimError, match="K ="):
        multiply_operands(MODELS[way[0]], Formats(way[1], way[1], "f32"), Operands(a, b, c, index=np.zeros_like(a)))
    for wrong in ((a, b[:-1], c), (a, b, c[:-1]), (signed + 256, b, c), (a[0], b, c), (a, b, c.astype(np.float32))):
        with pytest.raises(MfmasimError):
            multiply(MODELS[way[0]], way[1], way[1], "f32", *wrong)


@pytest.mark.parametrize("modes", [Modes(clamp=True), Modes(fp16_ovfl=True)])
def test_the_clamp_costs_nothing_where_no_step_overflows(monkeypatch, modes):
    assert outcome(monkeypatch, tile(BY_PRODUCTS, [1.0], [1.0], 0.5), modes=modes) == AT_ONCE
    way = "cdna3_16bit", "bf16", 8
    # The first of two steps overflows, the second brings the sum back from the largest number, not from infinity.
    chain = tile((*way[:2], 16), [2.0**64] + [0.0] * 7 + [-(2.0**64)], [2.0**64] + [0.0] * 7 + [2.0**63], 0.0)
    for given in (tile(way, [2.0**64], [2.0**64], 1.0), chain, tile(way, [np.inf], [1.0], 1.0)):
        assert outcome(monkeypatch, given, k=8, modes=modes) == ELSEWHERE


def test_cut_off_instructions_go_other_ways(monkeypatch):
    given = tile(BY_PRODUCTS, [1.0], [1.0], 0.5)
    assert outcome(monkeypatch, given, k=4) == ELSEWHERE
    assert outcome(monkeypatch, given, k=16) == ELSEWHERE
    assert outcome(monkeypatch, given, k=8) == AT_ONCE


def test_many_are_not_few(monkeypatch):
    given = tile(BY_PRODUCTS, [1.0], [1.0], 0.5, (64, 32))
    assert outcome(monkeypatch, given) == AT_ONCE
    given = tile(BY_PRODUCTS, [1.0], [1.0], 0.1, (65, 32))
    assert outcome(monkeypatch, given) == ELSEWHERE


@pytest.mark.parametrize("special", [None, 0, 5, 39])
@pytest.mark.parametrize("place", ["a", "c"])
def test_blocks_of_many(monkeypatch, special, place):
    """Blocks of four tiles: one with a NaN or a large addend goes another way alone, the first with all others."""
    monkeypatch.setattr(small_batches, "BLOCK", 4 * 2 * 6 * 5)
    source = np.random.default_rng(3)
    a, b, c = (source.standard_normal(shape) for shape in ((4, 10, 6, 32), (4, 10, 32, 5), (4, 10, 6, 5)))
    a, b = (number_format("e4m3fnuz").encode(x) for x in (a, b))
    blocks, original = [], small_batches._by_matmul

    def watched(product, factors, *others):
        blocks.append((len(factors[0]), original(product, factors, *others)))
        return blocks[-1][1]

    monkeypatch.setattr(small_batches, "_by_matmul", watched)
    if special is not None and place == "a":
        a.reshape(-1, 6, 32)[special, 2, 20] = 0x80
    if special is not None and place == "c":
        c.reshape(-1, 6, 5)[special, 3, 4] = 3000.0
    taken = outcome(monkeypatch, (BY_MATMUL, a, b, f32(c)), k=16)
    assert taken == (AT_ONCE if special is None or place == "a" else BY_STEPS if special else ELSEWHERE)
    wrong = None if special is None or place == "a" else special // 4
    assert blocks == [(4, block != wrong) for block in range(10 if wrong != 0 else 1)]


def test_many_whose_addends_are_on_the_grain_go_another_way(monkeypatch):
    source = np.random.default_rng(4)
    a, b = (number_format("e4m3fnuz").encode(source.standard_normal(shape)) for shape in ((40, 16, 16), (40, 16, 16)))
    c = np.full((40, 16, 16), f32(2.0**-20))
    assert outcome(monkeypatch, (BY_MATMUL, a, b, c)) == ELSEWHERE
    c[0, 0, 7] = f32(2.0**-21)
    assert outcome(monkeypatch, (BY_MATMUL, a, b, c)) == AT_ONCE
    assert outcome(monkeypatch, (BY_MATMUL, a[:4], b[:4], np.zeros_like(c[:4]))) == AT_ONCE
