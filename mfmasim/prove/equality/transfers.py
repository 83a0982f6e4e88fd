"""Loads and stores: codes move with the bytes between registers and memory.

The machine reports the addresses of the lanes; the opcode's record determines the registers of the bytes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.machine.definedness.keys import VECTORS, keys_of
from mfmasim.prove.equality.places import SHIFTS, constant_bytes
from mfmasim.prove.equality.stopped import Stopped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mfmasim.isa import Instruction
    from mfmasim.machine.events import AccessEvent
    from mfmasim.machine.state.waves import Group
    from mfmasim.prove.equality.places import Memory, Registers
    from mfmasim.prove.equality.pool import Codes, Pool

DATA = ("vdata", "data", "data0", "data1", "sdata")
"""Fields of the encoding with the data of a store."""


SIGNED = re.compile("_i(8|16)|sbyte|sshort")
"""Mnemonics of loads that extend a sign (LLVM: one name for each, `_i8` and `_i16` from gfx11 on)."""


class Transfer:
    """One execution of a memory instruction by a group of waves."""

    def __init__(
        self,
        instruction: Instruction,
        group: Group,
        numbers: NDArray[np.int64],
        registers: Registers,
        memory: Memory,
        pool: Pool,
        *,
        clears: bool,
    ) -> None:
        """Record the registers before the instruction.

        Args:
            instruction: the instruction.
            group: waves that are about to execute it.
            numbers: of the waves in the launch.
            registers: codes of the registers.
            memory: codes of memory.
            pool: of expressions.
            clears: whether a load of half a register clears the other half.

        Raises:
            Stopped: an address depends on inputs, or the instruction does not only move bytes.
        """
        self.instruction, self.group, self.numbers = instruction, group, numbers
        self.registers, self.memory, self.pool, self.clears = registers, memory, pool, clears
        self._writes = 0
        opcode = instruction.opcode
        self.data = [operand for operand in instruction.src if operand.field in DATA and operand.kind in ("v", "a")]
        for operand in instruction.src:
            if operand in self.data:
                continue
            if any(self._depends(key) for key in keys_of(operand)):
                raise Stopped(instruction, "its address depends on inputs")
        self._stored = [[registers.codes(key, numbers, group) for key in keys_of(operand)] for operand in self.data]
        self._kept = {
            key: registers.codes(key, numbers, group) for operand in instruction.dst for key in keys_of(operand)
        }
        self._plain = not (opcode.transposes or opcode.typed or opcode.atomic or opcode.access == "exchange")
        self._read: list[tuple[AccessEvent, Codes, NDArray[np.bool_]]] = []

    def _depends(self, key: int) -> bool:
        """Whether a register depends on inputs in an active lane."""
        parts = self.registers.parts(key, self.numbers)
        if parts is None or key >= VECTORS:
            return parts is not None
        return bool((parts.any(axis=-1) & self.group.active).any())

    def _wide(self, event: AccessEvent) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        lanes = 1 if self.instruction.opcode.scalar else self.group.lanes
        shape = len(self.numbers), lanes
        active = np.ones(shape, np.bool_) if event.active is None else np.broadcast_to(event.active, shape)
        return np.broadcast_to(event.addresses, shape).astype(np.int64), active

    def access(self, event: AccessEvent) -> None:
        """The machine accessed memory.

        Raises:
            Stopped: the access does not only move bytes that depend on inputs.
        """
        where, active = self._wide(event)
        if event.space == "scratch":
            self._scratch(event)
            return
        if event.kind == "read":
            found = self.memory.load(event.space, self.numbers, where, active, event.size)
            if found.any() and not self._plain:
                raise Stopped(self.instruction, "it reads what depends on inputs, and does more than move bytes")
            self._read.append((event, found, active))
            return
        if event.kind == "atomic":
            held = self.memory.load(event.space, self.numbers, where, active, event.size)
            if held.any() or any((codes >= 0).any() for words in self._stored for codes in words):
                raise Stopped(self.instruction, "it is an atomic operation on what depends on inputs")
            return
        codes = self._written(event)
        if not self.memory.store(event.space, self.numbers, where, active, codes):
            raise Stopped(self.instruction, "lanes of one wave write different contents to one byte")

    def _scratch(self, event: AccessEvent) -> None:
        if event.kind != "read" and any((codes >= 0).any() for words in self._stored for codes in words):
            raise Stopped(self.instruction, "what depends on inputs is stored to scratch")

    def _written(self, event: AccessEvent) -> Codes:
        """Codes of the bytes that lanes write, (waves, lanes, size)."""
        if not self.data:  # between memory and the LDS: the bytes of the read event before this event
            taken = [codes for read, codes, _ in self._read if read.size == event.size]
            if not taken:
                raise Stopped(self.instruction, "it stores what no register holds")
            return taken[-1]
        words = self._stored[min(event.part, len(self._stored) - 1)]
        if self._plain and event.size % 4 == 0 and len(self._stored) == 1:
            words = self._share(words, event.size // 4, self._writes)
        self._writes += 1
        if not self._plain:
            if any((codes >= 0).any() for codes in words):
                raise Stopped(self.instruction, "it stores what depends on inputs, and does more than move bytes")
            return np.zeros((len(self.numbers), self.group.lanes, event.size), np.int64)
        held: Codes = np.concatenate(words, axis=-1)
        first = 2 if self.instruction.opcode.d16 == "high" else 0
        codes = held[..., first : first + event.size]
        if event.data and event.size % 4 == 0:
            wide = [np.broadcast_to(word, codes.shape[:2]) for word in event.data]
            data = np.stack(wide, axis=-1)[..., None] >> SHIFTS & np.uint32(0xFF)
            active = np.ones(codes.shape[:2], np.bool_) if event.active is None else event.active
            takes = np.broadcast_to(active, codes.shape[:2])[..., None]
            if not self.pool.check(np.where(takes, codes, -1), np.where(takes, data.reshape(codes.shape), 0)):
                raise Stopped(self.instruction, "it does not store what its registers hold")
        return codes

    def _share(self, words: list[Codes], count: int, number: int) -> list[Codes]:
        """The dwords of one of several accesses: the machine may execute a buffer access dword by dword.

        Raises:
            Stopped: there are more accesses than dwords.
        """
        if count == len(words):
            return words
        if (number + 1) * count > len(words):
            raise Stopped(self.instruction, "its accesses are not those of its registers")
        return words[number * count : (number + 1) * count]

    def finish(self, held: dict[int, NDArray[np.uint32]]) -> dict[int, Codes]:
        """Codes of the bytes of the load's registers, (waves, lanes, 4) or (waves, 4).

        Args:
            held: values of the registers after the load, by key.
        """
        keys = [key for operand in self.instruction.dst for key in keys_of(operand)]
        out = {key: constant_bytes(held[key]) for key in keys}
        opcode = self.instruction.opcode
        if opcode.d16 and keys:
            self._keep(out, keys[0])
        if not keys or not any(codes.any() for _, codes, _ in self._read):  # a load to the LDS writes no register
            return out
        for count, (event, codes, _) in enumerate(self._read):
            size = codes.shape[-1] // 4
            twice = event.part or (len(self._read) > 1 and self._read[-1][0].part)
            place = 0 if size == len(keys) else (event.part if twice else count) * size
            if place + size > len(keys):
                raise Stopped(self.instruction, "its accesses are not those of its registers")
            if opcode.narrow:
                self._narrow(out, keys, codes)
                continue
            for number in range(codes.shape[-1] // 4):
                key = keys[place + number]
                part = codes[..., 4 * number : 4 * number + 4]
                part = part if key < VECTORS else part[:, 0]
                out[key] = np.where(part != 0, part, out[key])
        return out

    def _keep(self, out: dict[int, Codes], key: int) -> None:
        """The other half of the register keeps its contents, unless the architecture clears it."""
        other = slice(0, 2) if self.instruction.opcode.d16 == "high" else slice(2, 4)
        kept, left = self._kept[key][..., other], out[key][..., other]
        if not (kept >= 0).any():
            return
        if self.clears:
            return
        out[key] = out[key].copy()
        out[key][..., other] = np.where(kept >= 0, kept, left)

    def _narrow(self, out: dict[int, Codes], keys: Sequence[int], codes: Codes) -> None:
        """A load of less than a dword: the other bytes are 0, copies of the sign, or the register's old contents."""
        opcode, (key,) = self.instruction.opcode, keys
        size = codes.shape[-1]
        name = opcode.name
        signed = (
            name.endswith(("_i8", "_i16", "sbyte", "sshort", "sbyte_d16", "sbyte_d16_hi", "i8_hi")) or "_i8" in name
        )
        if signed or key >= VECTORS:
            raise Stopped(self.instruction, "it extends the sign of what depends on inputs")
        first = 2 if opcode.d16 == "high" else 0
        part = out[key][..., first : first + size]
        out[key][..., first : first + size] = np.where(codes != 0, codes, part)
