"""bounds: accesses outside every buffer, and invalid buffer resources.

One finding per instruction and kind: lanes masked by a buffer resource do not hide lanes outside every buffer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfmasim.observe.check import Check
from mfmasim.observe.descriptors import Descriptor, remarks, unbound, wrong
from mfmasim.observe.finding import Kind
from mfmasim.observe.wrapped_offsets import WrappedOffsets

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.machine.events import AccessFault, Place, ResourceEvent
    from mfmasim.machine.launch.launch import Launch
    from mfmasim.observe.finding import Finding

OUTSIDE = Kind(
    "bounds-outside-buffer",
    "error",
    "Access outside every buffer",
    "The address lies in no buffer of the launch. The hardware faults, or accesses unrelated memory.",
    "out[blockIdx.x * 256 + threadIdx.x] = x;  // the grid has more work-items than the buffer elements",
    "Guard the access or correct the address; the message names the nearest buffer and the distance to it.",
)
READ_ONLY = Kind(
    "bounds-read-only",
    "error",
    "Store to read-only memory",
    "Constants and code are read-only; the hardware faults.",
    "a __constant__ table is written through a pointer",
    "Write to a buffer.",
)
LDS = Kind(
    "bounds-lds",
    "error",
    "Access outside the workgroup's LDS",
    "Beyond the allocation, stores are dropped and loads return 0.",
    "__shared__ float tile[64]; tile[threadIdx.x + 64] = x;",
    "Allocate more (shared_bytes for dynamic LDS), or correct the index.",
)
NOWHERE = Kind(
    "bounds-lds-nowhere",
    "info",
    "Access to an LDS address to which no LDS reaches",
    "A write to 0x7fffffff or 0xffffffff, or beyond an LDS that the workgroup has whole, is dropped, and a copy to the "
    "LDS does not read memory; a read of 0x80000000 returns 0. Triton, MIOpen and hipBLASLt mask lanes off so.",
    "v_cndmask_b32_e64 v19, 0x7fffffff, v5, s1  ; global_load_async_to_lds_b128 v19, v[10:11], off",
    "Nothing if it is intended; otherwise correct the address.",
)
GDS = Kind(
    "bounds-gds",
    "error",
    "Access outside the global data share",
    "M0 holds base and size; from the size on, or beyond the memory, stores are dropped and loads return 0.",
    "s_mov_b32 m0, 0x40  ; ds_read_b32 v1, v0 gds  ; v0 is 0x40",
    "Correct the address, or the size in M0[15:0].",
)
SCRATCH = Kind(
    "bounds-scratch",
    "error",
    "Access outside a work-item's private segment",
    "The access leaves the stack or a private array: the index is wrong, or the stack is too small.",
    "float a[4]; a[i] = x;  // i is 4 or more",
    "Correct the index; give a recursive kernel a larger stack.",
)
CLIPPED = Kind(
    "bounds-buffer-range",
    "info",
    "Access beyond num_records of a buffer resource",
    "The hardware drops such stores and returns 0 for such loads; kernels use this intentionally at edges.",
    "buffer_load_dword v4, v2, s[4:7], 0 offen  // v2 is num_records or more",
    "Nothing if it is intended; otherwise correct the range or the offset.",
)
OFFSET = Kind(
    "bounds-buffer-offset",
    "error",
    "An offset of a buffer access passed 2**31, beyond the range, where data exist",
    "The offset is unsigned and the resource's range ends below it, so that the hardware returns 0 or drops the store; "
    "but base and offset together are the address of a byte of a buffer, which the kernel meant.",
    "buffer_load_ushort v1, v2, s[4:7], 0 offen  // v2 is 0x80000000 or more, num_records 0x7ffffffe",
    "Move the base by the large part of the address, or use 64-bit addresses.",
)
WRAPPED = Kind(
    "bounds-offset-wrapped",
    "error",
    "The offset of a buffer access wrapped at 32 bits",
    "A product or a sum that led to the offset register was 2**32 or more. The access goes to the remainder; the exact "
    "address lies in a buffer, which the kernel meant.",
    "buffer_store_dword v1, v2, s[4:7], 0 offen  // v2 is 4 * (row * ld + t) in 32 bits, the buffer has 5 GiB",
    "Compute the address with 64 bits, or move the base by the large part of it.",
)
RESOURCE = Kind(
    "bounds-resource",
    "error",
    "A buffer resource with invalid fields",
    "The last of its four dwords has an invalid format or type, reserved bits, or a range check that rejects every "
    "access: often it is the constant of another generation.",
    "__builtin_amdgcn_make_buffer_rsrc(p, 0, bytes, 0x27000)  // CDNA's constant on RDNA",
    "Use the architecture's own constant: 0x27000 on CDNA, 0x31004000 on RDNA3 and RDNA4 for raw buffers.",
)
BASE = Kind(
    "bounds-resource-base",
    "warning",
    "The base of a buffer resource lies in no buffer",
    "An access through it is outside every buffer. A base outside alone is not reported: hipBLASLt's GEMMs place it 1 "
    "to 16 bytes before a matrix, and access only what is inside.",
    "__builtin_amdgcn_make_buffer_rsrc(p + rows * ld, 0, bytes, 0x27000)  // past the last row",
    "Place the base inside the buffer, or set num_records to 0.",
)
UNBOUND = Kind(
    "bounds-resource-unbound",
    "info",
    "Access through a buffer that is not bound",
    "Word 3 of the resource is 0: it has no format, loads give 0 and stores are dropped. Kernels do so on purpose.",
    "s_cselect_b32 s87, 0, s87  // no stores beyond the edge",
    "Nothing if it is intended; otherwise set word 3: 0x27000 on CDNA, 0x31004000 on RDNA3 and RDNA4.",
)
UNREAD = Kind(
    "bounds-resource-unread",
    "info",
    "A field of a buffer resource that nothing reads",
    "The bit has a meaning only together with another one, which is 0; results do not depend on it.",
    "make_srsrc(p, bytes, 0x110000)  // USER_VM_MODE without USER_VM_ENABLE",
    "Nothing; 0x27000 is CDNA's constant for raw buffers.",
)
MOST = 1 << 12
"""Most executions that are memoised as having nothing new."""


class Bounds(Check):
    """Collects access faults of one launch."""

    name = "bounds"
    about = "accesses outside every buffer"
    kinds = (OUTSIDE, READ_ONLY, LDS, NOWHERE, GDS, SCRATCH, CLIPPED, OFFSET, WRAPPED, RESOURCE, UNBOUND, UNREAD, BASE)

    def __init__(self, launch: Launch) -> None:
        """Start without faults."""
        super().__init__(launch)
        self._names = launch.names
        self._lds = launch.lds_bytes, launch.shared_bytes
        self._described: set[tuple[int, ...]] = set()
        self._known: set[tuple[int, bytes]] = set()
        """Resources by wave, of executions whose distinct resources are already described."""
        self._said: dict[tuple[int, ...], list[tuple[Kind, str]]] = {}
        """Kinds and messages of a resource's findings, by its dwords."""
        self._resources: dict[tuple[int, str], tuple[Place, Finding]] = {}
        self._first: dict[tuple[int, str], AccessFault] = {}
        """First faults by address of the instruction and kind of the finding."""
        self._lanes: dict[tuple[int, str], int] = {}
        self._regions = [(one.address, one.address + one.size) for one in launch.memory.regions]
        self._waves = launch.waves_per_workgroup * launch.workgroups
        self._reaches = False
        """Whether a resource's base lies 2**32 bytes or more before the end of a buffer."""
        self._offsets: WrappedOffsets | None = None
        self._wrapped: list[Finding] = []

    def on_fault(self, event: AccessFault) -> None:
        """Record the first fault of each instruction and kind, and count the lanes of all faults."""
        if event.kind.startswith("misaligned"):
            return  # reported by the check `alignment`
        self._add((event.instruction.pc, _kind(event).id), event, event.lanes)

    def on_resource(self, event: ResourceEvent) -> None:
        """Examine buffer resources that are new to an instruction."""
        pc = event.instruction.pc
        every = pc, event.words.tobytes()
        if every in self._known:
            return
        unused = False
        changes = np.flatnonzero((event.words[1:] != event.words[:-1]).any(axis=1)) + 1
        for row in sorted({tuple(row) for row in event.words[[0, *changes]].tolist()}):
            seen = (pc, *row)
            if seen in self._described:
                continue
            users = (event.words == row).all(axis=1)[:, None] & event.active()
            if users.any():
                self._described.add(seen)
                self._describe(event, Descriptor((row[0], row[1], row[2], row[3]), self.kernel.arch), users)
            else:
                unused = True
        if not unused and len(self._known) < MOST:
            self._known.add(every)

    def _describe(self, event: ResourceEvent, descriptor: Descriptor, users: NDArray[np.bool_]) -> None:
        """Report the errors in a resource at its first use."""
        said = self._said.get(descriptor.words)
        if said is None:
            self._reaches |= max((end for _, end in self._regions), default=0) > descriptor.base + (1 << 32)
            said = [(RESOURCE, text) for text in wrong(descriptor)] + [(UNREAD, text) for text in remarks(descriptor)]
            if unbound(descriptor) and any(descriptor.words[1:]):
                said.append((UNBOUND, "the buffer is not bound"))
            outside = event.outside(descriptor.base) if descriptor.records and descriptor.bound else ""
            if outside:
                said.append((BASE, f"the base of the buffer resource is {outside}"))
            self._said[descriptor.words] = said
        row = int(users.any(axis=1).argmax())
        where = event.place(row, int(users[row].argmax())) if said else None
        for kind, text in said:
            assert where is not None
            self._keep(event, where, kind, f"{text}; {descriptor.text()}")

    def _keep(self, event: ResourceEvent, where: Place, kind: Kind, message: str) -> None:
        """Keep the first wave in the order of the grid, not in the order of execution."""
        had = self._resources.get((event.instruction.pc, kind.id))
        if had is None or where.order < had[0].order:
            finding = self.finding(kind, message, event.instruction.pc, where, instruction=event.instruction.name)
            self._resources[event.instruction.pc, kind.id] = where, finding

    def again(self) -> WrappedOffsets | None:
        """The observer of wrapped offsets, if a 32-bit offset does not reach a buffer from a resource's base."""
        if self._reaches:
            self._offsets = WrappedOffsets(self.kernel, self._regions, self._waves)
        return self._offsets

    def take(self) -> None:
        """Name the offsets that wrapped."""
        for pc, one in sorted(self._offsets.found.items() if self._offsets else ()):
            there = self._names.at(one.address - self._names.base)
            text = (
                f"the offset {one.register} holds {one.held:#x}: {one.exact:#x} wrapped at 32 bits, which with the "
                f"base is the address of {there}; {one.lanes} lane{'s' * (one.lanes != 1)} in all"
            )
            self._wrapped.append(
                self.finding(WRAPPED, text, pc, one.place, instruction=one.instruction.name, count=one.lanes)
            )

    def merge(self, other: Bounds) -> None:
        """Add what another part of the same launch found."""
        self._reaches |= other._reaches
        for key, event in other._first.items():
            self._add(key, event, other._lanes[key])
        for key, (where, finding) in other._resources.items():
            had = self._resources.get(key)
            if had is None or where.order < had[0].order:
                self._resources[key] = where, finding

    def _add(self, key: tuple[int, str], event: AccessFault, lanes: int) -> None:
        """Keep the first wave in the order of the grid, not in the order of execution."""
        first = self._first.get(key)
        if first is None or event.place.order < first.place.order:
            self._first[key] = event
        self._lanes[key] = self._lanes.get(key, 0) + lanes

    def findings(self) -> list[Finding]:
        """The findings, in address order; the resource before the accesses through it."""
        found = [
            ((pc, 1, kind), self._faulted(event, self._lanes[pc, kind])) for (pc, kind), event in self._first.items()
        ]
        strays = {pc for pc, kind in self._first if kind == OUTSIDE.id}
        found += [
            ((pc, 0, kind), finding)
            for (pc, kind), (_, finding) in self._resources.items()
            if kind != BASE.id or pc in strays
        ]
        return [*self._wrapped, *(finding for _, finding in sorted(found, key=lambda entry: entry[0]))]

    def _faulted(self, event: AccessFault, lanes: int) -> Finding:
        """The finding of an instruction at the place of its first fault."""
        ins = event.instruction
        text = f"{self._where(event)}; {_lanes(lanes, event)} in all, {_became(event)}"
        return self.finding(_kind(event), text, ins.pc, event.place, instruction=ins.name, count=lanes)

    def _where(self, event: AccessFault) -> str:
        """The accessed memory, and the address relative to it."""
        if event.space == "buffer":
            return f"{event.kind} beyond the range of the buffer resource"
        if event.space == "buffer offset":
            there = self._names.at(event.address - self._names.base)
            return (
                f"{event.kind} beyond the range of the buffer resource: the offset is 2**31 or more, while base and "
                f"offset together are the address of {there}"
            )
        element = self._names.beyond(event.address)
        outside, where = (
            "outside every buffer",
            f"{f'{element} at ' * bool(element)}address {event.address:#x}, {event.nearest}",
        )
        if event.space == "lds":
            where = f"LDS address {event.address}{self._names.past_lds(event.address)}{self._no_lds()}"
        elif event.space == "gds":
            outside, where = "outside the global data share", f"address {event.address} after the base in M0"
        elif event.space == "scratch":
            address = event.address - (event.address >> 63 << 64)
            outside = "before the private segment" if address < 0 else "beyond the private segment (stack overflow)"
            where = f"scratch address {address} {event.nearest} per work-item"
        elif _kind(event) is READ_ONLY:
            outside = "to read-only memory"
        return f"{event.kind} of {event.size} bytes {outside}: {where}"

    def _no_lds(self) -> str:
        """The reason, if the launch allocates no LDS, or no dynamic LDS."""
        total, dynamic = self._lds
        if total == 0:
            return "; the kernel has 0 bytes of LDS: it declares none, and the launch adds none (shared_bytes is 0)"
        if dynamic == 0 and any(variable.size == 0 for variable in self._names.variables):
            return f"; the kernel has {total:,} bytes of LDS: the launch adds no dynamic LDS (shared_bytes is 0)"
        return ""


def _kind(event: AccessFault) -> Kind:
    """Kind of the finding; lanes beyond num_records have severity info, as this is often intended."""
    if event.nowhere:
        return NOWHERE
    spaces = {"buffer": CLIPPED, "buffer offset": OFFSET, "lds": LDS, "gds": GDS, "scratch": SCRATCH}
    return spaces.get(event.space) or (READ_ONLY if event.nearest.startswith("in ") else OUTSIDE)


def _became(event: AccessFault) -> str:
    """The machine's result of the faulting access."""
    if event.kind == "write":
        return "the store was dropped"
    return (
        "the load returned 0"
        if event.space in ("buffer", "buffer offset", "lds", "gds") or (event.space == "global" and event.zero)
        else "the load returned poison"
    )


def _lanes(count: int, event: AccessFault) -> str:
    what = "piece" if event.instruction.opcode.kind == "tensor" else "lane"
    return f"{count} {what}{'s' if count != 1 else ''}"
