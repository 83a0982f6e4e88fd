"""``mfmasim prove`` and ``mfmasim verify --prove``."""

import json

import pytest

from mfmasim.cli import main
from mfmasim.cli.prove import print_proof
from mfmasim.prove import Obligation, Proof, Reason

INTRO = ("intro", "--arch", "gfx950", "--case", "f32_32x32x2", "--jobs", "1")


def test_verdicts_are_printed_and_counted(capsys):
    assert main(["prove", *INTRO, "--verbose"]) == 0
    out = capsys.readouterr().out
    assert "f32_32x32x2 on gfx950, for its own sizes" in out
    assert "proved   bounds            18 instructions" in out
    assert "assumes  contract: the parameters of the case" in out
    assert "6 obligations of 1 cases: 6 proved, 0 refuted, 0 unknown" in out


def test_json_has_every_obligation(capsys):
    assert main(["prove", *INTRO, "--json", "-"]) == 0
    (proof,) = json.loads(capsys.readouterr().out)
    assert {one["kind"] for one in proof["obligations"]} == {
        "bounds",
        "lds races",
        "waits",
        "global races",
        "bank conflicts",
        "fragments",
    }
    assert proof["for_all"] == []
    assert any("2^31" in text for text in proof["assumptions"])


def test_a_limit_gives_unknown_with_its_reason(capsys):
    chosen = ("gemm_fp8", "--arch", "gfx950", "--case", "multi_wave_128", "--jobs", "1")
    assert main(["prove", *chosen, "--limit", "0.05", "--no-replay"]) == 0
    out = capsys.readouterr().out
    assert "unknown  bounds" in out
    assert "the time is over" in out


@pytest.mark.parametrize("limit", ["0", "-1", "nan"])
def test_a_limit_that_is_none_is_refused(capsys, limit):
    assert main(["prove", *INTRO, "--limit", limit]) == 2
    assert "--limit" in capsys.readouterr().err


def test_verify_adds_the_verdicts(capsys, tmp_path):
    sarif = tmp_path / "out.sarif"
    assert main(["verify", *INTRO, "--prove", "--json", "-", "--sarif", str(sarif)]) == 0
    (result,) = json.loads(capsys.readouterr().out)
    assert {one["verdict"] for one in result["proof"]["obligations"]} == {"proved"}
    assert json.loads(sarif.read_text())["runs"][0]["properties"]["cases"][0]["proof"] == result["proof"]
    assert main(["verify", *INTRO, "--prove"]) == 0
    assert "for all its own sizes: bounds proved, lds races proved" in capsys.readouterr().out


def test_what_one_reason_stops_is_printed_once(capsys):
    reason = (Reason(16, "v_nop", "no invariant of the loop was found"),)
    kinds = ("bounds", "waits")
    print_proof(Proof("", "k", "k", "gfx942", [Obligation(kind, "unknown", 0, reason) for kind in kinds]))
    print_proof(Proof("", "k", "k", "gfx942", [Obligation(kind, "unknown", 3, reason) for kind in kinds]))
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("instructions")[0].split() for line in lines if "unknown" in line] == [
        ["unknown", "bounds,", "waits"],
        ["unknown", "bounds", "3"],
        ["unknown", "waits", "3"],
    ]
    assert sum("no invariant" in line for line in lines) == 3
