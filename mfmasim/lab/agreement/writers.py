"""The last instruction that stored a byte of global memory: an observer of a launch."""

from __future__ import annotations

import re
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mfmasim.isa import Instruction
from mfmasim.machine.events import AccessEvent, Observer
from mfmasim.machine.state.memory import Memory

Store: TypeAlias = "tuple[Instruction, NDArray[Any], int]"
"""An instruction, the addresses that it stored to, bytes of a lane."""
ARGUMENT = re.compile(r"(argument \d+)(?: \([^)]*\))?((?:\[\d+\])*)")
"""Names of buffers in a launch: the argument's number, its name, and which field of it."""


class Writers(Observer):
    """Keeps every store to global memory, launch by launch."""

    name = "writers"

    def __init__(self) -> None:
        """Start with no launch."""
        self._launches: list[tuple[dict[str, int], list[Store]]] = []
        self._stores: list[Store] = []

    def on_access(self, event: AccessEvent) -> None:
        """Keep the addresses of a store or an atomic."""
        if event.space != "global" or event.kind == "read":
            return
        addresses = np.broadcast_to(
            event.addresses,
            np.broadcast_shapes(event.addresses.shape, () if event.active is None else event.active.shape),
        )
        taken = addresses if event.active is None else addresses[np.broadcast_to(event.active, addresses.shape)]
        self._stores.append((event.instruction, taken.reshape(-1).copy(), event.size))

    on_scalar = on_access

    def on_end(self, memory: Memory) -> None:
        """The launch is over: record the addresses of its arguments' buffers."""
        starts: dict[str, int] = {}
        for region in memory.regions:
            found = ARGUMENT.fullmatch(region.name)
            if found:
                starts[found[1] + found[2]] = region.address
        self._launches.append((starts, self._stores))
        self._stores = []

    def of(self, launch: int, argument: str, byte: int) -> Instruction | None:
        """The last instruction that stored a byte of an argument's buffer; None if no instruction did.

        Args:
            launch: number of the launch.
            argument: the argument or field, such as ``argument 2[1]``.
            byte: byte of its buffer.
        """
        if launch >= len(self._launches):
            return None
        starts, stores = self._launches[launch]
        if argument not in starts:
            return None
        address = starts[argument] + byte
        for instruction, addresses, size in reversed(stores):
            offset = address - addresses.astype(np.int64)
            if bool(((offset >= 0) & (offset < size)).any()):
                return instruction
        return None
