"""Reports memory accesses and executed blocks of a launch to the observers that override a hook for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mfmasim.machine.events import (
    AccessEvent,
    AccessFault,
    BlockEvent,
    MulticastEvent,
    Observer,
    ResourceEvent,
    hooks,
    nowhere,
)
from mfmasim.machine.events.repeated import FAULTING, Repeated
from mfmasim.machine.state.touched_bytes import Outside

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from mfmasim.isa import Instruction
    from mfmasim.machine.events.interface import Machine
    from mfmasim.machine.state.waves import Group

    Hook = Callable[[AccessEvent], None]


class Part(NamedTuple):
    """The lanes of an access that address one space; ``mask`` None means all lanes."""

    space: str
    """``global``, ``lds`` or ``scratch``."""
    address: NDArray[Any]
    """uint64 addresses of global memory; int64 bytes from the start of the LDS allocation or of the lane's scratch."""
    mask: NDArray[np.bool_] | None
    number: int = 0
    """Number of the access of a two-address instruction."""


class Notify:
    """The hooks of a launch's observers. Callers check first whether there are any, except for faults (rare)."""

    def __init__(self, machine: Machine, observers: Sequence[Observer] = ()) -> None:
        """Bind the hooks that the observers override."""
        self.machine = machine
        self.accesses: list[Hook] = hooks(observers, Observer.on_access)
        self.scalars: list[Hook] = hooks(observers, Observer.on_scalar)
        self.resources = hooks(observers, Observer.on_resource)
        self.faults = hooks(observers, Observer.on_fault)
        self.multicasts = hooks(observers, Observer.on_multicast)
        self.blocks = hooks(observers, Observer.on_block)
        self.repeated = Repeated(machine.launch.meter.quota.faults)
        nothing = np.zeros(0, np.int64)
        self._asked = nothing, 0, nothing

    def fault(self, instruction: Instruction, group: Group, space: str, kind: str, size: int, out: Outside) -> None:
        """Report an access outside every buffer.

        Args:
            instruction: the accessing instruction.
            group: the waves.
            space: ``global``, ``lds``, ``scratch``, ``buffer`` or ``scalar``.
            kind: ``read``, ``write`` or the defect of the access.
            size: bytes per lane.
            out: the lanes outside.
        """
        masked = self._masked(out.addresses, kind) if space == "lds" else np.False_
        for mask, masks in ((out.mask & masked, True), (out.mask & ~masked, False)):
            if mask.any():
                self._fault(instruction, group, space, kind, size, Outside(mask, out.addresses), nowhere=masks)

    def _masked(self, addresses: NDArray[np.uint64], kind: str) -> NDArray[np.bool_]:
        """Addresses in the LDS that mark inactive lanes, or writes beyond it by a workgroup that has all of the LDS.

        MIOpen's Winograd kernels allocate all of the LDS, and their lanes without work write beyond it.
        """
        every = self.machine.arch.lds_bytes
        masked: NDArray[np.bool_] = nowhere(addresses, kind)
        if kind == "write" and self.machine.launch.lds_bytes >= every:
            masked = masked | ((addresses >= every) & (addresses < 2 * every))
        return masked

    def _fault(
        self, instruction: Instruction, group: Group, space: str, kind: str, size: int, out: Outside, *, nowhere: bool
    ) -> None:
        """Report the lanes outside, for one kind of fault."""
        machine, launch = self.machine, self.machine.launch
        mask, addresses = np.broadcast_arrays(out.mask, out.addresses)
        index, lane = (int(i) for i in np.argwhere(mask)[0])
        address = int(addresses[index, lane])
        each = group.count // len(mask)  # waves that share one row
        limits = {"lds": launch.lds_bytes, "scratch": launch.scratch_bytes}
        nearest = f"of {limits[space]} bytes" if space in limits else machine.memory.nearest(address, size)
        one = None if instruction.opcode.kind == "tensor" else lane  # pieces of a tile are no lanes
        event = AccessFault(
            instruction,
            space,
            kind,
            address,
            size,
            machine.place(group.indices(), index, one),
            nearest,
            int(mask.sum()) * each,
            nowhere,
            machine.memory.mapped,
        )
        for hook in self.faults:
            hook(event)
        if space in FAULTING and not kind.startswith("misaligned"):
            self.repeated.add(instruction, group, np.repeat(mask.any(axis=1), each), machine.first_workgroup)

    def listeners(self, instruction: Instruction) -> list[Hook]:
        """The hooks that receive the accesses of an instruction."""
        return self.scalars if instruction.opcode.scalar else self.accesses

    def access(
        self,
        instruction: Instruction,
        group: Group,
        part: Part,
        kind: str,
        size: int,
        data: Sequence[NDArray[np.uint32]] = (),
    ) -> None:
        """Report an access of vector or scalar memory.

        Args:
            instruction: the accessing instruction.
            group: the waves.
            part: space, addresses and lanes; a scalar access has one lane.
            kind: ``read``, ``write`` or ``atomic``.
            size: bytes per lane.
            data: data of a store, dword by dword.
        """
        machine, waves = self.machine, group.indices()
        event = AccessEvent(
            instruction,
            part.space,
            kind,
            part.address,
            part.mask,
            size,
            part.number,
            group.count,
            lambda index, lane: machine.place(waves, index, lane),
            self._numbers(waves),
            data,
        )
        for hook in self.listeners(instruction):
            hook(event)

    def _numbers(self, waves: NDArray[np.int64]) -> NDArray[np.int64]:
        """Numbers in the launch of waves of the batch; the accesses of a block share the array."""
        first = self.machine.first_workgroup * self.machine.launch.waves_per_workgroup
        if waves is not self._asked[0] or first != self._asked[1]:
            numbers = waves + first
            numbers.flags.writeable = False
            self._asked = waves, first, numbers
        return self._asked[2]

    def resource(self, instruction: Instruction, group: Group, words: list[NDArray[np.uint32]]) -> None:
        """Report the buffer resource of an instruction.

        Args:
            instruction: the accessing instruction.
            group: the waves.
            words: its four dwords, each (1 or waves,).
        """
        machine, waves, memory = self.machine, group.indices(), self.machine.memory
        rows = np.empty((max(len(word) for word in words), len(words)), np.uint32)
        for number, word in enumerate(words):
            rows[:, number] = word
        event = ResourceEvent(
            instruction,
            rows,
            lambda: group.active,
            lambda address: "" if memory.region_at(address) else memory.nearest(address),
            lambda index, lane: machine.place(waves, index, lane),
        )
        for hook in self.resources:
            hook(event)

    def multicast(
        self, instruction: Instruction, group: Group, masks: NDArray[np.uint32], requests: Callable[[int], bytes]
    ) -> None:
        """Report a load whose data several workgroups may share.

        Args:
            instruction: the load.
            group: the waves.
            masks: workgroups of the cluster that share the request, (waves,).
            requests: request of each wave.
        """
        machine, waves = self.machine, group.indices()
        event = MulticastEvent(
            instruction,
            masks,
            requests,
            waves + machine.first_workgroup * machine.launch.waves_per_workgroup,
            lambda index, lane: machine.place(waves, index, lane),
        )
        for hook in self.multicasts:
            hook(event)

    def block(self, instructions: Sequence[Instruction], group: Group, *, fresh: bool, mode: int = 0) -> None:
        """Report an executed block.

        Args:
            instructions: of the block.
            group: the waves.
            fresh: whether it is the first one of a batch of workgroups.
            mode: the bits of MODE for which it was bound.
        """
        machine, launch, waves = self.machine, self.machine.launch, group.indices()
        first = machine.first_workgroup * launch.waves_per_workgroup
        event = BlockEvent(
            instructions,
            waves,
            group.waves.count,
            fresh,
            lambda index, lane: machine.place(waves, index, lane),
            lambda wave: launch.place(first + wave),
            mode,
        )
        for hook in self.blocks:
            hook(event)
