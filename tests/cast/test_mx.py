"""hipkernels/cast, the formats with a scale for each 32 elements."""

from fractions import Fraction

import numpy as np
import pytest

from hipkernels.cast import reference
from mfmasim.verify import find, select, verify_case
from mfmasim.verify.mutants import mutants_of, run_mutant

((_, CASES),) = find("cast")
RUNS = select([case for case in CASES if case.source.name == "mx.hip"], None)
MUTANTS = {m.name: (m, case) for m, case in mutants_of("cast") if case.source.name == "mx.hip"}
QUICK = {"scale_rounded_down", "blocks_of_rows_for_columns", "nibbles_swapped"}
TOP = {"e4m3fn": 448, "e5m2": 57344, "e2m1fn": 6}


@pytest.mark.parametrize(("case", "arch"), RUNS, ids=[f"{case.title}-{arch}" for case, arch in RUNS])
def test_right_kernels_pass(case, arch):
    result = verify_case(case, arch)
    assert result.status == "pass", [f.message for f in result.findings if f.severity == "error"]


@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n in QUICK else pytest.mark.long) for n in MUTANTS])
def test_wrong_kernels_are_caught_by_the_checks_they_name(name):
    mutant, case = MUTANTS[name]
    verdict = run_mutant(mutant, case)
    assert verdict.as_expected, (verdict.caught, [f.message for f in verdict.result.findings])


@pytest.mark.parametrize("fmt", sorted(TOP))
def test_the_scale_is_the_smallest_that_fits(fmt):
    """The rule by fractions: amax / scale is at most the largest number, and with half the scale it is not."""
    rng = np.random.default_rng(3)
    tops = TOP[fmt] * np.exp2(np.arange(-120, 100, 7.0))
    amax = np.concatenate(
        [tops, np.nextafter(tops.astype(np.float32), np.float32(np.inf)), np.exp2(rng.uniform(-149, 127, 200))]
    )
    blocks = np.zeros((amax.size, 32), np.float32)
    blocks[np.arange(amax.size), rng.integers(0, 32, amax.size)] = amax * rng.choice([-1.0, 1.0], amax.size)
    for code, largest in zip(reference.mx_scales(blocks, fmt), np.abs(blocks).max(axis=1), strict=True):
        scale = Fraction(2) ** (int(code) - 127)
        assert Fraction(float(largest)) <= TOP[fmt] * scale
        assert code == 0 or Fraction(float(largest)) > TOP[fmt] * scale / 2


@pytest.mark.parametrize("way", ["row", "column"])
@pytest.mark.parametrize(("fmt", "half"), [("e4m3fn", 4), ("e5m2", 3)])
def test_there_and_back_errs_by_half_a_step(fmt, half, way):
    x = np.random.default_rng(4).normal(size=(64, 64)).astype(np.float32)
    back = reference.mx_dequantise(*reference.mx_quantise(x, fmt, way), fmt, way)
    largest = reference.matrix_of(
        np.repeat(np.abs(reference.blocks_of(x, way)).max(axis=1, keepdims=True), 32, 1), x.shape, way
    )
    # Below the normal range steps no longer shrink; its end is at most 2^-14 of the block's largest.
    assert (np.abs(back - x) <= np.maximum(np.abs(x), largest * 2.0**-13) * 2.0**-half).all()
    assert (back != x).any()
