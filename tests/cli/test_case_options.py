"""Options about a case mean the same on every verb that takes one."""

import argparse

import pytest

from mfmasim.cli import build, main
from mfmasim.cli.case_options import EVERY, setting, words_of
from mfmasim.errors import MfmasimError
from mfmasim.verify.cases import Case

CASES = """
from mfmasim.verify import Out, case

@case("one.hip", kernel="k", arch=["gfx942", "gfx950"])
def one(n=64):
    return {"grid": 1, "block": 64, "args": [Out("f32", n)], "expect": lambda: None}

@case("two.hip", kernel="k", arch=["gfx942"])
def two(m=64):
    return {"grid": 1, "block": 64, "args": [Out("f32", m)], "expect": lambda: None}
"""
VERBS = {
    "verify": "{}",
    "why": "{} out[0]",
    "prove": "{}",
    "report": "{}",
    "cost": "{}",
    "explore": "{}",
    "inspect": "{}",
    "mutate": "{} --textual",
    "debug": "{}",
    "compare": "gfx942 flags=-O1 --of {}",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "my_case.py").write_text(CASES)
    for name in ("one.hip", "two.hip", "changed.hip"):
        (tmp_path / name).write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def compiled(monkeypatch):
    """What is compiled, in place of compiling it."""
    seen = []

    def instead(case, arch, compiler=None):
        seen.append((case.title, arch, case.source, case.parameters, case.flags, compiler or case.compiler))
        raise MfmasimError("stopped")

    monkeypatch.setattr(Case, "compiled", instead)
    return seen


def test_all_of_them_have_one_text():
    parsers = next(a.choices for a in build()._actions if isinstance(a, argparse._SubParsersAction))
    helps = {verb: {o: a.help for a in parsers[verb]._actions for o in a.option_strings} for verb in VERBS}
    assert all(set(EVERY) <= set(found) for found in helps.values())
    for option in ("--source", "--set", "-D", "-I", "--flag", "--compiler"):
        assert len({found[option] for found in helps.values()}) == 1, option
    assert {verb for verb, one in parsers.items() if {"--case"} <= {*one._option_string_actions}} == {*VERBS}


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_compiles_the_changed_case(verb, folder, compiled, capsys, monkeypatch):
    words = VERBS[verb].format("my_case.py").split()
    options = "--case one --arch gfx942 --source changed.hip --set n=128 -DX=2 -I inc --flag=-O1 --compiler zz"
    monkeypatch.setattr("mfmasim.toolchain.find_compiler", lambda _: None)
    main(
        [verb, *words, *options.split(), *(["--jobs", "1"] if verb in ("verify", "prove", "report", "mutate") else [])]
    )
    assert compiled, capsys.readouterr()
    title, arch, source, parameters, flags, compiler = compiled[0]
    assert (title, arch, source.name, parameters["n"], compiler) == ("one", "gfx942", "changed.hip", 128, "zz")
    assert {"-DX=2", f"-I{folder / 'inc'}", "-O1", f"-iquote{folder}"} <= {*flags}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    ("options", "text"),
    [
        ("--source changd.hip", "--source changd.hip: no such file; did you mean 'changed.hip'?"),
        ("--set q=1", "unknown parameter 'q' in --set; allowed: n"),
        ("--set n", "--set n: NAME=VALUE is expected, such as M=256"),
        ("--arch gfx1100", "no case matches --arch gfx1100 --case one"),
    ],
)
def test_a_wrong_change_is_one_line_before_anything_runs(verb, options, text, folder, compiled, capsys):
    words = VERBS[verb].format("my_case.py").split()
    assert main([verb, *words, "--case", "one", *options.split()]) == 2
    said = capsys.readouterr()
    assert text in said.err
    assert not compiled
    assert said.err.count("\n") == 1


def test_of_several_cases_those_with_the_parameter_are_changed(folder, compiled):
    main(["verify", "my_case.py", "--arch", "gfx942", "--set", "m=32", "--jobs", "1"])
    assert {title: parameters for title, _, _, parameters, *_ in compiled} == {"one": {"n": 64}, "two": {"m": 32}}


@pytest.mark.parametrize("verb", ["inspect", "cost"])
def test_what_has_no_case_refuses_them(verb, folder, capsys):
    assert main([verb, "one.hip", "--source", "changed.hip"]) == 2
    assert "--source needs a case file, not one.hip" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["my_case.py", "--source"], ["--source", "my_case.py"]])
def test_mutants_of_the_source_as_0_1_had_them(words, folder, compiled, capsys):
    main(["mutate", *words, "--case", "one", "--arch", "gfx942", "--jobs", "1"])
    assert "'--source' is now '--textual'" in capsys.readouterr().err
    assert [one[:2] for one in compiled] == [("one", "gfx942")]


def test_a_folder_of_sources_as_0_1_had_it(folder, compiled, capsys):
    main(["debug", "my_case.py", "--case", "one", "--source", "."])
    assert "'--source FOLDER' is now '--directory'" in capsys.readouterr().err
    assert compiled[0][2] == folder / "one.hip"


def test_words_choose_the_same_case_again():
    words = ["verify", "x", "--case", "a", "--source", "b.hip", "--set", "n=1", "-DX=2", "-Iinc", "--flag=-O1"]
    args = build(["verify"]).parse_args(words)
    assert words_of(args) == words[2:]
    assert words_of(args, "--case", "-D", "-I", "--flag") == ["--source", "b.hip", "--set", "n=1"]


def test_settings_are_python_values_or_text():
    assert [setting(text)[1] for text in ("a=1", "a=(1, 2)", "a=x", "a=")] == [1, (1, 2), "x", ""]
