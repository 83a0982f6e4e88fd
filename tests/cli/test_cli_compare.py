"""``mfmasim compare``: what differs between two sides, and what is said about it."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

import mfmasim
from mfmasim.architectures import arch
from mfmasim.cli import main
from mfmasim.errors import MfmasimError
from mfmasim.lab.comparing.comparison import PARTS, compare
from mfmasim.lab.comparing.rules import WORDS, model_differences
from mfmasim.lab.comparing.sides import side_of
from mfmasim.matrix import instruction
from mfmasim.matrix.models import PARAMETERS
from mfmasim.resources import folder
from mfmasim.toolchain import find_compiler
from mfmasim.verify import find, select
from tests.oracles import require

F16 = ["--of", "intro", "--case", "f16"]
CODE = folder("golden") / "code" / "intro" / "mfma_f32_16x16x16_f16.gfx942.hsaco"


def case_of(family, title):
    return next(case for _, cases in find(family) for case, _ in select(cases, None) if case.title == title)


def test_two_architectures_with_the_same_rules_give_the_same_bits(capsys):
    assert main(["compare", "gfx942", "gfx950", *F16, "--allow", "cost"]) == 0
    text = capsys.readouterr().out
    assert "f16_16x16x16: outputs 256 of 256 equal, bit by bit" in text
    assert "equal: outputs, findings, conflicts, registers, counters" in text
    assert "differ, allowed: cost" in text


def test_what_is_not_allowed_to_differ_fails(capsys):
    assert main(["compare", "gfx942", "gfx950", *F16]) == 1
    assert "differ, not allowed: cost" in capsys.readouterr().out


def test_two_code_objects_one_of_them_with_another_instruction(tmp_path, capsys):
    """A store is taken out of the second: a quarter of the elements is missing."""
    data = CODE.read_bytes()
    store = [one for one in mfmasim.load(data)["mfma_f32_16x16x16_f16"].instructions if "global_store" in one.name][-1]
    assert data.count(store.raw) == 1
    new = tmp_path / "new.hsaco"
    new.write_bytes(data.replace(store.raw, b"\x00\x00\x80\xbf" * (store.size // 4)))
    assert main(["compare", str(CODE), str(new), *F16, "--arch", "gfx942", "--allow", "cost"]) == 1
    text = capsys.readouterr().out
    assert "outputs 192 of 256 equal" in text
    assert re.search(r"stored by global_store_dword \(mfma_f32_16x16x16_f16.hip:23\), 0x\w+ \(.+\) never stored", text)
    assert "the same matrix instructions with the same rules" in text


def test_a_source_against_a_changed_copy(tmp_path, capsys):
    """The copy stores three of four registers."""
    require("a HIP compiler", find_compiler() is not None, "pip install -e '.[test]'")
    text = case_of("intro", "f16_16x16x16").source.read_text()
    for name, registers in (("old.hip", 4), ("new.hip", 3)):
        (tmp_path / name).write_text(text.replace("r < 4", f"r < {registers}"))
    sides = [str(tmp_path / name) for name in ("old.hip", "new.hip")]
    assert main(["compare", *sides, *F16, "--arch", "gfx942", "--allow", "cost,registers,counters"]) == 1
    assert "outputs 192 of 256 equal" in capsys.readouterr().out


def test_a_version_of_the_zoo_against_its_fix(capsys):
    command = ["compare", "version=before", "version=after", "--of", "zoo", "--case", "hipfire_575"]
    assert main([*command, "--allow", "outputs,findings,cost"]) == 0
    text = capsys.readouterr().out
    assert text.count("bit by bit") == 1
    assert "error races-no-barrier" in text
    assert main([*command, "--allow", "outputs,cost"]) == 1
    assert "differ, not allowed: findings" in capsys.readouterr().out


def test_the_first_difference_is_explained_by_the_rule_of_arithmetic(tmp_path):
    case = case_of("wmma_types", "any_bf16")
    found = compare(case, (side_of("gfx1151"), side_of("gfx1201")), ("gfx1151", "gfx1201"))
    assert 0 < found.outputs.mismatches < found.outputs.elements
    first = found.outputs.first[0]
    assert found.explained[0].startswith(f"{first.element}: {first.simulator} stored by global_store_b32 (product.h:")
    name = "v_wmma_f32_16x16x16_bf16"
    models = [instruction(one, name).model for one in ("gfx1151", "gfx1201")]
    assert models[0].algorithm != models[1].algorithm
    assert found.explained[1].startswith(f"{name}: gfx1151 adds by the rule {models[0].algorithm}, ")
    assert found.notes == []
    record = json.loads(json.dumps(found.record()))
    assert {row["part"] for row in record["rows"]} <= set(PARTS)
    assert record["outputs"]["mismatches"] == found.outputs.mismatches


def test_an_fp8_format_that_differs_is_named_and_holds_the_same_numbers():
    case = case_of("intro", "fp8_32x32x16[a=fp8,b=fp8]")
    found = compare(case, (side_of("gfx942"), side_of("gfx950")), ("gfx942", "gfx950"))
    assert any("FNUZ on gfx942 and OCP on gfx950" in line for line in found.explained)
    assert any("same bytes" in line for line in found.notes)
    # Not the same code read in two ways, which would be a factor of four.
    first = found.outputs.first[0]
    values = [float(text.split("(")[1].rstrip(")")) for text in (first.simulator, first.device)]
    assert np.isclose(values[0], values[1], rtol=0.25)


def test_flags_change_what_is_executed():
    case = case_of("intro", "f16_16x16x16")
    found = compare(case, (side_of("flags=-O1"), side_of("flags=-O3")), ("gfx942", "gfx942"))
    assert not found.differing("findings")
    assert found.outputs.mismatches == 0
    assert found.differing("counters")
    assert found.refused(frozenset()) == [part for part in PARTS if found.differing(part)]


def test_every_parameter_of_a_model_has_words_and_a_difference_is_found():
    read = {name for names in PARAMETERS.values() for name in names}
    assert read - set(WORDS) <= {"partial_bits", "partial_rounding", "scale_point", "pair", "addend_lead_floor"}
    first, second = (instruction(one, "v_mfma_f32_16x16x16_f16").model for one in ("gfx942", "gfx950"))
    assert model_differences(first, second) == []
    assert model_differences(first, replace(second, sum_bits=31)) == [
        ("keeps 32 bits below the larger of sum and C", "keeps 31 bits below the larger of sum and C")
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["gfx942", "gfx9", *F16], "gfx9"),
        (["gfx942", "none.hsaco", *F16], "none.hsaco: no such code object"),
        (["gfx942", "none.hip", *F16], "none.hip: no such source"),
        (["gfx942", "nocompiler", *F16], "side 'nocompiler' is none of"),
        (["gfx942", "depth=3", *F16], "depth"),
        (["gfx942", "gfx1100", *F16], "no case of intro is for both sides"),
        (["gfx942", "gfx950", *F16, "--allow", "cots"], "did you mean 'cost'?"),
    ],
)
def test_bad_input_is_one_line(arguments, words, capsys):
    assert main(["compare", *arguments]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


def test_a_side_has_several_parts():
    side = side_of("gfx950,flags=-O1 -g,K=256,mode='x'")
    assert (side.arch, side.flags, side.parameters) == (arch("gfx950").name, ("-O1", "-g"), {"K": 256, "mode": "x"})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has an empty part"),
        ("gfx942,", "has an empty part"),
        ("gfx942,gfx950", "has two of a kind: gfx942 and gfx950"),
        (f"{CODE},flags=-O1", "a compiler and flags do not apply"),
    ],
)
def test_a_side_has_each_part_once(text, message):
    with pytest.raises(MfmasimError, match=message):
        side_of(text)
