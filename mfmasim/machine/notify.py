"""Reports memory accesses and executed blocks of a launch to the observers that override a hook for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.machine.events import AccessEvent, AccessFault, BlockEvent, Observer, ResourceEvent, hooks
from mfmasim.machine.ops.spaces import Part

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mfmasim.isa import Instruction
    from mfmasim.machine.interface import Machine
    from mfmasim.machine.memory import Outside
    from mfmasim.machine.state import Group

__all__ = ["Notify"]


class Notify:
    """The hooks of a launch's observers. Callers check first whether there are any, except for faults (rare)."""

    def __init__(self, machine: Machine, observers: Sequence[Observer] = ()) -> None:
        """Bind the hooks that the observers override."""
        self.machine = machine
        self.accesses = hooks(observers, Observer.on_access)
        self.scalar_loads = hooks(observers, Observer.on_scalar)
        self.resources = hooks(observers, Observer.on_resource)
        self.faults = hooks(observers, Observer.on_fault)
        self.blocks = hooks(observers, Observer.on_block)

    def fault(self, instruction: Instruction, group: Group, space: str, kind: str, size: int, out: Outside) -> None:
        """Report an access outside every buffer.

        Args:
            instruction: what accesses memory.
            group: the waves.
            space: ``global``, ``lds``, ``scratch``, ``buffer`` or ``scalar``.
            kind: ``read``, ``write`` or what is wrong with the access.
            size: bytes per lane.
            out: the lanes that went outside.
        """
        machine, launch = self.machine, self.machine.launch
        index, lane = (int(i) for i in np.argwhere(out.mask)[0])
        address = int(np.broadcast_to(out.addresses, out.mask.shape)[index, lane])
        each = group.count // len(out.mask)  # waves that share one row of the mask
        limits = {"lds": launch.lds_bytes, "scratch": launch.scratch_bytes}
        nearest = f"of {limits[space]} bytes" if space in limits else machine.memory.nearest(address, size)
        event = AccessFault(
            instruction, space, kind, address, size, machine.place(group.indices(), index, lane), nearest,
            int(out.mask.sum()) * each,
        )  # fmt: skip
        for hook in self.faults:
            hook(event)

    def access(
        self, instruction: Instruction, group: Group, part: Part, kind: str, size: int,
        data: Sequence[NDArray[np.uint32]] = (),
    ) -> None:  # fmt: skip
        """Report a vector access.

        Args:
            instruction: what accesses memory.
            group: the waves.
            part: space, addresses and lanes.
            kind: ``read``, ``write`` or ``atomic``.
            size: bytes per lane.
            data: what a store writes, dword by dword.
        """
        event = self._event(instruction, group, part, kind, size, data)
        for hook in self.accesses:
            hook(event)

    def scalar_load(self, instruction: Instruction, group: Group, address: NDArray[Any], size: int) -> None:
        """Report a scalar load.

        Args:
            instruction: the load.
            group: the waves.
            address: of the first byte, (1 or waves,).
            size: bytes.
        """
        event = self._event(instruction, group, Part("global", address[:, None], None), "read", size, ())
        for hook in self.scalar_loads:
            hook(event)

    def _event(
        self, instruction: Instruction, group: Group, part: Part, kind: str, size: int,
        data: Sequence[NDArray[np.uint32]],
    ) -> AccessEvent:  # fmt: skip
        machine, waves = self.machine, group.indices()
        return AccessEvent(
            instruction, part.space, kind, part.address, part.mask, size, part.number, group.count,
            lambda index, lane: machine.place(waves, index, lane),
            waves + machine.first_workgroup * machine.launch.waves_per_workgroup, data,
        )  # fmt: skip

    def resource(self, instruction: Instruction, group: Group, words: list[NDArray[np.uint32]]) -> None:
        """Report the buffer resource of an instruction.

        Args:
            instruction: what accesses memory.
            group: the waves.
            words: its four dwords, each (1 or waves,).
        """
        machine, waves, memory = self.machine, group.indices(), self.machine.memory
        event = ResourceEvent(
            instruction, np.stack(np.broadcast_arrays(*words), axis=1), lambda: group.active,
            lambda address: "" if memory.region_at(address) else memory.nearest(address),
            lambda index, lane: machine.place(waves, index, lane),
        )  # fmt: skip
        for hook in self.resources:
            hook(event)

    def block(self, instructions: Sequence[Instruction], group: Group, *, fresh: bool) -> None:
        """Report a block that was executed.

        Args:
            instructions: of the block.
            group: the waves.
            fresh: whether it is the first one of a batch of workgroups.
        """
        machine, launch, waves = self.machine, self.machine.launch, group.indices()
        first = machine.first_workgroup * launch.waves_per_workgroup
        event = BlockEvent(
            instructions, waves, group.waves.count, fresh, lambda index, lane: machine.place(waves, index, lane),
            lambda wave: launch.place(first + wave),
        )  # fmt: skip
        for hook in self.blocks:
            hook(event)
