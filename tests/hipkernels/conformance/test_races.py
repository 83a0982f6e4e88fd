"""hipkernels/conformance/races: what right kernels are not blamed for, and what catches every wrong one."""

import re
from dataclasses import replace

import pytest

from mfmasim.lab.mutation.mutants import run_mutant
from mfmasim.verify import find, select
from tests.hipkernels.family import mutants, passes, titled
from tests.tiers import tiers

((_, CASES),) = find("races")
RUNS = select(CASES, None)
MUTANTS = mutants("races")


SPINNING = ("chained_scan[", "grid_barrier[", "hand_over[", "locked[")
"""Kernels whose workgroups wait for each other: the more of them, the longer the loops."""


def soon(case, arch):
    return not (case.title.startswith(SPINNING) and "groups=5" in case.title)


@pytest.mark.parametrize(("case", "arch"), titled(RUNS, soon))
def test_right_kernels_pass(case, arch):
    passes(case, arch)


@pytest.mark.parametrize("name", tiers(MUTANTS, MUTANTS.keys() - {"lock_given_back_too_early"}))
def test_wrong_kernels_are_caught_by_the_checks_they_name(name):
    mutant, case = MUTANTS[name]
    verdict = run_mutant(mutant, case)
    assert mutant.reported is not None, "both lines of each finding"
    assert verdict.reported == verdict.wanted
    assert verdict.as_expected, (verdict.caught, [f.message for f in verdict.result.findings])


def right_ones():
    """Cases of two waves, on one architecture with lanes of 64 and on one with 32."""
    names = ("exchange[", "two_halves[", "double_buffer[", "split_rotation[", "memory_stencil[", "last_block[")
    names += ("chained_scan[", "grid_barrier[", "locked[")
    return [
        (c, a) for c, a in RUNS if a in ("gfx942", "gfx1201") and c.title.startswith(names) and "waves=2" in c.title
    ]


@pytest.mark.parametrize(
    ("schedule", "case", "arch"),
    [
        pytest.param(
            schedule,
            case,
            arch,
            id=f"{schedule}-{case.title}-{arch}",
            marks=pytest.mark.long if case.title.startswith(SPINNING) and schedule != "random:7" else (),
        )
        for schedule in ("reversed", "random:7", "last:1", "late")
        for case, arch in right_ones()
    ],
)
def test_right_kernels_give_the_same_in_every_order(case, arch, schedule):
    result = passes(case, arch, schedule=schedule)
    assert result.outputs["elements"]


# What goes wrong in some order, and what only when a store is late, which no order shows.
WITNESSES = {
    "exchange_without_barrier": r"with --schedule last:0 32 elements of \w[\w ]* change",
    "memory_without_barrier": r"with --schedule last:0 32 elements of \w[\w ]* change",
    "grid_barrier_not_waited_for": r"with --schedule last:0 64 elements of \w[\w ]* change",
    "exchange_without_wait": r"none of the orders tried changes an output \(last:0,",
}


@pytest.mark.parametrize("name", WITNESSES)
def test_witnesses(name):
    mutant, case = MUTANTS[name]
    result = run_mutant(replace(mutant, caught=()), case, schedule="witness").result
    (race,) = [f for f in result.findings if f.check == "races"]
    assert re.search(WITNESSES[name], race.message)
    # The outputs are those of the witness.
    assert bool(result.outputs["mismatches"]) == WITNESSES[name].startswith("with")


def test_there_are_enough_of_both():
    kernels = {case.kernel_name() for case in CASES}
    wrong = [mutant for mutant, _ in MUTANTS.values() if not mutant.equivalent]
    assert len(kernels) >= 33
    assert len(wrong) >= 75
    assert {arch for _, arch in RUNS} == {"gfx942", "gfx950", "gfx1151", "gfx1201"}
    alone = [mutant for mutant in wrong if "outputs" not in mutant.caught]
    assert len(alone) > len(wrong) // 2, "most compute right values here, and only the order is wrong"
