"""Refutation: a size at which the simulator finds a violation of an unproved obligation."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from mfmasim.errors import MfmasimError
from mfmasim.prove.sampling import sizes
from mfmasim.verify.runner import verify_case

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mfmasim.kernels import Kernel
    from mfmasim.observe import Finding
    from mfmasim.prove.contract import Contract
    from mfmasim.verify import Case

__all__ = ["of_kind", "refuted"]

SIZES = 3
"""Sizes that are run in addition to the case's own."""
CHECKS = "bounds,races,waits,barrier"
OF_THE_LDS = ("races-no-barrier", "races-own-in-flight", "races-not-done-at-barrier")
"""Kinds of races in the LDS; all others are in memory."""
REPLAYABLE = ("bounds", "lds races", "waits", "global races", "fragments")


def of_kind(finding: Finding) -> str:
    """The obligation that a finding of the simulator violates; empty for other findings."""
    if finding.severity != "error":
        return ""
    if finding.check == "races":
        return "lds races" if finding.id in OF_THE_LDS else "global races"
    return {"bounds": "bounds", "waits": "waits", "mapping": "fragments"}.get(finding.check, "")


def refuted(
    case: Case, kernel: Kernel, contracts: Sequence[Contract], kinds: Sequence[str]
) -> dict[str, tuple[str, dict[str, Any]]]:
    """Obligations that the simulator violates at a size that the contract admits.

    Args:
        case: the case.
        kernel: the kernel of the proof, which may differ from the case's own.
        contracts: the case's contracts, which give further sizes.
        kinds: obligations that are not proved.

    Returns:
        By obligation: the message of the finding, and the parameters of the case.
    """
    left = [kind for kind in kinds if kind in REPLAYABLE]
    found: dict[str, tuple[str, dict[str, Any]]] = {}
    tried: list[dict[str, int]] = [{}]
    for contract in contracts:
        if contract.parameters:
            tried += [parameters for _, parameters in islice(sizes(contract), SIZES)]
        elif contract.fixed:
            tried.append(contract.fixed)
    for parameters in tried:
        if not left:
            break
        chosen = replace(
            case.with_parameters(parameters),
            checks=CHECKS,
            suppress={},
            executes=(),
            data=("integers",),
            golden="",
            order={},
        )
        if "fragments" not in left:
            chosen = replace(chosen, mapping=None)
        try:
            result = verify_case(chosen, kernel.arch.name, kernel=kernel, budget=200_000)
        except MfmasimError:
            continue
        for finding in result.findings:
            kind = of_kind(finding)
            if kind in left:
                left.remove(kind)
                found[kind] = f"{finding.id}: {finding.message}", dict(parameters) or dict(case.parameters)
    return found
