"""golden.reference.steps against captures of gfx1100 and gfx1201, and published vectors of CDNA1 and CDNA2."""

from dataclasses import replace

import numpy as np
import pytest

from golden.reference import models
from golden.reference.models import RULES
from tests import captures
from tests.golden.test_golden_models import FILES, VECTORS, compare, one_dot
from tests.oracles import SHARED_HOW, require

KINDS = {("gfx1100", "f16"): ("RDNA3", "16bit"), ("gfx1100", "bf16"): ("RDNA3", "bf16"),
         ("gfx1201", "f16"): ("RDNA4", "16bit"), ("gfx1201", "bf16"): ("RDNA4", "16bit")}  # fmt: skip
CDNA = {
    "CDNA1__v_mfma_f32_16x16x16f16.npz": ("CDNA1", "16bit"),
    "CDNA2__v_mfma_f32_16x16x16f16.npz": ("CDNA2", "16bit"),
}


def agreeing(arch, form, rule):
    """Captured dot products that the rule gives, and all of them."""
    same = total = 0
    for (of, _, _), (fmt, a, b, c, d) in captures.dots().items():
        if (of, fmt) != (arch, form):
            continue
        for x, y, z, want in zip(a, b, c, d, strict=True):
            got = int(models.matmul(x, y, fmt, fmt, rule, c=z)[0, 0])
            nan = (int(want[0, 0]) & 0x7FFFFFFF) > 0x7F800000
            same += got == (0x7FC00000 if nan else int(want[0, 0]))
            total += 1
    return same, total


@pytest.mark.parametrize(("arch", "form"), KINDS)
def test_captured_dot_products(arch, form):
    same, total = agreeing(arch, form, RULES[KINDS[arch, form]])
    assert same == total >= 50


@pytest.mark.parametrize(
    ("arch", "form", "change"),
    [
        ("gfx1100", "bf16", {"flushes": ""}),
        ("gfx1100", "bf16", {"flushes": "positive"}),
        ("gfx1100", "f16", {"flushes": "signed"}),
        ("gfx1100", "f16", {"step": "dot4"}),
        ("gfx1100", "f16", {"step": "exact"}),
        ("gfx1201", "f16", {"step": "dot2", "group": 2}),
        ("gfx1201", "f16", {"step": "exact"}),
        ("gfx1201", "f16", {"group": 2}),
        ("gfx1201", "f16", {"pair": 4}),
        ("gfx1201", "f16", {"flushes": "signed"}),
    ],
)
def test_the_captures_see_every_parameter(arch, form, change):
    same, total = agreeing(arch, form, replace(RULES[KINDS[arch, form]], **change))
    assert same < total


@pytest.mark.oracle
@pytest.mark.parametrize("file", CDNA)
def test_reference_vectors(file):
    require("reference vectors", VECTORS.is_dir(), SHARED_HOW)
    assert file not in FILES
    same, total = compare(file, RULES[CDNA[file]])
    assert total >= 5000
    assert same == total


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("file", "change"),
    [
        ("CDNA1__v_mfma_f32_16x16x16f16.npz", {"group": 2}),
        ("CDNA1__v_mfma_f32_16x16x16f16.npz", {"flushes": "positive"}),
        ("CDNA2__v_mfma_f32_16x16x16f16.npz", {"group": 2}),
        ("CDNA2__v_mfma_f32_16x16x16f16.npz", {"flushes": ""}),
    ],
)
def test_the_vectors_see_every_parameter(file, change):
    require("reference vectors", VECTORS.is_dir(), SHARED_HOW)
    same, total = compare(file, replace(RULES[CDNA[file]], **change))
    assert same < total


@pytest.mark.parametrize(
    ("a", "b", "c", "rdna3"),
    [
        ([-1, 1], [1, 1], 0x3F800000, 0x3F7FFFFF),
        ([-1, 1], [0, 1], 0, 0x3F7FFFFF),
        ([1, 1], [0, 1], 0x80000000, 0x3F800001),
    ],
)
def test_a_sum_of_integers_is_not_exact_on_rdna3(a, b, c, rdna3):
    assert one_dot(a, b, c, "f16", RULES["RDNA3", "16bit"]) == rdna3
    assert one_dot(a, b, c, "f16", RULES["RDNA4", "16bit"]) == 0x3F800000


@pytest.mark.parametrize(("c", "expected"), [(0x00000001, 0), (0x80000001, 0), (0x80000000, 0), (0x007FFFFF, 0)])
def test_cdna2_flushes_c_without_its_sign(c, expected):
    assert one_dot([0, 0, 0, 0], [0, 0, 0, 0], c, "f16", RULES["CDNA2", "16bit"]) == expected
    assert one_dot([0, 0, 0, 0], [0, 0, 0, 0], c, "f16", RULES["CDNA1", "16bit"]) == (0 if c == 1 << 31 else c)


def test_what_rounds_to_zero_is_plus_zero_on_rdna4_and_keeps_its_sign_elsewhere():
    """A sum of -16 * 2^-266: as the simulator's slow model has it (tests/matrix/test_slow_rdna.py)."""
    a, b = (np.full(shape, code, np.uint16) for shape, code in (((1, 16), 1), ((16, 1), 0x8001)))
    found = {who: int(models.matmul(a, b, "bf16", "bf16", RULES[who, "16bit"])[0, 0]) for who in ("RDNA4", "CDNA3")}
    assert found == {"RDNA4": 0, "CDNA3": 0x80000000}
