"""conformance/uninit: unused undefined bits give no finding; used ones are reported with their origin."""

import re

import pytest

from mfmasim.lab.mutation.mutants import run_mutant
from mfmasim.verify import find, select
from tests.hipkernels.family import mutants, passes, titled

((_, CASES),) = find("uninit")
RUNS = select(CASES, None)
MUTANTS = mutants("uninit")
WHERE = r"comes from (\w[^(]* \()?byte {byte} of the LDS\)?"
LDS = WHERE.format(byte=r"\d+") + ", which was never written, loaded at"
NEVER = "which was never written in lane"
# Kind of the finding, its source, and its message.
TOLD = {
    "tail_left_out": ("stored", "unset.hip", LDS),
    "tail_left_out_on_cdna": ("stored", "unset.hip", LDS),
    "flag_not_cleared": ("stored", "unset.hip", WHERE.format(byte=0)),
    "flag_not_cleared_on_cdna": ("stored", "unset.hip", WHERE.format(byte=0)),
    "padding_used": ("stored", "unset.hip", WHERE.format(byte=12)),
    "table_half_filled": (
        "address",
        "unset.hip",
        r"is the address of an access and comes from byte \d+ of the lane's scr",
    ),
    "c_times_zero": ("stored", "unset.hip", r"comes from \w[\w ]*\[0\]"),
    "even_lanes_taken": ("stored", "unset.hip", rf"comes from v100, {NEVER} 0"),
    "another_lane_read": ("stored", "unset.hip", rf"comes from v100, {NEVER} 5"),
    "beyond_the_end": ("stored", "unset.hip", r"was never written in lane 4"),
    "one_bit_more": (
        "stored",
        "unset.hip",
        rf"\(bits 0x100\) is stored to global memory and comes from v100, {NEVER} 0",
    ),
    "a_byte_of_the_other_register": ("stored", "unset.hip", rf"\(bits 0xff\) .* comes from v100, {NEVER} 0"),
    "counters_not_cleared": ("stored", "unset.hip", LDS),
    "sum_not_cleared": ("atomic", "unset.hip", r"updated by an atomic operation and comes from \w[\w ]*\[0\]"),
    "rare_case_forgotten": ("stored", "unset.hip", r"comes from \w[\w ]*\[0\], which was never written, loaded at"),
    "other_flags_forgotten": ("branch", "unset.hip", "exec_lo .* decides which lanes are active and comes from"),
    "columns_not_filled": ("matrix", "matrix.hip", LDS),
    "columns_not_filled_on_cdna": ("matrix", "matrix.hip", LDS),
    "accumulators_not_set": (
        "matrix",
        "matrix.hip",
        "v100 is an operand of a matrix instruction and was never written",
    ),
    "accumulators_not_set_on_cdna": ("matrix", "matrix.hip", "v100 is an operand of a matrix instruction"),
}


@pytest.mark.parametrize(("case", "arch"), titled(RUNS))
def test_right_kernels_pass(case, arch):
    passes(case, arch)


@pytest.mark.parametrize("name", MUTANTS)
def test_wrong_kernels_are_told_with_the_origin(name):
    mutant, case = MUTANTS[name]
    verdict = run_mutant(mutant, case)
    findings = [f for f in verdict.result.findings if f.check == "uninitialised"]
    assert verdict.as_expected, (verdict.caught, [f.message for f in verdict.result.findings])
    kind, source, message = TOLD[name]
    assert [f.id for f in findings] == [f"uninitialised-{kind}"], [f.message for f in findings]
    assert re.search(message, findings[0].message), findings[0].message
    assert findings[0].source.startswith(source)
    assert findings[0].workgroup == (0, 0, 0)


def test_there_are_enough_of_both():
    assert len({case.kernel_name() for case in CASES}) >= 16
    assert len(MUTANTS) >= 16
    assert {arch for _, arch in RUNS} == {"gfx942", "gfx950", "gfx1151", "gfx1201"}
    assert any("outputs" not in mutant.caught for mutant, _ in MUTANTS.values()), "outputs alone do not tell"
