"""The fast NumPy arithmetic against the slow model, bit for bit, NaN bits included, for every row of the models."""

import zlib
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mfmasim.matrix.models import MODELS
from tests.longtier import this_round
from tests.matrix import dot_data
from tests.matrix.flat import multiply
from tests.slow import matrix as slow

CASES = dot_data.cases()
# One K of each model and pair of formats; of rows like those of others, equal formats. The long tier takes all.
TWINS = {"cdna5_fp8", "cdna5_scale", "cdna5_sparse_fp8"}
QUICK = list({case[:4]: case for case in reversed(CASES) if case[0] not in TWINS or case[1] == case[2]}.values())


def name_of(case):
    return "-".join(str(part) for part in case[:5])


def modifiers(source, model):
    """Random settings of the modifiers that the model has."""
    chosen = {"fp16_ovfl": bool(source.integers(0, 3) == 0)}
    if model.clamp != "none":
        chosen["clamp"] = bool(source.integers(0, 3) == 0)
    if model.mode_denormals:
        chosen["denormals"] = bool(source.integers(0, 3) > 0)
    return chosen


def compare(case, a, b, c, more, model=None):
    """Run both; returns the number of elements compared."""
    name, a_format, b_format, d_format = case[:4]
    arguments = (model or MODELS[name], a_format, b_format, d_format, a, b, c)
    expected = slow.multiply(*arguments, **more)
    found = multiply(*arguments, **more)
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    if not np.array_equal(found, expected):
        wrong = np.argwhere(found != expected)
        *place, i, j = wrong[0]
        scales = {key: value[tuple(place)].tolist() for key, value in more.items() if isinstance(value, np.ndarray)}
        flags = {key: value for key, value in more.items() if not isinstance(value, np.ndarray)}
        pytest.fail(
            f"{len(wrong)} of {found.size} differ; {name} {a_format} {b_format} {d_format} {flags} {scales} row {i} "
            f"column {j}: a {[hex(x) for x in a[(*place, i)]]} b {[hex(x) for x in b[(*place, slice(None), j)]]} "
            f"c {hex(c[tuple(wrong[0])])} fast {hex(found[tuple(wrong[0])])} slow {hex(expected[tuple(wrong[0])])}"
        )
    return found.size


def run(case, kind, rounds, seed):
    source = np.random.default_rng(zlib.crc32(f"{name_of(case)} {kind} {seed}".encode()))
    compared = 0
    for _ in range(rounds):
        a, b, c, more = dot_data.matrices(source, case, kind)
        compared += compare(case, a, b, c, {**more, **modifiers(source, MODELS[case[0]])})
    assert compared == 8 * rounds


@pytest.mark.parametrize("case", QUICK, ids=name_of)
def test_fast_equals_slow(case):
    for kind in dot_data.CLASSES:
        run(case, kind, rounds=1, seed=1)


@pytest.mark.long
@pytest.mark.parametrize("kind", dot_data.CLASSES)
@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_fast_equals_slow_on_many(case, kind):
    run(case, kind, rounds=4, seed=2 + this_round())


def test_every_model_is_compared():
    assert {case[0] for case in QUICK} == {case[0] for case in CASES} == set(MODELS)


ONE = {case[0]: case for case in CASES}
FINITE = [kind for kind in dot_data.CLASSES if kind not in {"bits", "special"}]


def patchwork(source, case, size):
    """One tile whose rows and columns are of different data classes: easy and hard elements lie together."""
    pieces = [dot_data.matrices(source, case, source.choice(FINITE), size, size, 1) for _ in range(3)]
    a, b, c, more = pieces[0]
    for other in pieces[1:]:
        line, column = source.random(size) < 0.4, source.random(size) < 0.4
        a[:, line], b[:, :, column] = other[0][:, line], other[1][:, :, column]
        c[:, line] = other[2][:, line]
    if source.random() < 0.5:
        spot = tuple(source.integers(0, extent) for extent in a.shape)
        a[spot] = dot_data.operand(source, case[1], (1,), "bits")[0]
    return a, b, c, more


@pytest.mark.parametrize("name", sorted(MODELS))
def test_fast_equals_slow_on_a_tile_of_mixed_data(name):
    source = np.random.default_rng(zlib.crc32(name.encode()))
    a, b, c, more = patchwork(source, ONE[name], 12)
    assert compare(ONE[name], a, b, c, more) == 144


