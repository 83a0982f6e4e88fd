"""What verbs choose: the nearest name where no case matches, and options that no case could have."""

import pytest

from mfmasim.cli import main
from mfmasim.cli.chosen import chosen_cases
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
