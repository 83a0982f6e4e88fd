"""The five introductory kernels: right ones pass, every wrong variant is caught by the checks it names."""

import json
import re

import pytest

from mfmasim.cli import main
from mfmasim.lab.mutation.mutants import mutants_of, run_mutant
from mfmasim.toolchain import find_compiler
from mfmasim.verify import find, select
from tests.hipkernels.family import passes

CASES = select(find("intro")[0][1], None, None)
MUTANTS = mutants_of("intro")


@pytest.mark.parametrize(("case", "arch"), CASES, ids=[f"{c.title}-{a}" for c, a in CASES])
def test_right_kernels_pass(case, arch):
    result = passes(case, arch)
    m, n, k = (case.parameters[x] for x in "MNK")
    assert result.outputs == {"elements": 6 * m * n, "mismatches": 0, "max_ulp": 0}
    scales = 2 * (m * k // 32) if case.name.startswith("scaled") else 0
    # A, B, the accumulator, the stored results, the outputs, the scales: each place once.
    assert result.mapping == {"slots_checked": m * k + k * n + 3 * m * n + scales, "mismatches": 0}
    assert "prebuilt" in result.code["made_by"]
    assert (result.fidelity == "assumed") == (arch == "gfx950")
    assert not result.findings


def test_every_case_is_short():
    """A case is at most 20 lines, decorator included."""
    text = find("intro")[0][1][0].source.parent.joinpath("cases.py").read_text()
    blocks = re.split(r"\n\n\n", text)
    cases = [b for b in blocks if "@case" in b]
    assert len(cases) == 5
    assert all(len(b.strip().splitlines()) <= 20 for b in cases)


@pytest.mark.parametrize(("mutant", "case"), MUTANTS, ids=[m.name for m, _ in MUTANTS])
def test_mutants_are_caught(mutant, case):
    verdict = run_mutant(mutant, case)
    assert verdict.as_expected, [f.lines() for f in verdict.result.findings]
    if mutant.equivalent:
        assert [f.severity for f in verdict.result.findings] == ["info"]
        assert "permuted identically" in verdict.result.findings[0].message


def test_enough_mutants_and_some_only_provenance_sees():
    assert find_compiler() is not None
    wrong = [m for m, _ in MUTANTS if not m.equivalent]
    assert len(wrong) >= 15
    assert sum(m.caught == ("mapping",) for m in wrong) >= 3


FINDINGS = {
    "a_row_column_exchanged": ("A", "needs A[0, 1], holds A[16, 0]", "62 of 64 places", "stored in the other order"),
    "c_transposed": ("D", "needs C[0, 1], goes to C[1, 0]", "992 of 1024", "exchanging row and column"),
    "last_register_not_stored": ("C", "holds what C held before the launch (never written)", "64 of 1024", ""),
    "k_map_of_fp4_uniform_scales": ("A", "needs A[0, 16], holds A[0, 32]", "scale of another block", "e2m1fn layout"),
    "wrong_opsel_byte_uniform": (
        "scale_A", "needs scale_A[0, 0] byte 1, holds scale_A[0, 0] byte 2", "64 of 64", "all hold byte 2",
    ),
    "scale_lane_transposed_uniform": (
        "scale_A", "needs scale_A[0, 1] byte 1, holds scale_A[16, 0] byte 1", "62 of 64", "the scale of another block",
    ),
    "nibbles_swapped_in_b": ("B", "needs B[0, 0], holds B[1, 0]", "2048 of 2048", "swapped halves of a byte"),
    "read_as_bf8": ("A", "needs e4m3fn, holds e5m2", "read as e5m2", ""),
}  # fmt: skip


def test_the_element_is_that_of_the_wrong_place():
    """A[0, 0] is right in a transposed A, its neighbour in the row is wrong."""
    mutant, case = next((m, c) for m, c in MUTANTS if m.name == "a_row_column_exchanged")
    elements = {f.element for f in run_mutant(mutant, case).result.findings if f.check == "mapping"}
    assert "A[0, 1]" in elements


@pytest.mark.parametrize("name", FINDINGS)
def test_a_finding_names_place_element_and_pattern(name):
    operand, elements, count, pattern = FINDINGS[name]
    mutant, case = next((m, c) for m, c in MUTANTS if m.name == name)
    found = [f for f in run_mutant(mutant, case).result.findings if f.check == "mapping" and f.severity == "error"]
    finding = next(f for f in found if f.element.startswith(operand))
    text = "\n".join(finding.lines())
    assert elements in text
    assert count in text
    assert pattern in text
    if finding.lane is not None:
        assert re.search(r"\.hip:\d+  v_mfma_\S+  workgroup \(0, 0, 0\)  wave 0  lane \d+  [va]\d+\[\d+:\d+\]", text)


def test_command_line(capsys, tmp_path):
    out = tmp_path / "results.json"
    assert main(["verify", "intro", "--arch", "gfx942", "--json", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "6 pass" in printed
    records = json.loads(out.read_text())
    assert len(records) == 6
    keys = {"kernel", "arch", "device", "case", "status", "outputs", "mapping", "lds", "findings"}
    assert keys <= set(records[0])
    assert set(records[0]["outputs"]) == {"elements", "mismatches", "max_ulp"}
    assert set(records[0]["mapping"]) == {"slots_checked", "mismatches"}


def test_command_line_says_when_arithmetic_is_assumed(capsys):
    assert main(["verify", "intro", "--arch", "gfx950", "--case", "scaled_fp4"]) == 0
    printed = capsys.readouterr().out
    assert "assumed" in printed
    assert "bit-exact" not in printed
