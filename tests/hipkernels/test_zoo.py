"""The zoo: every fault is found by what its row says, at the line that its source marks, and every fix is silent."""

import importlib.util
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from hipkernels.zoo.__main__ import main as new
from hipkernels.zoo.entry import OUTPUTS, PROOFS, REFUSED, VERSIONS, rows
from hipkernels.zoo.table import MISSED, NAMED, caught, expected, loud, marked, table
from mfmasim.cli import main
from mfmasim.errors import MfmasimError
from mfmasim.lab.kit.cases import case_probes
from mfmasim.observe import Finding
from mfmasim.prove import prove_case
from mfmasim.verify import Result, find, select, verify_case
from mfmasim.verify.kinds import KINDS
from mfmasim.verify.prebuilt import is_prebuilt

ROWS = rows()
CASES = {case.title: (case, arch) for _, cases in find("zoo") for case, arch in select(cases, None)}
ROOT = Path(__file__).resolve().parents[2]


def result_of(name, version):
    case, arch = CASES[f"{name}[version={version}]"]
    try:
        return verify_case(case, arch, group="zoo")
    except MfmasimError as error:  # a launch that is refused, or code that is no instruction: as the verb does
        refused = Finding("case", "error", str(error), REFUSED)
        return Result("zoo", case.title, version, arch, "sim", "error", findings=[refused])


@pytest.mark.parametrize("name", ROWS)
def test_before_the_fix_the_finding_names_the_cause_and_after_it_nothing_is_reported(name):
    row, before, after = ROWS[name], result_of(name, "before"), result_of(name, "after")
    assert caught(before, row) == expected(row), [finding.lines() for finding in before.findings]
    assert before.status == ("error" if row.found == REFUSED else "fail" if row.found else "pass")
    assert not loud(after, row), [finding.lines() for finding in after.findings]
    assert after.status == "pass"
    assert after.outputs["elements"]
    assert "prebuilt" in after.code["made_by"]
    if expected(row) == NAMED:
        found = [finding for finding in before.findings if finding.id == row.found]
        places = {place for f in found for place in (f.source, f.other) if ":" in place}
        # What follows elements to an output, or misses a result, has no instruction.
        assert not places or {f"{name}.hip:{line}" for line in marked(row)} & places, places
        placeless = ("mapping-wrong-set", "mapping-wrong-source", "mapping-no-result", REFUSED)
        assert places or row.found in placeless or row.found.startswith("outputs-")


def proof_of(name):
    """What is said of a kernel before the fix, as a row says it."""
    case, arch = CASES[f"{name}[version=before]"]
    verdicts = {one.verdict for one in prove_case(case, arch, group="zoo", seconds=4).obligations}
    return next((each for each in PROOFS if each in verdicts), "")


@pytest.mark.parametrize("name", ROWS)
def test_prove_says_of_each_what_its_row_says(name):
    assert proof_of(name) == ROWS[name].proof


def test_there_are_at_least_120_entries_and_no_kind_has_more_than_fifteen():
    assert len(ROWS) >= 120
    kinds = Counter(row.bug for row in ROWS.values())
    assert len(kinds) >= 10
    assert max(kinds.values()) <= 15
    reached = Counter(map(expected, ROWS.values()))
    assert reached[NAMED] >= 0.9 * len(ROWS)
    assert reached[MISSED] <= 3
    assert sum(row.proof == "refuted" for row in ROWS.values()) >= 60
    assert set(CASES) == {f"{name}[version={version}]" for name in ROWS for version in VERSIONS}
    sources = {path.stem for path in (ROOT / "hipkernels" / "zoo").glob("*.hip")}
    assert sources == set(ROWS)
    assert len({row.report for row in ROWS.values()}) == len(ROWS)


