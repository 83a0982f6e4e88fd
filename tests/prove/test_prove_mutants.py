"""Soundness: nothing that a check finds in a wrong kernel is proved of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mfmasim.lab.mutation.mutants import compile_mutant, mutants_of, run_mutant
from mfmasim.prove import prove_case
from mfmasim.prove.replay import of_kind
from mfmasim.verify.files import families
from tests.longtier import turn

if TYPE_CHECKING:
    from mfmasim.verify import Case, Mutant

VIOLATES = {"races": {"lds races", "global races"}, "bounds": {"bounds"}, "waits": {"waits"}, "mapping": {"fragments"}}
QUICK = {"tiles_read_too_early", "direct_waits_for_one_too_few", "row_not_guarded"}
FAMILIES = {
    "attention": 9, "attention_backward": 15, "attention_fp8": 20, "cast": 20, "gemm_blockscale": 15,
    "gemm_epilogue": 6, "gemm_f16": 9, "gemm_fp8": 50, "gemm_fp8/scheduled": 12, "gemm_fp8/streams": 15,
    "gemm_gfx1250": 15, "gemm_mx": 25, "gemm_mx/scheduled": 30, "gemm_sparse": 20, "intro": 25,
    "isa/wmma": 8, "lds": 10, "races": 60, "uninit": 1, "wmma": 40,
    "wmma/fp8": 20, "wmma/scaled": 1, "wmma/streams": 2, "wmma_types": 10,
}  # fmt: skip
"""Families with wrong variants that violate an obligation: how many, at least."""
WITHOUT = {"grid_maps", "hazards"}
SHARE = 4
"""Variants of a family that a round judges."""


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
    proof = prove_case(changed, arch, kernel=kernel, seconds=8, replays=False)
    verdicts = {one.kind: one.verdict for one in proof.obligations}
    claimed = {kind for check in mutant.caught for kind in VIOLATES.get(check, ()) if verdicts.get(kind) == "proved"}
    if claimed:  # which of the races, and whether it is an error at these sizes, the execution says
        violated = {of_kind(finding) for finding in run_mutant(mutant, case).result.findings}
        assert not claimed & violated, f"{mutant.name} is caught by {mutant.caught}: {verdicts}"


@pytest.mark.parametrize("name", sorted(QUICK))
def test_a_wrong_kernel_is_not_proved(name: str) -> None:
    found = [(mutant, case) for mutant, case in wrong("gemm_fp8") if mutant.name == name]
    assert len(found) == 1
    judged(*found[0])


@pytest.mark.long
@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_no_wrong_kernel_is_proved(family: str) -> None:
    found = wrong(family)
    assert len(found) >= FAMILIES[family]
    for mutant, case in turn(found, -(-len(found) // SHARE)):
        judged(mutant, case)


@pytest.mark.long
def test_a_wrong_tile_that_lies_inside_of_its_tensor_is_not_proved() -> None:
    (pair,) = [one for one in wrong("attention_fp8") if one[0].name == "half_of_the_rows"]
    judged(*pair)


def test_every_family_with_wrong_variants_is_judged() -> None:
    assert {name for name, path in families().items() if (path.parent / "mutants.py").is_file()} == {
        *FAMILIES,
        *WITHOUT,
    }


def test_a_size_that_the_simulator_replays_refutes() -> None:
    mutant, case = next(pair for pair in wrong("gemm_fp8") if pair[0].name == "tiles_read_too_early")
    arch = case.arch[-1]
    kernel = compile_mutant(mutant, case, arch)[case.kernel_name()]
    proof = prove_case(case, arch, kernel=kernel)
    (races,) = [one for one in proof.obligations if one.kind == "lds races"]
    assert races.verdict == "refuted"
    assert "races-no-barrier" in races.note
    assert {"M", "N", "K"} <= races.parameters.keys()
