"""Undefined bits in memory instructions: addresses are uses, data move between planes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.kernels import PerKernel
from mfmasim.machine.binding.bind import operation_of
from mfmasim.machine.definedness.keys import GLOBAL, LDS, SCRATCH, VECTORS, keys_of, set_of
from mfmasim.machine.definedness.origin import at_address
from mfmasim.machine.definedness.places import places_of
from mfmasim.machine.definedness.planes import ONES, register
from mfmasim.machine.ops.spaces import Part, rows_of, store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mfmasim.arrays import U32
    from mfmasim.isa import Instruction
    from mfmasim.machine.definedness.memory import Plane
    from mfmasim.machine.definedness.places import Places
    from mfmasim.machine.definedness.shadow_state import ShadowState
    from mfmasim.machine.events import AccessEvent
    from mfmasim.machine.events.interface import Bound
    from mfmasim.machine.state.waves import Group


ZERO = np.zeros((1, 1), np.uint32)
REACH = 32
"""Upper bound of the bytes that a lane loads from its address on."""
MUCH = 1 << 24
"""Bytes from which on they are not examined: following the load is faster."""
HALVES = {"": ONES, "low": np.uint32(0xFFFF), "high": np.uint32(0xFFFF0000)}


PLACES: PerKernel[dict[tuple[int, tuple[int, ...]], Places]] = PerKernel(lambda _: {})
"""Addresses and data, by an instruction's address and registers."""


