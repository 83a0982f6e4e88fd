"""hipkernels/cast, the formats with a scale for each 32 elements: of any size, both ways, and back."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

from hipkernels.cast import mx_reference
from mfmasim.testing.drawn_trials import smallest, trials
from tests.hipkernels.cast.family import caught, mutants, passes, right, runs, wrong
from tests.slow import mx

QUICK = {"scale_one_too_large", "amax_along_the_other_axis", "nibbles_swapped", "fp4_line_rounded_down"}
TARGETS, WAYS = sorted(mx.DTYPES), ["row", "column"]


@pytest.mark.parametrize(("case", "arch"), right("mx.hip", lambda i, *_: i % 9 == 0))
def test_right_kernels_pass(case, arch):
    passes(case, arch)


@pytest.mark.parametrize("name", wrong("mx.hip", QUICK))
def test_wrong_kernels_are_caught_by_the_checks_they_name(name):
    caught("mx.hip", name)


def test_drawn_sizes_rules_and_values_agree_with_the_reference():
    pairs = [
        pair for pair in runs("mx.hip") if pair[0].title.startswith(("mx_quantise", "mx_software", "mx_dequantise"))
    ]
    judged = []
    assert smallest(trials(pairs), examples=20, report=judged.append, checks="bounds") is None
    assert len(judged) >= 20


def test_there_are_enough_of_both():
    assert {arch for _, arch in runs("mx.hip")} == {"gfx942", "gfx950", "gfx1201"}
    assert len(runs("mx.hip")) >= 150
    assert len(mutants("mx.hip")) >= 25


# Values over the whole range of f32, and multiples of quarters, which meet every tie.
NUMBERS = st.one_of(
    st.floats(width=32, allow_nan=False, allow_infinity=False),
    st.integers(-2000, 2000).map(lambda n: np.float32(n / 4)),
)


@drawn(st.sampled_from(TARGETS), st.sampled_from(mx_reference.RULES), st.sampled_from(WAYS), st.data())
@settings(max_examples=60)
def test_the_reference_agrees_with_one_that_knows_nothing_of_ours(target, rule, way, data):
    rows, cols = data.draw(st.sampled_from([(1, 1), (1, 33), (2, 32), (34, 2), (65, 1), (3, 7)]))
    x = np.array(data.draw(st.lists(NUMBERS, min_size=rows * cols, max_size=rows * cols)), np.float32)
    x = x.reshape(rows, cols)
    codes, scales = mx_reference.quantise(x, target, way, rule)
    slow, slow_scales = mx.quantise((x if way == "row" else x.T).tolist(), target, rule)
    if target == "e2m1":
        nibbles = [line + [0] * (len(line) % 2) for line in slow]
        wanted = np.array([[a | b << 4 for a, b in zip(n[::2], n[1::2], strict=True)] for n in nibbles])
    else:
        wanted = np.array(slow) if way == "row" else np.array(slow).T
    np.testing.assert_array_equal(codes, wanted)
    np.testing.assert_array_equal(scales, np.array(slow_scales) if way == "row" else np.array(slow_scales).T)
    assert (codes.shape, scales.shape) == mx_reference.shapes(rows, cols, target, way)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("target", TARGETS)
def test_back_is_the_value_of_the_code_times_its_scale(target, way):
    """Each element by ml_dtypes and a power of two; and what was quantised without loss comes back."""
    rows, cols = 35, 41
    rng = np.random.default_rng(8)
    of_codes, of_scales = mx_reference.shapes(rows, cols, target, way)
    codes = rng.integers(0, 256, of_codes).astype(np.uint8)
    scales = rng.integers(60, 190, of_scales).astype(np.uint8)
    back = mx_reference.dequantise(codes, scales, (rows, cols), target, way)
    for row in range(rows):
        for col in range(cols):
            line, place = (row, col) if way == "row" else (col, row)
            code = codes[line, place // 2] >> 4 * (place % 2) & 15 if target == "e2m1" else codes[row, col]
            value = np.uint8(code).view(mx.DTYPES[target]).astype(np.float64)
            scale = scales[row, col // 32] if way == "row" else scales[row // 32, col]
            want = np.float32(value * 2.0 ** (int(scale) - 127))
            assert back[row, col] == want or (np.isnan(back[row, col]) and np.isnan(want))
    values = rng.choice([-6.0, -1.5, -0.5, 0.0, 0.5, 1.0, 3.0, 4.0], (rows, cols)).astype(np.float32)
    values[::32], values[:, ::32] = 6.0, 6.0  # the largest number of each block
    pair = mx_reference.quantise(values, target, way, "rceil")
    np.testing.assert_array_equal(mx_reference.dequantise(*pair, (rows, cols), target, way), values)


def test_specials_of_a_block():
    """A NaN takes its block along, an infinity makes the scale the largest; zeros keep their signs."""
    x = np.zeros((5, 32), np.float32)
    x[0, 3], x[1, 4], x[2, :] = np.nan, -np.inf, -0.0
    x[3, 5], x[4, :] = 2.0**-149, [2.0**127] * 32
    codes, scales = mx_reference.quantise(x, "e4m3", "row", "ocp")
    assert scales[:, 0].tolist() == [0xFF, 0xFE, 0, 0, 127 + 127 - 8]
    numbers = codes.view(ml_dtypes.float8_e4m3fn).astype(np.float32)
    assert np.isnan(numbers[0]).all()
    assert codes[1].tolist() == [0xFE if place == 4 else 0 for place in range(32)]
    assert (codes[2] == 0x80).all()
    assert not codes[3].any()
    assert (numbers[4] == 256).all()
    codes, _ = mx_reference.quantise(x, "e2m1", "row", "ocp")
    assert (codes[0] == 0x77).all()
    assert codes[1, 2] == 0x0F
