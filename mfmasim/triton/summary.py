"""What a program launched, in words and as results for reports."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from mfmasim.fidelity import lowest
from mfmasim.observe import SEVERITIES, Finding, next_command
from mfmasim.triton.layouts.report import conflict_lines, dot_lines
from mfmasim.verify import Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mfmasim.triton.records import Records


def findings(launch: dict[str, Any]) -> list[Finding]:
    """The findings of a recorded launch."""
    return [Finding.of_record(record) for record in launch["findings"]]


def errors(records: Records) -> int:
    """How many findings are errors."""
    return sum(one["severity"] == "error" for launch in records.launches for one in launch["findings"])


def results(records: Records) -> list[Result]:
    """A result for each kernel and architecture, with the findings of all its launches, each kind and place once."""
    made: dict[tuple[str, str], Result] = {}
    seen: dict[tuple[str, str], set[tuple[Any, ...]]] = {}
    for launch in records.launches:
        key = launch["kernel"], launch["arch"]
        if key not in made:
            made[key] = Result("triton", launch["kernel"], launch["kernel"], launch["arch"], "sim")
            seen[key] = set()
        result = made[key]
        result.seconds += launch["seconds"]
        levels = [level for level in (result.fidelity, launch["fidelity"]["level"]) if level]
        if lowest(levels) != result.fidelity:
            result.fidelity, result.fidelity_of = lowest(levels), tuple(launch["fidelity"]["operations"])
        for finding in findings(launch):
            place = finding.id, finding.source, finding.instruction, finding.register
            if place not in seen[key]:
                seen[key].add(place)
                result.findings.append(finding)
    for result in made.values():
        result.findings.sort(key=lambda finding: SEVERITIES.index(finding.severity))
        result.source = next((f.source.rpartition(":")[0] for f in result.findings if f.source), "")
        result.settle()
    return list(made.values())


def _count(number: int, word: str, plural: str = "s") -> str:
    return f"{number:,} {word}{plural * (number != 1)}"


def lines(records: Records, found: Sequence[Result], most: int) -> list[str]:
    """The summary of a program.

    Args:
        records: what it launched.
        found: its results.
        most: findings that are shown of a kernel.
    """
    counts = Counter((launch["kernel"], launch["arch"]) for launch in records.launches)
    instructions = sum(launch["instructions"] for launch in records.launches)
    seconds = sum(launch["seconds"] for launch in records.launches)
    launched = f"{_count(len(records.launches), 'launch', 'es')} of {_count(len(found), 'kernel')}"
    total = (
        f"{launched}, {instructions:,} wave-instructions; "
        f"{len(records.compiled)} compiled in {sum(records.compiled):.2f} s, simulated in {seconds:.2f} s"
    )
    out = [total]
    for result in found:
        severe = [finding for finding in result.findings if finding.severity != "info"]
        words = ", ".join(
            f"{number} {severity}{'s' * (number > 1)}"
            for severity, number in Counter(finding.severity for finding in severe).items()
        )
        head = f"{result.status.upper():<5} {result.arch:<8} {result.kernel}  {counts[result.kernel, result.arch]:,}x"
        out.append(f"{head}  {result.trust}  {words or 'no finding'}")
        for finding in severe[:most]:
            out += [f"      {line}" for line in finding.lines()]
        if len(severe) > most:
            out.append(f"      ... and {len(severe) - most} more (--max-findings)")
    return out + list(filter(None, [next_command(one for result in found for one in result.findings)]))


def layout_lines(rows: Sequence[dict[str, Any]], found: Sequence[Result]) -> list[str]:
    """Layouts of products, and bank conflicts by line.

    Args:
        rows: records of the kernels' layouts.
        found: a program's results.
    """
    out = ["Layouts of products, beside the matrix instructions' rows:"]
    for row in rows:
        if "dot" in row:
            out += dot_lines(row["dot"])
    conflicts = [finding for result in found for finding in result.findings if finding.check == "conflicts"]
    out.append("Bank conflicts, by line:" if conflicts else "No bank conflict.")
    return out + list(conflict_lines(rows, conflicts))
