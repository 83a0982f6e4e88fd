"""golden.reference.exact: the sum is exact, the rounding single, and Inf, NaN and zero follow the stated rules."""

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from golden.reference import exact
from tests.slow.rounding import DTYPES, nearest_f32, values

ONE, TWO, INF, NAN = 0x3F800000, 0x40000000, 0x7F800000, 0x7FC00000
NEGATIVE = 0x80000000


def f32(*numbers):
    return np.array(numbers, np.float32).view(np.uint32)


def one_dot(a, b, **more):
    """The product of a row and a column of f32 codes."""
    result = exact.matmul(np.array([a], np.uint32), np.array([b], np.uint32).T, "f32", "f32", **more)
    return int(result[0, 0])


@pytest.mark.parametrize("name", ["f32", "f16", "bf16", "e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz", "e3m2fn", "e2m3fn"])
def test_small_integers_equal_float64(name):
    rng = np.random.default_rng(2)
    limit = 4 if name in {"e2m3fn", "e3m2fn"} else 8
    a, b = rng.integers(-limit, limit + 1, (5, 7)), rng.integers(-limit, limit + 1, (7, 6))
    c = rng.integers(-1000, 1000, (5, 6))
    dtype = DTYPES[name]
    unsigned = {1: np.uint8, 2: np.uint16, 4: np.uint32}[np.dtype(dtype).itemsize]
    result = exact.matmul(
        a.astype(dtype).view(unsigned),
        b.astype(dtype).view(unsigned),
        name,
        name,
        c=c.astype(np.float32).view(np.uint32),
    )
    np.testing.assert_array_equal(result.view(np.float32), (a @ b + c).astype(np.float64))


@pytest.mark.parametrize("case", ["wide", "near", "tiny", "huge"])
def test_random_dots_equal_fractions(case):
    rng = np.random.default_rng(3)
    low, high = {"wide": (-60, 60), "near": (-3, 3), "tiny": (-80, -68), "huge": (60, 64)}[case]
    count, k = 200, 6
    a = (rng.standard_normal((count, k)) * 2.0 ** rng.integers(low, high, (count, k))).astype(np.float32)
    b = (rng.standard_normal((k, 1)) * 2.0 ** rng.integers(low, high, (k, 1))).astype(np.float32)
    result = exact.matmul(a.view(np.uint32), b.view(np.uint32), "f32", "f32")
    assert result.shape == (200, 1)
    for i in range(count):
        total = sum(Fraction(float(x)) * Fraction(float(y)) for x, y in zip(a[i], b[:, 0], strict=True))
        assert int(result[i, 0]) == nearest_f32(total)


@pytest.mark.parametrize(
    ("a", "b", "c", "expected"),
    [
        ((NAN,), (ONE,), ONE, NAN),
        ((ONE,), (0xFFC12345,), ONE, NAN),
        ((ONE,), (ONE,), 0x7F800001, NAN),
        ((INF,), (0,), ONE, NAN),
        ((INF,), (NEGATIVE,), ONE, NAN),
        ((INF,), (ONE,), ONE, INF),
        ((INF,), (ONE | NEGATIVE,), ONE, INF | NEGATIVE),
        ((INF, INF), (ONE, TWO), ONE, INF),
        ((INF, INF), (ONE, ONE | NEGATIVE), ONE, NAN),
        ((INF,), (ONE,), INF | NEGATIVE, NAN),
        ((ONE,), (ONE,), INF | NEGATIVE, INF | NEGATIVE),
        # Products far beyond f32 cancel: nothing overflows before the one rounding.
        ((0x7F7FFFFF, 0x7F7FFFFF), (0x7F7FFFFF, 0xFF7FFFFF), ONE, ONE),
        ((0x7F7FFFFF,), (TWO,), 0, INF),
        # Zeros: an exact zero is +0, an underflow keeps its sign.
        ((NEGATIVE,), (ONE,), NEGATIVE, 0),
        ((ONE, ONE), (ONE, ONE | NEGATIVE), 0, 0),
        ((0x00000001,), (0xBE000000,), 0, NEGATIVE),
        ((0x00000001,), (0xBF000000,), 0, NEGATIVE),
        ((0x00000003,), (0xBF000000,), 0, NEGATIVE | 2),
    ],
)
def test_special_values(a, b, c, expected):
    assert one_dot(a, b, c=np.array([[c]], np.uint32)) == expected


