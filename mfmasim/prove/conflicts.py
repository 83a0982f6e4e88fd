"""Bank conflicts: the degree of every LDS access, for all turns, workgroups and sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfmasim import lds
from mfmasim.errors import MfmasimError
from mfmasim.lds.instructions import ds_instruction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mfmasim.architectures import Arch
    from mfmasim.prove.trace import Access

__all__ = ["degrees"]


def degrees(arch: Arch, accesses: Sequence[Access]) -> tuple[int, dict[int, str]]:
    """The largest degree of all phases of all accesses, and the accesses whose degree is unknown.

    Loads that write the LDS are omitted: their lanes write consecutive addresses.

    Args:
        arch: architecture.
        accesses: those of the LDS.

    Returns:
        The largest degree, 0 without any access; and by instruction why its degree is unknown.
    """
    worst, lost = 0, {}
    for access in accesses:
        pc = access.instruction.pc
        if access.through == "memory" or not access.mask.on.any():
            continue
        if access.address is None or not access.address.is_constant:
            lost[pc] = access.why or f"the address {access.address} is not constant"
            continue
        if access.mask.literals:
            lost[pc] = "which lanes take part is not known"
            continue
        try:
            row = ds_instruction(arch, access.instruction.name)
            lanes = access.mask.on.shape
            place = np.broadcast_to(np.asarray(access.address.constant, np.int64), lanes)
            # The two addresses of an instruction such as DS_READ2 are two accesses here.
            offset = 0 if row.parts == 1 else (0, 0)
            found = lds.conflicts(arch, row.name, place, access.mask.on, offset=offset, warn=False)
            worst = max(worst, int(found.degrees.max(initial=0)))
        except MfmasimError as error:
            lost[pc] = str(error)
    return worst, lost
