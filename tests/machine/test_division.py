"""The division that compilers emit: its steps together give the correctly rounded quotient.

This holds the places to account where V_DIV_SCALE, V_DIV_FMAS and V_DIV_FIXUP are read otherwise than the manual's
words: a quotient that overflows comes out of V_DIV_FMAS as NaN, which V_DIV_FIXUP has to turn into infinity. With
a reciprocal that is denormal only as a float64, a divisor above 2**126 would meet V_RCP_F32's flushed result; with a
scale back of 2**32, a quotient scaled by 2**64 would be off by 2**32. V_DIV_SCALE alone is held to recorded cases.
"""

from __future__ import annotations

import numpy as np
import pytest

import mfmasim
from mfmasim.machine.numerics.float_formats import FORMS
from mfmasim.machine.numerics.float_mode import float_mode
from mfmasim.machine.opcodes.registry import OPERATIONS
from mfmasim.machine.ops.vector_divide import div_scale
from tests.machine import harness
from tests.slow.machine.approximate import _div_scale as slow_div_scale
from tests.slow.machine.float_mode import NOW
from tests.slow.machine.vector_alu import FORMS as SLOW_FORMS

pytestmark = pytest.mark.oracle

START = """
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_load_dwordx2 s[8:9], s[0:1], 0x10
  v_lshlrev_b32_e32 v1, {shift}, v0
  s_lshl_b32 s3, s2, {group}
  v_add_u32_e32 v1, s3, v1
  s_waitcnt lgkmcnt(0)
  global_load_{size} v{two}, v1, s[4:5]
  global_load_{size} v{four}, v1, s[6:7]
  s_waitcnt vmcnt(0)
"""
SINGLE = """
  v_div_scale_f32 v6, s[10:11], v4, v4, v2
  v_div_scale_f32 v8, vcc, v2, v4, v2
  v_rcp_f32_e32 v10, v6
  v_fma_f32 v12, -v6, v10, 1.0
  v_fmac_f32_e32 v10, v12, v10
  v_mul_f32_e32 v12, v8, v10
  v_fma_f32 v14, -v6, v12, v8
  v_fmac_f32_e32 v12, v14, v10
  v_fma_f32 v6, -v6, v12, v8
  v_div_fmas_f32 v6, v6, v10, v12
  v_div_fixup_f32 v2, v6, v4, v2
  global_store_dword v1, v2, s[8:9]
  s_endpgm
"""
DOUBLE = """
  v_div_scale_f64 v[6:7], s[10:11], v[4:5], v[4:5], v[2:3]
  v_rcp_f64_e32 v[8:9], v[6:7]
  v_fma_f64 v[10:11], -v[6:7], v[8:9], 1.0
  v_fma_f64 v[8:9], v[8:9], v[10:11], v[8:9]
  v_fma_f64 v[10:11], -v[6:7], v[8:9], 1.0
  v_fma_f64 v[8:9], v[8:9], v[10:11], v[8:9]
  v_div_scale_f64 v[10:11], vcc, v[2:3], v[4:5], v[2:3]
  v_mul_f64 v[12:13], v[10:11], v[8:9]
  v_fma_f64 v[6:7], -v[6:7], v[12:13], v[10:11]
  s_nop 1
  v_div_fmas_f64 v[6:7], v[6:7], v[8:9], v[12:13]
  v_div_fixup_f64 v[2:3], v[6:7], v[4:5], v[2:3]
  global_store_dwordx2 v1, v[2:3], s[8:9]
  s_endpgm
"""


def _values(kind, count, rng):
    """Numbers of the whole range: any exponent, denormals, powers of two, the ends, zeros, infinities, NaN."""
    width = 32 if kind is np.float32 else 64
    word = np.uint32 if width == 32 else np.uint64
    bits = rng.integers(0, (1 << width) - 1, count, dtype=np.uint64, endpoint=True).astype(word)
    info = np.finfo(kind)
    ends = np.array([0, 1, 3, info.max, info.tiny, info.smallest_subnormal, np.inf, np.nan, info.eps], kind)
    ends = np.concatenate([ends, -ends])
    plain = rng.normal(size=count).astype(kind)
    powers = np.ldexp(kind(1), rng.integers(info.minexp - 20, info.maxexp, count)).astype(kind)
    denormals = (rng.integers(1, info.tiny.view(word), count, dtype=np.uint64).astype(word)).view(kind)
    choice = rng.integers(0, 8, count)
    picked = np.select(
        [choice < 3, choice == 3, choice == 4, choice == 5],
        [bits.view(kind), powers, denormals, ends[rng.integers(0, len(ends), count)]],
        plain,
    )
    return picked.astype(kind)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_quotients_are_correctly_rounded(kind):
    """Against the host's division, which is IEEE 754's; of NaN only that it is one."""
    single = kind is np.float32
    groups = 64
    count = 256 * groups
    rng = np.random.default_rng(8)
    numerators, denominators = _values(kind, count, rng), _values(kind, count, rng)
    body = START.format(
        shift=2 if single else 3,
        group=10 if single else 11,
        size="dword" if single else "dwordx2",
        two="2" if single else "[2:3]",
        four="4" if single else "[4:5]",
    )
    program = harness.kernel(body + (SINGLE if single else DOUBLE), "gfx942", "ppp")
    arrays = [numerators, denominators, np.zeros(count, kind)]
    (_, _, out), _ = harness.fast(program, groups, 256, arrays, checks="none")
    with np.errstate(all="ignore"):
        wanted = numerators / denominators
    word = np.uint32 if single else np.uint64
    nan = np.isnan(wanted)
    wrong = np.flatnonzero(np.isnan(out) != nan)
    assert not len(wrong), [(numerators[i], denominators[i], out[i], wanted[i]) for i in wrong[:5]]
    wrong = np.flatnonzero((out.view(word) != wanted.view(word)) & ~nan)
    assert not len(wrong), [(numerators[i], denominators[i], out[i], wanted[i]) for i in wrong[:5]]
    assert count - nan.sum() > 12_000
    denormal = (np.abs(wanted) < np.finfo(kind).tiny) & (wanted != 0)
    assert denormal.sum() > 500


