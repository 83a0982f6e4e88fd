"""What the headers compute in plain C++, run on the CPU: conversions code by code, integers, half precision."""

import ctypes
import platform
import subprocess

import ml_dtypes
import numpy as np
import pytest

import mfmasim
from mfmasim.resources import HEADERS
from mfmasim.toolchain import find_compiler
from mfmasim.toolchain.compilers import run
from mfmasim.toolchain.hostheaders import zig_flags
from tests.oracles import require
from tests.toolchain.toolchain_helpers import SOURCES

# Row number in HIP's enumeration, the reference's type, the largest finite value.
FORMATS = (
    (0, ml_dtypes.float8_e4m3fn, 448.0),
    (1, ml_dtypes.float8_e5m2, 57344.0),
    (2, ml_dtypes.float8_e4m3fnuz, 240.0),
    (3, ml_dtypes.float8_e5m2fnuz, 57344.0),
)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    host = (platform.system(), platform.machine())
    require("a host for x86-64 Linux code", host == ("Linux", "x86_64"), f"this is {host}")
    tool, scratch = find_compiler("ziglang"), tmp_path_factory.mktemp("codes")
    flags = ["-x", "hip", "--offload-host-only", "--target=x86_64-unknown-linux-gnu", "-nogpuinc", "-nogpulib", "-O2"]
    flags += ["-std=c++17", "-fPIC", "-fno-stack-protector", "-mf16c", "-isystem", str(HEADERS)]
    flags += zig_flags(tool.path)
    compiled = run([*tool.program, *flags, "-c", str(SOURCES / "codes.hip"), "-o", str(scratch / "codes.o")])
    assert compiled.returncode == 0, compiled.stderr
    subprocess.run([*tool.linker, "-shared", scratch / "codes.o", "-o", scratch / "codes.so"], check=True)
    return ctypes.CDLL(str(scratch / "codes.so"))


def pointer(array):
    return array.ctypes.data_as(ctypes.c_void_p)


def encoded(library, values, index, saturate):
    codes = np.zeros(values.size, np.uint8)
    library.encode(pointer(values), pointer(codes), values.size, index, int(saturate))
    return codes


@pytest.fixture(scope="module")
def values():
    """Every binary16 number with its neighbours, which surround every tie, and random bits: infinities, NaNs."""
    halves = np.arange(65536, dtype=np.uint16).view(np.float16).astype(np.float32)
    halves = halves[~np.isnan(halves)]
    near = np.concatenate([np.nextafter(halves, np.float32(np.inf)), np.nextafter(halves, np.float32(-np.inf))])
    random = np.random.default_rng(8).integers(0, 2**32, 200_000, dtype=np.uint32).view(np.float32)
    return np.ascontiguousarray(np.concatenate([halves, near, random]))


@pytest.mark.parametrize(("index", "dtype", "largest"), FORMATS)
def test_every_code_decodes(library, index, dtype, largest):
    ours = np.zeros(256, np.float32)
    library.decode(pointer(ours), index)
    theirs = np.arange(256, dtype=np.uint8).view(dtype).astype(np.float32)
    assert np.array_equal(np.isnan(ours), np.isnan(theirs))
    number = ~np.isnan(theirs)
    assert np.array_equal(ours[number].view(np.uint32), theirs[number].view(np.uint32))
    assert np.max(ours[np.isfinite(ours)]) == largest
    assert number.sum() >= 248


@pytest.mark.parametrize(("index", "dtype", "largest"), FORMATS)
def test_encoding_without_saturation_is_ml_dtypes(library, values, index, dtype, largest):
    ours = encoded(library, values, index, saturate=False)
    with np.errstate(invalid="ignore", over="ignore"):
        theirs = values.astype(dtype).view(np.uint8)
    nan = np.isnan(theirs.view(dtype).astype(np.float32))
    assert np.array_equal(np.isnan(ours.view(dtype).astype(np.float32)), nan)
    assert np.array_equal(ours[~nan], theirs[~nan])
    assert (~nan).sum() > 190_000
    assert nan.sum() > 500


