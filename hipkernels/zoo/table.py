"""The table that `mfmasim verify zoo` prints: what each report's kernel is caught by, and whether the fix is silent."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from hipkernels.zoo.entry import HERE, OUTPUTS, REFUSED, Row, rows
from mfmasim.verify import families

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mfmasim.verify import Result

COLUMNS = ("entry", "report", "bug", "arch", "before the fix", "after it")
NAMED, BY_OUTPUTS, MISSED = "by name", "by outputs only", "missed"


def caught(result: Result, row: Row) -> str:
    """How the kernel before the fix is caught.

    Args:
        result: of the version before.
        row: its report.

    Returns:
        `NAMED` if the finding that names the cause is there, else `BY_OUTPUTS` or `MISSED`.
    """
    found = {finding.id for finding in result.findings}
    if row.named and row.found in found:
        return NAMED
    return BY_OUTPUTS if OUTPUTS in found else MISSED


def loud(result: Result, row: Row) -> list[str]:
    """Ids of what is reported about the kernel after the fix: errors, warnings, and what named the cause before."""
    return sorted({f.id for f in result.findings if f.severity != "info" or f.id == row.found})


def expected(row: Row) -> str:
    """What `caught` has to give, by the row."""
    return NAMED if row.named else BY_OUTPUTS if row.found else MISSED


def table(results: Sequence[Result]) -> tuple[Sequence[str], list[list[str]], str, bool]:
    """Judge both versions of each entry.

    Args:
        results: of the family's cases.

    Returns:
        Columns, rows, a last line, and whether everything is as `reports.toml` says.
    """
    known = rows()
    pairs: dict[str, dict[str, Result]] = {}
    for result in results:
        name, _, version = result.case.removesuffix("]").partition("[version=")
        pairs.setdefault(name, {})[version] = result
    counts: Counter[str] = Counter()
    lines, false, agrees = [], 0, True
    for name, pair in pairs.items():
        row, before, after = known[name], pair.get("before"), pair.get("after")
        first = second = ""
        if before is not None:
            how = caught(before, row)
            counts[how] += 1
            agrees &= how == expected(row) and (before.status == "error") == (row.found == REFUSED)
            place = next((f.source for f in before.findings if f.id == row.found and f.source), "")
            first = f"{row.found} {place}".strip() if how == NAMED else how
        if after is not None:
            reported = loud(after, row)
            false += len(reported)
            agrees &= after.status == "pass" and not reported
            second = ", ".join(reported) or ("silent" if after.status == "pass" else after.status)
        lines.append([name, row.report, row.bug, row.arch, first, second])
    order = list(dict.fromkeys(row.bug for row in known.values()))
    lines.sort(key=lambda line: order.index(line[2]))
    last = (
        f"{sum(counts.values())} tried: {counts[NAMED]} caught by name, {counts[BY_OUTPUTS]} by outputs only, "
        f"{counts[MISSED]} missed; {false} findings on fixed kernels"
    )
    return COLUMNS, lines, last, agrees


def marked(row: Row) -> set[int]:
    """Lines of an entry's source where the fault is to be found."""
    text = (families()["zoo"].with_name(f"{row.name}.hip")).read_text(encoding="utf-8")
    return {number for number, line in enumerate(text.splitlines(), 1) if HERE in line}
