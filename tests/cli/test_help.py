"""Help, examples, completion and the manual page; the order and the list of `verify`."""

import argparse
import json
import shlex
import shutil
import subprocess
import sys

import pytest

from docs import make_command_line
from mfmasim import __version__
from mfmasim.cli import VERBS, entry, main
from mfmasim.cli.examples import EXAMPLES
from mfmasim.cli.verbs import ALSO, FIRST, GROUPS, first_screen
from mfmasim.verify import families


def helped(*words):
    """What is printed, whatever way the program ends."""
    try:
        return main([*words])
    except SystemExit as ended:
        return ended.code


@pytest.mark.parametrize("verb", VERBS)
def test_help_verb_is_verb_help(verb, capsys):
    assert helped("help", verb) == 0
    one = capsys.readouterr().out
    assert helped(verb, "--help") == 0
    assert one == capsys.readouterr().out
    assert f"usage: mfmasim {verb}" in one
    assert "\nexamples:\n  " in one


def test_help_alone_and_the_version(capsys):
    assert main(["help"]) == 0
    assert capsys.readouterr().out == first_screen() + "\n"
    for word in ("-V", "--version"):
        assert main([word]) == 0
        assert capsys.readouterr().out == f"{__version__}\n"
    assert main(["help", "verif"]) == 2
    assert "did you mean 'verify'?" in capsys.readouterr().err


def test_the_groups_of_the_first_screen_hold_every_verb():
    said = first_screen().partition("\nlook")[2]
    assert {*FIRST} | {*ALSO} == {*VERBS}
    assert not {*FIRST} & {*ALSO}
    for group in GROUPS.values():
        assert [verb for verb in group if verb in FIRST]
    for verb in ALSO:
        assert f"{verb} (" in said


def parts():
    """Every parser, and the spelling of its verb."""
    return {one.prog.partition(" ")[2]: one for one in make_command_line.parsers()}


def test_every_help_has_examples():
    assert {*parts()} <= {*EXAMPLES}
    assert {*EXAMPLES} <= {*parts()}
    for verb, parser in parts().items():
        lines = parser.format_help().partition("examples:\n")[2].splitlines()
        assert lines, verb
        assert all(f"mfmasim {verb.split()[0]}" in line or line.startswith("  #") for line in lines), verb


@pytest.mark.parametrize("verb", EXAMPLES)
def test_examples_are_command_lines_of_their_verb(verb, monkeypatch):
    ran = []
    monkeypatch.setattr(entry, "_run", lambda module, args: ran.append((module, args)) or 0)
    monkeypatch.setattr(entry, "_prepared", lambda *_: None)
    for text, _ in EXAMPLES[verb]:
        words = shlex.split(text.removeprefix('eval "$(mfmasim ').removesuffix(')"').partition(" > ")[0])
        words = words[1:] if words[0] == "mfmasim" else words
        assert words[: len(verb.split())] == verb.split() or verb == "lds"
        assert main(words) == 0, text
    assert len(ran) == len(EXAMPLES[verb])


def test_the_page_of_the_command_line_is_that_of_the_parsers():
    """Python 3.13 prints usage in another way: there the options are looked for."""
    text = make_command_line.PAGE.read_text()
    if sys.version_info < (3, 13):
        assert text == make_command_line.page(), "run python -m docs.make_command_line"
    sections = {one.partition("\n")[0]: one for one in text.split("\n## mfmasim ")[1:]}
    assert {*sections} == {*parts()}
    for verb, parser in parts().items():
        for action in parser._actions:
            shown = action.help != argparse.SUPPRESS
            assert not shown or all(option in sections[verb] for option in action.option_strings), (verb, action)


def test_the_manual_page_is_that_of_the_parsers():
    assert make_command_line.MANUAL.read_text() == make_command_line.manual(), "run python -m docs.make_command_line"


def test_the_manual_page_is_troff(tmp_path):
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed")
    done = subprocess.run(
        ["groff", "-man", "-ww", "-Tascii", make_command_line.MANUAL], capture_output=True, check=True
    )
    assert not done.stderr
    text = done.stdout.decode()
    for verb in VERBS:
        assert f"mfmasim {verb}" in text


def test_hipcc_has_a_help_of_its_own(capsys):
    assert main(["hipcc", "--help"]) == 0
    said = capsys.readouterr().out
    assert "usage: mfmasim hipcc" in said
    assert "--as-clang --help" in said
    assert len(said.splitlines()) < 25


def completed(script, *words):
    """What bash completes the last word to."""
    line = f"""source {script}; COMP_WORDS=({shlex.join(words)}); COMP_CWORD={len(words) - 1}
    _shtab_mfmasim mfmasim {words[-1]} {words[-2]}; echo "${{COMPREPLY[@]}}" """
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True, cwd=script.parent)
    return done.stdout.split()


