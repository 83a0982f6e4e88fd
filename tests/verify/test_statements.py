"""Statements of published texts: each verdict is the known one, from executed code or computed again."""

import json
from collections import Counter
from dataclasses import replace

import pytest

from hipkernels.wmma import facts
from mfmasim import MfmasimError
from mfmasim.cli import main
from mfmasim.lab.reports import roofline, statements
from mfmasim.lab.reports.profile_page import claims_page
from mfmasim.lab.reports.statements import Statement, Text, Weighed, text_of, weigh


@pytest.mark.long
def test_the_error_of_the_largest_product_is_the_kept_one():
    assert facts.worst_error(4096, 4096, 2048)(None) == pytest.approx(facts.LARGE_ERROR, rel=1e-4)


ESTIMATES = ("least of four by estimated cost: zerocopy, matmul, xor_optimized, highOcc", "and most")
"""Undecided whatever is found, and a third of the time: `tests/hipkernels/wmma/test_autotune.py` has the order."""
OTHERS = ("Correctness Tests", "Kernel Variant Comparison (4096×4096×2048)", "Flash Attention")
"""Sections whose statements run large kernels, or those of other families; the long tier judges them."""


@pytest.fixture(scope="module")
def weighed():
    text = text_of("wmma")
    assert {one.text for one in text.statements if one.known == "undecided"} >= set(ESTIMATES)
    kept = [replace(one, find=lambda _: "-") if one.text in ESTIMATES else one for one in text.statements]
    return weigh(replace(text, statements=[one for one in kept if one.place not in OTHERS]))


def test_every_verdict_on_wmma_ops_is_the_known_one(weighed):
    assert [line.row for line in weighed if not line.as_known] == []
    count = Counter(line.verdict for line in weighed)
    assert count["confirmed"] >= 42
    assert count["refuted"] == 11


@pytest.mark.commit  # the fixture judges every statement of a text
@pytest.mark.parametrize(
    ("claim", "found"),
    [
        ("bytes with padding", 18432),
        ("bytes with a swizzle", 12288),
        ("conflicts with padding: degree of reads, and of the stores that transpose B", "1, 8"),
        ("a swizzle by row & 1: degree of reads", 2),
        ("stores that transpose B conflict: degree", 8),
        ("v_wmma in a turn", 4),
        ("global_load_b128 for a tile of K", 1.5),
        ("ds_store_b128 in the listing", 2),
        ("s_waitcnt in the listing", 10),
        ("barriers for K = 2048", 128),
        ("waves that 91 VGPRs allow", 16),
        ("the same on gfx1201; percent", 12.5),
        ("checks that the corrected load of A fails", "mapping, outputs"),
        ("grids up to 19x19 that the published chunks fail, of 361", 327),
    ],
)
def test_figures_that_are_known_from_elsewhere(weighed, claim, found):
    """Checklist 1.2 and T22 to T35."""
    (line,) = [line for line in weighed if line.statement.text == claim]
    assert line.found == found


@pytest.mark.trap("T22")
def test_roofline():
    assert roofline.ridge_point(59.4e12, 256e9) == pytest.approx(232, abs=0.1)  # T22
    assert roofline.intensity(4096, 4096, 2048) == pytest.approx(682.7, abs=0.1)
    assert roofline.intensity(4096, 4096, 2048, result=2) == 1024
    assert roofline.intensity(4096, 4096, 512) == pytest.approx(227.6, abs=0.1)
    assert roofline.utilisation(64, 40) == 0.8  # T35
    assert roofline.utilisation(256, 40) == pytest.approx(0.914, abs=1e-3)
    assert roofline.utilisation(40, 40) == roofline.utilisation(1, 1) == 1
    assert roofline.teraflops(4096, 4096, 2048, 3.33e-3) == pytest.approx(20.61, rel=2e-3)


@pytest.mark.trap("T28")
def test_figures_of_one_text_that_contradict_each_other(weighed):
    """Gains of its list and of its journey, rates of its sections and of its table, its number of variants."""
    found = [w for w in weighed if w.statement.place == "✅ Implemented & Verified" and w.verdict == "remark"]
    # The gains of the list are in its words, those of the journey are found.
    gains = {w.statement.words.partition(" +")[0]: round(w.found, 1) for w in found}
    assert gains == {"Vectorized half8 Loads": 18.6, "Double Buffering": 14.8, "GMEM Spreading": 5.5}
    # The sections of the kernels give no K, so that their rates may be those of another size than the table's.
    rates = {
        w.statement.place: (w.verdict, w.statement.said, round(w.found, 2))
        for w in weighed
        if w.statement.text == "TFLOPS"
    }
    assert rates == {
        "1. Standard Kernel (Optimal)": ("undecided", 21.9, 20.45),
        "2. Adaptive Kernel (Recommended)": ("undecided", 21.6, 20.51),
        "3. K-Unroll Kernel": ("undecided", 17.2, 18.33),
        "4. No-Prefetch Kernel": ("undecided", 19.2, 17.62),
        "5. High-Occupancy Kernel": ("undecided", 9.8, 10.29),
    }
    (variants,) = [one for one in text_of("wmma").statements if one.text == "variants in the table"]
    assert (variants.known, variants.find(None)) == ("remark", 13)


