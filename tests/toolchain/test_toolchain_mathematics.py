"""Device mathematics on the simulator: accuracy against mpmath, special values against C's library, exact functions."""

import ctypes
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mfmasim
from tests.longtier import this_round
from tests.oracles import require
from tests.toolchain import mathematics
from tests.toolchain.mathematics import GROUP_OF, ROWS, TYPES, errors, launch, measure
from tests.toolchain.toolchain_helpers import SOURCES

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "device-math.md"
EXACT_GROUP = 3
BESSEL_GROUP = 4  # mpmath takes 3 ms for each


@pytest.fixture(scope="module")
def group():
    codes = {}

    def code(number, arch="gfx942"):
        if (number, arch) not in codes:
            source, flags = SOURCES / "mathematics.hip", [f"-DGROUP={number}"]
            codes[number, arch] = mfmasim.compile(source, arch, compiler="ziglang", flags=flags)
        return codes[number, arch]

    return code


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_accuracy(group, row):
    for size, bound in (("f64", row.f64), ("f32", row.f32)):
        error, arguments, count = measure(group(GROUP_OF[row.name]), row, size, 128, seed=3)
        assert error <= bound, f"{row.name} {size}: {error} units at {arguments}"
        assert count >= 100


def test_erf_just_below_one(group):
    """Where its polynomial ends: roundings of the first two terms would cost half a unit."""
    x = np.concatenate([[-0.9999726966737301], np.random.default_rng(3).uniform(0.9, 1, 255)])
    got, row = np.zeros_like(x), next(row for row in ROWS if row.name == "erf")
    launch(group(GROUP_OF["erf"]), "erf_f64", [x], [got])
    assert errors(row, [x], got, np.float64).max() <= 0.75


@pytest.mark.parametrize("arch", ["gfx950", "gfx1201"])
def test_another_architecture_is_as_accurate(group, arch):
    for name in ("sin", "tan", "atan2"):
        row = next(row for row in ROWS if row.name == name)
        assert measure(group(GROUP_OF[name], arch), row, "f64", 64)[0] <= row.f64
        assert measure(group(GROUP_OF[name], arch), row, "f32", 64)[0] <= row.f32


@pytest.mark.long
@pytest.mark.parametrize("row", [row for row in ROWS if GROUP_OF[row.name] != BESSEL_GROUP], ids=lambda row: row.name)
def test_accuracy_on_many(group, row):
    for size, bound in (("f64", row.f64), ("f32", row.f32)):
        error, arguments, _ = measure(group(GROUP_OF[row.name]), row, size, 6_000, seed=4 + this_round())
        assert error <= bound, f"{row.name} {size}: {error} units at {arguments}"


def specials(kind):
    """Zeros, the ends of the range, small integers and halves, infinities and NaN, of both signs."""
    info = np.finfo(kind)
    positive = [
        0,
        info.smallest_subnormal,
        info.smallest_normal,
        1e-20,
        0.5,
        1,
        1.5,
        2,
        3,
        4,
        80.5,
        1e9,
        info.max,
        np.inf,
    ]
    values = np.array(positive, kind)
    return np.concatenate([values, -values, np.array([np.nan], kind)])


def c_library(name, size):
    """C's own function as a function of arrays."""
    require("C's library", sys.platform.startswith("linux"), "libm of glibc")
    kind = ctypes.c_double if size == "f64" else ctypes.c_float
    function = getattr(ctypes.CDLL("libm.so.6"), name if size == "f64" else f"{name}f")
    function.restype = kind

    def apply(*arrays):
        return np.array([function(*map(kind, values)) for values in zip(*arrays, strict=True)], TYPES[size])

    return apply


IN_C = (
    *("sin", "cos", "tan", "asin", "acos", "atan", "exp", "exp2", "exp10", "expm1", "log", "log2", "log10", "log1p"),
    *("cbrt", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "tgamma", "lgamma", "sqrt"),
)


def same_special(ours, theirs):
    """Equal where the result is 0, 1, infinite or no number; close elsewhere."""
    special = ~np.isfinite(theirs) | (theirs == 0) | (np.abs(theirs) == 1)
    both_nan = np.isnan(ours) & np.isnan(theirs)
    equal = both_nan | ((ours == theirs) & (np.signbit(ours) == np.signbit(theirs)))
    finite = np.where(special, 1, theirs)
    with np.errstate(all="ignore"):
        close = np.abs(np.where(special, 1, ours) - finite) <= 4 * np.spacing(np.abs(finite))
    return np.where(special, equal, close)


