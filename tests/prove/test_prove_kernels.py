"""Proofs of our kernels: what is proved, and that executions at several sizes agree."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import pytest

from mfmasim.architectures import arch as find_arch
from mfmasim.prove import prove_case
from mfmasim.prove.alternatives import alternatives
from mfmasim.prove.contract import contracts_of
from mfmasim.prove.proof import followed
from mfmasim.prove.replay import CHECKS, of_kind
from mfmasim.prove.sampling import sizes
from mfmasim.verify import Case, find, verify_case
from mfmasim.verify.runner import set_parameters
from tests.longtier import turn

SAFE = ("bounds", "lds races", "waits", "global races", "bank conflicts")
ALL = (*SAFE, "fragments")
LADDER = {
    "lds_tiled", "one_wave_tile", "vectorised_none", "vectorised_pairs", "direct_none", "direct_pairs", "direct_offset",
    "direct_row",
    "double_buffer_none", "double_buffer_pairs", "double_buffer_offset", "double_buffer_row", "multi_wave_128x128_t512",
}  # fmt: skip

EXECUTED = (
    "cast", "gemm_blockscale", "gemm_f16", "gemm_fp8/scheduled", "gemm_fp8/streams", "gemm_gfx1250", "gemm_mx",
    "gemm_mx/scheduled", "gemm_sparse", "grid_maps", "wmma", "wmma/fp8", "wmma_types",
)  # fmt: skip


def case_of(family: str, name: str) -> Case:
    return next(case for _, cases in find(family) for case in cases if case.name == name)


@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
def test_everything_of_the_intro_is_proved(arch: str) -> None:
    cases = [case for _, cases in find("intro") for case in cases if arch in case.arch]
    assert len(cases) >= 6
    for case in cases:
        proof = prove_case(case, arch)
        assert {one.verdict for one in proof.obligations} == {"proved"}, (case.name, proof.obligations)
        assert len(proof.obligations) == 6


@pytest.mark.parametrize("name", ["direct_row", "double_buffer_pairs"])
def test_a_gemm_is_proved_for_all_sizes_and_strides(name: str) -> None:
    case = case_of("gemm_fp8", name)
    proof = prove_case(case, "gfx950", replays=False)
    assert proof.symbols == ["K", "M", "N", "lda", "ldb", "ldc"]
    assert {one.kind for one in proof.obligations if one.verdict == "proved"} == set(ALL), proof.obligations
    assert agrees(case, "gfx950", ALL) >= 3


@pytest.mark.long
@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
@pytest.mark.parametrize("name", sorted(LADDER))
def test_the_ladder_is_proved_and_executions_agree(name: str, arch: str) -> None:
    case = case_of("gemm_fp8", name)
    proof = prove_case(case, arch, replays=False)
    proved = {one.kind for one in proof.obligations if one.verdict == "proved"}
    wanted = SAFE if name == "lds_tiled" else ALL
    assert proved == set(wanted), [(one.kind, one.reasons[:2]) for one in proof.obligations]
    assert agrees(case, arch, tuple(proved)) >= 3


@pytest.mark.long
@pytest.mark.parametrize("name", ["naive", "lds", "async", "tensor", "two_slots", "split"])
def test_the_ladder_of_gfx1250_is_proved_and_executions_agree(name: str) -> None:
    """Copies by the lanes and by the tensor data mover, one wave's tiles each; split barriers."""
    case = case_of("gemm_gfx1250", name)
    proof = prove_case(case, "gfx1250", replays=False)
    assert {one.kind: one.verdict for one in proof.obligations} == dict.fromkeys(ALL, "proved"), proof.obligations
    assert agrees(case, "gfx1250", ALL) >= 1


@pytest.mark.long
def test_the_ping_pong_kernel_is_proved_within_its_time() -> None:
    proof = prove_case(case_of("gemm_fp8/scheduled", "pingpong_256"), "gfx950", replays=False)
    assert {one.kind for one in proof.obligations if one.verdict == "proved"} == set(ALL)


@pytest.mark.parametrize("name", ["cast_moves", "transpose_moves", "transpose_amax"])
def test_casts_are_proved_for_all_data(name: str) -> None:
    """Divisions of workgroup numbers, loops of lanes, and atomic operations on the largest magnitude."""
    case = next(case for _, cases in find("cast") for case in cases if case.name.startswith(name + "["))
    proof = prove_case(case, "gfx942", replays=False)
    assert {one.kind: one.verdict for one in proof.obligations} == dict.fromkeys(SAFE, "proved"), proof.obligations
    assert agrees(case, "gfx942", SAFE) >= 1


def test_attention_without_a_mask_is_proved_for_all_batches_heads_and_rows() -> None:
    """One alternative of three, `causal in (0, 1, 2)`; without keys the case's function takes another way."""
    arch = find_arch("gfx942")
    case = set_parameters(case_of("attention", "scalar"), arch=arch.name)
    kernel = case.compiled(arch.name)
    contracts = contracts_of(set_parameters(case, wave=kernel.wave), arch)
    assert [contract.fixed["causal"] for contract in contracts] == [0, 0, 1, 1, 2, 2]
    assert all(sorted(contract.parameters) == ["B", "H", "Nkv", "Nq"] for contract in contracts)
    for contract in contracts[:2]:
        found = {one.kind: one.verdict for one in followed(kernel, contract, 60, case)}
        assert found == dict.fromkeys(SAFE, "proved"), contract.assumptions


