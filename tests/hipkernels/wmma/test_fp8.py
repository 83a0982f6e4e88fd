"""hipkernels/wmma/fp8: the rungs of an FP8 GEMM on RDNA4, the last of which the matrix instructions bound."""

from dataclasses import replace

import pytest

from hipkernels.wmma import autotune
from hipkernels.wmma.fp8.candidates import CANDIDATES
from mfmasim import MfmasimError
from mfmasim.lab.reports.profile import profile_case
from mfmasim.verify import find, select
from tests.hipkernels.family import caught, mutants, passes, titled
from tests.tiers import tiers

CASES = dict(find("wmma/fp8"))["wmma/fp8"]
QUICK = ("rung_fragments", "rung_lds", "tuned_64x64")
RUNS = titled(select(CASES, None), lambda case, _: case.title in QUICK)
MUTANTS = mutants("wmma/fp8")
DEGREES = {"rung_lds": 8, "rung_wide": 4, "rung_padded": 2, "rung_naive": 0, "rung_fragments": 0}
"""The most lanes that meet in a bank, reads and stores; 1 in all others."""


@pytest.mark.parametrize(("case", "arch"), RUNS)
def test_every_kernel_is_proved(case, arch):
    result = passes(case, arch)
    assert result.lds["worst_degree"] == DEGREES.get(case.title, 1)
    if case.title.startswith("tuned_bits["):
        assert result.compared_with == ("the reference function, bit for bit",)
    elif case.title != "rung_naive":
        assert result.mapping["slots_checked"] > 30_000


@pytest.mark.parametrize("name", tiers(MUTANTS, ("read_too_early",)))
def test_wrong_kernels_are_caught_by_the_checks_they_name(name):
    caught(*MUTANTS[name])


def test_exchanged_operands_of_two_formats_beyond_the_edge():
    """Three of four waves have no element of A or of B: what they multiply is 0, in any format."""
    (case,) = [case for case in CASES if case.title == "tuned_e4m3fn_e5m2_bf16"]
    once = replace(case.with_parameters({"M": 5, "N": 8, "K": 64}), data=("integers",))
    assert passes(once, "gfx1201").mapping["mismatches"] == 0


def test_the_tuned_kernel_is_bound_by_its_matrix_instructions():
    """The claims of its case, and the share of the vector unit that its matrix instructions take."""
    (case,) = [case for case in CASES if case.title == "tuned_e4m3fn_e4m3fn_bf16"]
    found = profile_case(case.with_parameters({"M": 128, "N": 128, "K": 512}), "gfx1201")
    assert found.claims
    assert all(judged.confirmed for judged in found.claims), [j for j in found.claims if not j.confirmed]


def test_the_autotuner_orders_the_rungs():
    found = autotune.tune(256, 256, 512, ["rung_lds", "rung_turned", "tuned_64x64"], of="fp8")
    assert found[-1].name == "rung_lds"
    assert all(one.name in CANDIDATES and 0 < one.bound <= one.milliseconds for one in found)
    assert [one.name for one in autotune.tune(64, 50, 100, ["rung_lds", "rung_naive"], of="fp8")] == ["rung_naive"]
    with pytest.raises(MfmasimError, match="tuned_64x64 does not take N = 60 and K = 64"):
        autotune.try_kernel("tuned_64x64", 64, 60, 64, of="fp8")
    with pytest.raises(MfmasimError, match="unknown kernel 'matmul'; allowed: rung_naive, "):
        autotune.try_kernel("matmul", 64, 64, 64, of="fp8")
