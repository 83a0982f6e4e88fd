"""The state: undefined bits of every register of the machine, and the origin of each lane's bits.

A register that is defined in all lanes of all waves has no entry, and `Planes.dirty` has no bit for it: most
instructions of most kernels need only one AND of two integers. Arrays have the shape of the machine's registers:
(1 or waves, lanes) uint32, scalars (1 or waves,); they are never changed in place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.arrays import U32
from mfmasim.machine.definedness.keys import AGPR, GLOBAL, LDS, SCC, SCRATCH, SGPR, VECTORS
from mfmasim.machine.definedness.origin import of_registers
from mfmasim.machine.events.interface import Machine
from mfmasim.machine.state.memory import POISON_DWORD
from mfmasim.machine.state.waves import Group, Waves

ONES = np.uint32(0xFFFFFFFF)
SHARED = 64
"""Most memoised results."""


class Planes:
    """Undefined bits and their origins, by key."""

    def __init__(self, machine: Machine) -> None:
        """Begin without undefined bits."""
        self.machine = machine
        self.undefined: dict[int, U32] = {}
        self.origins: dict[int, U32] = {}
        self.dirty = 0
        self._shared: dict[tuple[int, int], tuple[U32 | None, object]] = {}
        """Results of `_left` by the identities of their arguments, which are kept alive with them."""

    def begin(self) -> None:
        """Examine the first state of a batch: registers that the launch did not set are undefined."""
        waves: Waves = self.machine.waves
        self.undefined, self.origins, self.dirty = {}, {}, 0
        ones = np.full((1, waves.lanes), ONES, np.uint32)
        unset: dict[int, bool] = {}  # unwritten registers share an array
        for first, file, bits in ((0, waves.v, ones), (AGPR, waves.a, ones), (SGPR, waves.s, ones[:, 0])):
            origins = of_registers(first + np.arange(len(file)).reshape(-1, *(1,) * bits.ndim), bits.shape[-1])
            for key, values, origin in zip(range(first, first + len(file)), file, origins, strict=True):
                undefined = unset.get(id(values))
                if undefined is None:
                    undefined = unset[id(values)] = bool((values == POISON_DWORD).all())
                if undefined:
                    self.undefined[key], self.origins[key] = bits, origin
                    self.dirty |= 1 << key
        self.assign(SCC, np.ones(1, np.uint32), of_registers(SCC, 1))
        launch = self.machine.launch
        for key, there in ((LDS, launch.lds_bytes), (SCRATCH, launch.scratch_bytes), (GLOBAL, launch.undefined)):
            self.dirty |= bool(there) << key

    def assign(self, key: int, undefined: U32, origins: U32) -> None:
        """Replace the undefined bits of a register.

        Args:
            key: the register.
            undefined: its undefined bits, (1 or waves, lanes) or of a scalar register (1 or waves,).
            origins: their origins, in the same shape.
        """
        if undefined.any():
            self.undefined[key], self.origins[key] = undefined, np.where(undefined != 0, origins, np.uint32(0))
            self.dirty |= 1 << key
        else:
            self.forget(key)

    def forget(self, key: int) -> None:
        """A register is defined everywhere."""
        if self.dirty >> key & 1:
            self.dirty &= ~(1 << key)
            self.undefined.pop(key, None)
            self.origins.pop(key, None)

    def of(self, group: Group, key: int) -> U32:
        """Undefined bits of a register in the waves of a group; zeros without any."""
        found = self.undefined.get(key)
        if found is None:
            return np.zeros((1, group.lanes) if key < VECTORS else 1, np.uint32)
        return group.take(found)

    def origin(self, group: Group, key: int) -> U32:
        """Origins of a register in the waves of a group."""
        found = self.origins.get(key)
        if found is None:
            return np.zeros((1, group.lanes) if key < VECTORS else 1, np.uint32)
        return group.take(found)

    def chosen(self, table: Mapping[int, U32], keys: Iterable[int]) -> dict[int, U32]:
        """Rows of `undefined` or `origins`, of all waves, for those of `keys` with a row."""
        return {key: table[key] for key in keys if key in table}

    def put(self, group: Group, key: int, undefined: U32, origins: U32) -> None:
        """Replace the undefined bits of a register in the waves of a group.

        Args:
            group: the waves.
            key: the register.
            undefined: its undefined bits, (1 or waves, lanes) or of a scalar register (1 or waves,).
            origins: their origins, in the same shape.
        """
        if group.all:
            self.assign(key, undefined, origins)
            return
        whole = np.zeros((1, group.lanes) if key < VECTORS else 1, np.uint32)
        old, before = self.undefined.get(key, whole), self.origins.get(key, whole)
        self.assign(key, group._put(old, undefined), group._put(before, origins))  # noqa: SLF001

    def define(self, group: Group, keys: Iterable[int], *, everywhere: bool = False) -> None:
        """The group writes registers; in vector registers the active lanes, or all lanes.

        Args:
            group: the waves.
            keys: the registers.
            everywhere: whether inactive lanes are written, too.
        """
        for key in keys:
            if not self.dirty >> key & 1:
                continue
            if group.all and (group.mask is None or everywhere or key >= VECTORS):
                self.forget(key)
            elif group.mask is None or everywhere or key >= VECTORS:
                left = self._left(group, self.undefined[key])
                if left is None:
                    self.forget(key)
                else:
                    self.undefined[key] = left
                    self.origins[key] = group._put(self.origins[key], np.zeros_like(left[:1]))  # noqa: SLF001
            else:
                remaining = np.where(group.mask, np.uint32(0), self.of(group, key))
                self.put(group, key, remaining, self.origin(group, key))

    def _left(self, group: Group, old: U32) -> U32 | None:
        """Undefined bits that stay if a group defines a register; None if none do.

        Registers share arrays: those unwritten since the start, and those that groups then define in the same way.
        """
        key = id(old), id(group.selection)
        found = self._shared.get(key)
        if found is None:
            left: U32 = group._put(old, np.zeros_like(old[:1]))  # noqa: SLF001
            if len(self._shared) >= SHARED:
                self._shared.clear()
            found = self._shared[key] = left if left.any() else None, (old, group.selection)
        return found[0]

    def real(self, key: int) -> NDArray[Any]:
        """The machine's value of a register, in all waves."""
        return register(self.machine.waves, key)

    @staticmethod
    def with_values(group: Group, changes: Mapping[int, NDArray[Any]], *, blank: bool = False) -> Group:
        """A copy of the waves with other values in some registers, for an execution.

        Args:
            group: the waves.
            changes: values of all waves, by key.
            blank: whether all other registers hold 0.
        """
        real = group.waves
        waves = copy(real)
        if blank:
            zero = np.zeros((1, real.lanes), np.uint32)
            waves.v, waves.a, waves.s = [zero] * len(real.v), [zero] * len(real.a), [zero[:, 0]] * len(real.s)
        else:
            waves.v, waves.a, waves.s = list(real.v), list(real.a), list(real.s)
        waves.own, waves.lane_masks = {}, {}
        for key, values in changes.items():
            if key == SCC:
                waves.scc = values != 0
            elif key < AGPR:
                waves.v[key] = values
            elif key < SGPR:
                waves.a[key - AGPR] = values
            else:
                waves.s[key - SGPR] = values
        return Group(waves, group.indices())


def register(waves: Waves, key: int) -> NDArray[Any]:
    """A register of some waves, by key; SCC as 0 and 1."""
    if key == SCC:
        return waves.scc.astype(np.uint32)
    if key < AGPR:
        return waves.v[key]
    return waves.a[key - AGPR] if key < SGPR else waves.s[key - SGPR]
