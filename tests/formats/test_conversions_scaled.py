"""The conversions with a scale (v_cvt_scalef32_*), held to the slow model one value at a time."""

from __future__ import annotations

import re

import numpy as np
import pytest

from mfmasim.formats.conversions import Mode, Modifiers, conversion
from tests.slow.conversions import (
    BLOCKS,
    bit_string,
    field,
    halves,
    lfsr,
    name_of,
    scales,
    slow_narrow,
    slow_random,
    slow_widen,
    wide_codes,
)


@pytest.mark.parametrize("ovfl", [False, True])
@pytest.mark.parametrize("source", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("kind", ["fp8", "bf8", "fp4"])
def test_scaled_packs(kind, source, ovfl):
    target = name_of(kind)
    codes = wide_codes(source, 400)
    scale = scales(codes.shape)
    overflow = "saturate" if ovfl else "infinity_or_nan"
    other = codes[::-1].copy()
    expected = [
        [slow_narrow(code, source, target, overflow, field(e)) for code, e in zip(row, scale, strict=True)]
        for row in (codes, other)
    ]
    both = np.array(expected[0], np.uint32) | np.array(expected[1], np.uint32) << np.uint32(target.bits)
    operands = (codes, other, scale) if source == "f32" else (halves((codes, other)), scale)
    run = conversion("gfx950", f"v_cvt_scalef32_pk_{kind}_{source}")
    old = np.full(codes.shape, 0x89ABCDEF, np.uint32)
    for place in range(32 // (2 * target.bits)):
        op_sel = place << (3 if target.bits == 8 else 2)
        out = run(*operands, old=old, mode=Mode(fp16_ovfl=ovfl), modifiers=Modifiers(op_sel=op_sel))
        shift, mask = 2 * target.bits * place, (1 << 2 * target.bits) - 1
        np.testing.assert_array_equal(out >> np.uint32(shift) & np.uint32(mask), both)
        keep = np.uint32(~(mask << shift) & 0xFFFFFFFF)
        np.testing.assert_array_equal(out & keep, old & keep)
    assert len(codes) >= 400


@pytest.mark.parametrize("source", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("kind", ["fp8", "bf8", "fp4"])
def test_scaled_stochastic(kind, source):
    target = name_of(kind)
    codes = wide_codes(source, 300)
    scale, random = scales(codes.shape), np.random.default_rng(6).integers(0, 1 << 32, codes.shape, dtype=np.uint32)
    old = np.full(codes.shape, 0x89ABCDEF, np.uint32)
    mode = Mode(fp16_ovfl=True)

    def expect(row, noise):
        return np.array(
            [
                slow_random(code, source, target, int(n), "saturate", field(e))
                for code, n, e in zip(row, noise, scale, strict=True)
            ],
            np.uint32,
        )

    if kind == "fp4":
        other = codes[::-1].copy()
        second = np.array([lfsr(int(n)) for n in random], np.uint32)
        expected = expect(codes, random) | expect(other, second) << np.uint32(4)
        pair = np.stack([codes, other]) if source == "f32" else halves((codes, other))
        run = conversion("gfx950", f"v_cvt_scalef32_sr_pk_fp4_{source}")
        out = run(pair, random, scale, old=old, mode=mode, modifiers=Modifiers(op_sel=0b1000))
    else:
        expected = expect(codes, random)
        run = conversion("gfx950", f"v_cvt_scalef32_sr_{kind}_{source}")
        out = run(codes, random, scale, old=old, mode=mode, modifiers=Modifiers(op_sel=0b1000))
    np.testing.assert_array_equal(out >> np.uint32(16) & np.uint32(0xFF), expected)
    np.testing.assert_array_equal(out & np.uint32(0xFF00FFFF), old & np.uint32(0xFF00FFFF))


@pytest.mark.parametrize("target", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("kind", ["fp8", "bf8", "fp4"])
def test_scaled_widening(kind, target):
    """Every code with every one of the scales, in every place of the register."""
    source = name_of(kind)
    codes = np.arange(1 << source.bits, dtype=np.uint32)
    compared = 0
    for e in (0, 1, 100, 114, 127, 140, 254, 255):
        scale = np.full(codes.shape, e << 23, np.uint32)
        expected = np.array([slow_widen(code, source, target, e) for code in codes], np.uint32)
        run = conversion("gfx950", f"v_cvt_scalef32_pk_{target}_{kind}")
        for place in range(32 // (2 * source.bits)):
            register = (codes | codes[::-1] << np.uint32(source.bits)) << np.uint32(2 * source.bits * place)
            out = run(register, scale, modifiers=Modifiers(op_sel=place))
            pair = [expected, expected[::-1]]
            np.testing.assert_array_equal(out, pair if target == "f32" else halves(pair))
            compared += 2 * len(codes)
        if kind != "fp4" and target != "bf16":
            one = conversion("gfx950", f"v_cvt_scalef32_{target}_{kind}")
            for byte in range(4):
                out = one(codes << np.uint32(8 * byte), scale, old=codes, modifiers=Modifiers(op_sel=byte))
                kept = codes & np.uint32(0xFFFF0000) if target == "f16" else np.uint32(0)
                np.testing.assert_array_equal(out, expected | kept)
    assert compared == 8 * (32 // (2 * source.bits)) * 2 * len(codes)


def test_scaled_widening_overflows_to_f16_as_the_mode_says():
    run = conversion("gfx950", "v_cvt_scalef32_pk_f16_fp8")
    scale = np.full(1, 150 << 23, np.uint32)
    largest = np.full(1, 0xFE7E, np.uint32)
    assert run(largest, scale).tolist() == [0xFC007C00]
    assert run(largest, scale, mode=Mode(fp16_ovfl=True)).tolist() == [0xFBFF7BFF]
    infinite = conversion("gfx950", "v_cvt_scalef32_pk_f16_bf8")(
        np.full(1, 0xFC7C, np.uint32), scale, mode=Mode(fp16_ovfl=True)
    )
    assert infinite.tolist() == [0xFC007C00]


@pytest.mark.parametrize("name", BLOCKS)
def test_scaled_blocks_of_32(name):
    form, kind, source = re.fullmatch("v_cvt_scalef32_(pk32|2xpk16|sr_pk32)_(.*)_(.*)", name).groups()
    target, lanes = name_of(kind), 12
    codes = np.resize(wide_codes(source, 32 * lanes), (32, lanes))
    scale = scales((lanes,))
    random = np.random.default_rng(8).integers(0, 1 << 32, lanes, dtype=np.uint32)
    if source == "f32":
        operands = (codes[0::2].copy(), codes[1::2].copy()) if form == "2xpk16" else (codes,)
    else:
        operands = (halves((codes[0::2], codes[1::2])),)
    operands += (random,) if form == "sr_pk32" else ()
    out = conversion("gfx950", name)(*operands, scale)
    assert out.shape == (6, lanes)
    for lane in range(lanes):
        noise, bits = int(random[lane]), bit_string(out[:, lane])
        for k in range(32):
            code, e = codes[k, lane], field(scale[lane])
            if form == "sr_pk32":
                expected = slow_random(code, source, target, noise, "saturate", e)
                noise = lfsr(noise)
            else:
                expected = slow_narrow(code, source, target, "saturate", e)
            assert bits >> (6 * k) & 63 == expected, (lane, k)


@pytest.mark.parametrize("target", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("kind", ["fp6", "bf6"])
def test_scaled_blocks_widen(kind, target):
    source = name_of(kind)
    codes = np.stack([np.arange(32), np.arange(32, 64)], axis=1)
    registers = np.array(
        [
            [sum(int(c) << (6 * k) for k, c in enumerate(lane)) >> (32 * r) & 0xFFFFFFFF for lane in codes.T]
            for r in range(6)
        ],
        np.uint32,
    )
    for e in (0, 127, 129, 250, 255):
        out = conversion("gfx950", f"v_cvt_scalef32_pk32_{target}_{kind}")(registers, np.full(2, e << 23, np.uint32))
        expected = np.array([[slow_widen(c, source, target, e) for c in row] for row in codes], np.uint32)
        np.testing.assert_array_equal(out, expected if target == "f32" else halves((expected[0::2], expected[1::2])))


def test_scaled_forms_flush_f32_denormals_when_the_mode_says_so():
    run = conversion("gfx950", "v_cvt_scalef32_pk_fp4_f32")
    tiny, scale, old = np.array([0x807FFFFF], np.uint32), np.zeros(1, np.uint32), np.zeros(1, np.uint32)
    assert run(tiny, tiny, scale, old=old).tolist() == [0xCC]  # -2**-126 / 2**-127 is -2
    assert run(tiny, tiny, scale, old=old, mode=Mode(denorm_f32=0)).tolist() == [0x88]
