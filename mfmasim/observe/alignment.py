"""alignment: addresses that the hardware truncates, rejects, or accesses more slowly.

Drivers switch the unaligned mode on (SH_MEM_CONFIG.alignment_mode; the Linux driver does), and compilers for AMDHSA
rely on it. In that mode loads and stores of memory, LDS and scratch take any address, but atomics do not, and scalar
loads ignore the two low bits of their address. In the other mode, memory takes multiples of 4 bytes, or of a smaller
size. Sources: RDNA4 ISA manual 3.3.4 and 3.3.5.1 (also the native alignment of the LDS), RDNA3 ISA manual 3.3.4
and 3.3.4.1, CDNA3 ISA manual 3.11 and 8.2.1.1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.observe.check import Check
from mfmasim.observe.finding import Kind

if TYPE_CHECKING:
    from mfmasim.machine.events import AccessEvent, AccessFault, Place
    from mfmasim.machine.launch.launch import Launch
    from mfmasim.observe.finding import Finding

ATOMIC = Kind(
    "alignment-atomic",
    "error",
    "Atomic at an address that is not a multiple of its size",
    "The hardware reports a memory violation and changes nothing.",
    "atomicAdd((int*)(bytes + 2), 1);",
    "Align the address to the size of the atomic.",
)
SCALAR = Kind(
    "alignment-scalar",
    "warning",
    "Scalar load from an address that is not a multiple of 4",
    "The hardware ignores the two low bits of the base and of each offset, so another dword is read; also where the "
    "sum of two such parts is a multiple of 4.",
    "s_load_dword s4, s[0:1], 0x2",
    "Align the address, or use a vector memory load.",
)
LDS = Kind(
    "alignment-lds",
    "info",
    "LDS access that is not aligned",
    "Correct in the unaligned mode that drivers enable, but slower.",
    "ds_read_b128 v[4:7], v2  // v2 is 8",
    "Align the rows of the tile to the size of the access.",
)
GLOBAL = Kind(
    "alignment-global",
    "info",
    "Access to memory that is not aligned",
    "Correct in the unaligned mode that drivers enable. In C++ it is undefined unless the type has this alignment.",
    "global_load_dwordx2 v[2:3], v[0:1], off  // v[0:1] is 0x7f0000001002",
    "Nothing if odd strides are intended; give the pointed-to type its actual alignment.",
)
PAIR = Kind(
    "alignment-pair",
    "error",
    "LDS instruction with two addresses that are not multiples of the size of one access",
    "Stepping A0 of gfx1250 (gfx1250-strict) reads or writes other bytes of the LDS, without a report; B0 does not.",
    "ds_load_2addr_b64 v[4:7], v2 offset1:1  // v2 is 4, gfx1250-strict",
    "Align the address to the size of one access, or use two instructions.",
)
NATIVE = {8: 8, 12: 16, 16: 16}
"""Native alignment of LDS accesses by size in bytes; smaller ones are aligned to their size."""
DWORD = 4
"""Native alignment of memory accesses; smaller ones are aligned to their size."""


@dataclass
class _Seen:
    """The first misaligned lane of an instruction, and the number of misaligned lanes."""

    kind: Kind
    message: str
    became: str
    place: Place
    instruction: str
    lanes: int = 0


class Alignment(Check):
    """Collects misaligned accesses of one launch, one finding per instruction and space."""

    name = "alignment"
    about = "atomics, scalar loads, accesses to the LDS and to memory at addresses that are not aligned"
    kinds = (ATOMIC, SCALAR, LDS, GLOBAL, PAIR)

    def __init__(self, launch: Launch) -> None:
        """Ignore addresses before the caller's buffers: the compiler places constants and texts of printf there."""
        super().__init__(launch)
        self.first = launch.buffers_begin
        self.pairs_fail = self.kernel.arch.errata.aligned_pairs
        self._names = launch.names
        self._seen: dict[tuple[int, str], _Seen] = {}

    def on_fault(self, event: AccessFault) -> None:
        """Record an atomic that was rejected, or a scalar load whose address was truncated."""
        if event.kind == "misaligned atomic":
            where = self._place(event.address, inside=event.space == "lds")
            text = f"atomic of {event.size} bytes at {where}, which is not a multiple of its size"
            became = "the hardware reports a memory violation and changes nothing"
            self._add(ATOMIC, event, text, became)
        elif event.kind == "misaligned read":
            odd = "which" if event.address % DWORD else "whose base or offset by itself"
            text = f"scalar read of {event.size} bytes at {self._place(event.address)}, {odd} is not a multiple of 4"
            self._add(SCALAR, event, text, "the two low bits were ignored")

    def on_access(self, event: AccessEvent) -> None:
        """Examine an access to the LDS or to memory; atomics come as faults."""
        if event.space == "scratch" or event.size == 1 or event.kind == "atomic":
            return
        inside = event.space == "lds"
        native = NATIVE.get(event.size, event.size) if inside else min(event.size, DWORD)
        if not int(np.bitwise_or.reduce(event.addresses, axis=None)) & (native - 1):
            return
        misaligned = event.addresses & event.addresses.dtype.type(native - 1) != 0
        if event.active is not None:
            misaligned = misaligned & event.active
        if not inside and misaligned.any():
            misaligned = misaligned & (event.addresses >= event.addresses.dtype.type(self.first))
        if not misaligned.any():
            return
        wave, lane = (int(i) for i in np.argwhere(misaligned)[0])
        address = int(np.broadcast_to(event.addresses, misaligned.shape)[wave, lane])
        where = self._place(address, inside=inside)
        text = f"{event.kind} of {event.size} bytes at {where}, which is not a multiple of {native}"
        became = f"correct in the unaligned mode that drivers enable{', but slower' * inside}"
        lanes = int(misaligned.sum()) * (event.waves // len(misaligned))
        kind = LDS if inside else GLOBAL
        if inside and self.pairs_fail and "offset1" in event.instruction.modifiers:
            kind, became = PAIR, f"which {self.kernel.arch.name} does not execute correctly"
        new = _Seen(kind, text, became, event.place(wave, lane), event.instruction.name, lanes)
        self._note(event.instruction.pc, new)

    def _place(self, address: int, *, inside: bool = False) -> str:
        """An address, with the name of the place in the source."""
        names = self._names
        own = names.variable(names.variables, address) if inside else names.element_at(address)
        return f"{'LDS ' * inside}address {address:#x}{f' ({own})' * bool(own)}"

    def _add(self, kind: Kind, event: AccessFault, text: str, became: str) -> None:
        new = _Seen(kind, text, became, event.place, event.instruction.name, event.lanes)
        self._note(event.instruction.pc, new)

    def _note(self, pc: int, new: _Seen) -> None:
        """Keep the first wave in the order of the grid, not in the order of execution."""
        key = pc, new.kind.id
        old = self._seen.get(key)
        if old is None:
            self._seen[key] = new
        elif new.place.order < old.place.order:
            self._seen[key] = replace(new, lanes=old.lanes + new.lanes)
        else:
            old.lanes += new.lanes

    def merge(self, other: Alignment) -> None:
        """Add the findings of another part of the same launch."""
        for (pc, _), seen in other._seen.items():
            self._note(pc, seen)

    def findings(self) -> list[Finding]:
        """The findings, in address order."""
        return [
            self.finding(
                seen.kind,
                f"{seen.message}; {seen.lanes} lane{'s' * (seen.lanes != 1)} in all, {seen.became}",
                pc,
                seen.place,
                instruction=seen.instruction,
                count=seen.lanes,
            )
            for (pc, _), seen in sorted(self._seen.items(), key=lambda item: item[0])
        ]
