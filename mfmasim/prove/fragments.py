"""Fragments: each operand of a matrix instruction holds the elements that its layout requires.

Where the contract leaves no size open, the provenance of one execution (docs/mapping.md) covers every launch, as labels
stand for all data. For open sizes elements are followed symbolically (`mfmasim.prove.elements`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfmasim.devices import SimDevice
from mfmasim.verify.elements.trace import check_mapping

if TYPE_CHECKING:
    from mfmasim.kernels import Kernel
    from mfmasim.verify import Case

__all__ = ["RESTS_ON", "at_the_only_size"]

RESTS_ON = ("bounds", "lds races", "waits", "global races")
"""Obligations that contents of registers and of the LDS depend on: without them executions differ."""


def at_the_only_size(case: Case, kernel: Kernel) -> tuple[str, str]:
    """Why the fragments are not proved, empty if they are proved, and the basis of the proof.

    Args:
        case: the case.
        kernel: its kernel, or a mutant of it.
    """
    launch = case.make(case.mapping) if case.mapping is not None else case.make()
    if case.mapping is None or not launch.tensors:
        return "the case has no mapping check", ""
    found = check_mapping(SimDevice(), kernel, launch)
    wrong = [f for f in found.findings if f.severity != "info"]
    if wrong or found.mismatches or not found.slots_checked:
        return wrong[0].message if wrong else "no slot was checked", ""
    return "", f"provenance of {found.slots_checked:,} slots at the only size"
