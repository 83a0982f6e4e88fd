"""Functions of ROCm's headers that few programs use: lane exchange, reductions, half precision, dot products."""

import cmath
import math

import ml_dtypes
import numpy as np
import pytest

import mfmasim
from tests.toolchain.toolchain_helpers import SOURCES

LONG = [pytest.param(arch, marks=pytest.mark.long) for arch in ("gfx90a", "gfx950", "gfx1100", "gfx1201")]


@pytest.fixture(scope="module", params=["gfx942", *LONG])
def launch(request):
    code = mfmasim.compile(SOURCES / "rocm_names.hip", request.param, compiler="ziglang")

    def run(name, grid, block, *args):
        report = mfmasim.device("sim").launch(code[name], grid, block, list(args), checks="all")
        assert [str(one) for one in report.findings if one.severity != "info"] == []

    run.wave = mfmasim.arch(request.param).wave_sizes[0]
    return run


def words(count, seed, dtype=np.uint32):
    return np.random.default_rng(seed).integers(0, np.iinfo(dtype).max, count, dtype=dtype, endpoint=True)


def test_instructions_that_move_values_between_lanes(launch):
    wave, lane = launch.wave, np.arange(launch.wave)
    given, out = words(wave, 1), np.full((wave, 12), 7, np.uint32)
    launch("exchange", 1, wave, given, out)
    second = [([bit for bit in range(32) if word >> bit & 1] + [2**32 - 1])[1] for word in given.tolist()]
    expected = [
        given[lane ^ 5],
        given[lane ^ 3],
        given[lane ^ 1],
        given[lane ^ 1],
        given[lane ^ 3],
        np.full(wave, (given & 1).sum()),
        second,
        np.full(wave, (given & 255).max()),
        lane,
    ]
    assert np.array_equal(out[:, :9], np.array(expected, np.uint32).T)


