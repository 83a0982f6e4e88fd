"""The shortcuts of the aligned models against the plain path, on every way that a batch can go."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mfmasim import format as number_format
from mfmasim.matrix.arithmetic import (
    aligned_steps,
    aligned_tiles,
    batches,
    bounds,
    matmul_steps,
    one_grid,
    small_batches,
)
from mfmasim.matrix.models import MODELS
from tests.longtier import this_round
from tests.matrix.flat import multiply

PAIRS = [
    ("cdna3_16bit", "f16", "f16", 16),
    ("cdna3_16bit", "bf16", "bf16", 16),
    ("cdna3_xf32", "xf32", "xf32", 8),
    ("cdna3_fp8", "e4m3fnuz", "e4m3fnuz", 32),
    ("cdna3_fp8", "e5m2fnuz", "e4m3fnuz", 16),
    ("cdna3_fp8", "e5m2fnuz", "e5m2fnuz", 32),
    ("cdna4_fp8", "e4m3fn", "e5m2", 32),
    *(
        ("cdna4_f8f6f4_scale", a, b, 64)
        for a, b in itertools.product(("e4m3fn", "e5m2", "e2m3fn", "e3m2fn", "e2m1fn"), repeat=2)
    ),
]
FACTORS = ("bits", "normal", "wide", "one_sided", "subnormal", "zeros")
ADDENDS = ("bits", "normal", "zero", "near", "tiny", "grid")


def codes(source, fmt, shape, kind, *, narrow_range=False):
    """Codes of a data class; `narrow_range` keeps the exponents together."""
    row = number_format(fmt)
    if kind == "bits":
        return source.integers(0, 1 << row.bits, shape, dtype=np.uint64).astype(dtype(row))
    if kind == "subnormal":
        sign = source.integers(0, 2, shape) << (row.bits - 1)
        return (sign | source.integers(0, 1 << row.mantissa_bits, shape)).astype(dtype(row))
    values = source.standard_normal(shape)
    if kind == "wide" or (kind == "one_sided" and not narrow_range):
        values = values * 2.0 ** source.integers(-30, 14, shape)
    found = row.encode(values).astype(dtype(row))
    if kind == "zeros":
        found[source.random(shape) < 0.7] = 0
        found[..., :3, :] = 0
    return found


def dtype(row):
    return {32: np.uint32, 16: np.uint16}.get(row.bits, np.uint8)


def addend(source, shape, kind):
    if kind == "bits":
        return source.integers(0, 1 << 32, shape, dtype=np.uint64).astype(np.uint32)
    values = {
        "normal": lambda: source.standard_normal(shape),
        "zero": lambda: np.where(source.random(shape) < 0.5, 0.0, -0.0),
        "near": lambda: source.standard_normal(shape) * 2.0 ** source.integers(-32, 40, shape),
        "tiny": lambda: -np.abs(source.standard_normal(shape)) * 2.0 ** source.integers(-149, -20, shape),
        "grid": lambda: source.integers(-(1 << 12), 1 << 12, shape) * 2.0**-10,
    }[kind]()
    with np.errstate(under="ignore"):
        return values.astype(np.float32).view(np.uint32)


def compare(monkeypatch, pair, shape, factors, addends, seed, **ways):
    """Run the fast way (with the given settings of `aligned_tiles`) and the plain one; returns the outputs compared."""
    model, a_format, b_format, k = pair
    batch, m, n = shape
    source = np.random.default_rng(seed)
    a = codes(source, a_format, (*batch, m, k), factors)
    b = codes(source, b_format, (*batch, k, n), factors, narrow_range=True)
    arguments = (MODELS[model], a_format, b_format, "f32", a, b, addend(source, (*batch, m, n), addends))
    scales = {}
    if MODELS[model].scale_point and seed % 2:
        spread = (120, 135) if seed % 4 == 1 else (0, 256)
        scales["scale_a"] = source.integers(*spread, (*batch, m, k // 32)).astype(np.uint8)
        scales["scale_b"] = source.integers(*spread, (*batch, k // 32, n)).astype(np.uint8)
    with monkeypatch.context() as patch:
        for name, value in ways.items():
            for module in (small_batches, aligned_tiles, batches, one_grid):
                if hasattr(module, name):
                    patch.setattr(module, name, value)
        found = multiply(*arguments, **scales)
    with monkeypatch.context() as patch:
        patch.setattr(bounds, "aligned_parameters", lambda _: False)
        expected = multiply(*arguments, **scales)
    wrong = np.argwhere(found != expected)
    where = tuple(wrong[0]) if len(wrong) else ()
    assert not len(wrong), f"{len(wrong)} of {found.size}: {where} {hex(found[where])} plain {hex(expected[where])}"
    return found.size


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: "-".join(map(str, pair)))
def test_every_way_gives_the_plain_result(monkeypatch, pair):
    compared = 0
    ways = [
        (((3,), 4, 5), {}),  # all steps at once
        (((3,), 4, 5), {"MOST": 0, "BLOCK": 0}),  # natural order: matrix products or a loop over k
        (((50,), 4, 4), {}),  # tile index innermost for 16-bit factors
        (((2,), 9, 8), {"MOST": 0, "BLOCK": 0, "OUTPUTS": 16}),  # bands of rows
    ]
    for seed, (factors, addends) in enumerate(itertools.product(FACTORS, ADDENDS)):
        shape, settings_ = ways[seed % len(ways)]
        compared += compare(monkeypatch, pair, shape, factors, addends, seed, **settings_)
        shape, settings_ = ways[(seed + 1) % len(ways)]
        compared += compare(monkeypatch, pair, shape, factors, addends, seed + 1000, **settings_)
    assert compared > 10_000


def test_the_last_instruction_may_be_cut_off(monkeypatch):
    """K of 20 in instructions of 16, of which a step takes 8: the last step has 4."""
    source = np.random.default_rng(2)
    a, b = codes(source, "f16", (3, 16, 20), "normal"), codes(source, "f16", (3, 20, 5), "normal")
    arguments = (MODELS["cdna3_16bit"], "f16", "f16", "f32", a, b, addend(source, (3, 16, 5), "normal"))
    found = multiply(*arguments, k=16)
    monkeypatch.setattr(bounds, "aligned_parameters", lambda _: False)
    np.testing.assert_array_equal(found, multiply(*arguments, k=16))


@pytest.mark.parametrize(("tiles_", "m", "n"), [(60, 16, 4), (60, 4, 16), (3, 40, 16), (30, 3, 40)])
@pytest.mark.parametrize(("model", "fmt"), [("cdna3_16bit", "f16"), ("cdna3_fp8", "e4m3fnuz")])
def test_no_step_works_on_more_outputs_than_bound_the_memory(monkeypatch, model, fmt, tiles_, m, n):
    for module in (aligned_tiles, batches, one_grid):
        monkeypatch.setattr(module, "OUTPUTS", 512)
    monkeypatch.setattr(aligned_tiles, "_TILES", 32)
    monkeypatch.setattr(small_batches, "MOST", 0)
    monkeypatch.setattr(small_batches, "BLOCK", 0)
    sizes, add = [], aligned_steps.add
    monkeypatch.setattr(aligned_steps, "add", lambda *arguments: (sizes.append(arguments[2].size), add(*arguments))[1])
    source = np.random.default_rng(4)
    a, b = codes(source, fmt, (tiles_, m, 16), "wide"), codes(source, fmt, (tiles_, 16, n), "wide")
    multiply(MODELS[model], fmt, fmt, "f32", a, b, addend(source, (tiles_, m, n), "near"))
    assert 256 <= max(sizes) <= 512


@pytest.mark.long
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: "-".join(map(str, pair)))
def test_every_way_on_many(monkeypatch, pair):
    compared = 0
    for number, (factors, addends) in enumerate(itertools.product(FACTORS, ADDENDS)):
        seed = number + this_round() * len(FACTORS) * len(ADDENDS)
        for shape, settings_ in (
            (((20,), 16, 16), {"MOST": 0, "BLOCK": 0}),
            (((20,), 16, 16), {}),
            (((60,), 16, 16), {}),
            (((1,), 70, 33), {"OUTPUTS": 512}),
        ):
            compared += compare(monkeypatch, pair, shape, factors, addends, seed, **settings_)
    assert compared > 1_000_000


def test_the_ways_are_taken(monkeypatch):
    """Each shortcut runs on the data it is made for: a test of the tests above."""
    seen = set()

    def watch(owner, name):
        original = getattr(owner, name)

        def wrapped(*args, **kwargs):
            result = original(*args, **kwargs)
            if result is not None or name == "_add_rest":
                seen.add(name)
            return result

        monkeypatch.setattr(owner, name, wrapped)

    for owner, names in (
        (aligned_steps, ("product_sum", "_add_rest")),
        (small_batches, ("_by_products", "_by_matmul")),
        (aligned_tiles, ("on_one_grid", "_natural", "_tiles_last", "complete_tiles")),
        (matmul_steps.MatmulSteps, ("step_sum", "_mend")),
        (one_grid, ("_add_steps",)),
    ):
        for name in names:
            watch(owner, name)
    source = np.random.default_rng(0)
    for model, fmt, batch, kind in (
        ("cdna3_16bit", "f16", 1, "normal"),
        ("cdna3_16bit", "f16", 30, "normal"),
        ("cdna3_16bit", "f16", 80, "normal"),
        ("cdna3_16bit", "f16", 80, "bits"),
        ("cdna3_fp8", "e4m3fnuz", 1, "normal"),
        ("cdna3_fp8", "e4m3fnuz", 80, "normal"),
        ("cdna3_16bit", "bf16", 80, "bits"),
        ("cdna3_fp8", "e5m2fnuz", 80, "wide"),
    ):
        a, b = codes(source, fmt, (batch, 16, 16), kind), codes(source, fmt, (batch, 16, 16), kind)
        for addends in ("zero", "normal", "near"):
            multiply(MODELS[model], fmt, fmt, "f32", a, b, addend(source, (batch, 16, 16), addends))
    assert seen == {
        "product_sum",
        "_add_rest",
        "_by_products",
        "_by_matmul",
        "_natural",
        "_tiles_last",
        "complete_tiles",
        "on_one_grid",
        "_add_steps",
        "step_sum",
        "_mend",
    }


@pytest.mark.parametrize(("model", "fmt", "k"), [("cdna3_fp8", "e4m3fnuz", 16), ("cdna3_16bit", "f16", 8)])
def test_chain_is_a_loop_of_instructions(model, fmt, k):
    source = np.random.default_rng(2)
    a, b = codes(source, fmt, (48, 128), "normal"), codes(source, fmt, (128, 40), "normal")
    c = addend(source, (48, 40), "normal")
    expected = c
    for start in range(0, 128, k):
        part = slice(start, start + k)
        expected = multiply(MODELS[model], fmt, fmt, "f32", a[:, part], b[part], expected)
    np.testing.assert_array_equal(multiply(MODELS[model], fmt, fmt, "f32", a, b, c, k=k), expected)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1 << 32), st.integers(1, 3), st.integers(1, 5), st.integers(1, 7), st.sampled_from(FACTORS))
def test_one_tile_of_a_batch_is_that_tile_alone(seed, x, m, n, kind):
    """Neighbours, the size of the batch and the order of computation never change a tile."""
    source = np.random.default_rng(seed)
    for model, fmt in (("cdna3_fp8", "e5m2fnuz"), ("cdna3_16bit", "f16")):
        a, b = codes(source, fmt, (30 * x, m, 16), kind), codes(source, fmt, (30 * x, 16, n), kind)
        c = addend(source, (30 * x, m, n), ADDENDS[seed % len(ADDENDS)])
        whole = multiply(MODELS[model], fmt, fmt, "f32", a, b, c)
        i = seed % (30 * x)
        np.testing.assert_array_equal(whole[i], multiply(MODELS[model], fmt, fmt, "f32", a[i], b[i], c[i]))