@pytest.mark.parametrize("row", ROWS.values(), ids=list(ROWS))
def test_a_row_says_what_it_has_to(row):
    assert re.fullmatch(r"[\w.-]+/[\w.-]+#\d+", row.report)
    assert 2023 <= row.year <= 2026
    assert row.about.endswith(".")
    assert row.hardware
    assert not row.found or row.found in KINDS
    assert row.proof in ("", *PROOFS)
    assert bool(row.missing) == (not row.named and row.found != OUTPUTS) or row.found == OUTPUTS
    assert is_prebuilt(CASES[f"{row.name}[version=before]"][0].source, row.arch)


def test_the_verb_prints_the_table(capsys):
    assert main(["verify", "zoo", "--case", "hipfire_575", "--case", "llvm_218363", "--jobs", "1"]) == 0
    text = capsys.readouterr().out
    assert "races-no-barrier" in text
    assert "hipfire_575.hip:16" in text
    assert "2 tried: 1 caught by name, 0 by outputs only, 1 missed; 0 findings on fixed kernels" in text
    assert "FAIL" not in text


def test_a_table_that_does_not_agree_fails():
    """The result of the fixed kernel as that of the wrong one, and the other way round."""
    row = ROWS["hipfire_575"]
    before, after = result_of(row.name, "before"), result_of(row.name, "after")
    assert table([before, after])[-1]
    before.case, after.case = after.case, before.case
    *_, last, agrees = table([before, after])
    assert not agrees
    assert "0 caught by name, 0 by outputs only, 1 missed; 1 findings on fixed kernels" in last
    assert caught(Result("zoo", "x", "before", "gfx1100", "sim"), row) == MISSED


def test_the_table_does_not_depend_on_how_long_it_took():
    """Outputs are the same bytes with any number of workers."""
    results = [result_of("hipfire_575", "before"), result_of("hipfire_575", "after")]
    quick = table(results)
    for result in results:
        result.seconds += 100
    assert table(results) == quick


def test_no_owner_of_a_gpu_runs_a_wrong_kernel():
    assert not [name for name in case_probes("gfx950", quick=True) if name.startswith("zoo")]


def test_the_skeleton_of_an_entry_runs(tmp_path, capsys):
    folder = tmp_path / "zoo"
    shutil.copytree(ROOT / "hipkernels" / "zoo", folder)
    facts = ["--about", "Two waves", "--hardware", "1 of 3 runs wrong.", "--bug", "missing barrier"]
    assert new(["new", "someone_7", "--report", "some/one#7", "--arch", "gfx950", *facts], folder) == 0
    assert "mfmasim verify zoo --verbose --case someone_7" in capsys.readouterr().out
    text = (folder / "reports.toml").read_text()
    assert text.endswith('found = "races-no-barrier"\n')
    assert '[someone_7]\nreport = "some/one#7"\n' in text
    assert 'about = "Two waves."\nhardware = "1 of 3 runs wrong"\n' in text
    assert "def someone_7(" in (folder / "barriers.py").read_text()
    assert "// here" in (folder / "someone_7.hip").read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["new", "Some-One", "--report", "some/one#7"], "an identifier in lower case"),
        (["new", "someone_7", "--report", "some/one"], "owner/repository#number"),
        (["new", "hipfire_575", "--report", "some/one#7"], "there is such an entry"),
        (["new", "someone_7", "--report", "some/one#7", "--module", "none"], "none.py does not exist"),
        (["new", "someone_7", "--report", "some/one#7", "--arch", "gfx9"], "gfx9"),
        (
            ["new", "someone_7", "--report", "some/one#7", "--found", "race-no-barrier"],
            "did you mean 'races-no-barrier'",
        ),
        (["new", "someone_7", "--report", "warpfront/hipfire#575"], "the entry hipfire_575 is of this report"),
    ],
)
def test_bad_input_is_one_line(arguments, words, tmp_path, capsys):
    assert new(arguments, tmp_path) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


def test_the_page_is_up_to_date():
    spec = importlib.util.spec_from_file_location("make_zoo", ROOT / "docs" / "make_zoo.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.PAGE.read_text() == module.page(), "run python -m docs.make_zoo"
    assert f"[{len(ROWS)} public bug reports]" in (ROOT / "README.md").read_text()