class AccessPlan:
    """One memory instruction."""

    listens = False
    """Whether `note` receives the accesses of the instruction."""

    def __init__(self, instruction: Instruction, owner: ShadowState) -> None:
        """Separate addresses from data."""
        self.instruction, self.opcode, self.owner, self.planes = instruction, instruction.opcode, owner, owner.planes
        m0, vectors = owner.machine.arch.m0, len(owner.machine.waves.v)
        found = owner.kept(PLACES, instruction, lambda: places_of(instruction, m0, vectors))
        self.places = found
        self.data, self.address, self.stored, self.loaded = found.data, found.address, found.stored, found.loaded
        self.spaces, self.registers = found.spaces, found.registers
        self.touched = found.spaces | found.registers
        whole = not self.loaded or owner.machine.kernel.code.object.sram_ecc
        self.half = ONES if whole else HALVES[self.opcode.d16]
        self._loads: dict[Plane, Bound] = {}
        self._stores: tuple[Bound, Bound] | None = None

    def note(self, event: AccessEvent) -> None:
        """An access of this instruction."""

    def after(self, g: Group) -> None:
        """Do nothing."""

    def before(self, g: Group) -> None:
        """Report uses of addresses; then follow the loaded or stored data."""
        planes, owner = self.planes, self.owner
        if self.places.pointer is not None and not planes.dirty & self.registers:
            self._plain(g, self.places.pointer(g))
            return
        owner.uses.registers("address", self.instruction, g, self.address)
        if self.loaded:
            if planes.dirty & self.spaces and not self._around(g):
                self._load(g)
            else:
                self._define(g)
        elif planes.dirty & (self.spaces | set_of(self.stored)):
            self._store(g)

    def _plain(self, g: Group, addresses: NDArray[Any]) -> None:
        """Data moves between defined registers and global memory, whose bytes may be undefined."""
        memory = self.owner.plane.memory
        size = 4 * (len(self.loaded) or len(self.stored))
        if not memory.undefined_within(int(addresses.min()), int(addresses.max()) + size):
            return
        if self.loaded:
            self._load(g)
        else:
            memory.define(addresses, size, g.mask)

    def _around(self, g: Group) -> bool:
        """Whether a range of the LDS that contains all loaded bytes is defined."""
        if self.places.span is None:
            return False
        address, limit = self.places.span(g), self.owner.plane.launch.lds_bytes
        first, end = max(int(address.min()) - REACH, 0), min(int(address.max()) + REACH, limit)
        groups = g.workgroup
        rows = self.owner.plane.lds[int(groups[0]) : int(groups[-1]) + 1, first:end]
        return rows.size < MUCH and not rows.max(initial=0)

    def _define(self, g: Group) -> None:
        """Mark the loaded registers as defined."""
        if self.half == ONES:
            self.planes.define(g, self.loaded)
            return
        self._put(g, {key: np.zeros((1, g.lanes), np.uint32) for key in self.loaded}, None)

    def _load(self, g: Group) -> None:
        """Load undefined bits, and their origins if there are any."""
        owner = self.owner
        owner.plane.notify.reset()
        bits = self._executed(owner.plane, g)
        rows = {key: g.take(values) for key, values in bits.items()}
        outside = owner.plane.notify.outside
        if outside is not None:
            rows = {key: np.where(outside, np.uint32(0), values) for key, values in rows.items()}
        if self.half != ONES:
            rows = {key: values & self.half for key, values in rows.items()}
        if g.mask is not None:
            rows = {k: np.where(g.mask, v, np.uint32(0)) if k < VECTORS else v for k, v in rows.items()}
        if not any(values.any() for values in rows.values()):
            self._define(g)
            return
        plane = owner.origins.ready()
        words = {key: g.take(values) for key, values in self._executed(plane, g).items()}
        if self.opcode.narrow and plane.notify.events:
            event = plane.notify.events[0]
            address = event.addresses.astype(np.int64) - (owner.machine.memory.base if event.space == "global" else 0)
            words = dict.fromkeys(words, at_address(event.space, address))
        for key, values in rows.items():
            for origin in np.unique(np.broadcast_to(words[key], values.shape)[values != 0])[:64].tolist():
                owner.loaded.setdefault(origin, self.instruction.pc)
        self._put(g, rows, words)

    def _put(self, g: Group, rows: dict[int, U32], words: dict[int, U32] | None) -> None:
        """Copy loaded bits in active lanes, in the loaded half."""
        planes = self.planes
        for key, bits in rows.items():
            old, before = planes.of(g, key), planes.origin(g, key)
            origins = before if words is None else np.broadcast_to(words[key], bits.shape)
            other_half = old & ~self.half
            new, source = bits | other_half, np.where(bits != 0, origins, before)
            if key < VECTORS and g.mask is not None:
                new, source = np.where(g.mask, new, old), np.where(g.mask, source, before)
            planes.put(g, key, new, np.broadcast_to(source, new.shape))

    def _executed(self, plane: Plane, g: Group) -> dict[int, U32]:
        """Destinations after the load was executed on a plane, in all waves."""
        run = self._loads.get(plane)
        if run is None:
            run = self._loads[plane] = self._on(plane, self.instruction)
        kept: dict[int, U32] = {}
        if self.opcode.chosen:  # other registers keep their bits
            table = self.planes.undefined if plane is self.owner.plane else self.planes.origins
            zero = np.zeros((1, g.lanes), np.uint32)
            kept = {key: table.get(key, zero) for key in self.loaded if key not in self.address}
        after = self.planes.with_values(g, kept)
        run(after)
        return {key: register(after.waves, key) for key in self.loaded}

    def _store(self, g: Group) -> None:
        """Store undefined bits; a store to global memory is a use."""
        owner, plane = self.owner, self.owner.plane
        if self._stores is None:
            renamed = self.places.renamed
            self._stores = self._on(plane, renamed), self._on(owner.origins, renamed)
        run, run_origins = self._stores
        plane.stored = True
        plane.memory.leaks.clear()
        run(self._with_data(g, self.planes.undefined))
        if plane.memory.leaks and not self.stored:
            self._leak_from_lds(g, plane.memory.leaks, run_origins)
            return
        if not self.stored or self.planes.dirty & set_of(self.stored):
            owner.origins.ready()
            if not self.opcode.narrow:
                run_origins(self._with_data(g, self.planes.origins))
        for words in plane.memory.leaks:
            self._leak(g, words)

    def _leak(self, g: Group, words: Sequence[U32]) -> None:
        """Undefined bits reached global memory."""
        number, bits = next((k, word) for k, word in enumerate(words) if word.any())
        lanes = bits[:, 0] if self.opcode.scalar else np.broadcast_to(bits, (len(bits), g.lanes))
        if self.opcode.d16 == "high":  # as bits of the register
            lanes = lanes << np.uint32(16)
        # A buffer store is executed dword by dword, so that the number of the word does not identify the register.
        keys = [self.stored[number]] if len(words) == len(self.stored) else self.stored
        key = next((k for k in keys if (np.where(lanes != 0, self.planes.of(g, k), 0) != 0).any()), keys[0])
        self.owner.uses.report("stored", self.instruction, g, key, lanes, self.planes.origin(g, key))

    def _leak_from_lds(self, g: Group, leaks: Sequence[Sequence[U32]], run_origins: Bound) -> None:
        """Undefined bits of the LDS reached global memory."""
        owner = self.owner
        events = owner.origins.ready().notify.events
        run_origins(g)
        read = next(event for event in events if event.space == "lds")
        origins = at_address("lds", read.addresses.astype(np.int64) & ~np.int64(3))
        for words in leaks:
            bits = next(word for word in words if word.any())
            owner.uses.report("stored", self.instruction, g, 0, bits, origins, name="the LDS")

    def _on(self, plane: Plane, instruction: Instruction) -> Bound:
        """The instruction bound to a plane."""
        bound: Bound = operation_of(instruction).body(instruction, plane)
        return bound

    def _with_data(self, g: Group, table: dict[int, U32]) -> Group:
        """The waves with a row of `table` in those registers."""
        after: Group = self.planes.with_values(g, {})
        zero = np.zeros((1, g.lanes), np.uint32)
        file = after.waves.v
        for operand in self.data:
            keys = keys_of(operand) or (-1,) * operand.count
            rows = [table.get(key, zero) for key in keys]
            file += [_column(row) for row in rows]
        return after