@pytest.mark.parametrize(("layout", "arch"), [("", "gfx942"), ("o", "gfx1201")])
def test_sums_of_rows_are_proved_for_all_batches_heads_and_rows(layout: str, arch: str) -> None:
    """Three open sides of the grid; on gfx1201 two of them share a register."""
    case = next(
        case
        for _, cases in find("attention_backward")
        for case in cases
        if case.name.startswith("delta_64") and case.parameters["bnhd"] == layout
    )
    proof = prove_case(case, arch, replays=False)
    assert {one.kind: one.verdict for one in proof.obligations} == dict.fromkeys(SAFE, "proved"), proof.obligations
    assert agrees(case, arch, SAFE) >= 1


@pytest.mark.parametrize(
    ("needs", "found"),
    [
        ("n > 0 and k in (1, 2)", [("n > 0", 1), ("n > 0", 2)]),
        ("n % k == 0 and k in (2, 4)", [("n % 2 == 0", 2), ("n % 4 == 0", 4)]),
        ("(n > 5 or n == k) and k > 0", [("n > 5 and k > 0", 3), ("n == k and k > 0", 3)]),
        ("k in (1, 2) and k == 1 and n > 0", [("n > 0", 1)]),
        ("n > 0 and k == 2", [("n > 0", 2)]),
        ("k == 2 and k == 1 and n > 0", []),
        ("n > 0 and way in ('a', 'b')", [("n > 0", 3), ("n > 0", 3)]),
        ("n > 0 and way == 'a'", [("n > 0", 3)]),
    ],
)
def test_alternatives_of_contracts(needs: str, found: list[tuple[str, int]]) -> None:
    case = replace(case_of("intro", "f16_16x16x16"), needs=needs, parameters={"n": 6, "k": 3, "way": "a"})
    assert [
        (one.needs.replace("(", "").replace(")", ""), one.parameters["k"]) for one, _ in alternatives(case)
    ] == found


def test_sizes_that_keep_an_alternative() -> None:
    needs = "(k == 0 or k >= n) and k % 4 == 0"
    case = replace(case_of("intro", "f16_16x16x16"), needs=needs, parameters={"n": 6, "k": 0})
    assert [one.parameters for one, _ in alternatives(case)] == [{"n": 6, "k": 0}, {"n": 6, "k": 8}]


@pytest.mark.parametrize(
    ("needs", "found"),
    [
        ("n >= 64 or k >= 64", [{"n", "k"}, {"n", "k"}]),
        ("(n >= 64 or k == 7) and k >= 1", [{"n", "k"}, {"n", "k"}]),
        ("n in (8, 16) and k > 0", [{"k"}, {"k"}]),
        ("n > 0", [{"n"}]),
    ],
)
def test_what_a_contract_names_is_open_in_each_alternative(needs: str, found: list[set[str]]) -> None:
    case = replace(case_of("intro", "f16_16x16x16"), needs=needs, parameters={"n": 64, "k": 64})
    assert [set(still) for _, still in alternatives(case)] == found


def test_a_size_that_one_alternative_leaves_open_may_be_too_small_there() -> None:
    case = replace(case_of("intro", "f16_16x16x16"), needs="M >= 16 or N >= 16")
    proof = prove_case(case, "gfx942", replays=False)
    assert {one.kind: one.verdict for one in proof.obligations}["bounds"] == "unknown"


def agrees(case: Case, arch: str, kinds: tuple[str, ...]) -> int:
    """Run a kernel at several sizes of its contract: no finding contradicts what is proved; the number of sizes."""
    target = find_arch(arch)
    kernel = case.compiled(arch)
    traced = set_parameters(set_parameters(case, arch=arch), wave=kernel.wave)
    contract = contracts_of(traced, target)[0]
    elements = "fragments" in kinds
    ran = 0
    for _, parameters in islice(sizes(contract), 0, 40, 11):
        one = replace(
            traced.with_parameters(parameters),
            checks=CHECKS,
            suppress={},
            data=("integers",),
            mapping=dict(parameters) if elements and not ran else None,
            executes=(),
            order={},
        )
        result = verify_case(one, arch, kernel=kernel)
        assert result.launch is not None
        against = [
            f.message
            for f in result.findings
            if f.severity == "error" and (of_kind(f) in kinds or (elements and f.check in ("outputs", "mapping")))
        ]
        assert not against, (parameters, against)
        ran += 1
    return ran


@pytest.mark.long
def test_stores_behind_guards_are_one_path() -> None:
    """32 rows, each with a branch that skips its stores where no lane has such a row: 2^32 paths if all were taken."""
    proof = prove_case(case_of("gemm_sparse", "sparse_gemm"), "gfx942", replays=False)
    proved = {one.kind for one in proof.obligations if one.verdict == "proved"}
    assert {"lds races", "waits", "bank conflicts"} <= proved, proof.obligations


@pytest.mark.long
def test_guarded_rows_of_an_open_line_are_proved() -> None:
    """Bounds by certificates: 224 inequalities that the search of `never_negative` does not find."""
    proof = prove_case(case_of("gemm_blockscale", "blockscale_shuffled"), "gfx950", replays=False)
    assert {one.kind: one.verdict for one in proof.obligations} == dict.fromkeys(SAFE, "proved")
    assert agrees(case_of("gemm_blockscale", "blockscale_shuffled"), "gfx950", SAFE) >= 3


@pytest.mark.long
@pytest.mark.parametrize("family", EXECUTED)
def test_executions_agree_with_what_is_proved(family: str) -> None:
    """Other cases in every round; of one of which nothing is proved nothing is executed."""
    pairs = [(c, a) for name, cases in find(family) if name == family for c in cases for a in c.arch if a not in c.skip]
    chosen = turn(pairs, -(-len(pairs) // 2))
    assert chosen
    for case, arch in chosen:
        proof = prove_case(case, arch, group=family, seconds=10, replays=False)
        proved = tuple(one.kind for one in proof.obligations if one.verdict == "proved")
        assert not proved or agrees(case, arch, proved) >= 1, (case.title, arch)
