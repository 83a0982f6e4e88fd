"""Soundness: nothing that a check finds in a wrong kernel is proved of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mfmasim.lab.mutation.mutants import compile_mutant, mutants_of
from mfmasim.prove import prove_case

if TYPE_CHECKING:
    from mfmasim.verify import Case, Mutant

VIOLATES = {"races": {"lds races", "global races"}, "bounds": {"bounds"}, "waits": {"waits"}, "mapping": {"fragments"}}
QUICK = {"tiles_read_too_early", "direct_waits_for_one_too_few", "row_not_guarded"}
FAMILIES = ("intro", "gemm_fp8")


def wrong(family: str) -> list[tuple[Mutant, Case]]:
    """Mutants that violate an obligation."""
    return [
        (mutant, case)
        for mutant, case in mutants_of(family)
        if not mutant.equivalent and any(check in VIOLATES for check in mutant.caught)
    ]


def judged(mutant: Mutant, case: Case) -> None:
    arch = mutant.arch or case.arch[-1]
    kernel = compile_mutant(mutant, case, arch)[case.kernel_name()]
    changed = case.with_parameters(mutant.parameters) if mutant.parameters else case
    proof = prove_case(changed, arch, kernel=kernel, seconds=15, replays=False)
    verdicts = {one.kind: one.verdict for one in proof.obligations}
    for check in mutant.caught:
        kinds = VIOLATES.get(check, set()) & verdicts.keys()
        if kinds:
            assert any(verdicts[kind] != "proved" for kind in kinds), f"{mutant.name} is caught by {check}: {verdicts}"


@pytest.mark.parametrize("name", sorted(QUICK))
def test_a_wrong_kernel_is_not_proved(name: str) -> None:
    found = [(mutant, case) for mutant, case in wrong("gemm_fp8") if mutant.name == name]
    assert len(found) == 1
    judged(*found[0])


@pytest.mark.long
@pytest.mark.parametrize("family", FAMILIES)
def test_no_wrong_kernel_is_proved(family: str) -> None:
    found = wrong(family)
    assert len(found) >= 20
    for mutant, case in found:
        judged(mutant, case)


def test_a_size_that_the_simulator_replays_refutes() -> None:
    mutant, case = next(pair for pair in wrong("gemm_fp8") if pair[0].name == "tiles_read_too_early")
    arch = case.arch[-1]
    kernel = compile_mutant(mutant, case, arch)[case.kernel_name()]
    proof = prove_case(case, arch, kernel=kernel)
    (races,) = [one for one in proof.obligations if one.kind == "lds races"]
    assert races.verdict == "refuted"
    assert "races-no-barrier" in races.note
    assert {"M", "N", "K"} <= races.parameters.keys()
