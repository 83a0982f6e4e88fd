"""Fidelity follows from captures: mfmasim/evidence.csv."""

import json

import mfmasim
import mfmasim.machine.ops  # fills OPERATIONS
from mfmasim.architectures import ARCHITECTURES
from mfmasim.cli.entry import main
from mfmasim.evidence import ENOUGH, captured, evidence, evidence_of
from mfmasim.machine.opcodes.registry import OPERATIONS
from tests.captures import table
from tests.silicon import evidence as counts
from tests.silicon.corpora import CORPORA
from tests.silicon.dpp import UNDER_DPP
from tests.silicon.lanes import LANES
from tests.silicon.matrices import MATRICES
from tests.silicon.outputs import OUTPUTS
from tests.silicon.test_functions import OPEN

RELATED = {"gfx1151": "gfx1100", "gfx1200": "gfx1201"}
"""Their 16-bit WMMA is reported or built alike (mfmasim/matrix/models.py); the captures are of the other one."""


def evidence_of_steps(name, arch):
    """Captures of a WMMA, or of the V_DOT2 whose steps it takes."""
    return evidence_of(name, arch) or evidence_of(name.replace("wmma", "dot2").replace("_16x16x16", ""), arch)


def test_the_table_is_that_of_the_captures():
    assert counts.PATH.read_text(encoding="utf-8") == counts.text()
    assert sum(row.values for row in evidence()) > 40_000_000


def test_every_capture_is_compared():
    left = {row.operation for row in evidence() if row.equal != row.values}
    assert left == set(OPEN)
    assert {OPERATIONS[name].fidelity for name in OPEN} == {"assumed"}, "a level that a capture contradicts"
    known = {**CORPORA, **UNDER_DPP, **OUTPUTS, **LANES, **MATRICES}
    executed = {row["operation"] for row in table("digests.csv") if row["capture"] in known}
    assert executed == {row["operation"] for row in table("digests.csv")}


def test_no_operation_is_hardware_without_a_capture():
    levels = {}
    for arch, made in ARCHITECTURES.items():
        for name, operation in OPERATIONS.items():
            assert operation.fidelity != "hardware", f"{name} claims captures for every architecture"
            levels[name, arch] = operation.level(made, name)
        for name in mfmasim.instructions(arch):
            if mfmasim.instruction(arch, name).fidelity == "hardware":
                assert evidence_of_steps(name, RELATED.get(arch, arch)), (name, arch)
    hardware = {key for key, level in levels.items() if level == "hardware"}
    assert hardware == {(row.operation, row.arch) for row in evidence() if captured(row.operation, row.arch)} & set(
        levels
    )
    assert len(hardware) > 100


def test_a_few_values_are_not_enough():
    assert sum(row.equal for row in evidence_of("v_add_f32", "gfx1201")) < ENOUGH
    assert OPERATIONS["v_add_f32"].level(ARCHITECTURES["gfx1201"], "v_add_f32") == "specified"
    assert OPERATIONS["v_div_fixup_f32"].level(ARCHITECTURES["gfx1201"]) == "hardware"
    assert OPERATIONS["v_div_fixup_f32"].level(ARCHITECTURES["gfx950"]) == "assumed"
    assert OPERATIONS["v_dot2_f32_f16"].level(ARCHITECTURES["gfx1100"]) == "hardware"


def test_explain_prints_it(capsys):
    assert main(["explain", "v_div_fmas_f64"]) == 0
    text = capsys.readouterr().out
    assert "gfx1201  hardware" in text
    assert "bjacob/goc tests/div_fmas_hardware.h: 49,152 of 49,152 values are equal" in text
    assert main(["explain", "v_exp_f32", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["fidelity"]["gfx950"] == "assumed"
    assert main(["explain", "v_mfma_f32_32x32x2_f32"]) == 0
    assert "no public capture of a GPU" in capsys.readouterr().out
