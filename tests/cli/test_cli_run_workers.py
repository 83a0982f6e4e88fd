"""``mfmasim run --max-waves --workers``: the report of a launch in one piece."""

import json

import pytest

from mfmasim.cli import main
from mfmasim.resources import folder
from tests.oracles import module

FILE = str(folder("golden") / "code" / "bench" / "valu_loop.gfx942.hsaco")
LAUNCH = ["run", FILE, "--grid", "6", "--arg", "u32:350", "--arg", "i32=3", "--arg", "u32=7", "--json"]


def record(capsys, *options):
    """The report as JSON, the buffer being too short for the last work-items."""
    code = main([*LAUNCH, *options])
    return code, json.loads(capsys.readouterr().out)


CLUSTER = pytest.param(("--executor", "dask://local?workers=2"), marks=(pytest.mark.long, pytest.mark.oracle))


@pytest.mark.parametrize("options", [("--max-waves", "1"), ("--max-waves", "2"), ("--workers", "2"), CLUSTER])
def test_the_report_is_the_same(capsys, options):
    whole = record(capsys)
    assert whole[0] == 1
    assert [(f["workgroup"], f["lane"]) for f in whole[1]["findings"]] == [([5, 0, 0], 30)]
    if "--executor" in options:
        module("distributed")
    assert record(capsys, *options) == whole


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--workers", "0"), "--workers 0"),
        (("--workers", "99999"), "from 1 to 256"),
        (("--workers", "2", "--executor", "mpi"), "--executor mpi and --workers exclude each other"),
        (("--grid", "0"), "--grid '0'"),
        (("--workers", "2", "--trace"), "without an executor"),
        (("--max-waves", "-1"), "--max-waves -1"),
    ],
)
def test_what_is_refused(capsys, options, words):
    assert main([*LAUNCH, *options]) == 2
    assert words in capsys.readouterr().err