@pytest.mark.trap("T14")
@pytest.mark.parametrize(
    ("size", "milliseconds", "digits", "rate", "rounded"),
    [
        (4096, 0.0512, 4, 2680.33, False),
        (4096, 0.07516, 5, 1828.74, True),
        (4096, 0.06007, 5, 2288.16, True),
        (4096, 0.06169, 5, 2228.01, True),
        (8192, 0.343, 3, 3204.15, True),
        (8192, 0.351, 3, 3130.21, True),
    ],
)
def test_printed_rates_belong_to_times_before_rounding(size, milliseconds, digits, rate, rounded):
    """One time was cut off, not rounded: 2680.33 TFLOPS are 0.05128 ms."""
    unit = 10.0**-digits

    def at(time):
        return roofline.teraflops(size, size, size, time / 1e3)

    assert (at(milliseconds + unit / 2) - 0.005 <= rate <= at(milliseconds - unit / 2) + 0.005) == rounded
    assert at(milliseconds + unit) <= rate <= at(milliseconds - unit / 2) + 0.005
    assert abs(at(milliseconds) - rate) > 0.005


@pytest.mark.parametrize(
    ("said", "found", "more", "verdict"),
    [
        (4, 4, {}, "confirmed"),
        (4, 4.1, {}, "refuted"),
        (4, 4.1, {"within": 0.03}, "confirmed"),
        (4, 3.9, {"relation": "<"}, "confirmed"),
        (4, 4, {"relation": "<"}, "refuted"),
        (4, 5, {"relation": ">"}, "confirmed"),
        ("none", "vmcnt", {}, "refuted"),
        ("none", "none", {}, "confirmed"),
        (4, 4, {"known": "undecided"}, "undecided"),
        (4, 4, {"known": "remark"}, "remark"),
        (4, 4, {"known": "consistent"}, "consistent"),
        (4, 5, {"known": "consistent"}, "refuted"),
    ],
)
def test_how_a_finding_has_to_stand_to_what_is_said(said, found, more, verdict):
    line = Weighed(Statement("place", "claim", said, lambda _: found, words="words", about="why", **more), found)
    assert line.verdict == verdict
    assert line.as_known == (verdict == more.get("known", "confirmed"))
    assert ("which is not what is known" in line.row[5]) != line.as_known
    assert (line.row[3] == "-") == (verdict == "remark")


def test_a_remark_that_does_not_hold_is_reported():
    line = Weighed(Statement("place", "claim", 4, lambda _: 5, "remark"), 5)
    assert (line.verdict, line.as_known) == ("refuted", False)


def test_statements_that_cannot_be_judged_are_refused():
    with pytest.raises(MfmasimError, match="proved"):
        Statement("place", "claim", 1, lambda _: 1, "proved")
    with pytest.raises(MfmasimError, match="relation"):
        Statement("place", "claim", 1, lambda _: 1, relation="<=")
    with pytest.raises(MfmasimError, match="no function determines"):
        Statement("place", "claim", 1)
    with pytest.raises(MfmasimError, match="is refuted, and no note"):
        Statement("place", "claim", 1, lambda _: 1, "refuted", words="one")
    with pytest.raises(MfmasimError, match="quotes no words of the text"):
        Statement("place", "claim", 1, lambda _: 1)
    runs = statements.Runs("wmma")
    with pytest.raises(MfmasimError, match="tile_128x64"):
        runs.profile("tile_128x46", "gfx1151")
    with pytest.raises(MfmasimError, match="column_of_a"):
        runs.mutant("colum_of_a")


def test_command_line(monkeypatch, tmp_path, capsys):
    few = text_of("wmma").within("Split-K").statements
    monkeypatch.setattr(statements, "text_of", lambda family: Text(family, "a text", few))
    assert main(["report", "wmma", "--claims", "--html", str(tmp_path / "page.html")]) == 0
    out = capsys.readouterr().out
    assert "refuted: percent that 64 tiles use (Split-K for Skinny Matrices): 80" in out
    assert out.splitlines()[-1] == "1 confirmed, 2 consistent, 1 refuted, 0 undecided, 1 remark"
    assert '<td class="number">91.43</td>' in (tmp_path / "page.html").read_text()
    assert main(["report", "wmma", "--claims", "--json", "-"]) == 0
    records = json.loads(capsys.readouterr().out)
    assert {record["verdict"] for record in records} == {"confirmed", "consistent", "refuted", "remark"}
    wrong = Text("wmma", "a text", [Statement("place", "claim", 1, lambda _: 2, words="one")])
    monkeypatch.setattr(statements, "text_of", lambda _: wrong)
    assert main(["report", "wmma", "--claims"]) == 1
    assert "refuted, which is not what is known" in capsys.readouterr().out
    assert main(["report", "wmma", "--claims", "--case", "tile"]) == 2


def test_families_without_a_text_are_named(capsys):
    assert main(["report", "attention", "--claims"]) == 2
    assert "wmma" in capsys.readouterr().err
    assert main(["report", "wmm", "--claims"]) == 2
    assert "did you mean 'wmma'" in capsys.readouterr().err


def test_the_page_needs_nothing_else(weighed):
    page = claims_page([("wmma_ops", weighed)], "0")
    assert page.count('class="refuted">refuted') == sum(line.verdict == "refuted" for line in weighed)
    assert "src=" not in page