def tree(values, combine):
    """Pairs of neighbours, then pairs of pairs."""
    while len(values) > 1:
        pairs = [combine(values[i], values[i + 1]) for i in range(0, len(values) - 1, 2)]
        values = pairs + values[len(values) // 2 * 2 :]
    return values[0]


KINDS = [("reduce_int", np.int32), ("reduce_wide", np.uint64), ("reduce_float", np.float32)]
COMBINED = [np.add, np.minimum, np.maximum, np.bitwise_and, np.bitwise_or, np.bitwise_xor]


@pytest.mark.parametrize(("name", "dtype"), KINDS)
@pytest.mark.parametrize("second", [0x8000_0FF0_1234_5679, 0xFFFF_FFFF_FFFF_FFFE])
def test_reductions_over_masks(launch, name, dtype, second):
    whole = (1 << launch.wave) - 1
    masks = np.array([~second & whole, second & whole], np.uint64)
    values = words(launch.wave, 2, np.uint64)
    values = (values >> 8).astype(np.float32) if dtype is np.float32 else values.astype(dtype)
    out = np.zeros((launch.wave, 2, 6), dtype)
    launch(name, 1, launch.wave, values, masks, out)
    operations = COMBINED[: 3 if dtype is np.float32 else 6]
    with np.errstate(over="ignore"):
        for column, combine in enumerate(operations):
            for mask in masks.tolist():
                lanes = [lane for lane in range(launch.wave) if mask >> lane & 1]
                expected = tree([values[lane] for lane in lanes], combine)
                assert out[lanes, 0, column].tolist() == [expected] * len(lanes)
            assert out[:, 1, column].tolist() == [tree(list(values), combine)] * launch.wave
    assert sum(mask.bit_count() for mask in masks.tolist()) == launch.wave


def test_half_precision(launch):
    halves = words(2048, 3, np.uint16).view(np.float16)
    other = np.random.default_rng(4).choice(np.concatenate([halves, np.float16([0, 1, 0.5, np.nan])]), 2048)
    other[::3], halves[::5] = halves[::3], (halves[::5].view(np.uint16) & 0xBFFF).view(np.float16)
    given = (halves.astype(np.float32).view(np.uint32) + words(2048, 5) % 9000).view(np.float32)
    given[:6] = [1e-10, -1e-10, 1e9, -1e9, 0.0, -0.0]
    out, flags = np.zeros((2048, 16), np.float16), np.zeros(2048, np.uint32)
    launch("halves", 8, 256, given, halves, other, out, flags, np.int32(2048))
    fmt, number = mfmasim.format("f16"), np.isfinite(given)
    for column, rounding in enumerate(("toward_zero", "down", "up")):
        expected = fmt.encode(given[number].astype(np.float64), rounding=rounding, overflow="infinity_or_nan")
        assert np.array_equal(out[number, column].view(np.uint16), expected), rounding

    def clamped(x):
        x = x.astype(np.float16)
        return np.where(x < 0, np.float16(0), np.where(x > 1, np.float16(1), x))

    with np.errstate(all="ignore"):
        a, b = halves, other
        exact = a.astype(np.float64) * b.astype(np.float64) + a.astype(np.float64)
        either = np.where(np.isnan(a), a, b)
        unordered = ~(a >= b)
        columns = {
            3: clamped(a + b),
            4: clamped(a - b),
            5: clamped(a * b),
            6: clamped(exact),
            9: clamped(a + b),
            7: np.where(np.isnan(either), either, np.maximum(a, b)),
            8: np.where(np.isnan(either), either, np.minimum(a, b)),
            10: clamped(b + b),
            11: unordered,
            12: a != b,
            13: b != b,
            14: np.isnan(a),
            15: a,
        }
        s, t = (x.astype(np.float32).astype(ml_dtypes.bfloat16) for x in (a, b))
        nan, differ = np.isnan(b), a != b  # the second pair is b with b
        bits = [unordered & nan, differ & nan, ~(s >= t) & nan, (s != t) & nan, differ]
    for column, expected in columns.items():
        assert np.array_equal(out[:, column], expected.astype(np.float16), equal_nan=True), column
    assert np.array_equal(flags, sum(bit.astype(np.uint32) << place for place, bit in enumerate(bits)))
    assert number.sum() > 1800


def fields(word, width, signed):
    parts = [word >> place & (1 << width) - 1 for place in range(0, 32, width)]
    return [part - (part >> width - 1 << width) if signed else part for part in parts]


def test_dot_products_wrap_or_saturate(launch):
    given = words((64, 3), 6)
    given[:3] = [(0x80008000, 0x80008000, 0x7FFFFFFF), (0xFFFFFFFF,) * 3, (0x7FFF8000, 0x80007FFF, 0x80000000)]
    out = np.zeros((64, 2, 6), np.uint32)
    launch("dots", 1, 64, given, out)
    for (a, b, c), rows in zip(given.tolist(), out.tolist(), strict=True):
        for kind, (width, signed) in enumerate((w, s) for w in (16, 8, 4) for s in (True, False)):
            low, high = (-(2**31), 2**31 - 1) if signed else (0, 2**32 - 1)
            start = c - (c >> 31 << 32) if signed else c
            total = start + sum(x * y for x, y in zip(fields(a, width, signed), fields(b, width, signed), strict=True))
            assert rows[0][kind] == total & 0xFFFFFFFF
            assert rows[1][kind] == min(max(total, low), high) & 0xFFFFFFFF
    assert len(given) == 64


def test_functions_by_the_names_of_the_device_libraries(launch):
    given, out = np.random.default_rng(7).normal(0, 20, 64), np.zeros(6 * 64 + 1, np.float32)
    launch("numbers", 1, 64, given, out)
    rows, near = out[:-1].reshape(64, 6), given.astype(np.float32)
    assert np.array_equal(rows[:, 0], np.floor(near))
    assert not rows[:, 1:3].any()
    assert np.array_equal(rows[:, 3], np.where(near > given, np.nextafter(near, np.float32(-np.inf)), near))
    assert np.abs(rows[:, 4]).max() < 1e-5
    assert rows[:, 5].max() < 1e-6
    assert out[-1] == 64


def test_arguments_of_other_types_count_as_double(launch):
    i, s = 3, -2
    out, narrow = np.zeros(28), np.zeros(1, np.float32)
    launch("promoted", 1, 1, np.array([i, s], np.int32), out, narrow)
    ones = [
        math.acosh,
        math.asinh,
        math.cbrt,
        math.cosh,
        math.erf,
        math.expm1,
        math.lgamma,
        math.log1p,
        float,
        math.sinh,
    ]
    expected = [
        *(one(i) for one in ones),
        math.gamma(i),
        3,
        math.atan2(i, 2),
        -3,
        1.5,
        math.hypot(i, s),
        math.remainder(i, 2.5),
        3,
        2.5,
        -2,
        24,
        0.75,
        2,
        i * 0.5 + s,
        2 + 8,
        -2,
        4 + 8 * 2 + 64 * 3,
        1 + 4,
    ]
    assert np.allclose(out, expected, rtol=1e-14, atol=0)
    assert narrow[0] == 27


def test_complex_numbers(launch):
    a, b, infinite = 1.5 - 2.25j, -0.75 + 3.5j, complex(math.inf, 1.0)
    out, narrow = np.zeros(10, np.complex128), np.zeros(3, np.complex64)
    launch("complex_numbers", 1, 1, np.array([a, b, infinite]), out, narrow)
    with np.errstate(invalid="ignore"):
        expected = [
            a * b,
            a / b,
            cmath.exp(a),
            cmath.sqrt(b),
            a.conjugate() + cmath.rect(2, 0.5),
            abs(a),
            abs(b) ** 2,
            cmath.phase(a),
            a**b,
        ]
    assert np.allclose(out[:9], expected, rtol=1e-13)
    assert np.isnan(out[9].real)
    assert np.allclose(narrow, [a * b, a / b, cmath.log(a)], rtol=1e-6)


def test_steps_and_comparisons(launch):
    out = np.zeros(13, np.float32)
    launch("steps", 1, 1, out)
    assert out.tolist() == [1.5, 1.5, 2.5, 1.5, 0, 1, 2.5, 2.5, 1, 1, 0, 0, 1]
