"""JSON Schemas: they are schemas, real output is valid, and a record with one thing wrong is not."""

import copy
import importlib.util
import json
from dataclasses import fields
from pathlib import Path

import jsonschema
import pytest

from mfmasim.cli import main
from mfmasim.errors import MfmasimError
from mfmasim.observe import Finding
from mfmasim.schemas import names, schema
from mfmasim.verify.result import SCHEMA_VERSION

ROOT = Path(__file__).resolve().parents[2]
WRONG = """
from mfmasim.verify import In, Out, case

@case("k.s", kernel="k", arch="gfx942", suppress={"hazards": "none here"})
def copied(n=64):
    return dict(grid=1, block=64, args=[In("u32", n), Out("u32", n)], expect=lambda x: x + 1)
"""


def judge(name):
    """The validator of a schema."""
    found = schema(name)
    jsonschema.Draft202012Validator.check_schema(found)
    return jsonschema.Draft202012Validator(found)


@pytest.mark.parametrize("name", names())
def test_each_is_a_schema_and_says_its_version(name):
    judge(name)
    assert schema(name)["$id"] == f"urn:mfmasim:{name}:{schema(name)['$id'].rsplit(':', 1)[1]}"


def test_an_unknown_name_has_the_nearest():
    with pytest.raises(MfmasimError, match="did you mean 'verify'"):
        schema("verfy")


def verified(capsys, *words):
    """Exit code and records of a run."""
    code = main(["verify", *words, "--json", "-"])
    return code, json.loads(capsys.readouterr().out)


def test_verify_passes_and_fails_validly(capsys, tmp_path):
    code, passed = verified(capsys, "intro", "--arch", "gfx942", "--case", "f32_32x32x2")
    assert code == 0
    (tmp_path / "case.py").write_text(WRONG)
    (tmp_path / "k.s").write_text("not an instruction\n")
    code, failed = verified(capsys, str(tmp_path / "case.py"))
    assert code == 2
    assert [one["status"] for one in passed + failed] == ["pass", "error"]
    assert all(one["schema_version"] == SCHEMA_VERSION for one in passed + failed)
    judge("verify").validate(passed + failed)
    for change in ({"schema_version": 2}, {"status": "passed"}, {"new": 1}, {"outputs": {"elements": -1}}):
        assert not judge("verify").is_valid([passed[0] | change])
    for key in schema("verify")["$defs"]["result"]["required"]:
        assert not judge("verify").is_valid([{k: v for k, v in passed[0].items() if k != key}])


@pytest.mark.commit
def test_verify_with_findings_and_everything_that_can_be_asked_for(capsys, tmp_path):
    """A wrong kernel of the package, with proof and models: all optional parts are there."""
    words = ["intro", "--arch", "gfx950", "--case", "f32_32x32x2", "--prove", "--model", "exact32"]
    _, found = verified(capsys, *words)
    judge("verify").validate(found)
    assert found[0]["proof"]
    wrong = copy.deepcopy(found)
    wrong[0]["findings"] = [Finding("bounds", "error", "outside").record()]
    judge("verify").validate(wrong)
    wrong[0]["findings"][0]["severity"] = "fatal"
    assert not judge("verify").is_valid(wrong)


def test_findings_of_the_schema_are_the_fields_of_a_finding():
    finding = schema("verify")["$defs"]["finding"]
    assert list(finding["properties"]) == [one.name for one in fields(Finding)] == finding["required"]


def test_the_page_has_every_field():
    """docs/schemas.md is what its generator makes of the schemas."""
    spec = importlib.util.spec_from_file_location("make_schemas", ROOT / "docs" / "make_schemas.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.PAGE.read_text() == module.page(), "run python -m docs.make_schemas"
