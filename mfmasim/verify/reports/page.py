"""Results as one HTML page that needs nothing else: cases, sources with findings in the margin, kinds of findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape

from mfmasim.verify.kinds import KINDS
from mfmasim.verify.reports.annotated import STYLE as SOURCE_STYLE
from mfmasim.verify.reports.annotated import annotated, note
from mfmasim.verify.result import STATUSES, Result

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem; color: #1c2430 }
h1 { font-size: 1.4rem } h2 { font-size: 1.1rem; margin-top: 2rem }
table { border-collapse: collapse; display: block; max-width: 100%; overflow-x: auto }
th { text-align: left; border-bottom: 2px solid #c5ccd6 }
td, th { padding: .25rem .7rem .25rem 0; vertical-align: top }
tr + tr td { border-top: 1px solid #e6e9ee }
td a { display: block; min-width: 9rem; overflow-wrap: anywhere }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums }
code, pre { font: 13px/1.45 ui-monospace, monospace }
pre { white-space: pre-wrap; margin: .2rem 0 }
.pass { color: #17713a } .fail, .error { color: #b3261e; font-weight: 600 } .skipped, .warning { color: #8a5a00 }
.info { color: #2b5c8a }
details { margin: .4rem 0; padding: .3rem .8rem; border-left: 3px solid #c5ccd6 }
details.error { border-color: #b3261e; color: inherit; font-weight: inherit }
details.warning { border-color: #d99a1c; color: inherit }
summary { cursor: pointer } h3, summary { overflow-wrap: anywhere }
@media (prefers-color-scheme: dark) {
  body { background: #14181f; color: #dde3ec } tr + tr td { border-color: #2b323d }
  a { color: #8fc1ee } .pass { color: #63c787 } .fail, .error { color: #ff8a80 } .skipped, .warning { color: #e8b45a }
  .info { color: #8fc1ee }
}
"""
COLUMNS = ("status", "arch", "case", "outputs", "slots", "LDS", "fidelity", "matrix", "findings", "suppressed")
NUMBERS = ("outputs", "slots", "findings", "suppressed")
"""Columns of numbers."""


def page(results: Sequence[Result], version: str) -> str:
    """The page.

    Args:
        results: results of cases.
        version: of mfmasim.

    Returns:
        HTML with its style inside, no script, and no reference to anything outside.
    """
    counts = Counter(result.status for result in results)
    words = ", ".join(f'<span class="{s}">{counts[s]} {s}</span>' for s in STATUSES if counts[s]) or "no case"
    elements = sum(result.outputs["elements"] for result in results)
    slots = sum(result.mapping["slots_checked"] for result in results)
    rows = "\n".join(_row(number, result) for number, result in enumerate(results))
    head = "".join(f'<th class="number">{c}</th>' if c in NUMBERS else f"<th>{c}</th>" for c in COLUMNS)
    sections = "\n".join(_section(number, result) for number, result in enumerate(results))
    kinds = _kinds(results)
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>mfmasim verify</title><style>{STYLE}{SOURCE_STYLE}</style></head><body>
<h1>mfmasim verify</h1>
<p>{words}; {elements:,} output elements and {slots:,} slots followed (mfmasim {escape(version)})</p>
<h2>Cases</h2>
<table><thead><tr>{head}</tr></thead><tbody>
{rows}
</tbody></table>
<h2>Sources and findings</h2>
{sections or "<p>None.</p>"}
{f"<h2>Kinds of findings</h2>{kinds}" if kinds else ""}
</body></html>
"""


def _row(number: int, result: Result) -> str:
    outputs, mapping, lds = result.outputs, result.mapping, result.lds
    cells = [f'<td class="{result.status}">{result.status}</td>', f"<td>{escape(result.arch)}</td>"]
    cells.append(f'<td><a href="#case{number}">{escape(result.title)}</a></td>')
    for right, total in (
        (outputs["elements"] - outputs["mismatches"], outputs["elements"]),
        (mapping["slots_checked"] - mapping["mismatches"], mapping["slots_checked"]),
    ):
        cells.append(f'<td class="number">{f"{right:,}/{total:,}" if total else ""}</td>')
    conflicts = ""
    if lds.get("accesses"):
        extra = lds["extra_passes"]
        conflicts = f"{lds['worst_degree']}-way, {extra:,} extra passes" if extra else "free"
    cells += [
        f"<td>{conflicts}</td>",
        f"<td>{escape(result.fidelity)}</td>",
        f"<td>{escape(result.matrix_fidelity)}</td>",
    ]
    cells += [f'<td class="number">{len(found) or ""}</td>' for found in (result.findings, result.suppressed)]
    return f"<tr>{''.join(cells)}</tr>"


def _section(number: int, result: Result) -> str:
    """A case: its source with findings in the margin, then the findings without a line."""
    listing, shown = annotated(result)
    found = (*result.findings, *result.suppressed)
    rest = [note(finding) for finding in found if finding.source not in shown]
    title = (
        f'<h3 id="case{number}">{escape(result.title)} <small>{escape(result.arch)}</small> '
        f'<span class="{result.status}">{result.status}</span></h3>'
    )
    opened = " open" if any(finding.severity != "info" for finding in found) else ""
    source = f"<details{opened}><summary>source, as executed</summary>{listing}</details>" if listing else ""
    return "\n".join([title, *rest, source])


def _kinds(results: Sequence[Result]) -> str:
    """The meaning of each kind of finding on the page, once."""
    ids = dict.fromkeys(found.id for result in results for found in (*result.findings, *result.suppressed))
    rows = [(kind, KINDS[kind]) for kind in ids if kind in KINDS]
    return "\n".join(
        f'<p id="kind-{escape(kind)}"><code>{escape(kind)}</code> <b>{escape(row.title)}.</b> {escape(row.about)} '
        f"Fix: {escape(row.fix)}</p>"
        for kind, row in rows
    )
