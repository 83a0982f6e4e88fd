"""Atomic operations on global memory, LDS and buffers, one table. Source: CDNA3 ISA manual, 10.3.1, 11.3 and 12.12 ff.

They act in the order of waves and lanes. Float additions round to nearest even; in memory denormals are kept, as LLVM
says of these processors (the CDNA3 manual says that f32 flushes them: so `assumed`; RDNA3 does, by its manual, 13.2),
in the LDS as MODE says.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.machine.binding.operands import read_dword
from mfmasim.machine.numerics.float_mode import FloatMode, float_mode
from mfmasim.machine.opcodes.refusal import unsupported
from mfmasim.machine.opcodes.registry import direct
from mfmasim.machine.ops.atomic_table import OPERATIONS
from mfmasim.machine.ops.gds import in_gds
from mfmasim.machine.ops.global_memory import RESOLVERS
from mfmasim.machine.ops.resource import report_beyond, resource
from mfmasim.machine.ops.spaces import Part, lds_address, rows_of, within
from mfmasim.machine.state.lane_order import in_order
from mfmasim.machine.state.memory import POISON_DWORD
from mfmasim.machine.state.touched_bytes import Outside

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mfmasim.arrays import U
    from mfmasim.isa import Instruction, Operand
    from mfmasim.machine.events.interface import Bound, Spaces
    from mfmasim.machine.ops.atomic_table import AtomicOperation
    from mfmasim.machine.ops.resource import Reach
    from mfmasim.machine.state.waves import Group

    Combine = Callable[..., U]

ALONE: AbstractContextManager[None] = nullcontext()
PLAIN, FLUSHING = 0x3F0, 0x3E0
"""MODE with denormals of every type, and without those that come in as f32."""


class Atomic:
    """One atomic instruction: how its lanes act on the bytes of a space."""

    def __init__(
        self, instruction: Instruction, machine: Spaces, operation: AtomicOperation, data: list[tuple[Operand, int]]
    ) -> None:
        """Bind the operation; `data` are the operands that hold the sources, and their first dwords."""
        self.instruction, self.machine = instruction, machine
        self.kind, self.body, self.ufunc = operation.kind, operation.body, operation.ufunc
        self.size = np.dtype(self.kind).itemsize
        self.parts = self.size // 4
        self.readers = [
            [read_dword(operand, first + k, instruction) for k in range(self.parts)] for operand, first in data
        ]
        self.target = instruction.dst[0] if instruction.dst else None

    def shape(self, g: Group) -> tuple[int, int]:
        """Waves, and lanes of a wave that may act."""
        return g.count, g.lanes

    def sources(self, g: Group, shape: tuple[int, ...]) -> list[NDArray[Any]]:
        """Data of every lane as values of the operation's type."""
        return [
            self.value([np.broadcast_to(read(g)[:, : shape[1]], shape) for read in readers]) for readers in self.readers
        ]

    def value(self, words: list[NDArray[np.uint32]]) -> NDArray[Any]:
        """Dwords as one value."""
        if self.parts == 1:
            return np.ascontiguousarray(words[0]).view(self.kind)
        return (words[0].astype(np.uint64) | (words[1].astype(np.uint64) << np.uint64(32))).view(self.kind)

    def run(self, g: Group, part: Part, mode: FloatMode) -> list[NDArray[np.uint32]]:
        """Act on one space; returns the old value as dwords."""
        shape = self.shape(g)
        flat, start, active, blank = self._places(g, part, shape)
        old = [np.where(blank, np.uint32(POISON_DWORD if part.space != "lds" else 0), np.uint32(0))] * self.parts
        if not active.any():
            return [np.broadcast_to(word, shape) for word in old]
        place = start[active]
        data = [source[active] for source in self.sources(g, shape)]
        body, ufunc = self.body(mode), self.ufunc
        if (
            ufunc is np.add
            and np.issubdtype(self.kind, np.floating)
            and not (mode.plain and np.isfinite(data[0]).all())
        ):
            ufunc = None  # a NaN or a denormal that is flushed needs the operation's own rule
        memory = lambda at: self.value([flat[at + k] for k in range(self.parts)])  # noqa: E731
        between = self.machine.memory.between if part.space == "global" else None
        with between or ALONE:
            seen, places, values = in_order(place, memory, body, data, ufunc)
            self._put(flat, places, values)
        out = []
        for k, word in enumerate(self._words(seen)):
            full = np.array(np.broadcast_to(old[k], shape))
            full[active] = word
            out.append(full)
        return out

    def _words(self, values: NDArray[Any]) -> list[NDArray[np.uint32]]:
        if self.parts == 1:
            return [values.view(np.uint32)]
        bits = values.view(np.uint64)
        return [bits.astype(np.uint32), (bits >> np.uint64(32)).astype(np.uint32)]

    def _put(self, flat: NDArray[np.uint32], places: NDArray[np.int64], values: NDArray[Any]) -> None:
        for k, word in enumerate(self._words(values)):
            flat[places + k] = word

    def _places(
        self, g: Group, part: Part, shape: tuple[int, ...]
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.bool_], NDArray[np.bool_]]:
        """Dwords of the space, first dword of each lane, lanes that act, and lanes that are outside."""
        machine, instruction = self.machine, self.instruction
        asked = np.broadcast_to(g.active if part.mask is None else part.mask, shape)
        address = np.broadcast_to(part.address, shape)
        if instruction.in_gds:
            part, asked, _ = in_gds(machine, g, instruction, Part("gds", address, asked), self.size, "write")
            address = part.address
        rejected = (address.astype(np.int64) & (self.size - 1) != 0) & asked
        if rejected.any():
            machine.notify.fault(
                instruction, g, part.space, "misaligned atomic", self.size, Outside(rejected, address.astype(np.uint64))
            )
        asked = asked & ~rejected
        if machine.notify.listeners(instruction):
            machine.notify.access(instruction, g, Part(part.space, address, asked, part.number), "atomic", self.size)
        if part.space == "global":
            offsets, outside = machine.memory.locate(address, self.size, asked, write=True, atomic=True)
            beyond = np.zeros(shape, np.bool_) if outside is None else np.broadcast_to(outside.mask, shape)
            if outside is not None:
                machine.notify.fault(instruction, g, "global", "write", self.size, outside)
            return machine.memory.dwords, np.broadcast_to(offsets >> 2, shape), asked & ~beyond, beyond | rejected
        rows, row, limit = rows_of(machine, g, part.space)
        inside, beyond = within(machine, g, instruction, Part(part.space, address, asked), self.size, "write", limit)
        start = (row * rows.shape[1] + np.where(inside, address, 0)) >> 2
        return rows.reshape(-1).view(np.uint32), np.broadcast_to(start, shape), inside, beyond | rejected

    def finish(self, g: Group, words: list[NDArray[np.uint32]]) -> None:
        """Return the old value."""
        if self.target is not None:
            for k, word in enumerate(words):
                g.write_v(self.target.kind, self.target.index + k, word)


