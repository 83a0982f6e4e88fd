"""hipkernels/cast, without transposition: right on every corner, and wrong kernels are caught."""

from itertools import pairwise

import numpy as np
import pytest
import slow_cast

from hipkernels.cast import operands, plan, reference
from mfmasim.verify import find, select, verify_case
from mfmasim.verify.mutants import mutants_of, run_mutant

((_, CASES),) = find("cast")
RUNS = select([case for case in CASES if case.source.name == "cast.hip"], None)
MUTANTS = {m.name: (m, case) for m, case in mutants_of("cast") if case.source.name == "cast.hip"}
FORMATS = sorted(slow_cast.DTYPES)


def quick(number, case):
    """Every variant on one architecture, in turn; counts on all."""
    return number % 3 == 0


@pytest.mark.parametrize(
    ("case", "arch"),
    [
        pytest.param(case, arch, id=f"{case.title}-{arch}", marks=() if quick(i + i // 3, case) else pytest.mark.long)
        for i, (case, arch) in enumerate(RUNS)
    ],
)
def test_right_kernels_pass(case, arch):
    result = verify_case(case, arch)
    assert result.status == "pass", [f.message for f in result.findings if f.severity == "error"]
    assert all(f.severity == "info" for f in result.findings)


QUICK = {
    "first_version", "first_version_cdna3", "nan_becomes_a_number", "mode_not_entered", "ordinary_stores",
    "amax_drops_nan", "amax_without_barrier", "tail_one_too_far",
}  # fmt: skip
"""Compiling takes most of the time: these show that each check can go red, the others are of the long tier."""


@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n in QUICK else pytest.mark.long) for n in MUTANTS])
def test_wrong_kernels_are_caught_by_the_checks_they_name(name):
    mutant, case = MUTANTS[name]
    verdict = run_mutant(mutant, case)
    assert verdict.as_expected, (verdict.caught, [f.message for f in verdict.result.findings])


def test_there_are_enough_of_both():
    assert {arch for _, arch in RUNS} == {"gfx942", "gfx950", "gfx1201"}
    assert len(RUNS) >= 250
    assert sum(not mutant.equivalent for mutant, _ in MUTANTS.values()) >= 30


@pytest.mark.parametrize("how", ["clamp", "plain"])
@pytest.mark.parametrize("fmt", FORMATS)
def test_the_reference_agrees_with_one_that_knows_nothing_of_ours(fmt, how):
    x = np.concatenate([operands.values("f32", 600, "special"), np.array([-0.0, np.inf, -np.inf], np.float32)])
    pairs, after = slow_cast.positive(fmt)
    edges = [float(v) for v, _ in pairs] + [float(after)]
    middles = np.array([(a + b) / 2 for a, b in pairwise(edges)], np.float32)
    around = [middles, np.nextafter(middles, np.float32(0)), np.nextafter(middles, np.float32(np.inf))]
    x = np.concatenate([x, *around, *(-m for m in around)]).astype(np.float32)
    ours = reference.cast(x, 1.0, fmt, how)
    slow = np.array([slow_cast.encode(float(v), fmt, how == "clamp") for v in x], np.uint8)
    # The sign of a NaN is kept, but Python's float does not carry it safely.
    number = ~np.isnan(x)
    np.testing.assert_array_equal(ours[number], slow[number])
    assert number.sum() >= 1200


@pytest.mark.parametrize(
    ("count", "given_bytes", "units", "blocks"),
    [
        (0, 4, 256, 0), (1, 4, 256, 1), (4096, 4, 256, 1), (4097, 4, 256, 2), (1 << 24, 4, 256, 256),
        (1 << 24, 2, 304, 304), ((1 << 27) - 1, 2, 256, 256), (1 << 27, 2, 256, 512), (1 << 27, 4, 256, 256),
        (1 << 33, 2, 64, 128),
    ],
)  # fmt: skip
def test_the_grid_follows_the_compute_units(count, given_bytes, units, blocks):
    assert plan.plan_cast(count, given_bytes, units) == plan.Flat(blocks, count)


def test_a_negative_count_is_refused():
    with pytest.raises(ValueError, match="-1 elements: 0 or more"):
        plan.plan_cast(-1, 4, 256)
