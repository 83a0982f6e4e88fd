"""A sweep as SARIF 2.1.0: one result for each kernel that does not pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from mfmasim.errors import decimal

__all__ = ["sarif_of"]

LEVELS = {"fail": "error", "error": "error", "unknown": "warning"}
RULES = {
    "fail": "A kernel is wrong in every launch, or asks for more than the architecture has",
    "error": "A code object cannot be judged",
    "unknown": "A kernel cannot be executed, or what it needs is not proved",
}


def sarif_of(records: Sequence[Mapping[str, Any]], version: str) -> dict[str, Any]:
    """The log of a sweep.

    Args:
        records: of the code objects.
        version: of mfmasim.
    """
    rules = [{"id": f"sweep-{word}", "shortDescription": {"text": text}} for word, text in RULES.items()]
    results = [one for record in records for one in _results(record)]
    driver = {"name": "mfmasim", "version": version, "rules": rules}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}


def _results(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    if record["verdict"] == "pass":
        return []
    bad = [kernel for kernel in record["kernels"] if kernel["verdict"] != "pass"]
    return [_result(record, kernel) for kernel in bad] or [_result(record, record)]


def _result(record: Mapping[str, Any], of: Mapping[str, Any]) -> dict[str, Any]:
    first: Mapping[str, Any] = next((reason for one in of.get("obligations", ()) for reason in one["reasons"]), {})
    first = (of.get("unsupported") or [first])[0]
    name, _, line = str(first.get("source", "")).rpartition(":")
    uri = quote(name) if name and not name.startswith("/") else quote(record["files"][0].partition("!")[0])
    place = {"artifactLocation": {"uri": uri}, "region": {"startLine": max(1, decimal(line)) if name else 1}}
    kernel = of.get("kernel", "")
    location: dict[str, Any] = {"physicalLocation": place}
    if kernel:
        location["logicalLocations"] = [{"name": kernel, "kind": "function"}]
    text = f"{kernel + ': ' if kernel else ''}{of['why']} [{record['files'][0]}]"
    about = {"sha256": record["sha256"], "arch": record["arch"], "verdict": of["verdict"]}
    return {
        "ruleId": f"sweep-{of['verdict']}",
        "level": LEVELS[of["verdict"]],
        "message": {"text": text.replace("](", "] (")},
        "locations": [location],
        "partialFingerprints": {"sha256/v1": record["sha256"]},
        "properties": about,
    }
