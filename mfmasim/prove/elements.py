"""Follows the elements of matrices through registers and the LDS, one instruction at a time.

Registers and LDS bytes have contents (`mfmasim.prove.contents`); loads, stores, moves and matrix instructions change
them as they are executed. A content is valid if all waits and barriers suffice: it is used only where the
obligations of bounds, waits and races are proved.
"""

from __future__ import annotations

import re
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from mfmasim.prove.bounds import region_of
from mfmasim.prove.content_rules import results
from mfmasim.prove.contents import COLUMN, LDS, OWN, ROW, Byte, dword, gathered, loaded, scattered, set_dword
from mfmasim.prove.inequality import never_negative
from mfmasim.prove.masks import Mask
from mfmasim.prove.matrices import Multiplied, line_and_place, multiplied
from mfmasim.prove.padding import padded
from mfmasim.prove.polynomial import Polynomial, TooLarge, constant, of
from mfmasim.prove.words import Word, known

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mfmasim.isa import Instruction, Operand
    from mfmasim.kernels import Kernel
    from mfmasim.prove.content_rules import Dword
    from mfmasim.prove.contract import Contract, Region
    from mfmasim.prove.polynomial import Symbol
    from mfmasim.prove.state import State
    from mfmasim.prove.trace import Access

__all__ = ["Contents", "Elements"]

WHOLE_LOADS = re.compile(
    r"(_load_(ubyte|ushort|u8|u16|dword(x[234])?|b32|b64|b96|b128)"
    r"|^ds_(read(2(st64)?)?|load(_2addr(_stride64)?)?)_(u8|u16|b32|b64|b96|b128))$"
)
"""Loads that fill registers with consecutive bytes, and with zeros above the last byte."""
HALF_LOADS = re.compile(r"(_load_(d16(_hi)?_(u8|b16)|(ubyte|short)_d16(_hi)?)|^ds_(read|load)_u(8|16)_d16(_hi)?)$")
"""Loads that write half a register: two bytes, or one byte and a zero."""
WHOLE_STORES = re.compile(r"ds_(write(2(st64)?)?|store(_2addr(_stride64)?)?)_((b8|b16)(_d16_hi)?|b32|b64|b96|b128)$")

STORES = re.compile(r"_store_(byte|short|dword(x[234])?|b8|b16|b32|b64|b96|b128|(short|b16)_d16_hi)$")

Contents: TypeAlias = "dict[tuple[str, int], Dword]"


class Kept(NamedTuple):
    """Contents of registers before a load."""

    registers: Contents
    under: Mask | None
    """Lanes in which these contents are valid; they include the active lanes. None means all lanes."""