def _memory(segment: str, operation: AtomicOperation, instruction: Instruction, machine: Spaces) -> Bound:
    """GLOBAL, FLAT and MUBUF atomics."""
    buffer = segment == "buffer"
    data = instruction.src[3 if buffer else 2]
    parts = np.dtype(operation.kind).itemsize // 4
    atomic = Atomic(instruction, machine, operation, [(data, k) for k in range(0, data.count, parts)])
    rules = machine.arch.floats
    flushes = rules.atomic_add_flushes and operation.ufunc is np.add and operation.kind is np.float32
    mode = float_mode(FLUSHING if flushes else PLAIN, rules)
    if buffer:
        return _buffer(atomic, resource(instruction, machine), mode)
    resolve = RESOLVERS[segment](instruction)

    def run(g: Group) -> None:
        words: list[NDArray[np.uint32]] | None = None
        for part in resolve(g):
            old = atomic.run(g, part, mode)
            mask = part.mask
            words = (
                old
                if words is None or mask is None
                else [np.where(mask, new, word) for new, word in zip(old, words, strict=True)]
            )
        if words is not None:
            atomic.finish(g, words)

    return run


def _buffer(atomic: Atomic, where: Callable[[Group], Reach], mode: FloatMode) -> Bound:
    """In range as a whole or not at all; beyond the range nothing happens and 0 is returned."""

    def run(g: Group) -> None:
        reach = where(g)
        inside = reach.inside(0, atomic.size)
        active, beyond = inside & g.active, ~inside & g.active
        if beyond.any():
            report_beyond(atomic.machine, g, atomic.instruction, reach, beyond, atomic.size, "write")
        words = atomic.run(g, Part("global", reach.address(0), active), mode)
        atomic.finish(g, [np.where(active, word, np.uint32(0)) for word in words])

    return run


def _ds(operation: AtomicOperation, instruction: Instruction, machine: Spaces) -> Bound:
    """LDS atomics with one or two data operands."""
    atomic = Atomic(instruction, machine, operation, [(operand, 0) for operand in instruction.src[1:]])
    base = read_dword(instruction.src[0], 0, instruction)
    offset = instruction.modifiers.get("offset", 0)

    def run(g: Group) -> None:
        if g.waves.float_mode is None:
            raise unsupported(instruction, "waves whose MODE differs, in one atomic:")
        mode = replace(g.waves.float_mode, bits=g.waves.float_mode.bits & ~0xF)  # the rounding is fixed
        atomic.finish(g, atomic.run(g, Part("lds", lds_address(base(g), offset), g.mask), mode))

    return run


for _name, _row in OPERATIONS["ds"].items():
    direct(_name, _row.fidelity)(partial(_ds, _row))
for _name, _row in OPERATIONS["memory"].items():
    for _unit in ("global", "flat", "buffer"):
        direct(f"{_unit}_atomic_{_name}", _row.fidelity)(partial(_memory, _unit, _row))
