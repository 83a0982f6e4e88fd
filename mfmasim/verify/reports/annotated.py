"""The source of a case with counts, LDS conflicts and findings in the margin of its lines, as HTML."""

from __future__ import annotations

from collections import defaultdict
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mfmasim.devices.coverage import source_lines
from mfmasim.visible import visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mfmasim.devices.coverage import Line
    from mfmasim.observe import Finding
    from mfmasim.verify.result import Result

AROUND = 3
"""Lines without code that are shown before and after lines with it."""

STYLE = """
table.source { font: 12px/1.5 ui-monospace, monospace; margin: .3rem 0 }
table.source td { padding: 0 .8rem 0 0; border: 0; white-space: pre }
table.source td.number { color: #6a7483 } table.source tr.never td { color: #8a93a0 }
table.source tr.note td { white-space: normal; padding: .1rem 0 .1rem 1rem }
table.source tr.gap td { color: #8a93a0 }
table.source td.conflict { color: #b3261e; font-weight: 600 }
"""


def annotated(result: Result) -> tuple[str, set[str]]:
    """The listing of every source file that the launch executed code of.

    Args:
        result: of a case that ran on the simulator.

    Returns:
        HTML, empty where there are no source lines; and the lines that it shows, as ``file:line``.
    """
    coverage = result.coverage or (result.launch.coverage if result.launch is not None else None)
    if coverage is None or not coverage.files:
        return "", set()
    notes: defaultdict[str, list[Finding]] = defaultdict(list)
    for finding in (*result.findings, *result.suppressed):
        notes[finding.source].append(finding)
    conflicts: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for site in result.lds.get("sites", ()):
        conflicts[site["source"]].append(site)
    tables, shown = [], set()
    for name, lines in coverage.files.items():
        text = source_lines(name, [Path(result.source).parent])
        numbers = _numbers(name, lines, notes, len(text))
        rows = []
        before = 0
        short = Path(name).name  # findings name files so
        for number in numbers:
            if number > before + 1 and before:
                rows.append('<tr class="gap"><td></td><td></td><td></td><td>⋮</td></tr>')
            before, place = number, f"{short}:{number}"
            shown.add(place)
            rows.append(_row(number, lines.get(number), conflicts[place], text))
            rows += [f'<tr class="note"><td colspan="3"></td><td>{note(finding)}</td></tr>' for finding in notes[place]]
        head = "<tr><th>executed</th><th>LDS</th><th>line</th><th></th></tr>"
        tables.append(f'<h4>{escape(short)}</h4><table class="source">{head}{"".join(rows)}</table>')
    return "\n".join(tables), shown


def _numbers(name: str, lines: Mapping[int, Line], notes: Mapping[str, Sequence[Finding]], length: int) -> list[int]:
    """Lines to show: those with code or a finding, and their neighbours if the source exists."""
    found = (place.rpartition(":") for place in notes)
    marked = {*lines, *(int(line) for file, _, line in found if file == Path(name).name)}
    if not length:
        return sorted(marked)
    return sorted({n for at in marked for n in range(at - AROUND, at + AROUND + 1) if 1 <= n <= length} | marked)


def _row(number: int, line: Line | None, sites: Sequence[Mapping[str, Any]], text: Sequence[str]) -> str:
    count = "" if line is None else f"{line.executions:,}" if line.executions else "never"
    extra = sum(site["extra_passes"] for site in sites)
    worst = max((max(site["degrees"], default=1) for site in sites), default=0)
    lds = f"{worst}-way, {extra:,} extra passes" if extra else "free" if sites else ""
    kind = ' class="never"' if line is not None and not line.executions else ""
    code = escape(text[number - 1]) if number <= len(text) else ""
    conflict = ' class="conflict"' if extra else ""
    return (
        f'<tr{kind}><td class="number">{count}</td><td{conflict}>{lds}</td><td class="number">{number}</td>'
        f"<td>{code}</td></tr>"
    )


def note(finding: Finding) -> str:
    """A finding in the margin: severity, kind (a link to its explanation), place and message."""
    _, *body = finding.lines()
    place = escape(visible("  ".join(finding.where())))
    level = "suppressed" if finding.suppressed else finding.severity
    reason = f"<p>Suppressed: {escape(finding.suppressed)}</p>" if finding.suppressed else ""
    text = "\n".join(line.strip() for line in body)
    opened = " open" if level == "error" else ""
    return (
        f'<details class="{level}"{opened}><summary><span class="{level}">{level}</span> '
        f'<a href="#kind-{escape(finding.id)}"><code>{escape(finding.id)}</code></a> {place}</summary>'
        f"<pre>{escape(text)}</pre>{reason}</details>"
    )