class Elements:
    """The elements of one kernel under one contract."""

    def __init__(self, kernel: Kernel, contract: Contract, data: set[Symbol]) -> None:
        """Prepare; `data` are symbols of arguments that are not sizes."""
        self.kernel, self.contract, self.data = kernel, contract, data
        self.lds = kernel.info.metadata.group_segment_fixed_size + contract.shared
        self.waves = -(-prod(contract.block) // kernel.wave)

    def before(self, state: State, ins: Instruction) -> Contents | Kept | Multiplied:
        """The contents that an instruction will write, from the registers before it; for a load, the old contents."""
        if ins.opcode.matrix:
            return multiplied(state, ins, self.kernel, self.contract)
        if ins.opcode.access == "load" and (state.exec.literals or ins.opcode.d16):
            # With ECC a load of a half writes all of its register (LLVM: d16PreservesUnusedBits).
            return Kept({}, None) if ins.opcode.d16 and "sramecc" in self.kernel.arch.features else _kept(state, ins)
        if ins.opcode.unit in ("VMEM", "LDS", "SMEM", "SALU") or ins.opcode.flow or ins.opcode.wait:
            return {}
        return results(state, ins, self.data)

    def after(
        self, state: State, ins: Instruction, new: Contents | Kept | Multiplied, done: tuple[Access, ...]
    ) -> tuple[str, tuple[Access, ...]]:
        """Write the contents of an instruction's results, and forget its other destinations.

        Args:
            state: after the instruction, except for contents.
            ins: the instruction.
            new: the result of `before`.
            done: its accesses.

        Returns:
            Why the operands of a matrix instruction are not proved, empty for other instructions; the accesses, with
            they store.
        """
        why, every, under = "", bool(ins.opcode.matrix), None
        kept = new if isinstance(new, Kept) else Kept({}, None)
        registers = new if isinstance(new, dict) else {}
        if isinstance(new, Multiplied):
            why, registers = new.why, new.registers
        elif done:
            done = self._with_data(state, ins, done)
            try:
                if guarded := self._guarded(state, ins, kept, done):
                    every, under, registers = True, kept.under, guarded
                else:
                    registers = self._memory(state, ins, done, kept.registers if kept.under is None else {})
            except TooLarge:
                registers = {}
                state.c.pop(LDS, None)
        elif ins.opcode.access:
            registers = {}
        for part in ins.halves or (ins,):
            for operand in (*part.dst, *(part.src if "swap" in ins.name else ())):
                _write(state, operand, registers, every=every, under=under)
        return why, done

    def _guarded(self, state: State, ins: Instruction, kept: Kept, done: tuple[Access, ...]) -> Contents:
        """Contents after a guarded load to registers that held 0 in disabled lanes; empty where they are unknown."""
        access, old = done[0], kept.registers
        guards = state.exec.literals - (frozenset() if kept.under is None else kept.under.literals)
        if not old or not guards or access.space != "global" or len(done) > 1 or access.reach:
            return {}
        region = None if access.address is None else self.region(access.address)
        content = None if region is None or region.writes else padded(state, access, region, guards)
        new = {} if content is None else _arrived(ins, content, old)
        written = [byte for place in new for k, byte in enumerate(old[place]) if new[place][k] is not byte]
        return new if all(byte is not None and not byte.terms for byte in written) else {}

    def _with_data(self, state: State, ins: Instruction, done: tuple[Access, ...]) -> tuple[Access, ...]:
        """Stores to memory, with the bytes that they store."""
        access = done[0]
        if len(done) != 1 or access.space != "global" or access.kind != "write" or not STORES.search(ins.name):
            return done
        held = [byte for k in range(-(-access.size // 4)) for byte in dword(state, ins.src[-1], k)]
        held = held[2:] if ins.opcode.d16 == "high" else held
        return (replace(access, data=tuple(held[: access.size])),)

    def _memory(self, state: State, ins: Instruction, done: tuple[Access, ...], old: Contents) -> Contents:
        if ins.space == "flat":
            state.c.pop(LDS, None)
            return {}
        shared = [access for access in done if access.space == "lds"]
        if any(a.kind != "read" for a in shared):
            self._stored(state, ins, done, shared)
            return {}
        if shared:
            content = [byte for access in shared for byte in self._read(state, access)]
        elif len(done) == 1 and done[0].space == "global" and done[0].kind == "read":
            content = self._fetched(state, done[0])
        else:
            return {}
        return _arrived(ins, content, old)

    def _read(self, state: State, access: Access) -> list[Byte]:
        if access.address is None or not access.address.is_constant:
            return [None] * access.size
        return gathered(state, self.lds, access.address, access.size)

    def _stored(self, state: State, ins: Instruction, done: tuple[Access, ...], shared: list[Access]) -> None:
        """Write the stores of an LDS instruction; a store that is not followed makes the whole LDS unknown."""
        known = all(a.kind == "write" and a.address is not None and a.address.is_constant for a in shared)
        known = known and len(state.waves) == self.waves  # stores of other waves are not seen
        if known and ins.opcode.kind == "tensor":
            self._tile(state, *done)
            return
        if known and shared[0].through == "memory" and len(done) == 2 and shared[0].size % 4 == 0:
            content = self._fetched(state, done[0]) if done[0].size == shared[0].size else [None] * shared[0].size
            assert shared[0].address is not None
            scattered(state, self.lds, shared[0].address, content)
            return
        data = ins.src[1 : 1 + len(shared)]
        if known and WHOLE_STORES.match(ins.name) and len(data) == len(shared) and not ins.dst:
            for access, operand in zip(shared, data, strict=True):
                held = [byte for k in range(-(-access.size // 4)) for byte in dword(state, operand, k)]
                held = held[2:] if ins.opcode.d16 == "high" else held
                assert access.address is not None
                scattered(state, self.lds, access.address, held[: access.size])
            return
        state.c.pop(LDS, None)

    def _tile(self, state: State, read: Access, written: Access) -> None:
        """Contents that the tensor data mover writes to the LDS: elements of a matrix that is padded with zeros."""
        assert written.address is not None
        region = None if read.address is None else self.region(read.address)
        content = None
        if region is not None and not region.writes:
            mover = replace(state, exec=Mask(written.mask.on, read.mask.literals), facts=list(read.facts))
            content = padded(mover, read, region) if read.mask.literals else self._fetched(mover, read)
        scattered(
            replace(state, exec=written.mask),
            self.lds,
            written.address,
            [None] * read.size if content is None else content,
        )

    def _fetched(self, state: State, access: Access) -> list[Byte]:
        """Contents of a load from memory: addresses within an array; those in C as elements of C."""
        lost: list[Byte] = [None] * access.size
        region = None if access.address is None else self.region(access.address)
        if region is None or access.address is None or access.mask != state.exec:  # its inactive lanes read zeros
            return lost
        reach = access.reach
        if reach is not None and (reach.base is None or reach.records is None):
            return lost
        if reach is not None and reach.base is not None and reach.records is not None:
            offset = access.address - reach.base  # a load beyond the records returns 0
            if not never_negative(reach.records - offset - access.size, state.facts):
                return lost
        if not region.writes:
            return loaded(access.address, access.size)
        found = self.element(region, access.address, state.facts)
        return lost if found is None else loaded(of(OWN) + found, access.size)

    def region(self, address: Polynomial) -> Region | None:
        """The matrix that an address lies in."""
        found = region_of(address, self.contract.regions)
        return found if found is not None and found.tensor is not None else None

    def element(self, region: Region, address: Polynomial, facts: list[Polynomial]) -> Polynomial | None:
        """``ROW row + COLUMN column + byte`` of an address; None if they are not found.

        Args:
            region: the matrix.
            address: of each lane.
            facts: polynomials that are not negative.
        """
        found = line_and_place(region, address - of(region.pointer), facts)
        if found is None or region.tensor is None:
            return None
        line, place, bit = found
        row, column = (line, place) if region.tensor.order == "row" else (place, line)
        return row * of(ROW) + column * of(COLUMN) + Polynomial({m: c // 8 for m, c in bit.terms.items()})


def _arrived(ins: Instruction, content: Sequence[Byte], old: Contents) -> Contents:
    """Contents of a load's registers: its bytes, with zeros above them; a half-register load keeps the other half."""
    target = ins.dst[0] if ins.dst else None
    if target is None or target.kind not in ("v", "a"):
        return {}
    if HALF_LOADS.search(ins.name) and target.count == 1:
        kept = old.get((target.kind, target.index), (None,) * 4)
        half = (*content, constant(0))[:2]
        return {(target.kind, target.index): (*kept[:2], *half) if ins.opcode.d16 == "high" else (*half, *kept[2:])}
    whole = (*content, *[constant(0)] * (-len(content) % 4))
    if not WHOLE_LOADS.search(ins.name) or len(whole) != 4 * target.count:
        return {}
    return {(target.kind, target.index + k): whole[4 * k : 4 * k + 4] for k in range(target.count)}


def _kept(state: State, ins: Instruction) -> Kept:
    """Contents of a load's destination before it; for a load of whole registers, in lanes where their numbers are 0."""
    found: Contents = {}
    under: Mask | None = None
    zero = np.ones(state.exec.on.shape, np.bool_)
    for operand in ins.dst:
        for place in ((operand.kind, operand.index + k) for k in range(operand.count)):
            held = [state.c.get((*place, byte)) for byte in range(4)]
            word = state.v.get(place)
            if any(held):
                found[place] = tuple(None if w is None else w.value for w in held)
                masks = [w.under for w in held if w is not None]
            else:
                if word is not None and word.under is not None and not ins.opcode.d16:
                    word = state.beyond(word) or word
                value, masks = known(word), [] if word is None else [word.under]
                if isinstance(value, np.ndarray) and not ins.opcode.d16:
                    zero, value = zero & (value == 0), 0
                found[place] = tuple(None if value is None else constant(value >> 8 * k & 0xFF) for k in range(4))
            for mask in masks:
                if mask is not None and under is not None and mask != under:
                    return Kept({}, None)
                under = under if mask is None else mask
    if not zero.all():
        under = Mask(zero) if under is None else Mask(zero & under.on, under.literals)
    return Kept({}, None) if under is not None and not state.exec.within(under) else Kept(found, under)


def _write(state: State, operand: Operand, new: Contents, *, every: bool, under: Mask | None) -> None:
    """Write the contents of a destination: in the active lanes, or with `every` in all lanes of `under`."""
    if operand.kind == "s":
        for k in range(operand.index - 1, operand.index + max(operand.count, 1)):
            state.c.pop(("mask", k, 0), None)
        made = new.get(("mask", operand.index), (None,))[0]
        if made is not None:
            full = not state.exec.literals and bool(state.exec.on.all())
            state.c["mask", operand.index, 0] = Word(made, under=None if full else state.exec)
    if operand.kind not in ("v", "a"):
        return
    for number in range(operand.index, operand.index + operand.count):
        content = new.get((operand.kind, number), (None,) * 4)
        if every:
            for byte, value in enumerate(content):
                state.c.pop((operand.kind, number, byte), None)
                if value is not None:
                    state.c[operand.kind, number, byte] = Word(value, under=under)
        elif all(byte is None or byte.is_constant for byte in content):  # constants are words
            set_dword(state, operand.kind, number, (None,) * 4)
        else:
            set_dword(state, operand.kind, number, content)
