"""The conversion instructions, held to the slow model one value at a time."""

from __future__ import annotations

import re

import numpy as np
import pytest

from mfmasim import MfmasimError, formats
from mfmasim.architectures import ARCHITECTURES
from mfmasim.formats.conversions import ROWS, Mode, Modifiers, conversion, conversions
from tests.formats.test_formats_encode import midpoints
from tests.llvm import assembled
from tests.slow.conversions import ARCH_FORMATS, BLOCKS, SCALED, lfsr, samples, slow_narrow, slow_random, slow_widen


def as_captured(arch, bits, codes):
    """NaN is negative on an RX 9070, whatever the sign of the source."""
    codes = np.array(codes, np.uint32)
    nan = bits & np.uint32(0x7FFFFFFF) > 0x7F800000
    return np.where(nan, codes | 0x80, codes) if arch == "gfx1201" else codes


@pytest.mark.parametrize("ovfl", [False, True])
@pytest.mark.parametrize(("arch", "kind"), ARCH_FORMATS)
def test_packed_small_floats(arch, kind, ovfl):
    target = formats.format(ARCH_FORMATS[arch, kind])
    bits = np.concatenate([samples(), midpoints(target)])
    overflow = ("saturate_finite" if arch == "gfx1201" else "saturate") if ovfl else "infinity_or_nan"
    expected = as_captured(arch, bits, [slow_narrow(code, "f32", target, overflow) for code in bits])
    run = conversion(arch, f"v_cvt_pk_{kind}_f32")
    old = np.full(bits.shape, 0xA5A5C3C3, np.uint32)
    both = expected | expected[::-1] << 8
    low = run(bits, bits[::-1].copy(), old=old, mode=Mode(fp16_ovfl=ovfl))
    high = run(bits, bits[::-1].copy(), old=old, mode=Mode(fp16_ovfl=ovfl), modifiers=Modifiers(op_sel=8))
    np.testing.assert_array_equal(low, both | 0xA5A50000)
    np.testing.assert_array_equal(high, both << 16 | 0xC3C3)
    assert len(bits) > 1000


def test_fp16_ovfl_table_of_the_manual():
    """CDNA3 7.2, CDNA4 7.3, RDNA4 7.6: NaN, Inf and overflow, FP16_OVFL set and clear; gfx1201 as captured."""
    source = np.array([np.nan, np.inf, -np.inf, 1e6, -1e6], np.float32).view(np.uint32)
    for arch, kind, on, off in (
        ("gfx950", "fp8", [0x7F, 0x7E, 0xFE, 0x7E, 0xFE], [0x7F, 0x7F, 0xFF, 0x7F, 0xFF]),
        ("gfx950", "bf8", [0x7E, 0x7B, 0xFB, 0x7B, 0xFB], [0x7E, 0x7C, 0xFC, 0x7C, 0xFC]),
        ("gfx1201", "fp8", [0xFF, 0x7F, 0xFF, 0x7E, 0xFE], [0xFF, 0x7F, 0xFF, 0x7F, 0xFF]),
        ("gfx1201", "bf8", [0xFE, 0x7C, 0xFC, 0x7B, 0xFB], [0xFE, 0x7C, 0xFC, 0x7C, 0xFC]),
        ("gfx942", "fp8", [0x80, 0x7F, 0xFF, 0x7F, 0xFF], [0x80] * 5),
        ("gfx942", "bf8", [0x80, 0x7F, 0xFF, 0x7F, 0xFF], [0x80] * 5),
    ):
        for ovfl, expected in ((True, on), (False, off)):
            run = conversion(arch, f"v_cvt_pk_{kind}_f32")
            out = run(source, source, old=np.zeros(5, np.uint32), mode=Mode(fp16_ovfl=ovfl))
            assert (out & 0xFF).tolist() == expected


@pytest.mark.parametrize(("arch", "kind"), ARCH_FORMATS)
def test_stochastic_small_floats(arch, kind):
    target = formats.format(ARCH_FORMATS[arch, kind])
    bits = np.concatenate([samples(), midpoints(target)[::5]])
    random = np.random.default_rng(2).integers(0, 1 << 32, len(bits), dtype=np.uint32)
    random[:20] = 0xFFFFFFFF
    expected = [
        slow_random(code, "f32", target, int(noise), "infinity_or_nan")
        for code, noise in zip(bits, random, strict=True)
    ]
    expected = as_captured(arch, bits, expected)
    old = np.full(bits.shape, 0x11223344, np.uint32)
    for byte in range(4):
        out = conversion(arch, f"v_cvt_sr_{kind}_f32")(bits, random, old=old, modifiers=Modifiers(op_sel=byte << 2))
        np.testing.assert_array_equal(out >> np.uint32(8 * byte) & np.uint32(0xFF), expected)
        mask = np.uint32(~(0xFF << 8 * byte) & 0xFFFFFFFF)
        np.testing.assert_array_equal(out & mask, old & mask)
    assert len(bits) > 1000


