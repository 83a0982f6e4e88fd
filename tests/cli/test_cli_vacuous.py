"""A run that judged nothing does not succeed."""

import json

import pytest

from mfmasim.cli import explore, main, mutate_one
from mfmasim.lab.agreement.judging import Differences
from mfmasim.lab.mutation import binary, mutants, textual


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


@pytest.mark.parametrize("target", ["all", "my_cases.py"])
def test_declared_mutants_are_of_families(target, capsys):
    refused(["mutate", target], f"mutate {target}: --binary or --textual is needed", capsys)


def test_no_place_of_the_source_is_changed(capsys, monkeypatch):
    monkeypatch.setattr(textual, "run_source", lambda *_, **__: iter(()))
    words = ["mutate", "intro", "--textual", "--arch", "gfx942"]
    refused(words, "no kernel of intro has a place that --textual changes (barrier removed, barrier doubled", capsys)


def test_a_variant_that_warnings_alone_report_is_counted(capsys, monkeypatch):
    """It is caught only if all the warnings that it names are reported."""
    from mfmasim.lab.mutation.mutants import Verdict
    from mfmasim.observe.finding import Finding
    from mfmasim.verify import Mutant
    from mfmasim.verify.result import Result

    warned = Mutant("ticket", "c", (), (), warned=("races-stale",), arch="gfx942")
    error = Mutant("wait", "c", (), ("waits",), arch="gfx942")
    stale = Finding("races", "warning", "stale", id="races-stale")
    wait = Finding("waits", "error", "no wait", id="waits")

    def verdict(mutant, caught, *findings):
        return Verdict(mutant, "gfx942", caught, Result("mutants", "c", "k", "gfx942", "sim", findings=[*findings]))

    def printed(*verdicts):
        monkeypatch.setattr(mutants, "mutants_of", lambda _: [(one.mutant, None) for one in verdicts])
        monkeypatch.setattr(mutants, "run_mutant", lambda mutant, *_: {v.mutant.name: v for v in verdicts}[mutant.name])
        return main(["mutate", "intro"]), capsys.readouterr().out

    status, text = printed(verdict(warned, (), stale), verdict(error, ("waits",), wait))
    assert status == 0
    assert "races-stale (warning)" in text
    assert "2 of 2 wrong variants caught, 0 of them by provenance alone, 1 by a warning alone; 0 equivalent" in text
    status, text = printed(verdict(warned, ()), verdict(error, ("waits",), wait))
    assert status == 1
    assert "NOTHING" in text
    assert "1 of 2 wrong variants caught, 0 of them by provenance alone; 0 equivalent" in text


@pytest.mark.parametrize("caught", [(), ("outputs",)])
def test_no_generated_mutant_is_to_be_caught(caught, capsys, monkeypatch):
    from mfmasim.lab.mutation.binary import BinaryMutant, Outcome

    mutant = BinaryMutant.__new__(BinaryMutant)
    object.__setattr__(mutant, "kind", "wait removed")
    one = Outcome(mutant, "c", "gfx942", caught, "" if caught else "equal")
    monkeypatch.setattr(binary, "run_binary", lambda *_, **__: [one])
    monkeypatch.setattr(mutate_one, "_print", lambda _: None)
    words = ["mutate", "intro", "--binary", "--arch", "gfx942"]
    if caught:
        assert main(words) == 0
    else:
        refused(words, "nothing was to be caught: 0 of 0", capsys)
    monkeypatch.setattr(binary, "run_binary", lambda *_, **__: [])
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

    one = statements.Weighed(statements.Statement("p", "t", 1.0, known="undecided", words="one", about="why"), None)
    monkeypatch.setattr(statements, "weigh", lambda *_, **__: [one])
    refused(["report", "wmma", "--claims"], "nothing was decided", capsys)
