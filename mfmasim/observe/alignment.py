"""alignment: addresses that the hardware bends, refuses, or serves more slowly.

Drivers switch the unaligned mode on (SH_MEM_CONFIG.alignment_mode; the Linux driver does), and compilers for AMDHSA
count on it. In that mode loads and stores of memory, LDS and scratch take any address, but atomics do not, and scalar
loads ignore the two low bits of theirs. In the other mode, memory takes multiples of 4 bytes, or of the size where that
is smaller. Sources: RDNA4 ISA manual 3.3.4 and 3.3.5.1 (also the native alignment of the LDS), RDNA3 ISA manual 3.3.4
and 3.3.4.1, CDNA3 ISA manual 3.11 and 8.2.1.1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.observe.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Callable

    from mfmasim.machine.events import AccessEvent, AccessFault, Place

__all__ = ["Alignment"]

NATIVE = {8: 8, 12: 16, 16: 16}
"""Native alignment of LDS accesses by size in bytes; smaller ones are aligned to their size."""
DWORD = 4
"""Native alignment of memory accesses, but for smaller ones: those are aligned to their size."""


@dataclass
class _Seen:
    """The first misaligned lane of an instruction, and how many lanes there were."""

    id: str
    severity: str
    message: str
    became: str
    place: Place
    instruction: str
    lanes: int = 0


class Alignment:
    """Collects misaligned accesses of one launch, one finding per instruction and space."""

    name = "alignment"

    def __init__(self, kernel: str, source_at: Callable[[int], str], first: int = 0) -> None:
        """Report in the name of `kernel`; `source_at` gives the source line of an address in the code.

        The caller's memory begins at address `first`; what lies before, such as constants and the text of printf, is
        the compiler's own business.
        """
        self.kernel, self.source_at, self.first = kernel, source_at, first
        self._seen: dict[tuple[int, str], _Seen] = {}

    def on_fault(self, event: AccessFault) -> None:
        """Hear of an atomic that was refused, or of a scalar load whose address was bent."""
        if event.kind == "misaligned atomic":
            where = f"{'LDS ' * (event.space == 'lds')}address {event.address:#x}"
            text = f"atomic of {event.size} bytes at {where}, which is no multiple of its size"
            became = "a memory violation on the hardware; nothing was changed"
            self._add("alignment-atomic", event, "error", text, became, event.lanes)
        elif event.kind == "misaligned read":
            text = f"scalar read of {event.size} bytes at address {event.address:#x}, which is no multiple of 4"
            self._add("alignment-scalar", event, "warning", text, "the two low bits were ignored", event.lanes)

    def on_access(self, event: AccessEvent) -> None:
        """Look at an access of the LDS or of memory; atomics come as faults."""
        if event.space == "scratch" or event.size == 1 or event.kind == "atomic":
            return
        inside = event.space == "lds"
        native = NATIVE.get(event.size, event.size) if inside else min(event.size, DWORD)
        crooked = event.addresses & event.addresses.dtype.type(native - 1) != 0
        if event.active is not None:
            crooked = crooked & event.active
        if not inside and crooked.any():
            crooked = crooked & (event.addresses >= event.addresses.dtype.type(self.first))
        if not crooked.any():
            return
        wave, lane = (int(i) for i in np.argwhere(crooked)[0])
        address = int(np.broadcast_to(event.addresses, crooked.shape)[wave, lane])
        where = f"{'LDS ' * inside}address {address:#x}"
        text = f"{event.kind} of {event.size} bytes at {where}, which is no multiple of {native}"
        became = f"right in the unaligned mode that drivers turn on{', but slower' * inside}"
        lanes = int(crooked.sum()) * (event.waves // len(crooked))
        kind = "alignment-lds" if inside else "alignment-global"
        new = _Seen(kind, "info", text, became, event.place(wave, lane), event.instruction.name, lanes)
        self._note(event.instruction.pc, new)

    def _add(self, kind: str, event: AccessFault, severity: str, text: str, became: str, lanes: int) -> None:
        new = _Seen(kind, severity, text, became, event.place, event.instruction.name, lanes)
        self._note(event.instruction.pc, new)

    def _note(self, pc: int, new: _Seen) -> None:
        """The first wave of the grid is told, whichever came first."""
        key = pc, new.id
        old = self._seen.get(key)
        if old is None:
            self._seen[key] = new
        elif new.place.order < old.place.order:
            self._seen[key] = replace(new, lanes=old.lanes + new.lanes)
        else:
            old.lanes += new.lanes

    def merge(self, other: Alignment) -> None:
        """Take in what another part of the same launch found."""
        for (pc, _), seen in other._seen.items():
            self._note(pc, seen)

    def findings(self) -> list[Finding]:
        """The findings, in address order."""
        return [
            Finding(
                check="alignment",
                severity=seen.severity,
                message=f"{seen.message}; {seen.lanes} lane{'s' * (seen.lanes != 1)} in all, {seen.became}",
                id=seen.id,
                kernel=self.kernel,
                pc=pc,
                source=self.source_at(pc),
                workgroup=seen.place.workgroup,
                wave=seen.place.wave,
                lane=seen.place.lane,
                instruction=seen.instruction,
                count=seen.lanes,
            )
            for (pc, _), seen in sorted(self._seen.items(), key=lambda item: item[0])
        ]