def grown(case, pieces, count):
    """Small pieces (1, n, n) as one large tile and as a batch: yields arguments and where to find piece p in d."""
    size = pieces[0][0].shape[1]
    rows = dict.fromkeys(("a", "selection", "scale_a"), -2)
    named = [{"a": a, "b": b, "c": c, **more} for a, b, c, more in pieces]
    # One tile: rows and columns of all pieces, whose own products stand on the diagonal.
    tile = {key: np.concatenate([one[key] for one in named], axis=rows.get(key, -1)) for key in named[0] if key != "c"}
    tile["c"] = np.tile(named[0]["c"], (1, count, count))
    for p, one in enumerate(named):
        tile["c"][:, p * size : (p + 1) * size, p * size : (p + 1) * size] = one["c"]
    yield tile, lambda d, p: d[0, p * size : (p + 1) * size, p * size : (p + 1) * size]
    # A batch of tiles of 16 rows and columns, each a piece many times over.
    times = 16 // size
    repeats = {key: (1, times, 1) if key in rows else (1, 1, times) for key in named[0]} | {"c": (1, times, times)}
    batch = {key: np.concatenate([np.tile(one[key], repeats[key]) for one in named]) for key in named[0]}
    yield batch, lambda d, p: d[p, size : 2 * size, -size:]


def compare_grown(case, source, kinds):
    pieces = [dot_data.matrices(source, case, kind, 4, 4, 1) for kind in kinds]
    model, formats = MODELS[case[0]], case[1:4]
    expected = [slow.multiply(model, *formats, a, b, c, **more)[0] for a, b, c, more in pieces]
    ways = list(grown(case, pieces, len(kinds)))
    assert len(ways) >= 2
    assert len(expected) >= 2
    for arguments, place in ways:
        d = multiply(model, *formats, **arguments)
        for p, one in enumerate(expected):
            assert np.array_equal(place(d, p), one), f"{name_of(case)}: data of class {kinds[p]}, piece {p}"


@pytest.mark.parametrize("case", QUICK[::2], ids=name_of)
def test_fast_equals_slow_in_large_tiles_and_batches(case):
    # Large products may be decided another way than small ones, and one hard element must not spoil its neighbours.
    source = np.random.default_rng(zlib.crc32(name_of(case).encode()) + 4)
    compare_grown(case, source, FINITE if source.random() < 0.7 else dot_data.CLASSES)


@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_fast_equals_slow_in_many_large_tiles_and_batches(case):
    source = np.random.default_rng(zlib.crc32(name_of(case).encode()) + 5 + this_round())
    for kinds in (dot_data.CLASSES, FINITE, ["few", "subnormal", "root"] * 3):
        compare_grown(case, source, kinds)


@pytest.mark.parametrize("name", sorted(MODELS))
def test_a_call_leaves_nothing_behind(name):
    # Scratch memory that is used again must not carry values from one call, or one step, into the next.
    case = ONE[name]
    source = np.random.default_rng(zlib.crc32(name.encode()) + 3)
    formats = MODELS[case[0]], *case[1:4]
    calls = [dot_data.matrices(source, case, kind, 8, 8, 1) for kind in dot_data.CLASSES]
    whole = [multiply(*formats, a, b, c, **more) for a, b, c, more in calls]
    for (a, b, c, more), d in zip(calls, whole, strict=True):
        by_row = {key: value for key, value in more.items() if key != "scale_b"}
        for i in (0, 5):
            one = {key: value[:, i : i + 1] if key in by_row else value for key, value in more.items()}
            found = multiply(*formats, a[:, i : i + 1], b, c[:, i : i + 1], **one)
            np.testing.assert_array_equal(found, d[:, i : i + 1])


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(MODELS))
def test_fast_equals_slow_on_many_tiles_of_mixed_data(name):
    source = np.random.default_rng(zlib.crc32(name.encode()) + 1 + this_round())
    cases = [case for case in CASES if case[0] == name]
    assert cases
    for case in cases:
        assert compare(case, *patchwork(source, case, 16)) == 256


@pytest.mark.parametrize("name", sorted(MODELS))
def test_a_chain_is_instructions_one_after_the_other(name):
    case = ONE[name]
    _, a_format, b_format, d_format, k, _ = case
    source = np.random.default_rng(zlib.crc32(name.encode()) + 2)
    steps = [dot_data.matrices(source, case, kind, 3, 3, 1) for kind in ("middling", "few", "cancel")]
    expected = steps[0][2]
    for a, b, _, more in steps:
        expected = slow.multiply(MODELS[name], a_format, b_format, d_format, a, b, expected, **more)
    together = {}
    for key in steps[0][3]:
        axis = -2 if key == "scale_b" else -1
        pieces = [more[key] for _, _, _, more in steps]
        if key == "selection":
            pieces = [piece + place * steps[0][1].shape[-2] for place, piece in enumerate(pieces)]
        together[key] = np.concatenate(pieces, axis=axis)
    a, b = np.concatenate([s[0] for s in steps], axis=-1), np.concatenate([s[1] for s in steps], axis=-2)
    found = multiply(MODELS[name], a_format, b_format, d_format, a, b, steps[0][2], k=k, **together)
    np.testing.assert_array_equal(found, expected)


