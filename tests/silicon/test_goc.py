"""Instructions of gfx1201, executed from code objects, against what an RX 9070 gave."""

import itertools

import numpy as np
import pytest

import mfmasim
from tests.machine import harness
from tests.silicon import captures_goc as seen

SEED, PRIME = 14695981039346656037, 1099511628211
PLAIN, OVERFLOW = 0xF0, 0x8000F0
"""MODE: all denormals, nearest even; the same with FP16_OVFL."""
SIGNS = {"plain": "{a}, {b}, {c}", "abs": "-|{a}|, |{b}|, -{c}", "neg": "-{a}, -{b}, -{c}"}


def digest(numbers):
    """FNV-1a over numbers: bytes, or words."""
    found = SEED
    for number in numbers:
        found = (found ^ number) * PRIME & 2**64 - 1
    return found


def run(line, columns, arch="gfx1201", mode=PLAIN, start=0, vcc=0):
    """Results of an instruction from v4, v6, v8 to v20 (pairs for values of 64 bits), one row a lane."""
    count, words = len(columns[0]), columns[0].itemsize // 4
    rows = np.zeros((-(-count // 32) * 32, words * len(columns)), np.uint32)
    rows[:count] = np.stack(columns, 1).view(np.uint32).reshape(count, -1)
    out = np.zeros((len(rows), words), np.uint32)
    gfx12 = arch.startswith("gfx12")
    size = rows.shape[1] * 4
    loads = [
        f"global_load_b32 v{4 + 2 * (k // words) + k % words}, v2, s[8:9] offset:{4 * k}" for k in range(size // 4)
    ]
    body = "\n".join([
        "s_load_b128 s[8:11], s[0:1], 0x0",
        "v_and_b32 v0, 31, v0",
        f"s_lshl_b32 s12, {'ttmp9' if gfx12 else 's2'}, 5",
        "v_add_nc_u32 v3, s12, v0",
        f"v_mul_lo_u32 v2, v3, {size}",
        f"v_mul_lo_u32 v3, v3, {4 * words}",
        "s_wait_kmcnt 0" if gfx12 else "s_waitcnt lgkmcnt(0)",
        *loads,
        f"s_setreg_imm32_b32 hwreg(1, 0, 8), {mode & 0xFF}",
        f"s_setreg_imm32_b32 hwreg(1, 23, 1), {mode >> 23 & 1}",
        f"s_mov_b32 vcc_lo, {-vcc}",
        f"v_mov_b32 v20, {start:#x}",
        "s_wait_loadcnt 0" if gfx12 else "s_waitcnt vmcnt(0)",
        line,
        *(f"global_store_b32 v3, v{20 + k}, s[10:11] offset:{4 * k}" for k in range(words)),
        "s_endpgm",
    ])  # fmt: skip
    mfmasim.device("sim").launch(harness.kernel(body, arch), len(rows) // 32, 32, [rows, out], checks="none")
    return out[:count].view(columns[0].dtype)[:, 0]


def triples(values, kind):
    """All triples of values, the first one outermost, as columns."""
    form = np.uint64 if kind == "f64" else np.uint32
    return [np.array(column, form) for column in zip(*itertools.product(values, repeat=3), strict=True)]


def operands(kind):
    """Names of the operands of a kind."""
    names = {"f64": ("v[4:5]", "v[6:7]", "v[8:9]"), "f16": ("v4.l", "v6.l", "v8.l")}.get(kind, ("v4", "v6", "v8"))
    return dict(zip("abc", names, strict=True))


@pytest.mark.parametrize("name", seen.CUBE)
def test_cube(name):
    columns = triples(seen.CUBE_VALUES, "f32")
    for signs, expected in zip(("plain", "abs"), seen.CUBE[name], strict=True):
        out = run(f"v_cube{name}_f32 v20, {SIGNS[signs].format(**operands('f32'))}", columns)
        assert digest(out.tobytes()) == expected, signs


@pytest.mark.parametrize(("kind", "vcc", "signs"), seen.FMAS)
def test_div_fmas(kind, vcc, signs):
    to = "v[20:21]" if kind == "f64" else "v20"
    line = f"v_div_fmas_{kind} {to}, {SIGNS[signs].format(**operands(kind))}"
    out = run(line, triples(seen.FMAS_VALUES[kind], kind), vcc=vcc)
    assert digest(out.tobytes()) == seen.FMAS[kind, vcc, signs]


@pytest.mark.parametrize(("kind", "overflow", "signs"), seen.FIXUP)
def test_div_fixup(kind, overflow, signs):
    to = {"f64": "v[20:21]", "f16": "v20.l", "f32": "v20"}[kind]
    line = f"v_div_fixup_{kind} {to}, {SIGNS[signs].format(**operands(kind))}"
    mode = OVERFLOW if overflow else PLAIN
    out = run(line, triples(seen.FIXUP_VALUES[kind], kind), mode=mode, start=0x12345678)
    assert digest(out.tobytes()) == seen.FIXUP[kind, overflow, signs]


@pytest.mark.parametrize(("values", "expected"), seen.MED3_F16)
def test_med3_num_f16(values, expected):
    third, second, first = triples(values, "f16")
    out = run("v_med3_num_f16 v20.l, v4.l, v6.l, v8.l", [first, second, third], start=0xDEAD0000)
    nan = out & 0x7FFF > 0x7C00
    assert digest(np.where(nan, 0xDEAD7E00, out).tolist()) == expected


@pytest.mark.parametrize("arch", ["gfx1100", "gfx1201"])
def test_invalid_fused_operations(arch):
    a, b, c, expected = np.array(seen.FMA_F16, np.uint32).T.copy()
    assert (run("v_fma_f16 v20.l, v4.l, v6.l, v8.l", [a, b, c], arch) == expected).all()
    both = [column * 0x10001 for column in (a, b, c)]
    assert (run("v_pk_fma_f16 v20, v4, v6, v8", both, arch) == expected * 0x10001).all()


def test_cvt_pk_u8_f32():
    source, plain, magnitude = np.array(seen.BYTES, np.uint32).T.copy()
    select = np.arange(len(source), dtype=np.uint32) & 3
    old = np.full(len(source), 0x12345678, np.uint32)
    for text, byte in (("v4", plain), ("|v4|", magnitude)):
        out = run(f"v_cvt_pk_u8_f32 v20, {text}, v6, v8", [source, select, old])
        assert (out == old & ~(255 << 8 * select) | byte << 8 * select).all()


def test_cvt_pk_rtz_f16_f32_ignores_clamp():
    source, plain, clamped = np.array(seen.RTZ, np.uint32).T.copy()
    for modifier, expected in (("", plain), (" clamp", clamped)):
        for mode in (PLAIN, OVERFLOW):
            out = run(f"v_cvt_pk_rtz_f16_f32_e64 v20, v4, v6{modifier}", [source, source ^ (1 << 31)], mode=mode)
            assert [hex(word) for word in out] == [hex(word) for word in expected]


@pytest.mark.parametrize("name", ["v_wmma_i32_16x16x16_iu8", "v_wmma_i32_16x16x16_iu4", "v_wmma_i32_16x16x32_iu4"])
def test_integer_wmma_saturates_after_each_half_of_k(name):
    """integer_wmma_hardware.h: accumulators near the limit, products of opposite signs in the halves of K."""
    kind, mask = ("i8", 0xFF) if "iu8" in name else ("i4", 0xF)
    wmma = mfmasim.instruction("gfx1201", name, a=kind, b=kind)
    a, b = np.zeros((16, wmma.k), np.uint8), np.ones((wmma.k, 16), np.uint8)
    a[:, 0], a[:, wmma.k // 2] = 5, -3 & mask
    c = np.full((16, 16), 0x7FFFFFFE, np.uint32)
    c[8:] = -0x7FFFFFFE & 0xFFFFFFFF
    for clamp, upper in ((False, 0x80000000), (True, 0x7FFFFFFC)):
        d = wmma.multiply(a, b, c, clamp=clamp)
        assert (d[:8] == upper).all()
        assert (d[8:] == -0x7FFFFFFC & 0xFFFFFFFF).all()