@pytest.mark.oracle
@pytest.mark.parametrize("name", IN_C)
def test_special_values_are_those_of_c(group, name):
    for size, kind in TYPES.items():
        x = specials(kind)
        got = np.zeros_like(x)
        launch(group(GROUP_OF[name]), f"{name}_{size}", [x], [got])
        wrong = x[~same_special(got, c_library(name, size)(x))]
        assert wrong.tolist() == [], (size, got)


@pytest.mark.oracle
@pytest.mark.parametrize("name", ["pow", "atan2", "hypot", "fmod", "remainder", "nextafter", "fdim"])
def test_special_pairs_are_those_of_c(group, name):
    for size, kind in TYPES.items():
        x, y = (np.ascontiguousarray(a.ravel()) for a in np.meshgrid(specials(kind), specials(kind)))
        got = np.zeros_like(x)
        launch(group(GROUP_OF.get(name, EXACT_GROUP)), f"{name}_{size}", [x, y], [got])
        good = same_special(got, c_library(name, size)(x, y))
        assert list(zip(x[~good], y[~good], got[~good], strict=True)) == []
        assert good.size > 800


def mixed(kind, seed):
    """Numbers of every size, and pairs of similar size."""
    rng = np.random.default_rng(seed)
    x, y = mathematics.everywhere(rng, 128, kind), mathematics.everywhere(rng, 128, kind)
    x, y = x[: min(x.size, y.size)], y[: min(x.size, y.size)]
    near = rng.integers(-40, 40, (2, 96)).astype(kind) / 4
    near[1, near[1] == 0] = 3
    return np.concatenate([x, near[0]]), np.concatenate([y, near[1]])


@pytest.mark.oracle
@pytest.mark.parametrize("name", ["fmod", "remainder", "nextafter", "fdim", "fmin", "fmax"])
def test_exact_functions_of_two_are_exact(group, name):
    for size, kind in TYPES.items():
        x, y = mixed(kind, 5)
        got = np.zeros_like(x)
        launch(group(EXACT_GROUP), f"{name}_{size}", [x, y], [got])
        theirs = c_library(name, size)(x, y)
        assert np.array_equal(got, theirs, equal_nan=True)
        assert np.array_equal(np.signbit(got), np.signbit(theirs))


@pytest.mark.oracle
def test_the_quotient_of_remquo_has_its_low_bits(group):
    for size, kind in TYPES.items():
        x, y = mixed(kind, 6)
        got = np.zeros(x.size, np.int32)
        launch(group(EXACT_GROUP), f"remquo_{size}", [x, y], [got])
        ctype = ctypes.c_double if size == "f64" else ctypes.c_float
        function, quotient = getattr(ctypes.CDLL("libm.so.6"), "remquo" + "f" * (size == "f32")), ctypes.c_int()
        theirs = []
        for pair in zip(x.tolist(), y.tolist(), strict=True):
            function(*map(ctype, pair), ctypes.byref(quotient))
            theirs.append(quotient.value)
        theirs = np.array(theirs)
        low, their_low = np.abs(got) & 7, np.abs(theirs) & 7
        assert np.array_equal(low, their_low)
        assert np.array_equal(np.sign(got)[low > 0], np.sign(theirs)[low > 0])
        assert np.count_nonzero(low) > 20


