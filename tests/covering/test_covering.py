"""Sizes beside a case's own: faults of second and third turns, and of the other way of a branch, are found."""

import json
from pathlib import Path

import pytest

from mfmasim.__main__ import main
from tests.tiers import tiers

FOLDER = Path(__file__).parent
CASES = str(FOLDER / "turns_case.py")
KERNELS = {
    "tiles": 1, "twobuf": 2, "tail": 3, "stride": 4, "flag": 5, "zero": 6, "mm": 7, "persist": 8, "ragged": 9,
    "axpy": 10, "nested": 11, "ahead": 12,
}  # fmt: skip
"""The kernel, and the macro's value that makes it wrong."""


def verified(capsys, tmp_path, *words):
    """Exit code, results and text of a run."""
    file = tmp_path / "results.json"
    code = main(["verify", CASES, "--jobs", "1", "--json", str(file), *words])
    return code, json.loads(file.read_text()), capsys.readouterr().out


@pytest.mark.parametrize("kernel", tiers(KERNELS, ("tiles", "tail")))
def test_a_fault_of_a_later_turn_or_of_the_other_way_fails(kernel, capsys, tmp_path):
    """By default, with the size in the message; without these sizes the wrong kernel passes."""
    wrong = ("--case", kernel, "-D", f"BUG={KERNELS[kernel]}")
    code, (result,), out = verified(capsys, tmp_path, *wrong)
    errors = [finding for finding in result["findings"] if finding["severity"] == "error"]
    sizes = [run["at"] for run in result["cover"]["runs"] if run["status"] == "fail"]
    assert (code, result["status"]) == (1, "fail")
    assert errors
    assert all(any(one["message"].startswith(f"at {size}: ") for size in sizes) for one in errors)
    assert f"also at {sizes[0]}" in out
    code, (result,), _ = verified(capsys, tmp_path, *wrong, "--no-cover")
    assert (code, result["status"], result["cover"]) == (0, "pass", {})


@pytest.mark.long
def test_right_kernels_pass(capsys, tmp_path):
    """At their own sizes and at the others, each of which shows something new."""
    code, results, _ = verified(capsys, tmp_path)
    assert code == 0
    assert [result["case"] for result in results] == list(KERNELS)
    for result in results:
        assert result["cover"]["runs"] or result["case"] == "flag"  # there the compiler selects, and does not branch
        assert all(run["status"] == "pass" and run["shows"] for run in result["cover"]["runs"])
