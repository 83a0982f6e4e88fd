"""Encoding, held to the slow model, the neighbour table, ml_dtypes and gfloat."""

from __future__ import annotations

import importlib.util
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mfmasim import formats
from mfmasim.formats.encoding import SHORTCUTS
from mfmasim.formats.rounding import round_codes
from tests.formats import neighbours
from tests.formats.test_formats_decode import ML_DTYPES, gfloat_format
from tests.longtier import turn
from tests.oracles import require
from tests.slow import formats as slow

DIRECTED = ["nearest_even", "toward_zero", "up", "down"]
OVERFLOWS = ["saturate", "saturate_finite", "infinity_or_nan"]
NARROW_FLOATS = [fmt for fmt in formats.FORMATS.values() if fmt.bits <= 8 and not fmt.integer]


def number_of(value):
    """Slow model's number of a float64 value."""
    if np.isnan(value):
        return slow.Number(bool(np.signbit(value)), "nan")
    if np.isinf(value):
        return slow.Number(bool(np.signbit(value)), "inf")
    return slow.Number(bool(np.signbit(value)), abs(Fraction(float(value))))


def midpoints(fmt, reach=2):
    """f32 bits at every value and midpoint of a narrow format, and up to ``reach`` ulp to either side, both signs."""
    table = neighbours.magnitudes(fmt)
    points = np.concatenate([table, (table[1:] + table[:-1]) / 2])
    with np.errstate(over="ignore"):
        bits = points.astype(np.float32).view(np.uint32).astype(np.int64)
    near = np.unique((bits[:, None] + np.arange(-reach, reach + 1)).clip(0, 0x7FC00001))
    return np.concatenate([near, near | 1 << 31]).astype(np.uint32)


@pytest.mark.parametrize("overflow", OVERFLOWS)
@pytest.mark.parametrize("fmt", NARROW_FLOATS, ids=lambda fmt: fmt.name)
def test_every_f16_and_bf16_source_in_every_mode(fmt, overflow):
    sources = np.arange(1 << 16, dtype=np.uint16)
    compared = 0
    for rounding in DIRECTED:
        for carrier in (np.float16, ml_dtypes.bfloat16):
            source = sources.view(carrier)
            wide = formats.format("f16" if carrier is np.float16 else "bf16").decode(sources)
            ours = fmt.encode(source, rounding, overflow)
            np.testing.assert_array_equal(ours, neighbours.encode(fmt, wide, rounding, overflow))
            compared += len(ours)
    assert compared == 4 * 2 * 65536


@pytest.mark.parametrize("fmt", NARROW_FLOATS, ids=lambda fmt: fmt.name)
def test_every_midpoint_and_its_surroundings_against_the_slow_model(fmt):
    bits = midpoints(fmt)
    values = bits.view(np.float32)
    with np.errstate(invalid="ignore"):
        wide = values.astype(np.float64)  # exact; signalling NaNs become quiet
    numbers = [number_of(value) for value in wide]
    for rounding in DIRECTED:
        for overflow in ("saturate", "infinity_or_nan"):
            expected = [slow.encode(fmt, number, rounding, overflow) for number in numbers]
            np.testing.assert_array_equal(fmt.encode(values, rounding, overflow), expected)
            # The neighbour table, which the exhaustive test leans on, is held to the slow model here.
            np.testing.assert_array_equal(neighbours.encode(fmt, wide, rounding, overflow), expected)
    assert len(bits) >= 100


@pytest.mark.parametrize("fmt", formats.FORMATS.values(), ids=lambda fmt: fmt.name)
@given(data=st.data())
def test_any_source_to_any_target_against_the_slow_model(fmt, data):
    source = formats.format(data.draw(st.sampled_from(sorted(formats.FORMATS))))
    code = data.draw(st.integers(0, source.mask))
    rounding = data.draw(st.sampled_from([*DIRECTED, "stochastic"]))
    overflow = data.draw(st.sampled_from(OVERFLOWS))
    random = data.draw(st.integers(0, (1 << 32) - 1)) if rounding == "stochastic" else None
    ours = formats.convert(np.array(code, source.carrier), source, fmt, rounding, overflow, random)
    number = slow.decode(source, code)
    assert int(ours) == slow.encode(fmt, number, rounding, overflow, random or 0)


