"""Results as SARIF 2.1.0 (OASIS, Static Analysis Results Interchange Format), which code review tools read."""

from __future__ import annotations

import os
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from mfmasim.errors import decimal
from mfmasim.observe.alike import alike
from mfmasim.verify.kinds import KINDS
from mfmasim.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mfmasim.observe import Finding
    from mfmasim.verify.result import Result

LEVELS = {"error": "error", "warning": "warning", "info": "note"}
"""SARIF's `level` (3.27.10) for each severity."""
PLACES = ("pc", "instruction", "workgroup", "wave", "lane", "register", "element", "expected", "actual", "count")
"""Fields of a finding that become properties of the result."""


def sarif(results: Sequence[Result], version: str, proofs: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """A SARIF log of one run.

    Args:
        results: results of cases, perhaps with their proofs.
        version: of mfmasim.
        proofs: records of proofs without a result (`mfmasim.prove.Proof.record`).

    Returns:
        The log, for JSON: rules from the table of kinds; a result for each finding, suppressed ones with the reason,
        findings of one line that differ in numbers alone together.
        A finding without a line is placed at the first line of the case's source, as review tools require
        a line. An unproved obligation has a result, too: an error if a size refutes it, else a note.
    """
    index = {name: number for number, name in enumerate(KINDS)}
    found = [
        _result(result, group, index)
        for result in results
        for group in (*alike(result.findings), *alike(result.suppressed))
    ]
    judged = [r.proof for r in results if r.proof] + list(proofs)
    # A refuted obligation of a verified case is a finding.
    found += [one for r in results if r.proof for one in _unproved(r.proof) if one["level"] != LEVELS["error"]]
    found += [one for proof in proofs for one in _unproved(proof)]
    kinds = dict.fromkeys(one["kind"] for proof in judged for one in proof["obligations"])
    rules = [*map(_rule, KINDS), *({"id": _rule_of(k), "shortDescription": {"text": f"{k}, proved"}} for k in kinds)]
    driver = {"name": "mfmasim", "version": version, "rules": rules}
    # A case that passes has no result of its own: the basis of its verdict is a property of the run.
    cases = [
        {"case": r.title, "arch": r.arch, "device": r.device, "status": r.status, "fidelity": r.trust.record()}
        | ({"proof": r.proof} if r.proof else {})
        for r in results
    ] + [{"case": proof["case"], "arch": proof["arch"], "proof": proof} for proof in proofs]
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": found,
        "properties": {"cases": cases},
    }
    return {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}


def _rule_of(kind: str) -> str:
    return f"proof-{kind.replace(' ', '-')}"


def _unproved(proof: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A result for each refuted obligation, and for each source line of an unknown one."""
    sizes = ", ".join(proof["for_all"]) or "its own sizes"
    for one in proof["obligations"]:
        about = {"case": proof["case"], "arch": proof["arch"], "verdict": one["verdict"]}
        about["assumptions"] = proof["assumptions"]
        first = one["reasons"][:1]
        by_line = {reason["source"]: reason for reason in reversed(one["reasons"])}
        if one["verdict"] == "refuted":
            changes = " ".join(f"--set {name}={value}" for name, value in one["parameters"].items())
            texts = [(f"{one['note']}; replayed with {changes or 'its own sizes'}", first[0] if first else {})]
            about["parameters"] = one["parameters"]
        elif one["verdict"] == "unknown":
            texts = [(f"not proved for all {sizes}: {reason['why']}", reason) for reason in by_line.values()]
        else:
            continue
        for text, reason in texts:
            yield {
                "ruleId": _rule_of(one["kind"]),
                "level": "error" if one["verdict"] == "refuted" else "note",
                "message": {"text": _plain(f"{one['kind']}: {text} [{proof['case']} on {proof['arch']}]")},
                "locations": [_location(proof["source"], proof["kernel"], reason.get("source", ""))],
                "properties": about | {k: reason[k] for k in ("pc", "instruction") if reason.get(k)},
            }


@cache
def _pages() -> str:
    """Address of the documentation, from the metadata of the installed project; empty where that has none."""
    try:
        urls = metadata.metadata("mfmasim").get_all("Project-URL") or []
    except metadata.PackageNotFoundError:  # run from a checkout that is not installed
        return ""
    named: dict[str, str] = dict(one.split(", ", 1) for one in urls)
    return named.get("Documentation", "").rstrip("/")


def _rule(name: str) -> dict[str, Any]:
    row = KINDS[name]
    link = {"helpUri": f"{_pages()}/findings.html#{row.id}"} if _pages() else {}
    return {
        **link,
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
        "message": {"text": _plain(f"{finding.message}{needs}{more} [{result.title} on {result.arch}]")},
        "locations": [_location(result.source, finding.kernel or result.kernel, finding.source)],
        "properties": {
            "case": result.title,
            "arch": result.arch,
            "device": result.device,
            "fidelity": result.fidelity,
            **about,
        },
    }
    if ":" in finding.other:  # an address is no place in a file
        out["relatedLocations"] = [_location(result.source, finding.kernel or result.kernel, finding.other)]
    if finding.id in index:
        out["ruleIndex"] = index[finding.id]
    if finding.suppressed:
        out["suppressions"] = [{"kind": "external", "justification": finding.suppressed}]
    return out


def _location(own: str, kernel: str, source: str) -> dict[str, Any]:
    name, _, line = source.rpartition(":") if ":" in source else (source, "", "")
    number = max(1, decimal(line))
    place = {"artifactLocation": {"uri": _uri(own, name)}, "region": {"startLine": number}}
    logical = {"name": kernel, "kind": "function"}
    return {"physicalLocation": place, "logicalLocations": [logical]}


def _plain(text: str) -> str:
    """A message in which no name of a file becomes a link, as ``[text](address)`` does (SARIF 2.1.0, 3.11.6)."""
    return text.replace("](", "] (")


def _uri(of: str, name: str) -> str:
    """Address of a source file: relative to the working folder where it lies below it."""
    own = Path(of)
    try:
        os.fsencode(name)
    except UnicodeEncodeError:  # half a surrogate has no address
        name = name.encode("utf-8", "replace").decode()
    if name == visible(os.fsencode(own.name).decode("utf-8", "replace")):  # as debug information spells it
        name = ""
    path = Path(name) if name else own
    try:
        if name and (own.parent / name).exists():
            path = own.parent / name
    except OSError:  # a name that the system cannot look up, as it is too long
        pass
    if not path.is_absolute():
        return quote(os.fsencode(path.as_posix()))
    here = Path.cwd()
    return quote(os.fsencode(path.relative_to(here).as_posix())) if path.is_relative_to(here) else path.as_uri()