def test_output_formats_round_once():
    # 1 + 2**-11 + 2**-30: rounding to f32 first would make a tie, and the tie would go down.
    a, b = f32(1, 2.0**-11, 2.0**-15), f32(1, 1, 2.0**-15)
    assert one_dot(a, b, out="f16") == 0x3C01
    double = float(np.float32(1 + 2.0**-11 + 2.0**-30))
    assert np.float16(double).view(np.uint16) == 0x3C00
    assert one_dot(f32(448), f32(1.25), out="e4m3fn") == 0x7F
    assert one_dot(f32(448), f32(1.25), out="e4m3fn", saturate=True) == 0x7E


def test_scales_multiply_their_own_block():
    rng = np.random.default_rng(4)
    a = rng.integers(0, 256, (3, 64)).astype(np.uint8)
    b = rng.integers(0, 256, (64, 2)).astype(np.uint8)
    a[(a & 0x7F) == 0x7F] = 1
    b[(b & 0x7F) == 0x7F] = 1
    scale_a = rng.integers(117, 137, (3, 2)).astype(np.uint8)
    scale_b = rng.integers(117, 137, (2, 2)).astype(np.uint8)
    result = exact.matmul(a, b, "e4m3fn", "e4m3fn", scale_a=scale_a, scale_b=scale_b)
    x = values(a, "e4m3fn") * np.repeat(scale_a.view(ml_dtypes.float8_e8m0fnu).astype(float), 32, axis=1)
    y = values(b, "e4m3fn") * np.repeat(scale_b.view(ml_dtypes.float8_e8m0fnu).astype(float), 32, axis=0)
    for i in range(3):
        for j in range(2):
            total = sum(Fraction(p) * Fraction(q) for p, q in zip(x[i], y[:, j], strict=True))
            assert int(result[i, j]) == nearest_f32(total)


def test_scale_extremes():
    a = np.full((1, 32), 0x38, np.uint8)  # 1.0
    for scale_a, scale_b, expected in [(0, 127, 5 - 127), (254, 0, 5), (0, 0, None), (254, 254, INF), (255, 127, NAN)]:
        got = exact.matmul(
            a, a.T, "e4m3fn", "e4m3fn", scale_a=np.array([[scale_a]], np.uint8), scale_b=np.array([[scale_b]], np.uint8)
        )
        want = 0 if expected is None else expected if expected > 1000 else int(f32(2.0**expected)[0])
        assert int(got[0, 0]) == want
    zero = np.zeros((1, 32), np.uint8)
    nan_scale = np.array([[255]], np.uint8)
    got = exact.matmul(zero, zero.T, "e4m3fn", "e4m3fn", scale_a=nan_scale, scale_b=np.array([[127]], np.uint8))
    assert int(got[0, 0]) == NAN


def test_shapes_are_checked():
    a, b = np.zeros((2, 32), np.uint8), np.zeros((32, 3), np.uint8)
    scale = np.zeros((2, 1), np.uint8)
    for arguments, message in [
        ((a, b.T), r"A \(2, 32\) and B \(3, 32\) are not"),
        ((a, b, {"c": np.zeros((3, 2), np.uint32)}), r"C is \(3, 2\), needs \(2, 3\)"),
        ((a, b, {"scale_a": scale}), "come together"),
        ((a, b, {"scale_a": scale, "scale_b": scale}), r"scale_b is \(2, 1\), needs \(1, 3\)"),
        ((a[:, :31], b[:31], {"scale_a": scale, "scale_b": scale}), "K=31 is not a multiple"),
    ]:
        left, right, *more = arguments
        with pytest.raises(ValueError, match=message):
            exact.matmul(left, right, "e4m3fn", "e4m3fn", **(more[0] if more else {}))
