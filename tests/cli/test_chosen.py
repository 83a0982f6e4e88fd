"""What verbs choose: the nearest name where no case matches, and options that no case could have."""

import json

import pytest

from mfmasim.cli import main
from mfmasim.cli.chosen import chosen_cases, prefixes
from mfmasim.errors import MfmasimError

CASES = """
from mfmasim.verify import Out, case

@case("k.hip", kernel="k", arch=["gfx942", "gfx950"], skip={"gfx950": "its registers do not suffice"})
def copies_rows():
    return {"grid": 1, "block": 64, "args": [Out("f32", 64)], "expect": lambda: None}
"""


@pytest.mark.parametrize("verb", ["verify", "report", "explore", "cost", "golden record --device sim"])
def test_the_nearest_name(verb, capsys):
    assert main([*verb.split(), "intro", "--case", "f16_16x16x61"]) == 2
    said = capsys.readouterr().err
    assert "no case matches --arch any --case f16_16x16x61; did you mean 'f16_16x16x16'?" in said
    assert "architectures: gfx942, gfx950" in said


def test_what_is_skipped_says_why(tmp_path):
    path = tmp_path / "cases.py"
    path.write_text(CASES)
    assert [one.arch for one in chosen_cases([str(path)], None, None)] == ["gfx942", "gfx950"]
    assert [one.arch for one in chosen_cases([str(path)], None, None, skipped=False)] == ["gfx942"]
    with pytest.raises(MfmasimError, match=r"all 1 cases that match .* are skipped: .*registers do not suffice"):
        chosen_cases([str(path)], "gfx950", None, skipped=False)


def test_files_of_one_name_are_told_apart(tmp_path, capsys):
    paths = [tmp_path / name for name in ("cases.py", "sp ace/cases.py", "other.py", "intro.py")]
    paths[1].parent.mkdir()
    for path in paths:
        path.write_text(CASES if path.stem == "cases" else CASES.replace("copies_rows", path.stem))
    one, two, *others = map(str, paths)

    def groups(*targets):
        return [case.group for case in chosen_cases(targets, "gfx942", ["copies", "other", "intro", "f16_16x16x16"])]

    parent = tmp_path.name
    assert groups(one, two, *others) == [f"{parent}/cases", "sp ace/cases", "other", "intro"]
    assert groups(one, one) == ["cases", "cases"]
    assert groups(others[1], "intro") == [f"{parent}/intro", "intro"]
    work = [case[1:] for case in chosen_cases([one, two, others[0]], "gfx942", None)]
    assert prefixes(work) == [f"{parent}/cases: ", "sp ace/cases: ", ""]
    file = tmp_path / "x.json"
    assert main(["verify", one, two, "--arch", "gfx942", "--json", str(file)]) == 2  # k.hip is missing
    lines = capsys.readouterr().out.splitlines()
    names = [line.partition("gfx942")[2].strip() for line in lines if line.startswith("ERROR")]
    assert names == [f"{parent}/cases: copies_rows", "sp ace/cases: copies_rows"]
    assert [(one["group"], one["case"]) for one in json.loads(file.read_text())] == [
        (f"{parent}/cases", "copies_rows"),
        ("sp ace/cases", "copies_rows"),
    ]


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ("--schedule nan", "mfmasim: unknown schedule 'nan'; allowed: usual, forward"),
        ("--approximations up", "mfmasim: unknown approximations 'up'; allowed: nearest, above, below"),
        ("--budget 0", "mfmasim verify: --budget 0: a whole number of 1 or more is expected"),
    ],
)
def test_options_are_judged_before_the_first_case(option, text, capsys):
    assert main(["verify", "intro", *option.split()]) == 2
    reported = capsys.readouterr()
    assert reported.err.startswith(text)
    assert not reported.out