ONE, TWO = {"f32": 0x3F800000, "f64": 0x3FF << 52}, {"f32": 0x40000000, "f64": 1 << 62}
# What RDNA3 gave, by tinygrad (test/amd/hw/test_vop3.py, TestDivScale and TestDivScaleF64, denormals of f32 flushed):
# type, S0, S1 (divisor), S2 (dividend), result (None: NaN), VCC.
RECORDED = [
    ("f32", ONE, 0, ONE, None, 1),
    ("f32", 0, ONE, 0, None, 1),
    ("f32", ONE, ONE, 0x7F7FFFFF, 0x5F800000, 1),
    ("f32", 1, 1, ONE, None, 1),
    ("f32", 0x00800000, ONE, 0x00800000, 0x20800000, 1),
    ("f32", ONE, 0x7F000000, ONE, ONE, 1),
    ("f32", TWO, 0x40800000, TWO, TWO, 0),
    ("f64", ONE, 0, ONE, None, 1),
    ("f64", TWO, 0, TWO, None, 1),
    ("f64", TWO, TWO, TWO, TWO, 0),
]
"""A zero or tiny operand scales back, because its exponent is far from the other's."""


@pytest.mark.parametrize("arch", ["gfx942", "gfx950", "gfx1100", "gfx1151", "gfx1201"])
@pytest.mark.parametrize(("kind", "s0", "s1", "s2", "result", "vcc"), RECORDED)
def test_recorded_cases_of_div_scale(kind, s0, s1, s2, result, vcc, arch):
    form = FORMS[kind]
    values = [value[kind] if isinstance(value, dict) else value for value in (s0, s1, s2)]
    out, back = div_scale(
        *(np.array([value], form.word).view(form.real) for value in values),
        float_mode(0x3C0, mfmasim.arch(arch).floats),
    )
    assert back.tolist() == [bool(vcc)]
    if result is None:
        assert np.isnan(out).all()
    else:
        assert form.bits(out).tolist() == [result[kind] if isinstance(result, dict) else result]


@pytest.mark.parametrize(("mode", "expected"), [(0x3F0, (0x15000000, 1)), (0x3C0, (0xFFC00000, 1))])
def test_a_flushed_denormal_is_a_zero_in_every_test(mode, expected):
    """2**-149 as S0 and S1 of 1 / S1: kept it is scaled by 2**64, flushed it is a divisor of zero."""
    values = [np.array([bits], np.uint32).view(np.float32) for bits in (1, 1, 0x3F800000)]
    out, back = div_scale(*values, float_mode(mode, mfmasim.arch("gfx1100").floats))
    assert (int(out.view(np.uint32)[0]), int(back[0])) == expected


def _near_thresholds(form, count, rng):
    """Operands whose exponents lie at the ends of the ranges that the rule tells apart, some of them special."""
    bias, far = form.bias, 96 if form.width == 32 else 768
    ends = [0, 1, 2, 24, 53, 54, far, far + 1, bias, 2 * bias - far, 2 * bias - 2, 2 * bias - 1, 2 * bias, 2 * bias + 1]
    exponents = rng.choice(ends, count) + rng.integers(-1, 2, count)
    exponents = np.clip(exponents, 0, 2 * bias + 1).astype(np.uint64)
    fractions = rng.integers(0, 1 << form.fraction, count, dtype=np.uint64) * rng.integers(0, 2, count, dtype=np.uint64)
    signs = rng.integers(0, 2, count, dtype=np.uint64) << np.uint64(form.width - 1)
    return (signs | exponents << np.uint64(form.fraction) | fractions).astype(form.word)


@pytest.mark.parametrize("mode", [0x3F0, 0x3C0, 0x330, 0x300, 0x3F5, 0x3FA, 0x3FF, 0x310, 0x320])
@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_div_scale_equals_the_slow_model(kind, mode, monkeypatch):
    """Both kinds of flushing, every rounding, S0 the divisor, the dividend or another number."""
    form, slow = FORMS[kind], SLOW_FORMS[kind]
    rng = np.random.default_rng(mode)
    divisor, dividend, other = (_near_thresholds(form, 3000, rng) for _ in range(3))
    scaled = np.choose(rng.integers(0, 3, 3000), [divisor, dividend, other])
    sources = [bits.view(form.real) for bits in (scaled, divisor, dividend)]
    with np.errstate(all="ignore"):
        out, back = div_scale(*sources, float_mode(mode, mfmasim.arch("gfx1100").floats))
    monkeypatch.setattr(NOW, "mode", mode)
    for k, bits in enumerate(zip(scaled.tolist(), divisor.tolist(), dividend.tolist(), strict=True)):
        expected = slow_div_scale(*bits, slow)
        assert (int(form.bits(out)[k]), int(back[k])) == expected, [f"{word:#x}" for word in bits]
    assert 0 < back.sum() < 3000


def test_fidelity_of_div_scale():
    """Compared with hardware on RDNA3 and RDNA4, nowhere public on CDNA."""
    for name in ("v_div_scale_f32", "v_div_scale_f64"):
        levels = {
            arch: OPERATIONS[name].level(mfmasim.arch(arch)) for arch in ("gfx90a", "gfx950", "gfx1100", "gfx1201")
        }
        assert levels == {"gfx90a": "assumed", "gfx950": "assumed", "gfx1100": "reference", "gfx1201": "hardware"}
