"""Fragments: each operand of a matrix instruction holds the elements that it should.

Elements are not followed symbolically. Where the contract leaves no size open, the provenance of one execution
(docs/mapping.md) covers every launch, as labels stand for all data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfmasim.devices import SimDevice
from mfmasim.verify.elements.trace import check_mapping

if TYPE_CHECKING:
    from mfmasim.kernels import Kernel
    from mfmasim.prove.contract import Contract
    from mfmasim.verify import Case

__all__ = ["fragments"]

OPEN = "elements are not followed for all sizes; `mfmasim verify` proves the fragments of single sizes"


def fragments(case: Case, kernel: Kernel, contract: Contract) -> tuple[str, str]:
    """Why the fragments are not proved, empty where they are, and what the proof rests on.

    Args:
        case: the case.
        kernel: its kernel, or a mutant of it.
        contract: what it leaves open.
    """
    if contract.parameters:
        return OPEN, ""
    launch = case.make(case.mapping) if case.mapping is not None else case.make()
    if case.mapping is None or not launch.tensors:
        return "the case has no mapping check", ""
    found = check_mapping(SimDevice(), kernel, launch)
    wrong = [f for f in found.findings if f.severity != "info"]
    if wrong or found.mismatches or not found.slots_checked:
        return wrong[0].message if wrong else "no slot was checked", ""
    return "", f"provenance of {found.slots_checked:,} slots at the only size"
