"""SARIF by the properties that its schema requires, and the HTML page: nothing from outside, nothing unescaped."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest

from mfmasim.cli import main
from mfmasim.observe import SEVERITIES, Finding
from mfmasim.verify import Result
from mfmasim.verify.kinds import KINDS
from mfmasim.verify.reports.page import page
from mfmasim.verify.reports.sarif import sarif

# What the 2.1.0 schema requires, of each object that is used here, and the keys it knows (additionalProperties: false).
SCHEMA = {
    "log": ({"version", "runs"}, {"$schema", "version", "runs"}),
    "run": ({"tool"}, {"tool", "results", "columnKind", "properties"}),
    "tool": ({"driver"}, {"driver"}),
    "driver": ({"name"}, {"name", "version", "rules"}),
    "rule": (
        {"id"},
        {"id", "shortDescription", "fullDescription", "help", "helpUri", "defaultConfiguration", "properties"},
    ),
    "message": ({"text"}, {"text"}),
    "configuration": (set(), {"level"}),
    "result": ({"message"}, {"ruleId", "ruleIndex", "level", "message", "locations", "properties", "suppressions"}),
    "location": (set(), {"physicalLocation", "logicalLocations"}),
    "physical": ({"artifactLocation"}, {"artifactLocation", "region"}),
    "artifact": (set(), {"uri"}),
    "region": (set(), {"startLine"}),
    "logical": (set(), {"name", "kind"}),
    "suppression": ({"kind"}, {"kind", "justification"}),
}
WORST = '<script>alert("&")</script>'


def shaped(value, name):
    required, known = SCHEMA[name]
    assert required <= set(value) <= known, (name, set(value))
    return value


def validated(log):
    """Check a log by hand; the results."""
    shaped(log, "log")
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    shaped(run, "run")
    assert run["columnKind"] in ("utf16CodeUnits", "unicodeCodePoints")
    rules = shaped(shaped(run["tool"], "tool")["driver"], "driver")["rules"]
    for rule in rules:
        shaped(rule, "rule")
        assert shaped(rule["defaultConfiguration"], "configuration")["level"] in ("none", "note", "warning", "error")
        assert all(shaped(rule[part], "message")["text"] for part in ("shortDescription", "fullDescription", "help"))
    for result in run["results"]:
        shaped(result, "result")
        assert result["level"] in ("none", "note", "warning", "error")
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert shaped(result["message"], "message")["text"]
        for location in result["locations"]:
            place = shaped(shaped(location, "location")["physicalLocation"], "physical")
            uri = shaped(place["artifactLocation"], "artifact")["uri"]
            assert uri
            assert not set(uri) & set(' <>"\\')
            assert shaped(place["region"], "region")["startLine"] >= 1
            assert all(shaped(x, "logical") for x in location["logicalLocations"])
        for reported in result.get("suppressions", ()):
            assert shaped(reported, "suppression")["kind"] in ("inSource", "external")
    return run["results"]


def results(folder):
    source = folder / "a b.hip"
    source.write_text("")
    made = [
        Finding(row.check, SEVERITIES[n % 3], f"text {WORST}", row.id, source=f"a b.hip:{n}", workgroup=(0, 0, n), pc=n)
        for n, row in enumerate(KINDS.values())
    ]
    aside = [Finding("conflicts", "info", "known", "conflicts-lds", suppressed=f"reason {WORST}", source="other.h:7")]
    result = Result("g", f"case{WORST}", "k", "gfx942", "sim", "fail", findings=made, suppressed=aside)
    result.source = str(source)
    return [result, Result("g", "right", "k", "gfx942", "sim")]


def test_every_kind_as_sarif(tmp_path):
    log = json.loads(json.dumps(sarif(results(tmp_path), "1")))
    found = validated(log)
    assert [rule["id"] for rule in log["runs"][0]["tool"]["driver"]["rules"]] == list(KINDS)
    assert [result["ruleId"] for result in found] == [*KINDS, "conflicts-lds"]
    assert [result["level"] for result in found[:3]] == ["error", "warning", "note"]
    places = [result["locations"][0]["physicalLocation"] for result in found]
    assert unquote(places[5]["artifactLocation"]["uri"]).endswith("a b.hip")
    assert places[5]["region"] == {"startLine": 5}
    assert places[-1] == {"artifactLocation": {"uri": "other.h"}, "region": {"startLine": 7}}
    assert found[5]["properties"]["workgroup"] == [0, 0, 5]
    assert [result.get("suppressions") for result in found] == [None] * len(KINDS) + [
        [{"kind": "external", "justification": f"reason {WORST}"}]
    ]


def test_a_source_below_the_working_folder_is_named_from_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = validated(sarif(results(tmp_path), "1"))
    assert made[1]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a%20b.hip"


class Reader(HTMLParser):
    """Tags in order, checked to be balanced; and text."""

    def __init__(self):
        super().__init__()
        self.stack, self.tags, self.text, self.links = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in ("href", "src")]
        if tag != "meta":
            self.stack.append(tag)

    def handle_endtag(self, tag):
        assert self.stack.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def test_the_page(tmp_path):
    text = page(results(tmp_path), "1")
    reader = Reader()
    reader.feed(text)
    assert not reader.stack
    assert not {"script", "link", "img", "iframe"} & set(reader.tags)
    assert len(reader.links) > len(KINDS)
    for link in reader.links:  # nothing from outside
        assert link[0] == "#"
        assert f'id="{link[1:]}"' in text
    shown = "".join(reader.text)
    assert f"case{WORST}" in shown
    assert f"Suppressed: reason {WORST}" in shown
    assert reader.tags.count("details") == len(KINDS) + 1
    assert all(name in shown and shown.count(row.fix) >= 1 for name, row in KINDS.items())
    assert text.count('id="kind-') == len(KINDS), "what a kind means stands once"
    assert "1 pass, 1 fail" in shown


def test_findings_stand_in_the_margin_of_their_lines(tmp_path):
    what = ["verify", "mfmasim/explorer/examples/cases.py", "--case", "without_barrier", "--arch", "gfx942"]
    assert main([*what, "--html", str(tmp_path / "r.html")]) == 1
    text = (tmp_path / "r.html").read_text()
    lines = re.findall(r"<tr.*?</tr>", text.partition('<table class="source">')[2], re.DOTALL)
    here = next(n for n, line in enumerate(lines) if "b_tile + line * 16 + k);" in line)
    assert "4-way, 24 extra passes" in lines[here]
    assert '<td class="number">2</td>' in lines[here], "executed by two waves"
    assert "races-no-barrier" in lines[here + 1]
    assert "d here and written by wave 1 at lds_tile.hip:15" in lines[here + 1]
    reader = Reader()
    reader.feed(text)
    assert not reader.stack


def test_a_run_without_results():
    assert validated(sarif([], "1")) == []
    assert "None." in page([], "1")


def test_verify_writes_both(tmp_path, capsys):
    files = [str(tmp_path / name) for name in ("r.sarif", "r.html")]
    what = ["verify", "intro", "--arch", "gfx942", "--case", "f16", "--sarif", files[0], "--html", files[1]]
    assert main(what) == 0
    validated(json.loads((tmp_path / "r.sarif").read_text()))
    assert "<h1>mfmasim verify</h1>" in (tmp_path / "r.html").read_text()
    assert main([*what[:-1], str(tmp_path / "r.sarif" / "r.html")]) == 2
    assert "cannot be written" in capsys.readouterr().err


@pytest.mark.parametrize("severity", SEVERITIES)
def test_levels(severity, tmp_path):
    (one, _) = results(tmp_path)
    one.findings = [Finding("bounds", severity, "text", "bounds-lds")]
    (first, _) = validated(sarif([one], "1"))
    assert first["level"] == {"error": "error", "warning": "warning", "info": "note"}[severity]
    assert first["locations"][0]["physicalLocation"]["region"] == {"startLine": 1}, "the file as a whole"


def test_findings_of_one_line_that_differ_in_numbers_alone_are_one_result():
    result = Result("mine", "k", "k", "gfx942", "sim", status="fail")
    first = Finding("races", "error", "As[0] is read", "races-no-barrier", source="k.hip:5", other="k.hip:3", pc=8)
    result.findings = [first, replace(first, message="As[7] is read", pc=16), replace(first, other="k.hip:4")]
    one, two = sarif([result], "0")["runs"][0]["results"]
    assert one["message"]["text"] == "As[0] is read; and 1 more of the same kind at this line [k on gfx942]"
    assert [r["relatedLocations"][0]["physicalLocation"]["region"]["startLine"] for r in (one, two)] == [3, 4]
    assert two["message"]["text"] == "As[0] is read [k on gfx942]"


def test_no_name_of_a_file_becomes_a_link_in_a_message():
    """A viewer makes links of [text](address)."""
    result = Result("mine", "k [read me](https://x.example)", "k", "gfx942", "sim", status="fail")
    result.findings = [Finding("bounds", "error", "of x[0](file:///etc/passwd)", "bounds-global")]
    (found,) = sarif([result], "0")["runs"][0]["results"]
    assert "](" not in found["message"]["text"]
    assert "of x[0] (file" in found["message"]["text"]


def test_an_address_is_no_place_in_a_file():
    """What a finding has for the other instruction where that has no line."""
    result = Result("mine", "k", "k", "gfx942", "sim", status="fail")
    result.findings = [Finding("races", "error", "As[0] is read", "races-no-barrier", source="k.hip:5", other="0x1a4")]
    (found,) = sarif([result], "0")["runs"][0]["results"]
    assert "relatedLocations" not in found


@pytest.mark.parametrize("name", ["a" * 5000, "\ud800.hip", "\x00", "<img src=x>", "\x1b[31m"])
def test_names_of_files_that_no_system_has(name):
    """From a damaged line table: the report is written, in UTF-8."""
    result = Result("mine", "k", "k", "gfx942", "sim", status="fail")
    result.findings = [Finding("bounds", "error", "outside", "bounds-lds", source=f"{name}:3", other=f"{name}:4")]
    log = sarif([result], "1")
    assert json.dumps(log, ensure_ascii=False).encode()
    (found,) = log["runs"][0]["results"]
    assert not set(json.dumps([found["locations"], found["relatedLocations"]])) & set("<\x00\x1b")


@pytest.mark.parametrize("line", ["\u00b2", "9" * 5000, "0", "-1", "", str(1 << 40)])
def test_lines_that_no_file_has(line):
    """Digits that Python does not convert, and numbers that a reader of SARIF does not hold."""
    result = Result("mine", "k", "k", "gfx942", "sim", status="fail")
    result.findings = [Finding("bounds", "error", "outside", "bounds-lds", source=f"x.hip:{line}")]
    (found,) = sarif([result], "1")["runs"][0]["results"]
    assert found["locations"][0]["physicalLocation"]["region"] == {"startLine": 1}


def test_a_rule_leads_to_its_page(monkeypatch):
    from mfmasim.verify.reports import sarif as module

    def rules():
        return sarif([], "1")["runs"][0]["tool"]["driver"]["rules"]

    monkeypatch.setattr(module, "_pages", lambda: "https://example.org/docs")
    assert all(one["helpUri"] == f"https://example.org/docs/findings.html#{one['id']}" for one in rules())
    monkeypatch.setattr(module, "_pages", lambda: "")
    assert not any("helpUri" in one for one in rules())
