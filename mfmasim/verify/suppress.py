"""Findings that a case declares: known ones, which are kept but do not count, and those a wrong kernel has to have."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mfmasim.errors import MfmasimError, unknown
from mfmasim.observe import Finding
from mfmasim.verify.kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mfmasim.verify.result import Result

ALWAYS = ("case", "skip", "suppress", "fails", "debugger")
"""Checks whose findings cannot be suppressed: they report whether a case ran."""


def check_suppressions(declared: Mapping[str, str], where: str) -> None:
    """Refuse a suppression with an unknown name, or without a reason.

    Args:
        declared: id of a finding, or name of a check, to the reason.
        where: whose it is, such as ``"case gemm"``.

    Raises:
        MfmasimError: a name is neither an id nor a check, or a reason is empty.
    """
    if not hasattr(declared, "items"):
        raise MfmasimError(f"suppress={declared!r} of {where}: a dict of id or check to reason is expected")
    names = _names()
    for name, reason in declared.items():
        if name not in names:
            raise unknown("finding id or check", name, names, f"in suppress= of {where}")
        if not isinstance(reason, str) or not reason.strip():
            raise MfmasimError(f"suppress={{{name!r}: {reason!r}}} of {where} needs a reason")


def _names() -> list[str]:
    """Checks and ids of findings that a case may declare."""
    rows = [row for row in KINDS.values() if row.check not in ALWAYS]
    return [*dict.fromkeys(row.check for row in rows), *(row.id for row in rows)]


def check_declared(fails: Sequence[str], where: str) -> None:
    """Refuse a declared failure with an unknown name.

    Args:
        fails: ids of findings, or names of checks.
        where: whose they are, such as ``"case gemm"``.

    Raises:
        MfmasimError: a name is neither an id nor a check.
    """
    for name in fails:
        if name not in (names := _names()):
            raise unknown("finding id or check", name, names, f"in fails= of {where}")


def demand(result: Result, fails: Sequence[str]) -> None:
    """Make the findings that a kernel is declared to have count as errors, and report each that it does not have.

    Args:
        result: its findings are changed.
        fails: ids of findings, or names of checks.
    """
    declared = [finding for finding in result.findings if {finding.id, finding.check} & set(fails)]
    result.findings = [replace(f, severity="error") if f in declared else f for f in result.findings]
    for name in fails:
        if not any(name in (finding.id, finding.check) for finding in declared):
            text = f"the case is declared to fail with {name}, which was not found"
            result.findings.append(Finding("fails", "error", text, "fails-missing", kernel=result.kernel))


def suppress(result: Result, declared: Mapping[str, str]) -> None:
    """Separate the findings that a case suppresses; an id takes precedence over its check.

    Args:
        result: loses those findings to its `suppressed`, and gets a finding for each suppression that matches nothing.
        declared: id of a finding, or name of a check, to the reason.
    """
    kept, used = [], set()
    for finding in result.findings:
        name = next((n for n in (finding.id, finding.check) if n in declared and finding.check not in ALWAYS), None)
        if name is None:
            kept.append(finding)
        else:
            used.add(name)
            result.suppressed.append(replace(finding, suppressed=declared[name]))
    result.findings = kept
    for name, reason in declared.items():
        if name not in used:
            text = f"no finding matches suppress={{{name!r}: {reason!r}}}"
            result.findings.append(Finding("suppress", "info", text, "suppress-unused", kernel=result.kernel))