def test_parts_of_numbers(group):
    for size, kind in TYPES.items():
        x = np.concatenate([mixed(kind, 7)[0], specials(kind)])
        parts = np.zeros((x.size, 2), kind)
        launch(group(EXACT_GROUP), f"modf_{size}", [x], [parts])
        fraction, whole = np.modf(x)
        assert np.array_equal(parts, np.stack([whole, fraction], axis=1), equal_nan=True)
        assert np.array_equal(np.signbit(parts[~np.isnan(x), 1]), np.signbit(x[~np.isnan(x)]))
        significand, exponent = np.zeros_like(x), np.zeros(x.size, np.int32)
        launch(group(EXACT_GROUP), f"frexp_{size}", [x], [significand, exponent])
        expected, power = np.frexp(x)
        finite = np.isfinite(x)
        assert np.array_equal(significand, expected, equal_nan=True)
        assert np.array_equal(exponent[finite], power[finite])
        classes = np.zeros(x.size, np.int32)
        launch(group(EXACT_GROUP), f"classes_{size}", [x], [classes])
        theirs = np.isnan(x) | np.isinf(x) << 1 | finite << 2 | np.signbit(x) << 3
        assert np.array_equal(classes, theirs)
        logs, whole_logs = np.zeros_like(x), np.zeros(x.size, np.int32)
        launch(group(EXACT_GROUP), f"logb_{size}", [x], [logs])
        launch(group(EXACT_GROUP), f"ilogb_{size}", [x], [whole_logs])
        number = finite & (x != 0)
        assert np.array_equal(logs[number], power[number] - 1)
        assert np.array_equal(whole_logs[number], power[number] - 1)
        assert np.array_equal(logs[~number], np.where(x == 0, -np.inf, np.abs(x))[~number], equal_nan=True)
        assert set(whole_logs[~number & ~np.isinf(x)].tolist()) == {-(2**31)}
        shift = np.random.default_rng(8).integers(-2000, 2000, x.size).astype(np.int32)
        moved = np.zeros_like(x)
        launch(group(EXACT_GROUP), f"scalbln_{size}", [x, shift], [moved])
        with np.errstate(all="ignore"):
            assert np.array_equal(moved, np.ldexp(x, shift), equal_nan=True)


def test_coefficients_are_what_the_script_makes():
    script = [sys.executable, "-m", "tests.toolchain.make_coefficients", "--check"]
    done = subprocess.run(script, cwd=ROOT, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_page_states_every_function_within_its_bound():
    numbers = r"([\d.]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+)"
    rows = re.findall(rf"^\| `(\w+)` \|[^|]*\| {numbers} \|$", PAGE.read_text(), re.MULTILINE)
    stated = {name: tuple(map(float, numbers)) for name, *numbers in rows}
    assert list(stated) == [row.name for row in ROWS]
    for row in ROWS:
        f64, f64_bound, f32, f32_bound = stated[row.name]
        assert (f64_bound, f32_bound) == (row.f64, row.f32)
        assert f64 <= f64_bound
        assert f32 <= f32_bound


@pytest.mark.long
def test_bessel_functions_of_every_order(group):
    """Relative to the result where the order is above the argument, to the amplitude of the wave below."""
    rng = np.random.default_rng(11)
    n = rng.integers(-40, 41, 96).astype(np.int32)
    x = np.concatenate([rng.uniform(0.01, 60, 64), 2.0 ** rng.uniform(-60, 12, 32)])
    n[:4], x[:4] = [2, 2, 1000, 1000], [1e-9, 2.0, 999.5, 1000.5]
    for name, function in (("jn", mathematics.mp.besselj), ("yn", mathematics.mp.bessely)):
        got = np.zeros(96)
        launch(group(BESSEL_GROUP), f"{name}_f64", [n, x], [got])
        compared = 0
        for order, argument, value in zip(n.tolist(), x.tolist(), got.tolist(), strict=True):
            exact = function(order, mathematics.mp.mpf(argument))
            if abs(exact) < 1e-290 or abs(exact) > 1e290:
                assert abs(value) < 1e-280 or abs(value) > 1e280
                continue
            wave = (2 / (mathematics.mp.pi * argument)) ** 0.5 if abs(order) <= argument else 0
            assert abs(value - exact) <= mathematics.mp.mpf(2) ** -45 * max(abs(exact), wave), (name, order, argument)
            compared += 1
        assert compared > 75


SPECIAL_BESSEL = {
    "j0": [1, 1, 0, 0, np.nan, None],
    "j1": [0.0, -0.0, 0, 0, np.nan, None],
    "y0": [-np.inf, -np.inf, 0, np.nan, np.nan, np.nan],
    "y1": [-np.inf, -np.inf, 0, np.nan, np.nan, np.nan],
    "cyl_bessel_i0": [1, 1, np.inf, np.inf, np.nan, None],
    "cyl_bessel_i1": [0.0, -0.0, np.inf, -np.inf, np.nan, None],
}
"""Of 0, -0, infinity, -infinity, NaN and -1."""


@pytest.mark.long
def test_bessel_functions_of_special_values(group):
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -1.0])
    for name, values in SPECIAL_BESSEL.items():
        got = np.zeros(x.size)
        launch(group(BESSEL_GROUP), f"{name}_f64", [x], [got])
        known = np.array([value is not None for value in values])
        wanted = np.array([value for value in values if value is not None], np.float64)
        assert np.array_equal(got[known], wanted, equal_nan=True), name
        assert np.array_equal(np.signbit(got[known][:2]), np.signbit(wanted[:2])), name
