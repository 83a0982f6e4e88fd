"""Results as text for a terminal."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING

from rich.text import Text

from mfmasim.observe import SEVERITIES
from mfmasim.observe.alike import alike, same
from mfmasim.visible import console, fitting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mfmasim.observe import Finding
    from mfmasim.verify.result import Result

COLOURS = {"pass": "green", "fail": "bold red", "error": "bold red", "skipped": "yellow", "info": "cyan"}


class Progress:
    """Prints a line per case as it ends, its findings below, and a summary."""

    def __init__(
        self,
        *,
        quiet: bool = False,
        most: int = 10,
        failures: bool = False,
        verbose: bool = False,
        severity: str | None = None,
    ) -> None:
        """Choose the output.

        Args:
            quiet: print nothing to standard output.
            most: bounds the findings shown for a case.
            failures: leave out cases that pass or are skipped.
            verbose: every finding of every case, also those that an earlier case had, and the suppressed ones.
            severity: the least severe findings that are shown; default: all but bank conflicts of a case that fails,
                of others those from warnings up.
        """
        self.console = console(soft_wrap=True, stderr=quiet)
        self.most = most
        self.failures, self.verbose = failures, verbose
        self.severity = severity
        self._said = ""
        self._start = time.perf_counter()
        self._widths: dict[str, int] = {}
        """Columns so far, by what they show."""
        self._warned: set[str] = set()
        """Compiler warnings and remarks that were printed."""
        self._before: dict[tuple[object, ...], str] = {}
        """What was reported, and the case that had it first."""

    def _column(self, line: Text, name: str, text: str, style: str = "", before: str = "   ") -> None:
        """Append a column, on a terminal as wide as the widest one of its kind so far: a pipe gets bare words.

        Args:
            line: the line so far.
            name: what the column shows.
            text: of this line.
            style: of the text.
            before: what separates it.
        """
        line.append(f"{before}{text}", style=style)
        if self.console.is_terminal:
            width = self._widths[name] = max(self._widths.get(name, 0), len(text))
            line.append(" " * (width - len(text)))

    def show(self, result: Result) -> None:
        """Print one result."""
        if self.failures and result.status in ("pass", "skipped"):
            return
        warnings = result.warnings.replace(result.arch, "")  # printed once, not for each architecture
        if warnings and warnings not in self._warned:
            self._warned.add(warnings)
            self.console.print(Text(result.warnings, style="yellow"))
        line = Text()
        line.append(f"{result.status.upper():<5}", style=COLOURS[result.status])
        line.append(f"  {result.arch:<8} ")
        self._column(line, "case", result.title, before="")
        if result.status in ("pass", "fail"):
            outputs, mapping = result.outputs, result.mapping
            right = outputs["elements"] - outputs["mismatches"]
            self._column(line, "outputs", f"outputs {right:,}/{outputs['elements']:,}", _tint(outputs["mismatches"]))
            if result.margin is not None:
                self._column(line, "margin", f"error {result.margin:.2g} of its bound", "dim")
            if mapping["slots_checked"]:
                slots = mapping["slots_checked"] - mapping["mismatches"]
                self._column(
                    line, "slots", f"slots {slots:,}/{mapping['slots_checked']:,}", _tint(mapping["mismatches"])
                )
            if result.lds.get("accesses"):
                degree, extra = result.lds["worst_degree"], result.lds["extra_passes"]
                self._column(line, "lds", f"lds {degree}-way, {extra:,} extra passes" if extra else "lds free", "dim")
            if result.suppressed:
                self._column(line, "suppressed", f"{len(result.suppressed)} suppressed", "yellow")
            if result.matrix_fidelity:
                self._column(line, "matrix", f"matrix: {result.matrix_fidelity}", "dim")
            for run in result.cover.get("runs", ()):
                self._column(line, "cover", f"also at {run['at']}", _tint(run["status"] != "pass"))
            if self.console.is_terminal:  # elsewhere, the same input gives the same bytes
                line.append(f"   {result.seconds:.1f} s", style="dim")
        self.console.print(line)
        if result.status == "error" and result.findings[0].message == self._said:
            self.console.print("      the same error")
            return
        self._said = result.findings[0].message if result.status == "error" else ""
        least = self.severity or ("warning" if result.status == "pass" and not self.verbose else "info")
        shown = SEVERITIES[: SEVERITIES.index(least) + 1]
        chosen = [finding for finding in result.findings if finding.severity in shown]
        if self.severity is None and not self.verbose:  # a kernel that fails is not made faster first
            chosen = [finding for finding in chosen if (finding.check, finding.severity) != ("conflicts", "info")]
        groups = [[finding] for finding in chosen] if self.verbose else self._new(result, alike(chosen))
        for group in groups[: self.most]:
            self._finding(group[0])
            if len(group) > 1:
                self.console.print(f"         and {len(group) - 1} more of the same kind at the same line")
        if len(groups) > self.most:
            left = sum(len(group) for group in groups[self.most :])
            self.console.print(f"      ... and {left} findings more (--max-findings)")
        if result.remark and result.remark not in self._warned:  # once a run
            self._warned.add(result.remark)
            self.console.print(Text(f"      note: {result.remark}", style="dim"))
        notes = 0 if self.severity else len(result.findings) - len(chosen)
        if notes:
            text = f"      {notes} note{'s' * (notes > 1)} (--severity info shows them)"
            self.console.print(Text(text, style="dim"))
        for finding in result.suppressed if self.verbose else ():
            self._finding(finding)
            self.console.print(Text(f"               suppressed: {finding.suppressed}"))

    def _new(self, result: Result, groups: list[list[Finding]]) -> list[list[Finding]]:
        """Groups that no earlier case had; other groups are counted, with the earlier case."""
        new, known = [], Counter[str]()
        for group in groups:
            first = self._before.setdefault(same(group[0]), f"{result.arch} {result.title}")
            if first == f"{result.arch} {result.title}":
                new.append(group)
            else:
                known[first] += len(group)
        for first, count in known.items():
            text = f"      {count} finding{'s' * (count > 1)} as in {first} (--verbose repeats them)"
            self.console.print(Text(text, style="dim"))
        return new

    def _finding(self, finding: Finding) -> None:
        head, *body = finding.lines()
        word = {"error": "FAIL", "warning": "WARN", "info": "info"}[finding.severity]
        text = Text("      ")
        style = COLOURS["fail" if finding.severity == "error" else "info"]
        # An error in a case is reported in its line above, and is not a finding about a kernel.
        text.append(head if finding.check == "case" else f"{word} {head}", style=style)
        self.console.print(text)
        for line in body:
            self.console.print(Text(fitting("      " + line, self.console)))

    def summary(self, results: Sequence[Result]) -> None:
        """Print a summary of the checks, and the fidelity of the arithmetic."""
        counts = Counter(result.status for result in results)
        elements = sum(result.outputs["elements"] for result in results)
        slots = sum(result.mapping["slots_checked"] for result in results)
        words = ", ".join(
            f"{counts[status]} {status}" for status in ("pass", "fail", "error", "skipped") if counts[status]
        )
        text = f"{words}; {elements:,} output elements and {slots:,} slots followed"
        if self.console.is_terminal:
            text += f"; {time.perf_counter() - self._start:.1f} s, cases {sum(r.seconds for r in results):.1f} s"
        self.console.print(Text(text, style="bold"))
        on_gpu = [result for result in results if result.device != "sim"]
        if on_gpu:
            who = sorted({name for result in on_gpu for name in result.fidelity_of})
            text = f"run by {', '.join(who) or 'hip'}: outputs and guard zones; mapping and all else is proved on sim"
            self.console.print(Text(text))
        results = [result for result in results if result.device == "sim"]
        assumed = sorted({op for r in results if r.fidelity == "assumed" for op in r.fidelity_of})
        if assumed:
            self.console.print(
                Text(
                    "assumed (how it rounds, or a part of what it does, is not public): " + ", ".join(assumed),
                    style="yellow",
                )
            )


def _tint(mismatches: int) -> str:
    return "red" if mismatches else "green"