def test_gfx12_names_the_byte():
    run = conversion("gfx1201", "v_cvt_sr_fp8_f32")
    one = np.float32([1.0]).view(np.uint32)
    zero = np.zeros(1, np.uint32)
    assert run(one, zero, old=zero, modifiers=Modifiers(byte_sel=2)).tolist() == [0x380000]
    with pytest.raises(MfmasimError, match="byte_sel"):
        conversion("gfx950", "v_cvt_sr_fp8_f32")(one, zero, old=zero, modifiers=Modifiers(byte_sel=2))


@pytest.mark.parametrize(("arch", "kind"), ARCH_FORMATS)
def test_widening_small_floats(arch, kind):
    source = formats.format(ARCH_FORMATS[arch, kind])
    codes = np.arange(256, dtype=np.uint32)
    expected = np.array([slow_widen(code, source, "f32", 127) for code in codes])
    one, two = (conversion(arch, f"v_cvt_{form}f32_{kind}") for form in ("", "pk_"))
    for byte in range(4):
        np.testing.assert_array_equal(one(codes << np.uint32(8 * byte), modifiers=Modifiers(byte_sel=byte)), expected)
    for word in range(2):
        registers = (codes | codes[::-1] << np.uint32(8)) << np.uint32(16 * word)
        out = two(registers, modifiers=Modifiers(byte_sel=word))
        np.testing.assert_array_equal(out, [expected, expected[::-1]])


def test_gfx12_reverses_the_byte_select_bits():
    """RDNA4 ISA manual, V_CVT_F32_FP8: OPSEL[1:0] is 2 for byte 1."""
    run = conversion("gfx1201", "v_cvt_f32_fp8")
    dword = np.array([0x00000038 << 8], np.uint32)
    assert run(dword, modifiers=Modifiers(op_sel=2)).tolist() == [0x3F800000]
    assert run(dword, modifiers=Modifiers(op_sel=1)).tolist() == [0]


def test_stochastic_halves_use_the_top_random_bits():
    bits = np.float32([1.0 + 2.0**-11]).view(np.uint32)
    old = np.uint32([0xAAAABBBB])
    run = conversion("gfx950", "v_cvt_sr_f16_f32")
    assert run(bits, np.uint32([0x7FFFFFFF]), old=old).tolist() == [0xAAAA3C00]
    assert run(bits, np.uint32([0x80000000]), old=old).tolist() == [0xAAAA3C01]
    bf16 = conversion("gfx950", "v_cvt_sr_bf16_f32")
    value = np.uint32([0x3F80FFFF])
    assert bf16(value, np.uint32([0x0000FFFF]), old=old, modifiers=Modifiers(op_sel=8)).tolist() == [0x3F80BBBB]
    assert bf16(value, np.uint32([0x00010000]), old=old, modifiers=Modifiers(op_sel=8)).tolist() == [0x3F81BBBB]


def test_prng_has_the_full_period_of_its_first_steps():
    run = conversion("gfx950", "v_prng_b32")
    state, seen = np.uint32([1]), set()
    for _ in range(2000):
        expected = lfsr(int(state[0]))
        state = run(state)
        assert int(state[0]) == expected
        seen.add(expected)
    assert len(seen) == 2000


def test_input_modifiers_come_before_the_conversion():
    bits = np.float32([1.5, -2.0, np.nan]).view(np.uint32)
    run = conversion("gfx950", "v_cvt_pk_fp8_f32")
    old = np.zeros(3, np.uint32)
    out = run(bits, bits, old=old, modifiers=Modifiers(neg=0b01, abs=0b11))
    assert out.tolist() == [0x3CBC, 0x40C0, 0x7FFF]


def test_bad_calls_say_what_is_wrong():
    one = np.ones(4, np.uint32)
    pack = conversion("gfx950", "v_cvt_pk_fp8_f32")
    for call, text in (
        (lambda: pack(one, one), "old="),
        (lambda: pack(one, old=one), "2 sources"),
        (lambda: pack(one.astype(np.float32), one, old=one), "must be uint32, not float32"),
        (lambda: pack(one, one, old=one, modifiers=Modifiers(clamp=True)), "clamp"),
        (lambda: pack(one, one, old=one, modifiers=Modifiers(op_sel=1)), "op_sel"),
        (lambda: conversion("gfx950", "v_cvt_scalef32_pk32_f32_fp6")(one, one), "6 registers"),
        (lambda: conversion("gfx942", "v_cvt_scalef32_pk_fp8_f32"), "on gfx942"),
        (lambda: conversion("gfx950", "v_cvt_pk_fp8_f23"), "did you mean 'v_cvt_pk_fp8_f32'"),
    ):
        with pytest.raises(MfmasimError, match=re.escape(text)):
            call()


