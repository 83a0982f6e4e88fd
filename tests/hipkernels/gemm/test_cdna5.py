"""hipkernels/gemm_gfx1250: every rung of the ladder is proved, with block scales too, and what is wrong is caught."""

import pytest

from mfmasim.verify import find, select
from tests.hipkernels.family import caught, mutants, passes, titled
from tests.tiers import tiers

((_, LADDER), *_) = find("gemm_gfx1250")
RUNS = select(LADDER, None)
MUTANTS = mutants("gemm_gfx1250")
SHORT = ("tensor", "cluster", "scaled[form=e2m1fn]")
QUICK = ("stride_of_a_tile", "no_wait_for_tensorcnt", "mask_off_by_one")


@pytest.mark.parametrize(("case", "arch"), titled(RUNS, lambda case, _: case.title in SHORT))
def test_every_kernel_is_proved(case, arch):
    result = passes(case, arch)
    assert result.mapping["slots_checked"] > 40_000


@pytest.mark.parametrize("name", tiers(MUTANTS, QUICK))
def test_wrong_kernels_are_caught_by_the_checks_they_name(name):
    caught(*MUTANTS[name])


@pytest.mark.long
@pytest.mark.parametrize("shape", [(1, 1, 2), (130, 200, 34), (64, 64, 160)])
@pytest.mark.parametrize("name", ["tensor", "two_slots", "split", "cluster"])
def test_any_shape(name, shape):
    (case,) = [case for case, _ in RUNS if case.title == name]
    passes(case.with_parameters(dict(zip("MNK", shape, strict=True))), "gfx1250")