@given(
    value=st.floats(width=64),
    target=st.sampled_from(["e4m3fn", "e4m3fnuz", "e5m2", "e2m1fn", "f16", "bf16", "f32", "xf32", "f64"]),
    random=st.integers(0, (1 << 32) - 1),
)
@example(value=2.0**-100, target="e4m3fn", random=(1 << 32) - 1)
@example(value=5e-324, target="f32", random=(1 << 32) - 1)
@example(value=float(2**-9 * (1 - 2**-32)), target="e4m3fn", random=1)
def test_stochastic_rounding_is_exact_for_float64(value, target, random):
    fmt = formats.format(target)
    ours = int(fmt.encode(np.float64(value), "stochastic", random=random))
    assert ours == slow.encode(fmt, number_of(value), "stochastic", "saturate", random)


def test_stochastic_rounding_goes_up_as_often_as_the_fraction_says():
    fmt = formats.format("e4m3fn")
    random = (np.arange(4096, dtype=np.uint64) << np.uint64(20)).astype(np.uint32)
    codes = fmt.encode(np.full(4096, 1 + 0.125 * 5 / 16), "stochastic", random=random)
    assert (codes == 0x39).sum() == 4096 * 5 // 16
    assert set(codes.tolist()) == {0x38, 0x39}


@pytest.mark.parametrize("name", [name for name in ML_DTYPES if formats.format(name).bits <= 8 and name != "e8m0fnu"])
def test_nearest_even_against_ml_dtypes_on_random_f32(name):
    """Where ml_dtypes does not saturate, nor do we; NaN of FP4 and FP6 apart, all codes are equal."""
    fmt = formats.format(name)
    bits = np.random.default_rng(7).integers(0, 1 << 32, 1 << 19, dtype=np.uint32)
    near_one = (np.random.default_rng(8).standard_normal(1 << 19) * fmt.max / 4).astype(np.float32)
    values = np.concatenate([bits.view(np.float32), near_one])
    values = values[~np.isnan(values)]
    with np.errstate(over="ignore", invalid="ignore"):
        theirs = values.astype(ML_DTYPES[name]).view(np.uint8)
    np.testing.assert_array_equal(fmt.encode(values, overflow="infinity_or_nan"), theirs)
    assert len(values) > 1_000_000


@pytest.mark.parametrize("name", ["f16", "bf16"])
def test_16_bit_targets_against_numpy(name):
    values = np.random.default_rng(9).integers(0, 1 << 32, 1 << 19, dtype=np.uint32).view(np.float32)
    values = values[~np.isnan(values)]
    with np.errstate(over="ignore"):
        theirs = values.astype(ML_DTYPES[name]).view(np.uint16)
    np.testing.assert_array_equal(formats.format(name).encode(values, overflow="infinity_or_nan"), theirs)
    assert len(values) > 500_000


@pytest.mark.oracle
@pytest.mark.parametrize("fmt", [fmt for fmt in NARROW_FLOATS if fmt.special != "scale"], ids=lambda fmt: fmt.name)
def test_midpoints_against_gfloat(fmt):
    require("gfloat", importlib.util.find_spec("gfloat") is not None, "pip install gfloat")
    import gfloat

    modes = {
        "nearest_even": gfloat.RoundMode.TiesToEven,
        "toward_zero": gfloat.RoundMode.TowardZero,
        "up": gfloat.RoundMode.TowardPositive,
        "down": gfloat.RoundMode.TowardNegative,
    }
    info = gfloat_format(fmt)
    values = midpoints(fmt).view(np.float32).astype(np.float64)
    values = values[np.isfinite(values) & (fmt.signed | (values >= 0))]  # gfloat clips negative numbers, ours are NaN
    compared = 0
    for rounding, mode in modes.items():
        for saturate in (True, False):
            if not saturate and fmt.special == "finite":
                continue  # gfloat raises where the format has neither Inf nor NaN
            overflow = "saturate" if saturate else "infinity_or_nan"
            theirs = gfloat.encode_ndarray(info, gfloat.round_ndarray(info, values, mode, sat=saturate))
            ours = fmt.encode(values, rounding, overflow)
            np.testing.assert_array_equal(fmt.decode(ours), fmt.decode(theirs.astype(np.uint8)))
            compared += len(ours)
    assert compared >= 4 * 100


@pytest.mark.long
@pytest.mark.parametrize("fmt", NARROW_FLOATS, ids=lambda fmt: fmt.name)
def test_ten_million_random_f32(fmt):
    generator = np.random.default_rng(11)
    compared = 0
    for _ in range(10):
        bits = generator.integers(0, 1 << 32, 1 << 20, dtype=np.uint32)
        # Half of them within the format's range, the rest anywhere.
        exponent = np.uint32(max(0, 122 + fmt.min_exponent)) + (bits[::2] >> np.uint32(9)) % np.uint32(40)
        bits[::2] = (bits[::2] & np.uint32(0x807FFFFF)) | exponent.clip(0, 255) << np.uint32(23)
        values = bits.view(np.float32)
        rounding = DIRECTED[generator.integers(4)] if compared else "nearest_even"
        with np.errstate(invalid="ignore"):
            wide = values.astype(np.float64)  # exact; signalling NaNs become quiet
        expected = neighbours.encode(fmt, wide, rounding, "saturate")
        np.testing.assert_array_equal(fmt.encode(values, rounding), expected)
        compared += len(bits)
    assert compared >= 10_000_000


