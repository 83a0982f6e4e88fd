"""A run that judged nothing does not succeed."""

import json

import pytest

from mfmasim.cli import explore, main, mutate_one
from mfmasim.lab.agreement.judging import Differences
from mfmasim.lab.mutation import binary, mutants


def refused(words, text, capsys):
    assert main(words) == 2
    assert text in capsys.readouterr().err


def test_all_cases_are_skipped(capsys, tmp_path):
    file = tmp_path / "x.json"
    words = ["verify", "isa/conversions", "--arch", "gfx1151", "--case", "eight_bits", "--json", str(file)]
    refused(words, "nothing was verified: of 1 cases 1 are skipped", capsys)
    assert [row["status"] for row in json.loads(file.read_text())] == ["skipped"]


@pytest.mark.parametrize("equivalent", ["", "it computes the same"])
def test_no_declared_mutant_is_to_be_caught(equivalent, capsys, monkeypatch):
    from mfmasim.verify import Mutant, find

    ((_, cases),) = find("intro")
    case = next(case for case in cases if case.title == "f16_16x16x16")
    mutant = Mutant("same", case.title, (), (), equivalent=equivalent)
    monkeypatch.setattr(mutants, "mutants_of", lambda _: [(mutant, case)])
    if equivalent:
        refused(["mutate", "intro"], "nothing was to be caught: 0 of 0 wrong variants, 1 equivalent", capsys)
    else:
        assert main(["mutate", "intro"]) == 0  # a variant that is not marked equivalent


@pytest.mark.parametrize("caught", [(), ("outputs",)])
def test_no_generated_mutant_is_to_be_caught(caught, capsys, monkeypatch):
    from mfmasim.lab.mutation.binary import BinaryMutant, Outcome

    mutant = BinaryMutant.__new__(BinaryMutant)
    object.__setattr__(mutant, "kind", "wait removed")
    one = Outcome(mutant, "c", "gfx942", caught, "" if caught else "equal")
    monkeypatch.setattr(binary, "run_binary", lambda *_: [one])
    monkeypatch.setattr(mutate_one, "_print", lambda _: None)
    words = ["mutate", "intro", "--binary", "--arch", "gfx942"]
    if caught:
        assert main(words) == 0
    else:
        refused(words, "nothing was to be caught: 0 of 0", capsys)
    monkeypatch.setattr(binary, "run_binary", lambda *_: [])
    refused(words, "nothing was to be caught: 0 of 0, 0 equivalent", capsys)


def test_no_trial_was_drawn(capsys, monkeypatch):
    row = {"trials": 0, "verdict": None}
    monkeypatch.setattr(explore, "_explored", lambda *_: ([], row))
    refused(["explore", "intro"], "nothing was explored", capsys)


def test_outputs_without_elements_are_no_agreement(tmp_path, capsys, monkeypatch):
    words = ["golden", "record", "intro", "--case", "f16_16", "--arch", "gfx942", "--device", "sim", "--into"]
    assert main([*words, str(tmp_path)]) == 0
    assert main(["gpu", "golden", "check", str(tmp_path)]) == 0
    monkeypatch.setattr(Differences, "add", lambda *_: None)
    refused(["golden", "check", str(tmp_path)], "nothing was compared", capsys)


def test_no_statement_is_decided(capsys, monkeypatch):
    from mfmasim.lab.reports import statements

    one = statements.Weighed(statements.Statement("p", "t", 1.0, known="undecided", words="one"), None)
    monkeypatch.setattr(statements, "weigh", lambda *_, **__: [one])
    refused(["report", "wmma", "--claims"], "nothing was decided", capsys)
