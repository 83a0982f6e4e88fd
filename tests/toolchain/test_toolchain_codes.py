"""The headers' own conversions, run on the CPU and compared with ml_dtypes, code by code."""

import ctypes
import platform
import subprocess

import ml_dtypes
import numpy as np
import pytest
from oracles import require
from toolchain_helpers import SOURCES

from mfmasim.resources import folder
from mfmasim.toolchain import find_compiler
from mfmasim.toolchain.compilers import run
from mfmasim.toolchain.hostheaders import zig_flags

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
    flags += ["-std=c++17", "-fPIC", "-fno-stack-protector", "-isystem", str(folder("hipkernels") / "include")]
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
    assert np.array_equal(
        ours[1:255], codes[1:255].astype(np.uint8).view(ml_dtypes.float8_e8m0fnu).astype(np.float32)
    )


def test_nibbles_the_low_one_first(library):
    low, high, both = (np.zeros(256, np.uint8) for _ in range(3))
    library.nibbles(pointer(low), pointer(high), pointer(both))
    codes = np.arange(256, dtype=np.uint8)
    assert np.array_equal(low, codes & 15)
    assert np.array_equal(high, codes >> 4)
    assert np.array_equal(both, codes)
