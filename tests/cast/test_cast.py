"""hipkernels/cast, without transposition: right on every corner, and wrong kernels are caught."""

from itertools import pairwise

import numpy as np
import pytest
import slow_cast
from family import caught, mutants, passes, right, runs, wrong

from hipkernels.cast import operands, plan, reference

FORMATS = sorted(slow_cast.DTYPES)


QUICK = {
    "first_version", "first_version_cdna3", "nan_becomes_a_number", "mode_not_entered", "ordinary_stores",
    "amax_drops_nan", "amax_without_barrier", "tail_one_too_far",
}  # fmt: skip


@pytest.mark.parametrize(("case", "arch"), right("cast.hip", lambda i, *_: (i + i // 3) % 3 == 0))
def test_right_kernels_pass(case, arch):
    passes(case, arch)


@pytest.mark.parametrize("name", wrong("cast.hip", QUICK))
def test_wrong_kernels_are_caught_by_the_checks_they_name(name):
    caught("cast.hip", name)


def test_there_are_enough_of_both():
    assert {arch for _, arch in runs("cast.hip")} == {"gfx942", "gfx950", "gfx1201"}
    assert len(runs("cast.hip")) >= 250
    assert sum(not mutant.equivalent for mutant, _ in mutants("cast.hip").values()) >= 30


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
