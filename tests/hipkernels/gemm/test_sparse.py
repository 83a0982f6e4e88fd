"""hipkernels/gemm_sparse: SMFMAC and SWMMAC in tiled kernels, the index followed like any operand."""

import numpy as np
import pytest

from hipkernels.gemm_sparse.cases import compressed
from mfmasim.verify import find, select
from tests.hipkernels.family import caught, mutants, one_of_each, passes, titled
from tests.tiers import tiers

((_, CASES),) = find("gemm_sparse")
RUNS = select(CASES, None)
MUTANTS = mutants("gemm_sparse")


def slow(case, arch):
    """All but the first sizes of a type of each width, on one architecture."""
    return arch != "gfx942" or "[" in case.title or case.title in ("sparse_bf16", "sparse_i8")


@pytest.mark.parametrize(("case", "arch"), titled(RUNS, slow))
def test_every_kernel_is_proved(case, arch):
    result = passes(case, arch)
    if case.title != "compress":
        assert result.mapping["slots_checked"] > 290_000
        assert {degree for site in result.lds["sites"] for degree in site["degrees"]} == {1}


@pytest.mark.parametrize("name", tiers(MUTANTS, one_of_each(MUTANTS)))
def test_wrong_kernels_are_caught_by_the_checks_they_name(name):
    caught(*MUTANTS[name])


def test_the_largest_two_of_four_are_kept():
    codes = np.random.default_rng(0).integers(0, 1 << 16, (50, 64), np.uint16)
    codes[:, ::4] = codes[:, 2::4]  # equal ones
    kept, words = compressed(codes)
    assert kept.shape == (50, 32)
    assert words.shape == (50, 4)
    for row, groups in enumerate(codes.reshape(50, 16, 4).tolist()):
        for number, group in enumerate(groups):
            ranked = sorted(range(4), key=lambda i: (-(group[i] & 0x7FFF), i))
            first, second = sorted(ranked[:2])
            assert kept[row, 2 * number : 2 * number + 2].tolist() == [group[first], group[second]]
            assert words[row, number // 4] >> number % 4 * 4 & 15 == first | second << 2
