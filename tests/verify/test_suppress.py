"""Suppression in a case file: what it keeps, what it lets pass, and what it refuses."""

from dataclasses import replace

import pytest

from mfmasim.errors import MfmasimError
from mfmasim.observe import Finding
from mfmasim.verify import Result, case, find, select, verify_case
from mfmasim.verify.cases import collecting
from mfmasim.verify.reports.terminal import Progress
from mfmasim.verify.suppress import suppress

FOUND = [
    Finding("waits", "error", "one", "waits-read-in-flight"),
    Finding("waits", "error", "two", "waits-overwritten-in-flight"),
    Finding("conflicts", "info", "three", "conflicts-lds"),
]


def suppressed(declared, findings=FOUND, mismatches=0):
    result = Result("group", "name", "kernel", "gfx942", "sim", findings=list(findings))
    result.outputs["mismatches"] = mismatches
    suppress(result, declared)
    result.settle()
    return result


@pytest.mark.parametrize(
    ("declared", "status", "left", "aside"),
    [
        ({}, "fail", ["one", "two", "three"], []),
        ({"waits-read-in-flight": "r"}, "fail", ["two", "three"], ["one"]),
        ({"waits": "r"}, "pass", ["three"], ["one", "two"]),
        ({"waits": "r", "conflicts-lds": "s"}, "pass", [], ["one", "two", "three"]),
    ],
)
def test_by_id_and_by_check(declared, status, left, aside):
    result = suppressed(declared)
    assert (result.status, [f.message for f in result.findings]) == (status, left)
    record = result.record()
    assert [f["message"] for f in record["suppressed"]] == aside
    assert all(f["suppressed"] in declared.values() for f in record["suppressed"])
    assert all(not f["suppressed"] for f in record["findings"])


def test_an_id_goes_before_its_check():
    result = suppressed({"waits": "all", "waits-read-in-flight": "this one"})
    assert [f.suppressed for f in result.suppressed] == ["this one", "all"]


def test_outputs_that_differ():
    different = [Finding("outputs", "error", "differ", "outputs-differ")]
    assert suppressed({}, different, 3).status == "fail"
    assert suppressed({"outputs-differ": "known"}, different, 3).status == "pass"
    assert suppressed({"inputs": "not these"}, different, 3).status == "fail"


def test_a_suppression_that_matches_nothing_is_told():
    (reported,) = suppressed({"races": "left over"}, []).findings
    assert (reported.id, reported.severity) == ("suppress-unused", "info")
    assert "'races': 'left over'" in reported.message


@pytest.mark.parametrize(
    ("declared", "text"),
    [
        ({"wait": "r"}, "unknown finding id or check 'wait' in suppress= of case nothing; did you mean 'waits'"),
        ({"waits-read-in-fligth": "r"}, "did you mean 'waits-read-in-flight'"),
        ({"waits": " "}, "needs a reason"),
        ({"case": "r"}, "unknown finding id or check 'case'"),
        (["waits"], "a dict of id or check to reason is expected"),
    ],
)
def test_refused(declared, text, tmp_path):
    with collecting(tmp_path / "cases.py"), pytest.raises(MfmasimError) as reported:

        @case("a.hip", kernel="k", arch="gfx942", suppress=declared)
        def nothing(n=1):
            return {}

    assert text in str(reported.value)


def test_a_case(capsys):
    ((_, cases),) = find("intro")
    chosen, arch = select(cases, "gfx942", "f16")[0]
    result = verify_case(replace(chosen, suppress={"waits": "nothing is missing"}), arch)
    assert (result.status, [f.id for f in result.findings]) == ("pass", ["suppress-unused"])
    result.suppressed.append(FOUND[0])
    Progress().show(result)
    assert "1 suppressed" in capsys.readouterr().out
