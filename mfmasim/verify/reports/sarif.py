"""Results as SARIF 2.1.0 (OASIS, Static Analysis Results Interchange Format), which code review tools read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from mfmasim.errors import decimal
from mfmasim.observe.alike import alike
from mfmasim.verify.kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mfmasim.observe import Finding
    from mfmasim.verify.result import Result

LEVELS = {"error": "error", "warning": "warning", "info": "note"}
"""SARIF's `level` (3.27.10) for each severity."""
PLACES = ("pc", "instruction", "workgroup", "wave", "lane", "register", "element", "expected", "actual", "count")
"""Fields of a finding that become properties of the result."""


def sarif(results: Sequence[Result], version: str) -> dict[str, Any]:
    """A SARIF log of one run.

    Args:
        results: results of cases.
        version: of mfmasim.

    Returns:
        The log, for JSON: rules from the table of kinds; a result for each finding, suppressed ones with the reason,
        findings of one line that differ in numbers alone together.
        A finding without a line is placed at the first line of the case's source, as review tools require
        a line.
    """
    index = {name: number for number, name in enumerate(KINDS)}
    found = [
        _result(result, group, index)
        for result in results
        for group in (*alike(result.findings), *alike(result.suppressed))
    ]
    driver = {"name": "mfmasim", "version": version, "rules": [_rule(name) for name in KINDS]}
    # A case that passes has no result of its own: what its verdict rests on is a property of the run.
    cases = [
        {"case": r.case, "arch": r.arch, "device": r.device, "status": r.status, "fidelity": r.trust.record()}
        | ({"proof": r.proof} if r.proof else {})
        for r in results
    ]
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": found,
        "properties": {"cases": cases},
    }
    return {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}


def _rule(name: str) -> dict[str, Any]:
    row = KINDS[name]
    return {
        "id": row.id,
        "shortDescription": {"text": row.title},
        "fullDescription": {"text": row.about},
        "help": {"text": f"Example: {row.example}\nFix: {row.fix}"},
        "defaultConfiguration": {"level": LEVELS[row.severity]},
        "properties": {"check": row.check},
    }


def _result(result: Result, group: Sequence[Finding], index: dict[str, int]) -> dict[str, Any]:
    finding = group[0]
    about = {name: value for name in PLACES if (value := getattr(finding, name)) not in (None, "")}
    needs = f" (needs {finding.expected}, has {finding.actual})" if finding.expected and finding.actual else ""
    more = f"; and {len(group) - 1} more of the same kind at this line" if len(group) > 1 else ""
    out: dict[str, Any] = {
        "ruleId": finding.id,
        "level": LEVELS[finding.severity],
        "message": {"text": f"{finding.message}{needs}{more} [{result.case} on {result.arch}]"},
        "locations": [_location(result, finding.source, finding.kernel)],
        "properties": {
            "case": result.case,
            "arch": result.arch,
            "device": result.device,
            "fidelity": result.fidelity,
            **about,
        },
    }
    if finding.other:
        out["relatedLocations"] = [_location(result, finding.other, finding.kernel)]
    if finding.id in index:
        out["ruleIndex"] = index[finding.id]
    if finding.suppressed:
        out["suppressions"] = [{"kind": "external", "justification": finding.suppressed}]
    return out


def _location(result: Result, source: str, kernel: str) -> dict[str, Any]:
    name, _, line = source.rpartition(":") if ":" in source else (source, "", "")
    number = max(1, decimal(line))
    place = {"artifactLocation": {"uri": _uri(result, name)}, "region": {"startLine": number}}
    logical = {"name": kernel or result.kernel, "kind": "function"}
    return {"physicalLocation": place, "logicalLocations": [logical]}


def _uri(result: Result, name: str) -> str:
    """Address of a source file: relative to the working folder where it lies below it."""
    own, name = Path(result.source), name.encode("utf-8", "replace").decode()  # half a surrogate has no address
    path = Path(name) if name else own
    try:
        if name and (own.parent / name).exists():
            path = own.parent / name
    except OSError:  # a name that the system cannot look up, as it is too long
        pass
    if not path.is_absolute():
        return quote(path.as_posix())
    here = Path.cwd()
    return quote(path.relative_to(here).as_posix()) if path.is_relative_to(here) else path.as_uri()
