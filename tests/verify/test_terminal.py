"""What a person reads of findings that are alike."""

from dataclasses import replace

from mfmasim.observe import Finding
from mfmasim.observe.alike import folded
from mfmasim.verify.reports.terminal import Progress
from mfmasim.verify.result import Result


def finding(message, lane, element="", source="k.hip:6"):
    return Finding(
        "bounds",
        "error",
        message,
        "bounds",
        kernel="k",
        source=source,
        lane=lane,
        instruction="global_store_b32",
        element=element,
    )


def shown(findings, capsys, status="fail", **options):
    result = Result("mine", "k", "k", "gfx942", "sim", status=status)
    result.findings = findings
    Progress(**options).show(result)
    return capsys.readouterr().out


def test_an_unrolled_loop_is_told_once_and_its_findings_are_all_kept(capsys):
    alike = [finding(f"write of 4 bytes outside: {n} bytes past the end", n) for n in range(8)]
    others = [finding("write of 4 bytes outside: 9 bytes past the end", 9, source="k.hip:7"), finding("a read", 1)]
    text = shown([*alike, *others], capsys)
    assert text.count("FAIL bounds") == 3
    assert "0 bytes past the end" in text
    assert "1 bytes past the end" not in text
    assert text.count("and 7 more of the same kind at the same line") == 1
    text = shown([*others, *alike], capsys, most=1)
    assert "and 9 findings more" in text


def test_operands_and_places_without_a_line_are_not_mixed(capsys):
    pair = [finding("the slot holds another element", 0, f"{name}[0, 0]") for name in "AB"]
    unknown = [finding("outside", lane, source="") for lane in range(2)]
    text = shown([*pair, *unknown], capsys)
    assert text.count("FAIL bounds") == 4
    assert "more of the same" not in text


def test_notes_of_a_case_that_passes_are_counted_and_those_of_one_that_fails_are_shown(capsys):
    found = [replace(finding("a note", 0), severity="info"), replace(finding("a warning", 0), severity="warning")]
    text = shown(found, capsys, status="pass")
    assert "a warning" in text
    assert "a note" not in text
    assert "1 note (--severity info shows them)" in text
    for more in ({"status": "fail"}, {"status": "pass", "severity": "info"}, {"status": "pass", "verbose": True}):
        text = shown(found, capsys, **more)
        assert "a note" in text
        assert "--severity" not in text
    assert "note" not in shown(found, capsys, status="pass", severity="warning")


def test_on_a_terminal_what_does_not_fit_is_indented_alike_and_a_pipe_gets_whole_lines(capsys, monkeypatch):
    long = Finding(
        "conflicts", "warning", "a bank conflict of many words " * 8 + "\ni ^= 1;  // paste", source="k.hip:3"
    )
    for width in (0, 60):
        progress = Progress()
        if width:
            monkeypatch.setattr(type(progress.console), "is_terminal", True)
            progress.console.width = width
        progress._finding(long)
        head, *body = capsys.readouterr().out.splitlines()
        assert "k.hip:3" in head
        assert {line[:15] for line in body} == {" " * 15}
        assert body[-1].strip() == "i ^= 1;  // paste"
        assert (len(body) == 2) is not bool(width)
        assert not width or max(map(len, body)) <= width


def test_values_of_another_case_are_told_and_the_same_ones_once(capsys):
    progress = Progress()
    bounds = finding("write of 4 bytes outside", 0)
    for case, wrong in (("first", 12), ("second", 12), ("third", 13)):
        result = Result("mine", case, "k", "gfx942", "sim", status="fail")
        outputs = Finding("outputs", "error", f"C: {wrong} of 64 differ", element="C[0, 1]", actual=str(wrong))
        result.findings = [outputs, replace(bounds, message=f"{bounds.message}: {wrong} past the end")]
        progress.show(result)
    text = capsys.readouterr().out
    assert text.count("FAIL outputs") == 2
    assert "13 of 64 differ" in text
    assert text.count("FAIL bounds") == 1
    assert text.count("2 findings as in gfx942 first") == text.count("1 finding as in gfx942 first") == 1


def test_addresses_of_an_unrolled_loop_do_not_keep_findings_separate(capsys):
    """Hexadecimal letters are part of the number."""
    waits = (20, "0x1948", "(1) or less is"), (22, "0x1a0c", "(0) is"), (22, "0x19f4", "(0) is")
    found = [
        finding(f"v{n} is read while ds_read at {at} may still be writing it: {w} missing", 0) for n, at, w in waits
    ]
    assert "and 2 more of the same kind at the same line" in shown(found, capsys)


def test_errors_of_one_line_are_one_finding_in_every_output():
    """Of an unrolled loop's races and missing waits; notes, other checks and places without a line stay."""
    race = replace(finding("", 0), check="races", id="races-no-barrier", other="k.hip:9")
    races = [replace(race, message=f"As[{n}] is read here\nadvice", count=2) for n in range(3)]
    unknown = [replace(races[0], source=""), replace(races[0], source="", count=1)]
    others = [finding("outside", 0), finding("outside", 1), replace(races[0], severity="info"), *unknown]
    out = folded([others[0], races[0], *others[1:], *races[1:]])
    assert out[1] == replace(
        races[0], message="As[0] is read here; and 2 more of the same kind at the same line\nadvice", count=6
    )
    assert [out[0], *out[2:]] == others