@pytest.mark.parametrize(("index", "dtype", "largest"), FORMATS)
def test_saturation_changes_only_finite_values_beyond_the_range(library, values, index, dtype, largest):
    plain = encoded(library, values, index, saturate=False)
    saturated = encoded(library, values, index, saturate=True)
    with np.errstate(invalid="ignore", over="ignore"):
        beyond = np.isfinite(values) & ~np.isfinite(plain.view(dtype).astype(np.float32))
    assert np.array_equal(plain[~beyond], saturated[~beyond])
    assert np.array_equal(
        saturated[beyond].view(dtype).astype(np.float32), np.copysign(np.float32(largest), values[beyond])
    )
    assert beyond.sum() > 10_000


def test_bfloat16_is_ml_dtypes(library, values):
    ours = np.zeros(values.size, np.uint16)
    library.encode_bfloat16(pointer(values), pointer(ours), values.size)
    with np.errstate(invalid="ignore"):
        theirs = values.astype(ml_dtypes.bfloat16).view(np.uint16)
    number = ~np.isnan(values)
    assert np.array_equal(ours[number], theirs[number])
    assert np.isnan(ours[~number].view(ml_dtypes.bfloat16).astype(np.float32)).all()
    assert number.sum() > 300_000


def test_scales_are_powers_of_two_in_the_exponent(library):
    ours = np.zeros(256, np.float32)
    library.decode_scales(pointer(ours))
    codes = np.arange(256, dtype=np.uint32)
    assert np.array_equal(ours.view(np.uint32), codes << 23)
    assert np.array_equal(ours[1:255], codes[1:255].astype(np.uint8).view(ml_dtypes.float8_e8m0fnu).astype(np.float32))


def test_nibbles_the_low_one_first(library):
    low, high, both = (np.zeros(256, np.uint8) for _ in range(3))
    library.nibbles(pointer(low), pointer(high), pointer(both))
    codes = np.arange(256, dtype=np.uint8)
    assert np.array_equal(low, codes & 15)
    assert np.array_equal(high, codes >> 4)
    assert np.array_equal(both, codes)


def bits(value, width):
    return value & ((1 << width) - 1)


def signed(value, width=32):
    value = bits(value, width)
    return value - (value >> width - 1 << width)


def reference_row(x, y, z):
    """The integer functions in Python's integers, in the order of the source."""
    wide, other = x << 32 | y, y << 32 | z
    shifted = bits(signed(wide, 64) >> (z & 31), 64)
    eight = (y << 32 | x).to_bytes(8, "little")
    picked = bytes(eight[z >> 4 * i & 7] for i in range(4))
    return [
        32 - x.bit_length(),
        (x & -x).bit_length(),
        x.bit_count(),
        int(f"{x:032b}"[::-1], 2),
        signed(x, 24) * signed(y, 24),
        bits(x, 24) * bits(y, 24),
        signed(x) * signed(y) >> 32,
        x * y >> 32,
        int.from_bytes(picked, "little"),
        (y << 32 | x) << (z & 31) >> 32,
        (y << 32 | x) >> (z & 31),
        (y << 32 | x) << min(z, 32) >> 32,
        (y << 32 | x) >> min(z, 32),
        signed(x) + signed(y) >> 1,
        signed(x) + signed(y) + 1 >> 1,
        x + y >> 1,
        x + y + 1 >> 1,
        abs(signed(x) - signed(y)) + z,
        abs(x - y) + z,
        min(signed(x), signed(y)),
        max(x, y),
        min(x, y),
        64 - shifted.bit_length(),
        0 if x == 0 else (x & -x).bit_length() + 32,
        wide.bit_count(),
        int(f"{wide:064b}"[::-1], 2) >> 32,
        signed(wide, 64) * signed(other, 64) >> 64,
        wide * other >> 64,
        x,
        y,
    ]