# What an assumed row may turn out to be: the fast model must not rely on today's values.
EDITS = [
    *(
        (name, change)
        for name in ("cdna3_16bit", "cdna3_fp8", "cdna4_16bit", "cdna4_f8f6f4_scale")
        for change in (
            {"group": 4},
            {"group": 32},
            {"partial_sums": 1},
            {"partial_sums": 2},
            {"product_bits": 20},
            {"product_bits": 30},
            {"product_rounding": "floor"},
            {"partial_bits": 28},
            {"partial_rounding": "truncate"},
            {"sum_bits": 24},
            {"sum_bits": 40},
            {"sum_rounding": "truncate"},
            {"addend_bits": 30},
            {"addend_rounding": "truncate"},
            {"drop_addend_below": None},
            {"drop_addend_below": 20},
            {"drop_addend_below": 30},
            {"final_bits": None},
            {"final_bits": 24},
            {"final_bits": 25, "final_rounding": "truncate"},
            {"product_overflow": False},
            {"nan_invalid": 0x7FFFFFFF},
            {"flush_inputs": "positive", "flush_addend": "signed"},
            {"flush_addend": "positive"},
            {"flush_output": "signed"},
        )
    ),
    *(
        (name, change)
        for name in ("cdna3_f32", "cdna_f64")
        for change in (
            {"flush_inputs": "positive"},
            {"flush_inputs": "signed", "flush_output": "positive"},
            {"flush_addend": "positive", "flush_output": "signed"},
        )
    ),
    *(
        (name, change)
        for name in ("rdna3_f16_out", "rdna3_bf16_out", "rdna4_fp8", "rdna4_bf16_out", "rdna4_sparse_16bit")
        for change in (
            {"product_bits": 20},
            {"product_bits": 28},
            {"addend_bits": 24},
            {"addend_bits": 30},
            {"addend_lead_floor": -100},
            {"flush_inputs": "signed"},
            {"flush_addend": "positive"},
            {"nan_factor": 0x7E01},
            {"nan_invalid": 0x7E05},
        )
    ),
    *((name, {"pair": pair}) for name in ("rdna4_fp8", "rdna4_16bit") for pair in (1, 2, 4)),
    *((name, {"group": 8}) for name in ("rdna4_fp8", "rdna4_16bit", "cdna2_f16")),
]


@pytest.mark.parametrize(
    ("name", "change"), EDITS, ids=[f"{name}-{','.join(f'{k}={v}' for k, v in edit.items())}" for name, edit in EDITS]
)
def test_editing_a_row_changes_both_models_alike(name, change):
    model = replace(MODELS[name], **change)
    source = np.random.default_rng(zlib.crc32(f"{name} {change}".encode()))
    for kind in ("bits", "middling", "wide", "cancel", "root", "few"):
        a, b, c, more = dot_data.matrices(source, ONE[name], kind)
        assert compare(ONE[name], a, b, c, more, model) == 8


# One element of each model, where hypothesis looks for a difference and then for the shortest one.


def codes(form):
    bits = dot_data.bits_of(form)
    top = (1 << bits) - 1
    corners = [0, 1, top, top >> 1, (top >> 1) + 1]
    if form not in dot_data.INTEGERS:
        parts = dot_data.row(form)
        one = parts.bias << parts.mantissa_bits
        infinity = ((1 << parts.exponent_bits) - 1) << parts.mantissa_bits
        corners += [one, one | 1, one | 1 << (bits - 1), infinity, infinity - 1, infinity | 1, 1 << parts.mantissa_bits]
        corners += [code & top for code in (one - (12 << parts.mantissa_bits), one + (12 << parts.mantissa_bits))]
    return st.one_of(st.sampled_from(corners), st.integers(0, top))


@pytest.mark.parametrize("name", sorted(MODELS))
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, database=None)
@given(data=st.data())
def test_fast_equals_slow_under_hypothesis(name, data):
    _, a_format, b_format, d_format, k, _ = ONE[name]
    model = MODELS[name]
    dense = 2 * k if "sparse" in name else k
    # Few elements are drawn and the rest is zero: a difference needs two or three.
    a = np.zeros((1, k), dot_data.store(a_format))
    b = np.zeros((dense, 1), dot_data.store(b_format))
    more = {}
    if "sparse" in name:
        more["selection"] = np.arange(dense).reshape(-1, 4)[:, :2].reshape(1, -1)
    for place in data.draw(st.lists(st.integers(0, k - 1), max_size=6, unique=True)):
        a[0, place] = data.draw(codes(a_format))
        b[more["selection"][0, place] if more else place, 0] = data.draw(codes(b_format))
    c = np.array([[data.draw(codes(d_format))]], dot_data.store(d_format))
    if model.scale_point:
        scale = st.lists(
            st.one_of(st.sampled_from([0, 1, 126, 127, 128, 254, 255]), st.integers(0, 255)),
            min_size=k // 32,
            max_size=k // 32,
        )
        more["scale_a"] = np.array([data.draw(scale)], np.uint8)
        more["scale_b"] = np.array([data.draw(scale)], np.uint8).T
    more["fp16_ovfl"] = data.draw(st.booleans())
    if model.clamp != "none":
        more["clamp"] = data.draw(st.booleans())
    if model.mode_denormals:
        more["denormals"] = data.draw(st.booleans())
    assert compare(ONE[name], a, b, c, more) == 1
