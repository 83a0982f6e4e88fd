"""Profiles of kernels as one HTML page that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from mfmasim.files import brief
from mfmasim.lab.reports.profile import Profile
from mfmasim.lab.reports.statements import COLUMNS, Weighed
from mfmasim.lab.reports.traffic_page import traffic_tables
from mfmasim.verify.reports.annotated import STYLE as SOURCE_STYLE
from mfmasim.verify.reports.annotated import annotated
from mfmasim.verify.reports.page import STYLE

Table = tuple[str, tuple[str, ...], list[list[Any]]]
"""Title, columns, rows."""


def tables_of(profile: Profile) -> list[Table]:
    """Everything about one kernel as tables, for the page and the terminal."""
    report, occupancy, main = profile.report, profile.occupancy, profile.main
    total = max(1, sum(report.mix.values()))
    turn = main.mix if main is not None else {}
    everything = sum(turn.values()) or 1.0
    mix = [
        [
            name,
            f"{count:,}",
            f"{count / total:.1%}",
            _number(turn.get(name, 0)),
            f"{turn.get(name, 0) / everything:.1%}",
        ]
        for name, count in report.mix.most_common()
    ]
    claims = [
        [
            judged.claim.text,
            judged.where,
            judged.claim.relation.removeprefix("=") + _number(judged.claim.count),
            "-" if judged.found is None else _number(judged.found),
            judged.verdict,
        ]
        for judged in profile.claims
    ]
    limits = [
        [limit.name, f"{limit.used:,}", f"{limit.allocated:,}", f"{limit.available:,}", limit.workgroups]
        for limit in occupancy.limits
    ]
    conflicts = [
        [brief(access.source), access.instruction, f"{access.executions:,}", access.degree, f"{access.extra_passes:,}"]
        for access in profile.accesses
    ]
    where = (
        f"main loop: {brief(main.source)}, {_number(main.turns / max(1, report.waves))} iterations of a wave"
        if main
        else "no loop"
    )
    tables: list[Table] = [
        (f"Instructions ({where})", ("family", "wave-instructions", "share", "per iteration", "share of it"), mix),
        (
            (
                f"Resources: {_number(occupancy.waves_per_simd)} waves per SIMD, "
                f"limited by {', '.join(occupancy.limited_by)}"
            ),
            ("resource", "used", "allocated", "available", "workgroups"),
            limits,
        ),
    ]
    if conflicts:
        columns = ("source", "instruction", "executions", "degree", "extra passes")
        tables.append((f"LDS, {report.lds['bytes']:,} bytes", columns, conflicts))
    if (bound := profile.bound) is not None:
        per = "loop iteration" if bound.looped else "kernel"
        rows = [[pipe, _number(round(cycles, 1)), f"{bound.shares[pipe]:.0%}"] for pipe, cycles in bound.cycles.items()]
        title = f"Bound: {bound.pipe}, {_number(round(bound.total, 1))} cycles per {per} (mfmasim cost)"
        tables.append((title, ("pipe", "cycles, at least", "share of the bound"), rows))
    tables += traffic_tables(profile.traffic)
    if main is not None:
        rows = [[name, _number(count)] for name, count in main.counts.items()]
        tables.append(("Main loop, per wave and iteration", ("instruction", "count"), rows))
    if profile.turn is not None:
        values = [(name, value) for name, value in profile.turn.quantities().items() if value is not None]
        order = [["order", profile.turn.written], *([name, _number(value)] for name, value in values)]
        tables.append(("Order of the main loop's usual iteration", ("what", "found"), order))
    if claims:
        tables.append(("Claims", ("claim", "where", "claimed", "found", "verdict"), claims))
    return tables


def _number(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.2f}"


def profile_page(profiles: Sequence[Profile], version: str) -> str:
    """The page: one section per kernel; HTML with its style inside, and no reference to anything outside."""
    return _page("\n".join(_section(profile) for profile in profiles), version)


def claims_page(texts: Iterable[tuple[str, Iterable[Weighed]]], version: str) -> str:
    """The page for the statements of texts: one table for each."""
    return _page("\n".join(_table(name, COLUMNS, (line.row for line in lines)) for name, lines in texts), version)


def _page(body: str, version: str) -> str:
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>mfmasim report</title><style>{STYLE}{SOURCE_STYLE}
.refuted {{ color: #9a5b00 }}
.bar {{ display: inline-block; height: .7em; background: #2b5c8a }}</style></head><body>
<h1>mfmasim report</h1>
<p>Counts of executed instructions, not times (mfmasim {escape(version)})</p>
{body}
</body></html>
"""


def _section(profile: Profile) -> str:
    result, report = profile.result, profile.report
    head = (
        f"<h2>{escape(result.case)} <small>{escape(report.arch)}</small> "
        f'<span class="{result.status}">{result.status}</span></h2>'
        f"<p>{escape(report.kernel)}: {report.waves:,} waves, {sum(report.mix.values()):,} wave-instructions, "
        f"fidelity {escape(str(report.fidelity))}, {profile.matrix_share:.1%} matrix instructions "
        f'<span class="bar" style="width:{10 * profile.matrix_share:.2f}em"></span></p>'
    )
    listing, _ = annotated(result)
    source = f"<h3>Source, as executed</h3>{listing}" if listing else ""
    return head + source + "".join(_table(*table) for table in tables_of(profile))


def _table(title: str, columns: Sequence[str], rows: Iterable[Iterable[Any]]) -> str:
    lines = [[_cell(cell) for cell in row] for row in rows]
    # A heading stands where the values of its column stand.
    first = lines[0] if lines else [""] * len(columns)
    kinds = [' class="number"' if cell.startswith('<td class="number"') else "" for cell in first]
    head = "".join(f"<th{kind}>{escape(name)}</th>" for name, kind in zip(columns, kinds, strict=True))
    body = "\n".join(f"<tr>{''.join(cells)}</tr>" for cells in lines)
    return f"<h3>{escape(title)}</h3><table><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table>"


def _cell(cell: object) -> str:
    text = str(cell)
    if text.startswith(("confirmed", "refuted")):
        kind = "pass" if text.startswith("confirmed") else "refuted"
        return f'<td class="{"fail" if "which is not" in text else kind}">{escape(text)}</td>'
    number = text.replace(",", "").replace(".", "").rstrip("%").isdigit()
    return f'<td class="number">{text}</td>' if number else f"<td>{escape(text)}</td>"