def test_integer_functions_are_what_python_computes(library):
    edges = [0, 1, 2, 31, 32, 33, 0x7F, 0xFF, 0x800000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF]
    random = np.random.default_rng(5).integers(0, 2**32, (4000, 3), dtype=np.uint32)
    grid = np.array([(x, y, z) for x in edges for y in edges for z in edges], np.uint32)
    a, b, c = (np.ascontiguousarray(column) for column in np.concatenate([grid, random]).T)
    ours = np.zeros((a.size, 30), np.uint32)
    library.integers(pointer(a), pointer(b), pointer(c), pointer(ours), a.size)
    theirs = [
        [bits(v, 32) for v in reference_row(*row)] for row in zip(a.tolist(), b.tolist(), c.tolist(), strict=True)
    ]
    wrong = np.argwhere(ours != np.array(theirs, np.uint32))
    assert wrong.tolist() == []
    assert ours.size > 180_000


def test_conversions_to_int_round_as_they_say(library):
    random = np.random.default_rng(6).uniform(-1000, 1000, 4000).astype(np.float32)
    values = np.concatenate([np.arange(-40, 41, dtype=np.float32) / 4, random])
    ours = np.zeros((values.size, 4), np.int32)
    library.roundings(pointer(values), pointer(ours), values.size)
    theirs = np.stack([np.rint(values), np.trunc(values), np.floor(values), np.ceil(values)], axis=1)
    assert np.array_equal(ours, theirs.astype(np.int32))


def test_half_precision_is_numpys(library):
    codes = np.arange(65536, dtype=np.uint16)
    other = np.random.default_rng(7).permutation(codes)
    ours = np.zeros((codes.size, 8), np.uint16)
    library.halves(pointer(codes), pointer(other), pointer(ours), codes.size)
    x, y = codes.view(np.float16), other.view(np.float16)
    with np.errstate(all="ignore"):
        theirs = [x + y, x - y, x * y, x / y, x, np.abs(x), None, y * x - x]
        order = (x < y) | (x == y) << 1 | ~(x >= y) << 2 | (x != y) << 3 | (x != y) << 4
    for column, expected in enumerate(theirs):
        if expected is None:
            assert np.array_equal(ours[:, column], order.astype(np.uint16) & 31)
            continue
        got = ours[:, column].view(np.float16)
        assert np.array_equal(np.isnan(got), np.isnan(expected))
        numeric = ~np.isnan(expected)
        assert np.array_equal(ours[numeric, column], expected[numeric].view(np.uint16)), column
        assert numeric.sum() > 60_000


SMALL = ((0, "e3m2fn"), (1, "e2m3fn"), (2, "e2m1fn"))
DIRECTIONS = ((0, "nearest_even"), (1, "toward_zero"), (2, "up"), (3, "down"))


@pytest.mark.parametrize(("index", "name"), SMALL)
def test_small_formats_are_those_of_the_package(library, values, index, name):
    fmt = mfmasim.format(name)
    ours = np.zeros(64, np.float32)
    library.decode_small(pointer(ours), index)
    codes = np.arange(64, dtype=np.uint8) & (15 if index == 2 else 63)
    assert np.array_equal(ours.view(np.uint32), fmt.decode(codes).astype(np.float32).view(np.uint32))
    with np.errstate(invalid="ignore"):
        wide = np.concatenate([values[::7].astype(np.float64), np.random.default_rng(9).normal(0, 3, 50_000)])
    for number, rounding in DIRECTIONS:
        made = np.zeros(wide.size, np.uint8)
        library.encode_small(pointer(wide), pointer(made), wide.size, index, number)
        expected = fmt.encode(wide, rounding=rounding)
        assert wide[made != expected].tolist() == [], rounding
