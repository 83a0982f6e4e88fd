"""Suppression: findings that a case declares to be known, each with its reason. They are kept but do not count."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mfmasim.errors import MfmasimError, unknown
from mfmasim.observe import Finding
from mfmasim.verify.kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mfmasim.verify.result import Result

__all__ = ["check_suppressions", "suppress"]

ALWAYS = ("case", "skip", "suppress", "debugger")
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
    rows = [row for row in KINDS.values() if row.check not in ALWAYS]
    names = [*dict.fromkeys(row.check for row in rows), *(row.id for row in rows)]
    for name, reason in declared.items():
        if name not in names:
            raise unknown("finding id or check", name, names, f"in suppress= of {where}")
        if not isinstance(reason, str) or not reason.strip():
            raise MfmasimError(f"suppress={{{name!r}: {reason!r}}} of {where} needs a reason")


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
