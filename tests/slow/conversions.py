"""Slow models of the conversion instructions and the codes that the tests feed them."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np

from mfmasim import formats
from mfmasim.formats.conversions import conversions
from tests.slow import formats as slow

SCALED = [name for name in conversions("gfx950") if "scalef32" in name]
NARROW_KINDS = ("fp8", "bf8", "fp6", "bf6", "fp4")
ARCH_FORMATS = {
    ("gfx942", "fp8"): "e4m3fnuz",
    ("gfx942", "bf8"): "e5m2fnuz",
    ("gfx950", "fp8"): "e4m3fn",
    ("gfx950", "bf8"): "e5m2",
    ("gfx1201", "fp8"): "e4m3fn",
    ("gfx1201", "bf8"): "e5m2",
}
INTERESTING = np.array([
    0, 0x80000000, 1, 0x807FFFFF, 0x3F800000, 0xBF800000, 0x43E80000, 0x43E80001, 0x43F00000, 0x7F7FFFFF,
    0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001, 0x7F800001, 0x3B000000, 0x3A800000, 0x3A800001,
    0x47600000,
], np.uint32)  # fmt: skip


def samples(count=600, seed=1):
    """Special f32 codes, uniform bits, and values around 1."""
    rng = np.random.default_rng(seed)
    normal = (rng.standard_normal(count) * 2.0 ** rng.integers(-12, 12, count)).astype(np.float32).view(np.uint32)
    return np.concatenate([INTERESTING, rng.integers(0, 1 << 32, count, dtype=np.uint32), normal])


def name_of(kind, arch="gfx950"):
    return formats.format(ARCH_FORMATS.get((arch, kind), kind))


def slow_narrow(code, source, target, overflow, scale=127):
    """Slow model of one scaled narrowing conversion."""
    number = slow.decode(formats.format(source), int(code))
    if scale == 255:
        number = slow.Number(number.negative, "nan")
    if isinstance(number.magnitude, Fraction):
        number = slow.Number(number.negative, number.magnitude / slow.power(scale - 127))
    return slow.encode(target, number, overflow=overflow)


def slow_widen(code, source, target, scale, overflow="infinity_or_nan"):
    number = slow.decode(source, int(code))
    if scale == 255:
        number = slow.Number(number.negative, "nan")
    if isinstance(number.magnitude, Fraction):
        number = slow.Number(number.negative, number.magnitude * slow.power(scale - 127))
    return slow.encode(formats.format(target), number, overflow=overflow)


def slow_random(code, source, target, random, overflow, scale=127):
    """The stochastic adder in Python integers: align, cut, add, cut."""
    row = formats.format(source)
    number = slow.decode(row, int(code))
    if scale == 255 or number.magnitude == "nan":
        return slow.encode(target, slow.Number(number.negative, "nan"))
    if number.magnitude in {"inf", 0}:
        return slow.encode(target, number, overflow=overflow)
    magnitude = number.magnitude / slow.power(scale - 127)
    exponent = 0
    while slow.power(exponent + 1) <= magnitude:
        exponent += 1
    while slow.power(exponent) > magnitude:
        exponent -= 1
    significand = magnitude / slow.power(exponent - row.mantissa_bits)
    assert significand.denominator == 1
    significand = int(significand) >> max(target.min_exponent - exponent, 0)
    exponent = max(exponent, target.min_exponent)
    extra = row.mantissa_bits - target.mantissa_bits
    kept = (significand + (random >> (32 - extra))) >> extra
    value = kept * slow.power(exponent - target.mantissa_bits)
    return (
        slow.encode(target, slow.Number(number.negative, value), "toward_zero", overflow)
        if value <= Fraction(target.max)
        else slow.encode(target, slow.Number(number.negative, slow.power(200)), overflow=overflow)
    )


def lfsr(value):
    return ((value << 1) & 0xFFFFFFFF) ^ (197 if value >> 31 else 0)


def scales(shape, seed=3):
    """Scale operands with all exponents; mantissa and sign are noise that must not matter."""
    rng = np.random.default_rng(seed)
    field = rng.choice([0, 1, 90, 120, 125, 126, 127, 128, 129, 135, 160, 253, 254, 255], shape).astype(np.uint32)
    return field << np.uint32(23) | rng.integers(0, 1 << 23, shape, dtype=np.uint32) | np.uint32(1 << 31)


def field(scale):
    return int(scale) >> 23 & 0xFF


def wide_codes(source, count, seed=4):
    bits = samples(count, seed)
    if source == "f32":
        return bits
    rng = np.random.default_rng(seed)
    return np.concatenate(
        [rng.integers(0, 1 << 16, count), [0, 0x8000, 1, 0x7C00, 0xFF80, 0x7F80, 0x7FFF, 0xFC01]]
    ).astype(np.uint32)


def halves(pairs):
    return pairs[0] | pairs[1] << np.uint32(16)


def bit_string(registers):
    """The 192 bits of six registers of one lane, as an integer."""
    return sum(int(register) << (32 * i) for i, register in enumerate(registers))


BLOCKS = [name for name in SCALED if re.search("(pk32|pk16)_[bf]{1,2}p?6_", name)]
