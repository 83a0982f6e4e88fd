"""Verification of a case at sizes that cover paths which its own size does not, and a report of uncovered paths."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mfmasim.devices.ways import Seen, Ways
from mfmasim.errors import MfmasimError
from mfmasim.lab.covering.search import Search, missing, shown
from mfmasim.lab.covering.unseen import branches_open, loops_open, said
from mfmasim.verify.causes import ordered
from mfmasim.verify.runner import verify_case

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mfmasim.kernels import Kernel
    from mfmasim.lab.covering.looking import Look
    from mfmasim.observe import Finding
    from mfmasim.verify.cases import Case
    from mfmasim.verify.result import Result

RUNS = 3
"""Most further sizes at which a case is verified."""
MOST_STEPS, MOST_LAUNCHES = 20_000, 8
"""A run that costs more than both, in steps and in launches of the case's own size, is named instead."""


@dataclass
class Covering:
    """Further sizes of a case's verification, and the paths that they leave unseen."""

    search: Search
    runs: list[Look]
    left_out: list[tuple[Mapping[str, Any], str]]
    """Parameters that are not run, each with the reason."""


def covering_of(case: Case, kernel: Kernel, own: Ways, siblings: Sequence[Mapping[str, Any]] = ()) -> Covering:
    """Find further sizes for a case's verification.

    Args:
        case: the case.
        kernel: its kernel.
        own: paths of its launches, in each of its classes of inputs.
        siblings: parameters of other cases of the same kernel that are verified as well.
    """
    launches = max(own.launches, 1)
    search = Search(case, kernel, own, launches).run(siblings)
    runs, left_out = [], []
    for one in search.chosen(RUNS):
        if one.steps > max(MOST_STEPS, MOST_LAUNCHES * own.steps // launches):
            left_out.append((one.parameters, "too large to be run unasked"))
        else:
            runs.append(one)
    left_out += [(parameters, "too large to be looked at") for parameters in search.beyond]
    return Covering(search, runs, left_out)


def cover(
    result: Result, case: Case, kernel: Kernel, own: Ways, siblings: Sequence[Mapping[str, Any]] = (), **how: Any
) -> None:
    """Verify a passing case at the smallest further sizes that show unseen paths.

    Args:
        result: of the case; receives the findings of these runs, with their sizes, and the unseen paths.
        case: the case.
        kernel: its kernel.
        own: paths of its launches.
        siblings: parameters of other cases of the same kernel that are verified as well.
        how: further arguments of `verify_case`.
    """
    found = covering_of(case, kernel, own, siblings)
    search, left_out = found.search, list(found.left_out)
    before = missing(kernel, search.seen)
    seen, runs = Seen(), []
    seen.add(search.seen)
    known = {(one.id, one.source, one.pc) for one in result.findings}
    for one in found.runs:
        at, ways = words(case, one.parameters), Ways()
        try:
            ran = verify_at(case, one.parameters, kernel, ways, **how)
        except MfmasimError as error:
            left_out.append((one.parameters, str(error)))
            continue
        seen.add(ways.seen)
        runs.append(
            {"parameters": dict(one.parameters), "at": at, "status": ran.status, "outputs": ran.outputs}
            | {"shows": len(before & shown(ways.seen))}
        )
        result.findings += [
            replace(finding, message=f"at {at}: {finding.message}")
            for finding in ran.findings
            if _counts(finding)
            and (finding.severity == "error" or (finding.id, finding.source, finding.pc) not in known)
        ]
    result.cover = {
        "loops": [one.record() for one in loops_open(kernel, seen)],
        "branches": [one.record() for one in branches_open(kernel, seen)],
        "runs": runs,
        "left_out": [
            {"parameters": dict(parameters), "at": words(case, parameters), "why": why} for parameters, why in left_out
        ],
        "unseen": said(search, kernel, seen, left_out, words),
    }
    result.findings[:] = ordered(result.findings)
    result.settle()


def _counts(finding: Finding) -> bool:
    """Whether a finding at another size counts for the case: remarks, and findings independent of sizes, do not."""
    return finding.severity != "info" and finding.check not in ("suppress", "source", "formats")


def verify_at(
    case: Case, parameters: Mapping[str, Any], kernel: Kernel, ways: Ways | None = None, **how: Any
) -> Result:
    """Verify a case at other sizes, on its first class of inputs.

    Golden data, declared instructions and orders of turns belong to the case's own size. Fragments are followed if
    outputs are not compared, or are wrong: sums of distinct integers show a turn's load from a wrong place.

    Args:
        case: the case.
        parameters: those that differ from the case's own.
        kernel: its kernel, or a variant of it.
        ways: observes the launches.
        how: further arguments of `verify_case`.
    """
    data = "integers" if "integers" in case.data else case.data[0] if case.data else "integers"
    changed = replace(
        case.with_parameters(parameters), golden="", data=(data,), executes=(), order={}, fails=(), demands_matrix=False
    )
    quick = replace(changed, mapping=None) if case.make(parameters).expect is not None else changed
    watching = [] if ways is None else [ways]
    result = verify_case(quick, kernel.arch.name, kernel=kernel, observers=watching, **how)
    if quick is changed or result.status == "pass":
        return result
    return verify_case(changed, kernel.arch.name, kernel=kernel, **how)


def words(case: Case, parameters: Mapping[str, Any]) -> str:
    """Parameters in the form of ``--set``, in the order of the case."""
    return ", ".join(f"{name}={parameters[name]}" for name in case.parameters if name in parameters)