def operand(kind, first):
    count = 2 if kind == "b64" else int(kind.partition("x")[2] or 1)
    return f"v[{first}:{first + count - 1}]" if count > 1 else f"v{first}"


@pytest.mark.oracle
def test_llvm_has_the_same_instructions():
    """Every row assembles on its architectures, with as many registers, and on no other."""
    names = sorted({row.name for row in ROWS})
    compared = 0
    for arch, data in ARCHITECTURES.items():
        lines = []
        for name in names:
            row = next((r for r in ROWS if r.name == name and r.on(data)), next(r for r in ROWS if r.name == name))
            kinds = [row.result, *row.sources]
            text = ", ".join(operand(kind, 4 + 36 * i) for i, kind in enumerate(kinds))
            lines.append(f"{name} {text.replace('v', 's') if name.startswith('s_') else text}")
        wrong = {names[n] for n in assembled(lines, arch)[1]}
        # gfx11 and gfx12 accept the gfx9 spellings of what they have under a new name.
        accepted = {name for name in names if name not in wrong}
        ours = set(conversions(arch))
        renamed = {"v_cvt_pkrtz_f16_f32", "v_cvt_rpi_i32_f32", "v_cvt_flr_i32_f32"} | {
            name for name in names if "pknorm" in name
        }
        assert ours <= accepted, arch
        assert accepted - ours <= renamed, arch
        compared += len(names)
    assert compared == len(names) * len(ARCHITECTURES)
    assert len(names) > 100


def test_every_row_says_how_far_it_goes():
    assert len(BLOCKS) == 12
    assert len(SCALED) == 49
    for row in ROWS:
        assert row.fidelity in {"specified", "assumed"}
        assert row.source
        assert row.fidelity == "specified" or row.open


def random_call(name, row, **changes):
    """The result of a conversion of random data."""
    source = np.random.default_rng(7)
    given = []
    for kind in row.sources:
        registers = int(kind.partition("x")[2] or 0)
        bits = source.integers(0, 1 << 64, ((registers, 200) if registers else 200), np.uint64)
        given.append(bits if kind == "b64" else bits.astype(np.uint32) & np.uint32(0xBFFFFFFF))
    old = source.integers(0, 1 << 32, 200).astype(np.uint32) if row.keeps else None
    return conversion(name, row.name)(*given, old=old, modifiers=Modifiers(**changes))


FIRST = {
    name: (arch, conversion(arch, name).row) for arch in reversed(list(ARCHITECTURES)) for name in conversions(arch)
}
"""Conversions, each on the first architecture that has it."""


def test_a_result_has_the_registers_that_its_row_says():
    for name, row in FIRST.values():
        registers = int(row.result.partition("x")[2] or 0)
        assert random_call(name, row).shape == ((registers, 200) if registers else (200,)), row.name
    assert len(FIRST) > 100


def test_every_bit_of_op_sel_that_is_defined_changes_the_result():
    tried = 0
    for name, (arch, row) in FIRST.items():
        plain = random_call(arch, row)
        for bit in range(4):
            # LLVM writes a bit for the random operand of v_cvt_sr_{fp8,bf8}_f16, which has no halves.
            if row.op_sel >> bit & 1 and not (re.fullmatch("v_cvt_sr_(fp8|bf8)_f16", name) and bit == 1):
                assert (random_call(arch, row, op_sel=1 << bit) != plain).any(), (row.name, bit)
                tried += 1
    assert tried > 60


@pytest.mark.parametrize(
    ("arch", "kind", "counted"),
    [("gfx950", "fp8", 436), ("gfx950", "bf8", 120), ("gfx942", "fp8", 496), ("gfx942", "bf8", 120)],
)
def test_overflow_counts_published_from_hardware(arch, kind, counted):
    """ROCm/rocm-systems #9556: of all ordered pairs of bytes, so many finite sums left the format on real GPUs.

    The sums went through v_cvt_scalef32_pk_*_f16 on gfx950 and v_cvt_pk_*_f32 on gfx942. Had overflow been decided
    before rounding, the counts would lie between 248 and 868.
    """
    fmt = formats.format(ARCH_FORMATS[arch, kind])
    values = fmt.decode(np.arange(256))
    values = values[np.isfinite(values)]
    sums = (values[:, None] + values).reshape(-1)
    old = np.zeros(sums.shape, np.uint32)
    if arch == "gfx950":
        halves_ = formats.format("f16").encode(sums, overflow="infinity_or_nan").astype(np.uint32)
        out = conversion(arch, f"v_cvt_scalef32_pk_{kind}_f16")(halves_, old + np.uint32(127 << 23), old=old)
    else:
        bits = sums.astype(np.float32).view(np.uint32)
        out = conversion(arch, f"v_cvt_pk_{kind}_f32")(bits, bits, old=old)
    assert (~np.isfinite(fmt.decode(out & 0xFF))).sum() == counted
    assert (np.abs(sums) > fmt.max).sum() > counted
