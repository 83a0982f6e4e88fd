"""Products of narrow factors whose sums are exact before they are rounded, at the bounds of that, against the steps."""

import itertools

import numpy as np
import pytest

from mfmasim.formats import FORMATS
from mfmasim.matrix.arithmetic import batches, multiply, multiply_exactly, one_grid
from mfmasim.matrix.arithmetic.complete import aligned
from mfmasim.matrix.arithmetic.product import Product
from mfmasim.matrix.models import MODELS
from mfmasim.matrix.request import PLAIN, Formats, Operands

PAIRS = [
    ("cdna3_fp8", "e4m3fnuz", "e4m3fnuz", 32),
    ("cdna3_fp8", "e5m2fnuz", "e4m3fnuz", 16),
    ("cdna4_f8f6f4", "e4m3fn", "e4m3fn", 128),
    ("cdna4_f8f6f4", "e5m2", "e2m3fn", 128),
    ("cdna4_f8f6f4", "e2m1fn", "e3m2fn", 64),
]
SPREADS = (0.02, 0.3, 1.0, 3.0, 40.0)


def factors(source, name, shape, spread, least):
    """Codes of normally distributed values, none but zero below `least`."""
    values = source.standard_normal(shape) * spread
    values[np.abs(values) < least] = 0
    return FORMATS[name].encode(values)


def plain(product, operands):
    """The steps as the model defines them, a tile at a time."""
    shape = operands.c.shape
    a, b = (
        np.broadcast_to(x, (*shape[:-2], *x.shape[-2:])).reshape(-1, *x.shape[-2:]) for x in (operands.a, operands.b)
    )
    return aligned(product, Operands(a, b, operands.c.reshape(-1, *shape[-2:]))).reshape(shape)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: "-".join(map(str, pair)))
def test_exact_products_are_those_of_the_steps(pair, monkeypatch):
    """Factors of several spreads, addends up to the bound; A and B broadcast; by float32 and by float64."""
    model, a_format, b_format, k = pair
    formats = Formats(a_format, b_format, "f32")
    product, kinds, found = Product(MODELS[model], formats, PLAIN, k), set(), 0
    add_steps = one_grid._add_steps

    def watched(value, operands, size, grain, bounds):
        kinds.add((bounds[1] <= 2.0 ** (grain + 24), size == k))
        return add_steps(value, operands, size, grain, bounds)

    monkeypatch.setattr(one_grid, "_add_steps", watched)
    monkeypatch.setattr(one_grid, "OUTPUTS", 512)
    monkeypatch.setattr(batches, "OUTPUTS", 512)
    for seed, (spread, other, bits) in enumerate(itertools.product(SPREADS, SPREADS, (0, 8, 23, 29, 31))):
        source = np.random.default_rng(seed)
        least = (2.0**-9, 2.0**-3)[seed % 2]
        a = factors(source, a_format, (5, 1, 33, k), spread, least)
        b = factors(source, b_format, (1 if seed % 3 else 5, 2, k, 7), other, least)
        lowest = sum(
            np.frexp(np.abs(FORMATS[name].decode(x))[FORMATS[name].decode(x) != 0].min(initial=1))[1] - 1
            for name, x in ((a_format, a), (b_format, b))
        )
        units = source.integers(-(1 << bits), 1 << bits, (5, 2, 33, 7), endpoint=True)
        c = np.ldexp(units.astype(np.float64), int(lowest)).astype(np.float32)
        c[0, 0, 0] = -0.0
        operands = Operands(a, b, c.view(np.uint32))
        d = multiply_exactly(MODELS[model], formats, operands)
        if d is not None:
            found += 1
            np.testing.assert_array_equal(d, plain(product, operands), err_msg=f"{seed}")
    assert found > 40
    assert (True, True) in kinds
    if k > 16:  # several steps, rounded after each, where float32 and where only float64 holds their sums
        assert (True, False) in kinds
        assert (False, False) in kinds or FORMATS[a_format].bits < 8


@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("where", "abc")
def test_what_is_not_finite_is_left_to_the_steps(special, where):
    a, b = (np.full((1, 16, 16), FORMATS["e5m2"].encode(np.array(1.0))) for _ in "ab")
    c = np.zeros((1, 16, 16), np.float32)
    given = Operands(a, b, c.view(np.uint32))
    model, formats = MODELS["cdna4_f8f6f4"], Formats("e5m2", "e5m2", "f32")
    assert (multiply_exactly(model, formats, given).view(np.float32) == 16).all()
    code = {"nan": 0x7F, "inf": 0x7C, "-inf": 0xFC}[str(special)]
    (c if where == "c" else {"a": a, "b": b}[where])[0, 3, 3] = special if where == "c" else code
    assert multiply_exactly(model, formats, given) is None


def test_sums_that_grow_out_of_bounds_are_left_to_the_steps():
    """Each step adds 16 * 240 * 240; after 2^30 units of 2^-20 a grid could be coarser."""
    a = np.full((1, 4, 128), FORMATS["e4m3fnuz"].encode(np.array(240.0)))
    b = a.swapaxes(1, 2).copy()
    a[0, 0, 0] = b[0, 0, 0] = 1  # 2^-10
    c = np.zeros((1, 4, 4), np.uint32)
    assert multiply_exactly(MODELS["cdna3_fp8"], Formats("e4m3fnuz", "e4m3fnuz", "f32"), Operands(a, b, c)) is None


@pytest.mark.parametrize("place", [(0, 0, 0), (0, 15, 3), (2, 7, 15)])
def test_one_addend_off_the_grid_leaves_all_to_the_steps(place):
    a, b = (np.full((3, 16, 16), FORMATS["e4m3fn"].encode(np.array(1.0))) for _ in "ab")
    c = np.ones((3, 16, 16), np.float32)
    how = MODELS["cdna4_f8f6f4"], Formats("e4m3fn", "e4m3fn", "f32")
    assert multiply_exactly(*how, Operands(a, b, c.view(np.uint32))) is not None
    c[place] += 2.0**-7  # products are multiples of 2^-6
    assert multiply_exactly(*how, Operands(a, b, c.view(np.uint32))) is None


def test_a_step_that_lies_in_two_bounds_may_need_float64():
    """The second instruction's step, terms 24 to 39, has 15 products of 1.875 and one of 2^-20: 25 bits, less C."""
    a, b = np.zeros((1, 1, 48), np.uint8), np.zeros((1, 48, 1), np.uint8)
    code = FORMATS["e4m3fnuz"].encode
    a[0, 0, 24:39], b[0, 24:39, 0], a[0, 0, 39], b[0, 39, 0] = code(np.array(1.875)), code(np.array(1.0)), 1, 1
    c = np.full((1, 1, 1), -15 * 1.875, np.float32).view(np.uint32)
    formats = Formats("e4m3fnuz", "e4m3fnuz", "f32")
    d = multiply(MODELS["cdna3_fp8"], formats, Operands(a, b, c), k=24)
    assert d.view(np.float32).item() == 2.0**-20


def test_other_models_and_scales_are_left_to_their_own_ways():
    one = np.full((1, 16, 16), 0x3C00, np.uint16)
    c = np.zeros((1, 16, 16), np.uint32)
    assert multiply_exactly(MODELS["cdna3_16bit"], Formats("f16", "f16", "f32"), Operands(one, one, c)) is None