def test_a_shell_completes_verbs_options_families_and_files(tmp_path, capsys, monkeypatch):
    pytest.importorskip("shtab")
    assert main(["completion", "bash"]) == 0
    script = tmp_path / "mfmasim.bash"
    script.write_text(capsys.readouterr().out)
    (tmp_path / "changed.hip").touch()
    assert completed(script, "mfmasim", "veri") == ["verify"]
    assert completed(script, "mfmasim", "verify", "gemm_fp8") == [one for one in families() if one[:8] == "gemm_fp8"]
    assert completed(script, "mfmasim", "why", "x", "C[0,0]", "--so") == ["--source"]
    assert completed(script, "mfmasim", "verify", "intro", "--source", "ch") == ["changed.hip"]
    for shell in ("zsh", "tcsh"):
        assert main(["completion", shell]) == 0
        assert "verify" in capsys.readouterr().out


def test_completion_without_shtab_says_what_to_install(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["completion", "bash"]) == 2
    assert "pip install 'mfmasim[completion]'" in capsys.readouterr().err


# verify: list and order


def test_families_are_listed_with_what_they_are_about(capsys):
    assert main(["verify", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[:-1]] == [*families()]
    assert all(len(line.split()) > 2 for line in lines)
    assert "The five introductory kernels" in next(line for line in lines if line.startswith("intro"))


def test_cases_are_listed_with_their_architectures_and_parameters(capsys):
    assert main(["verify", "intro", "--list", "--json", "-"]) == 0
    rows = json.loads(capsys.readouterr().out)
    found = next(row for row in rows if row["case"] == "f16_16x16x16")
    assert found["arch"] == "gfx942 gfx950"
    assert found["parameters"] == "M=16 N=16 K=16"


@pytest.fixture
def two(tmp_path, monkeypatch):
    """Two cases, of which the second fails."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MFMASIM_CACHE", str(tmp_path / "cache"))
    (tmp_path / "k.hip").write_text("")
    text = "from mfmasim.verify import Out, case\n"
    for name in ("first", "second", "third"):
        text += f'@case("k.hip", kernel="k", arch=["gfx942"])\ndef {name}(n=64):\n    return {{}}\n'
    (tmp_path / "my_case.py").write_text(text)

    def verified(case, arch, **how):
        from mfmasim.verify import Result

        status = "fail" if case.title == "second" and broken else "pass"
        outputs = {"elements": 1, "mismatches": 0, "max_ulp": 0}
        return Result("my_case", case.title, "k", arch, "sim", status, outputs, seconds=len(case.title))

    broken = [1]
    monkeypatch.setattr("mfmasim.verify.verify_case", verified)
    return broken


def order(capsys, *words):
    code = main(["verify", "my_case.py", "--jobs", "1", "--no-cover", *words])
    return code, [line.split()[2] for line in capsys.readouterr().out.splitlines() if line[:4] in ("PASS", "FAIL")]


def test_cases_that_failed_run_first(two, capsys):
    assert order(capsys, "--failed-first") == (1, ["first", "second", "third"])
    assert order(capsys) == (1, ["first", "second", "third"])
    assert order(capsys, "--failed-first") == (1, ["second", "first", "third"])
    two.clear()
    assert order(capsys, "--failed-first") == (0, ["second", "first", "third"])
    assert order(capsys, "--failed-first") == (0, ["first", "second", "third"])


def test_x_stops_at_the_first_failure(two, capsys):
    assert order(capsys, "-x") == (1, ["first", "second"])
    assert order(capsys, "-x", "--failed-first") == (1, ["second"])
    two.clear()
    assert order(capsys, "-x") == (0, ["first", "second", "third"])


def test_the_slowest_cases_are_named(two, capsys):
    main(["verify", "my_case.py", "--jobs", "1", "--no-cover", "--durations", "1"])
    lines = [line for line in capsys.readouterr().out.splitlines() if " s  gfx942" in line]
    assert lines == ["   6.00 s  gfx942   second"]
    main(["verify", "my_case.py", "--jobs", "1", "--no-cover", "--durations"])
    assert len([line for line in capsys.readouterr().out.splitlines() if " s  gfx942" in line]) == 3


def test_a_file_of_the_last_run_that_is_damaged_counts_as_none(two, tmp_path, capsys):
    order(capsys)
    (kept,) = (tmp_path / "cache" / "verified").iterdir()
    kept.write_text('[["a"]]')
    assert order(capsys, "--failed-first") == (1, ["first", "second", "third"])


def test_verify_without_a_target_says_how_to_find_one(capsys):
    assert main(["verify"]) == 2
    assert "required: TARGET (--list names the families)" in capsys.readouterr().err