@pytest.mark.long
@pytest.mark.parametrize("source", ["f16", "bf16"])
@pytest.mark.parametrize("fmt", NARROW_FLOATS, ids=lambda fmt: fmt.name)
def test_every_16_bit_source_against_the_slow_model(fmt, source):
    # Mixed, for the low bits decide about ties.
    codes, mixed = np.arange(1 << 16, dtype=np.uint16), np.random.default_rng(2).permutation(1 << 16)
    compared = 0
    for rounding in DIRECTED:
        # Every code to nearest; each round another quarter in each other direction.
        some = mixed if rounding == "nearest_even" else turn(mixed, 4)
        ours = formats.convert(codes[some], source, fmt, rounding)
        expected = [
            slow.encode(fmt, slow.decode(formats.format(source), code), rounding) for code in codes[some].tolist()
        ]
        np.testing.assert_array_equal(ours, expected)
        compared += len(expected)
    assert compared == 65536 + 3 * 16384


@pytest.mark.parametrize("fmt", formats.FORMATS.values(), ids=lambda fmt: fmt.name)
def test_codes_survive_decoding_and_encoding(fmt):
    rng = np.random.default_rng(3)
    codes = np.arange(1 << fmt.bits, dtype=fmt.carrier) if fmt.bits <= 16 else rng.integers(0, 1 << 31, 4096, np.uint64)
    codes = codes.astype(fmt.carrier) & ~fmt.carrier.type((1 << fmt.unread_bits) - 1)
    values = fmt.decode(codes)
    number = ~np.isnan(values)
    np.testing.assert_array_equal(fmt.encode(values[number], overflow="infinity_or_nan"), codes[number])


@pytest.mark.parametrize("key", [*SHORTCUTS, ("f64", "e4m3fn", "nearest_even"), ("f64", "e2m1fn", "up")])
def test_shortcuts_equal_the_general_rounding(key):
    """Uniform bits, values near 1, and bits around the target's midpoints, whatever becomes of overflow and NaN."""
    source, target, rounding = formats.format(key[0]), formats.format(key[1]), key[2]
    rng = np.random.default_rng(13)
    top = source.carrier.type(1 << (source.bits - 12))
    bits = rng.integers(0, source.mask, 1 << 16, dtype=source.carrier, endpoint=True)
    near = rng.standard_normal(1 << 14).astype(f"f{source.bits // 8}").view(source.carrier)
    cut = source.carrier.type(1 << (source.mantissa_bits - target.mantissa_bits - 1))
    middle = bits[: 1 << 14] & ~(cut * source.carrier.type(2) - source.carrier.type(1)) | cut
    one = source.carrier.type(1)
    codes = np.concatenate([bits, near, middle, middle - one, middle + one, np.arange(4) * top])
    codes = codes.astype(source.carrier)
    for overflow in OVERFLOWS:
        for nan in ("canonical", "payload"):
            ours = formats.convert(codes, source, target, rounding, overflow, nan=nan)
            np.testing.assert_array_equal(ours, round_codes(codes, source, target, rounding, overflow, nan))
    assert len(codes) > 100_000


def test_nan_keeps_its_payload_where_asked():
    nan = np.uint32([0x7FA00001, 0xFFC12345])
    assert formats.convert(nan, "f32", "f16", nan="payload").tolist() == [0x7F00, 0xFE09]
    assert formats.convert(nan, "f32", "f16").tolist() == [0x7E00, 0xFE00]
    assert formats.convert(np.uint16([0x7C01]), "f16", "f32", nan="payload").tolist() == [0x7FC02000]


def test_pieces_join_without_a_seam():
    values = np.random.default_rng(5).standard_normal((3, 20011)).astype(np.float32)
    fmt = formats.format("e5m2")
    whole = fmt.encode(values)
    assert whole.shape == values.shape
    assert whole.dtype == np.uint8
    np.testing.assert_array_equal(whole[1, 19000:], fmt.encode(values[1, 19000:]))
    np.testing.assert_array_equal(fmt.encode(values[:, ::-2]), whole[:, ::-2])