class FillPlan(AccessPlan):
    """Writes to the LDS or scratch: defined data need not be read, the written bytes become defined."""

    listens = True

    def __init__(self, instruction: Instruction, owner: ShadowState) -> None:
        """As for any access."""
        super().__init__(instruction, owner)
        key, self._space = (LDS, "lds") if self.spaces >> LDS & 1 else (SCRATCH, "scratch")
        # Memory is examined as soon as the addresses of a load to the LDS are known.
        self._sources = (self.registers | self.spaces) & ~set_of([key, GLOBAL])
        self._events: list[AccessEvent] | None = None

    def before(self, g: Group) -> None:
        """Follow the data if they, or the address, may be undefined."""
        self._events = None if self.planes.dirty & self._sources else []
        if self._events is None:
            super().before(g)

    def note(self, event: AccessEvent) -> None:
        """An access of this instruction."""
        if self._events is not None:
            self._events.append(event)

    def after(self, g: Group) -> None:
        """Written bytes are defined if the read bytes are."""
        plane = self.owner.plane
        if self.planes.dirty >> GLOBAL & 1 and any(map(self._undefined, self._events or ())):
            super().before(g)
            return
        for event in self._events or ():
            if event.space == self._space:
                plane.stored = True
                part = Part(event.space, event.addresses, event.active, event.part)
                store(plane, g, self.instruction, part, [ZERO] * max(1, event.size // 4), event.size)

    def _undefined(self, event: AccessEvent) -> bool:
        """Whether an access may have read undefined bytes of memory."""
        if event.space != "global":
            return False
        first, last = int(event.addresses.min()), int(event.addresses.max())
        return self.owner.plane.memory.undefined_within(first, last + event.size)


class AtomicPlan(AccessPlan):
    """An atomic: the old value, the new value and the returned value."""

    listens = True

    def __init__(self, instruction: Instruction, owner: ShadowState) -> None:
        """As for any access."""
        super().__init__(instruction, owner)
        self._events: list[AccessEvent] = []
        self._bits: dict[int, U32] = {}

    def before(self, g: Group) -> None:
        """Report uses of addresses; record undefined data."""
        self.owner.uses.registers("address", self.instruction, g, self.address)
        self._events = []
        self._bits = {key: self.planes.of(g, key) for key in self.stored}

    def note(self, event: AccessEvent) -> None:
        """An access of this instruction."""
        if event.instruction.pc == self.instruction.pc:
            self._events.append(event)

    def after(self, g: Group) -> None:
        """Memory and the returned value are undefined if the data or the memory were."""
        owner, planes, ins = self.owner, self.planes, self.instruction
        scalar = self.opcode.scalar
        shape = (g.count, 1 if scalar else g.lanes)
        data = np.zeros(shape, np.bool_)
        for bits in self._bits.values():
            data = data | (_column(bits) != 0)
        returned, source = np.zeros(shape, np.bool_), np.zeros(shape, np.uint32)
        for key in self.stored:
            source = np.where(source == 0, _column(planes.origin(g, key)), source)
        events = [event for event in self._events if event.kind != "read"]
        for read in self._events:
            if read.kind == "read":  # data in the LDS itself
                found = self._second(g, read, events[0], shape)
                source = np.where(found, at_address(read.space, self._own(g, read, shape)), source)
                data = data | found
        twice = len(events) > 1  # lanes may use either place: both are examined again
        replaces = self.opcode.atomic == "exchange" and not twice
        for event in events * (1 + twice):
            active = np.broadcast_to(np.ones((1, 1), np.bool_) if event.active is None else event.active, shape)
            flat, start, inside = self._places(g, event, shape)
            inside = inside & active
            if not inside.any():
                continue
            at = start[inside]
            old = np.zeros(len(at), np.bool_)
            for byte in range(event.size):
                old |= flat[at + byte] != 0
            here = at_address(event.space, self._own(g, event, shape)[inside])
            origin = np.where(old, here, source[inside])
            bad = data[inside] if replaces else old | data[inside]
            if event.space == "global" and (bad | (old & bool(self.loaded))).any():
                full = np.zeros(shape, np.uint32)
                words = np.zeros(shape, np.uint32)
                full[inside], words[inside] = np.where(bad, ONES, np.uint32(0)), origin
                if bad.any():
                    self._loaded_here(words[full != 0])
                    owner.uses.report(
                        "atomic" if old.any() else "stored",
                        ins,
                        g,
                        (self.stored or [0])[0],
                        full[:, 0] if scalar else full,
                        words[:, 0] if scalar else words,
                        name="memory" if old.any() else "",
                    )
                bad = np.zeros_like(bad)
            for value, chosen in ((0, ~bad), (0xFF, bad)):  # an undefined lane wins over other lanes at the same place
                for byte in range(event.size):
                    flat[at[chosen] + byte] = value
            again = np.zeros(len(at), np.bool_)
            for byte in range(event.size):
                again |= flat[at + byte] != 0
            self.owner.plane.stored = True
            returned[inside] |= again | old
            some = np.zeros(shape, np.uint32)
            some[inside] = np.where(origin != 0, origin, here)
            self._loaded_here(some[returned])
            source = np.where(returned & (source == 0) | (some != 0) & returned, some, source)
        if self.opcode.kind == "count":  # one lane acts, and all receive the value
            returned = np.broadcast_to(returned.any(axis=1, keepdims=True), shape)
            source = np.broadcast_to(source.max(axis=1, keepdims=True), shape)
        for key in self.loaded:
            bits = np.where(returned, ONES, np.uint32(0))
            old_bits, old_origins = planes.of(g, key), planes.origin(g, key)
            if scalar:
                bits, words = bits[:, 0], source[:, 0]
            elif g.mask is not None:
                bits, words = np.where(g.mask, bits, old_bits), np.where(g.mask, source, old_origins)
            else:
                words = source
            planes.put(g, key, bits, words)

    def _second(self, g: Group, read: AccessEvent, change: AccessEvent, shape: tuple[int, int]) -> NDArray[np.bool_]:
        """Lanes whose data in the LDS are undefined, or become undefined by other lanes."""
        flat, start, inside = self._places(g, read, shape)
        _, target, reached = self._places(g, change, shape)
        if read.active is not None:
            inside, reached = inside & read.active, reached & read.active
        undefined, found, start = flat != 0, np.zeros(shape, np.bool_), start[inside]
        while True:
            now = found.copy()
            now[inside] |= np.logical_or.reduce([undefined[start + byte] for byte in range(read.size)])
            if (now == found).all():
                return found
            found = now
            for byte in range(read.size):
                undefined[target[found & reached] + byte] = True

    def _loaded_here(self, origins: U32) -> None:
        for origin in np.unique(origins)[:64].tolist():
            self.owner.loaded.setdefault(origin, self.instruction.pc)

    def _own(self, g: Group, event: AccessEvent, shape: tuple[int, int]) -> NDArray[np.int64]:
        del g
        address = np.broadcast_to(event.addresses, shape).astype(np.int64)
        return address - self.owner.machine.memory.base if event.space == "global" else address

    def _places(
        self, g: Group, event: AccessEvent, shape: tuple[int, int]
    ) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.bool_]]:
        """Bytes of the plane of a space, the first byte of each lane, and a mask of the lanes inside."""
        plane, address = self.owner.plane, np.broadcast_to(event.addresses, shape)
        if event.space == "global":
            offsets, outside = plane.memory.locate(address, event.size, None, write=True)
            inside = np.ones(shape, np.bool_) if outside is None else ~np.broadcast_to(outside.mask, shape)
            return plane.memory.arena, np.broadcast_to(offsets, shape), inside
        rows, row, limit = rows_of(plane, g, event.space)
        address = address.astype(np.int64)
        inside = (address >= 0) & (address + event.size <= limit)
        return rows.reshape(-1), row * rows.shape[1] + np.where(inside, address, 0), inside


def _column(values: U32) -> U32:
    """A row of a register; a scalar register as a column."""
    return values[:, None] if values.ndim == 1 else values


def access_plan(instruction: Instruction, owner: ShadowState) -> AccessPlan:
    """The effect of a memory instruction on undefined bits."""
    opcode, machine = instruction.opcode, owner.machine
    if opcode.access == "atomic":
        return AtomicPlan(instruction, owner)
    made = AccessPlan(instruction, owner)
    private = made.spaces & set_of([LDS, SCRATCH])
    writes = private and not made.loaded and not opcode.from_lds and instruction.space != "flat"
    elsewhere = opcode.counter == "async" or opcode.kind == "tensor" or machine.late is not None or instruction.in_gds
    return FillPlan(instruction, owner) if writes and not elsewhere else made
