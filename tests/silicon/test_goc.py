"""What an RX 9070 (gfx1201) gave: the captures of bjacob/goc, every value and digest."""

import itertools

import numpy as np
import pytest

from tests.captures import table
from tests.silicon.corpora import CORPORA, folded
from tests.silicon.dpp import UNDER_DPP
from tests.silicon.execute import run
from tests.silicon.lanes import LANES
from tests.silicon.matrices import MATRICES
from tests.silicon.outputs import OUTPUTS
from tests.silicon.rows import differences, groups

pytestmark = pytest.mark.oracle
LITERAL = sorted({row["capture"] for row in table("rows.csv") if "goc" in row["capture"]})
ALONE = {**CORPORA, **OUTPUTS, **LANES, **MATRICES}
DIGESTS = [row for row in table("digests.csv") if row["capture"] in {**ALONE, **UNDER_DPP}]
SHORT = ("dpp_integer_test.cpp", "dpp_bitfield_test.cpp", "dpp_half_fma_test.cpp")
"""Captures under DPP that take a few seconds."""
LENGTHY = ("integer_compare_hardware.h", "permlane_test.cpp")


def digest(row):
    """What the machine gives for a digest."""
    if row["capture"] in UNDER_DPP:
        return UNDER_DPP[row["capture"]](row["operation"].split(), row["case"])
    return ALONE[row["capture"]](row["operation"], row["case"])


def digests():
    """The first case of each operation in the quick tier; a swizzle executes 2,368 instructions, DPP often more."""
    known, found = {"ds_swizzle_b32"}, []
    for row in DIGESTS:
        shorter = row["capture"] not in UNDER_DPP or row["capture"].endswith(SHORT)
        quick = row["operation"] not in known and shorter and not row["capture"].endswith(LENGTHY)
        known.add(row["operation"])
        first, *others = row["operation"].split()
        name = f"{first}{' and others' if others else ''} {row['case']}"
        found.append(pytest.param(row, id=name, marks=() if quick else pytest.mark.long))
    return found


@pytest.mark.parametrize("capture", LITERAL)
def test_literal_rows(capture):
    found, compared = differences(capture, "gfx1201")
    assert not found, "\n".join(found[:20])
    assert compared == sum(len(row["rows"].split("; ")) for row in table("rows.csv") if row["capture"] == capture)


@pytest.mark.parametrize("row", digests())
def test_digests(row):
    assert f"{digest(row):016x}" == row["digest"]


def test_no_digest_is_left_out():
    assert table("digests.csv") == DIGESTS
    assert len(DIGESTS) == 2525


def test_a_wrong_bit_is_found(monkeypatch):
    """Of a row, and of a digest."""
    row = next(row for row in DIGESTS if row["operation"] == "v_cubema_f32")
    changed = dict(row, digest=f"{int(row['digest'], 16) ^ 1:016x}")
    with pytest.raises(AssertionError):
        test_digests(changed)
    rows = [dict(row) for row in table("rows.csv") if "carry" in row["capture"]]
    rows[0]["rows"] = rows[0]["rows"].replace(" = ", " = f", 1)
    monkeypatch.setattr("tests.silicon.rows.table", lambda _: rows)
    groups.cache_clear()
    assert len(differences(rows[0]["capture"], "gfx1201")[0]) == 1
    groups.cache_clear()


def test_nan_in_fp8_and_bf8_is_negative():
    """fp8_narrow_test.cpp: of either sign."""
    nan = np.array([0x7F800001, 0xFF800001, 0x7FC00000, 0xFFFFFFFF, 0x3F800000, 0xFF800000], np.uint32)
    for kind, code, one, infinity in (("fp8", 0xFF, 0x38, 0xFF), ("bf8", 0xFE, 0x3C, 0xFC)):
        lines = [f"v_cvt_pk_{kind}_f32 v20, v4, v6", f"v_cvt_sr_{kind}_f32 v20, v4, v8"]
        (packed, random), _ = run(lines, [nan, nan, np.zeros_like(nan)])
        assert packed.tolist() == [code * 0x101] * 4 + [one * 0x101, infinity * 0x101]
        assert (random & np.uint64(0xFF)).tolist() == [code] * 4 + [one, infinity]


@pytest.mark.parametrize(("name", "found"), [("v_sin_f16", 0xB6245E65A23F99F9), ("v_cos_f16", 0xC6C3112C531E4391)])
def test_sine_and_cosine_of_every_half(name, found):
    """half_trig_test.cpp: digests of AMD's published model (rocjitsu, amdgpu_trig.h), no capture."""
    out, _ = run([f"{name}_e64 v20.l, v4.l"], [np.arange(1 << 16, dtype=np.uint32)])
    assert folded((out[0] & np.uint64(0xFFFF)).tolist()) == found


@pytest.mark.parametrize(
    ("kind", "sources"), [("f16", (0x40003C00, 0x44004200, 0xC500C500)), ("bf16", (0x40003F80, 0x40804040, 0xC0A0C0A0))]
)
def test_signs_of_packed_wmma(kind, sources):
    """packed_modifier_fixtures.h, 128 values: A is 1 and 2, B 3 and 4, C -5 throughout, and D = 24 + 64 - 5.

    NEG_LO and NEG_HI turn the signs of elements of even and odd k; of C they are NEG and ABS. What the GPU gave are
    these sums, all of which are exact.
    """
    lines, expected = [], []
    for low, high in itertools.product(itertools.product(range(2), repeat=3), repeat=2):
        first, second = (8 * product * (-1) ** (n[0] ^ n[1]) for product, n in ((3, low), (8, high)))
        total = first + second + (5 if high[2] else -5) * (-1) ** low[2]
        signs = f"neg_lo:[{','.join(map(str, low))}] neg_hi:[{','.join(map(str, high))}]"
        moves = [f"v_mov_b32 v{30 + place}, v{4 + place // 4 * 2}" for place in range(12)]
        wmma = f"v_wmma_{kind}_16x16x16_{kind} v[44:47], v[30:33], v[34:37], v[38:41] {signs}"
        lines.append("\n".join([*moves, wmma, *["s_nop 7"] * 2, "v_mov_b32 v20, v44"]))
        wide = int(np.float32(total).view(np.uint32)) >> 16
        expected.append(0x10001 * (int(np.float16(total).view(np.uint16)) if kind == "f16" else wide))
    out, _ = run(lines, [np.full(32, source, np.uint32) for source in sources])
    assert (out == np.array(expected, np.uint64)[:, None]).all()
    assert len(lines) == 64


def test_clamp_of_a_comparison_changes_no_bit():
    """It makes quiet NaNs signal, which the captures of goc's compare_exceptions_hardware.h show in flags alone."""
    numbers = np.array([0x7FC00000, 0x7F800001, 0x3F800000, 0xBF800000, 0, 0x80000000, 1, 0x7F800000], np.uint32)
    sources = [numbers.repeat(4), np.roll(numbers.repeat(4), 3)]
    for name in ("v_cmp_lt_f32", "v_cmp_nlt_f32", "v_cmp_u_f32", "v_cmp_eq_f32"):
        lines = [f"{name}_e64 vcc_lo, v4, v6{clamp}" for clamp in ("", " clamp")]
        _, bits = run(lines, sources)
        assert (bits[0] == bits[1]).all(), name
        assert 0 < bits[0].sum() < 32, name
