"""Every output that carries a verdict says how far its arithmetic can be trusted; here it is assumed."""

import json

import pytest

from mfmasim.cli import main
from mfmasim.lab.reports import statements
from mfmasim.resources import folder

CASE = ["intro", "--arch", "gfx950", "--case", "f16_16x16x16"]
NAME = "v_mfma_f32_16x16x16_f16"
FILES = folder("golden") / "code" / "intro"


def outputs(words, tmp_path, capsys):
    """What a command prints, and prints with ``--json -``."""
    main(words)
    text = capsys.readouterr().out
    main([*words, "--json", *(["-"] if words[0] not in ("mutate", "run") else [])])
    return text, json.loads(capsys.readouterr().out)


def record(tmp_path):
    main(["gpu", "golden", "record", *CASE, "--device", "sim", "--into", str(tmp_path)])
    return ["golden", "check", str(tmp_path)]


COMMANDS = {
    "verify": (lambda _: ["verify", *CASE], lambda found: found),
    "golden check": (record, lambda found: found["captures"]),
    "explore": (lambda _: ["explore", *CASE, "--examples", "2"], lambda found: found),
    "report": (lambda _: ["report", *CASE], lambda found: found),
    "mutate --binary": (lambda _: ["mutate", *CASE, "--binary", "--limit", "1"], lambda found: found),
    "mutate": (lambda _: ["mutate", "intro", "--name", "b_element_missing"], lambda found: found),
    "run": (
        lambda _: ["run", str(FILES / "mfma_f32_16x16x16_f16.gfx950.hsaco"), "--arg", "f16:256", "--arg", "f16:256",
                   "--arg", "f32:256"],
        lambda found: [found],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_terminal_and_json(name, tmp_path, capsys):
    words, rows = COMMANDS[name]
    text, found = outputs(words(tmp_path), tmp_path, capsys)
    assert "assumed" in text
    assert NAME in text
    assert rows(found)
    for row in rows(found):
        assert row["fidelity"]["level"] == "assumed"
        assert NAME in row["fidelity"]["operations"]


def test_files(tmp_path, capsys):
    sarif, page, profile = (tmp_path / name for name in ("x.sarif", "x.html", "p.html"))
    assert main(["verify", *CASE, "--sarif", str(sarif), "--html", str(page)]) == 0
    (run,) = json.loads(sarif.read_text())["runs"]
    assert run["properties"]["cases"]
    for row in run["properties"]["cases"]:
        assert row["fidelity"] == {"level": "assumed", "operations": [NAME]}
    assert "<th>fidelity</th>" in page.read_text()
    assert "<td>assumed</td>" in page.read_text()
    assert main(["report", *CASE, "--html", str(profile)]) == 0
    assert "fidelity assumed" in profile.read_text()


def test_findings_in_sarif_carry_it(tmp_path):
    from mfmasim.observe import Finding
    from mfmasim.verify.reports.sarif import sarif
    from mfmasim.verify.result import Result

    result = Result("g", "c", "k", "gfx950", "sim", fidelity="assumed", fidelity_of=(NAME,))
    result.findings.append(Finding("races", "error", "two waves meet", "races-write-write"))
    (run,) = sarif([result], "1")["runs"]
    assert [found["properties"]["fidelity"] for found in run["results"]] == ["assumed"]


def test_statements_of_a_text(monkeypatch, capsys):
    def waves(runs):
        return float(runs.profile("f16_16x16x16", "gfx950").report.waves)

    text = statements.Text(
        "intro",
        "a text",
        [
            statements.Statement("p", "waves", 1.0, waves, words="one wave"),
            statements.Statement("p", "one", 1.0, lambda _: 1.0, words="one"),
        ],
    )
    monkeypatch.setattr(statements, "text_of", lambda _: text)
    shown, (executed, computed) = outputs(["report", "intro", "--claims"], None, capsys)
    assert f"fidelity: assumed ({NAME})" in shown
    assert executed["fidelity"] == {"level": "assumed", "operations": [NAME]}
    assert computed["fidelity"] == {"level": "", "operations": []}
