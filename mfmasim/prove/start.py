"""The initial state of all waves of one workgroup, and the results of scalar loads."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.machine.state.waves import TTMP0
from mfmasim.prove.arguments import Region, Structure
from mfmasim.prove.masks import Mask
from mfmasim.prove.paths import Stopped
from mfmasim.prove.polynomial import Polynomial, Symbol, constant, of
from mfmasim.prove.state import State
from mfmasim.prove.words import Word, literal, pair, reduced, unsigned

if TYPE_CHECKING:
    from mfmasim.isa import Instruction
    from mfmasim.kernels import Kernel
    from mfmasim.prove.arguments import Passed
    from mfmasim.prove.contract import Contract

__all__ = ["Segment", "first_state"]


class Segment:
    """The segment of kernel arguments: its address and its dwords."""

    def __init__(self, kernel: Kernel, contract: Contract) -> None:
        """Lay out the arguments by the metadata."""
        self.pointer = Symbol("&arguments", 1 << 12, 1 << 47)
        self.packet = Symbol("&packet", 1 << 12, 1 << 47)
        self.size = kernel.info.kernarg_room
        self.values: list[tuple[int, int, Polynomial]] = []
        self.data: set[Symbol] = set()
        """Symbols of arguments that are plain data, such as floats."""
        """First byte, bytes, value."""
        explicit = kernel.args
        if len(contract.args) != len(explicit):
            raise Stopped(f"the case gives {len(contract.args)} arguments, the kernel has {len(explicit)}")
        for number, (arg, value) in enumerate(zip(explicit, contract.args, strict=True)):
            if isinstance(value, Structure) and not arg.is_pointer:
                for first, size, field in value.fields:
                    self._put(f"arg{number}[{first}]", arg.offset + first, size, field)
            else:
                region = value.region if isinstance(value, Structure) else value
                self._put(f"arg{number}", arg.offset, arg.size, region)
        for hidden in kernel.info.hidden_args:
            known = self._hidden(hidden.value_kind, contract)
            if known is not None:
                self.values.append((hidden.offset, hidden.size, known))

    def _put(self, name: str, offset: int, size: int, value: Passed) -> None:
        if isinstance(value, Region):
            self.values.append((offset, size, of(value.pointer)))
        elif isinstance(value, Polynomial):
            self.values.append((offset, size, value))
        else:
            for k in range(0, size, 4):
                unknown = Symbol(f"{name}[{k}]", 0, (1 << 32) - 1)
                self.data.add(unknown)
                self.values.append((offset + k, 4, of(unknown)))

    @staticmethod
    def _hidden(kind: str, contract: Contract) -> Polynomial | None:
        axis = {"x": 0, "y": 1, "z": 2}.get(kind[-1], 0)
        if kind.startswith("hidden_block_count"):
            return contract.grid[axis]
        if kind.startswith("hidden_group_size"):
            return constant(contract.block[axis])
        if kind.startswith(("hidden_remainder", "hidden_global_offset")):
            return constant(0)
        return constant(contract.shared) if kind == "hidden_dynamic_lds_size" else None

    def holds(self, address: Polynomial, size: int) -> bool:
        """Whether `size` bytes at an address lie within the segment."""
        inside = address - of(self.pointer)
        return inside.is_constant and isinstance(inside.constant, int) and 0 <= inside.constant <= self.size - size

    def dword(self, offset: int) -> Word | None:
        """The dword at a byte offset in the segment; None if it is unknown, or has parts of several arguments."""
        for first, size, value in self.values:
            if first <= offset < first + size:
                part, inside = divmod(offset - first, 4)
                if not (inside or part > 1 or size % 4):
                    return _word(value, part)
        total = 0
        for k in range(4):
            byte = self._byte(offset + k)
            if byte is None:
                return None
            total |= byte << 8 * k
        return literal(total)

    def _byte(self, offset: int) -> int | None:
        """A byte of a constant, such as the 16 bits of a workgroup's size; None for other bytes."""
        for first, size, value in self.values:
            if first <= offset < first + size:
                number = value.constant if value.is_constant else None
                return number >> 8 * (offset - first) & 0xFF if isinstance(number, int) else None
        return None


def _word(value: Polynomial, part: int) -> Word:
    if value.is_constant:
        return literal(int(value.constant) >> (32 * part))
    if part and value.range[0] is not None and value.range[0] >= 0 and (value.range[1] or 1 << 64) < 1 << 32:
        return literal(0)
    return Word(value, part)


def loaded(
    state: State, ins: Instruction, segment: Segment, dwords: int
) -> tuple[list[Word | None], Polynomial | None]:
    """The result of a scalar load, and its address, None if it is unknown.

    Args:
        state: before it.
        ins: the load.
        segment: the kernel arguments.
        dwords: number of registers that it writes.
    """
    base = pair(state.operand(ins.src[0]), state.operand(ins.src[0], 1), state.facts)
    offset = state.operand(ins.src[1]) if len(ins.src) > 1 and ins.src[1].kind == "s" else literal(0)
    for operand in ins.src[1:]:
        if operand.kind in ("imm", "const"):
            offset = literal(operand.bits)
    if base is None or offset is None or offset.part:
        return [None] * dwords, None
    if ins.modifiers.get("scale_offset"):  # the product wraps at 32 bits, too
        offset = reduced(offset.value.scaled(ins.opcode.bytes))
    added = unsigned(offset, state.facts)
    if added is None:
        return [None] * dwords, None
    address = base + added + ins.modifiers.get("offset", 0)
    rest = Polynomial({m: c for m, c in address.terms.items() if not _pointer(m)})
    if not rest.divisible(4) or np.any(np.asarray(rest.constant) % 4):
        return [None] * dwords, None  # the hardware ignores the two low bits
    inside = address - of(segment.pointer)
    if not inside.is_constant or not isinstance(inside.constant, int):
        return [None] * dwords, address
    return [segment.dword(inside.constant + 4 * k) for k in range(dwords)], address


def _pointer(monomial: tuple[Symbol, ...]) -> bool:
    """Whether a monomial is the address of an argument, which is aligned."""
    return len(monomial) == 1 and monomial[0].name.startswith("&")


def first_state(kernel: Kernel, contract: Contract, segment: Segment) -> State:
    """Registers and EXEC of all waves of a workgroup (`mfmasim.machine.execution.initial_state`).

    Args:
        kernel: its descriptor determines the initial registers.
        contract: workgroups and arguments.
        segment: the kernel arguments in memory.

    Raises:
        Stopped: the kernel's initial registers are not followed.
    """
    arch, descriptor, lanes = kernel.arch, kernel.info.descriptor, kernel.wave
    if prod(kernel.info.metadata.cluster_dims or (1,)) > 1:
        raise Stopped("clusters of workgroups are not followed")
    bx, by, bz = contract.block
    items = bx * by * bz
    count = -(-items // lanes)
    item = np.arange(count, dtype=np.int64)[:, None] * lanes + np.arange(lanes)
    state = State(np.arange(count), Mask(item < items), kernel.info.entry, facts=list(contract.facts))
    state.rounds = not descriptor.float_mode & 3
    place = 0
    for name, registers in descriptor.user_sgprs:
        symbol = {"kernarg_segment_ptr": segment.pointer, "dispatch_ptr": segment.packet}.get(name)
        for k in range(registers):
            if symbol is not None:
                state.s[place + k] = Word(of(symbol), k)
            elif name == "kernarg_preload":
                word = segment.dword(4 * (descriptor.kernarg_preload_offset + k))
                if word is not None:
                    state.s[place + k] = word
        place += registers
    place = descriptor.user_sgpr_count
    wave = np.arange(count, dtype=np.int64)[:, None]
    x, y, z = contract.workgroup
    if arch.workgroup_id_in_ttmp:
        both = any(descriptor.workgroup_ids[1:])
        state.s[TTMP0 + 9] = Word(x)
        state.s[TTMP0 + 8] = Word(constant(wave << 25 | both << 30))
        if y.range[1] is not None:
            # Both have 16 bits (ISA manual: the grid's limits in y and z).
            state.s[TTMP0 + 7] = Word(y + z.scaled(1 << 16))
            state.facts += [-y + 0xFFFF, -z + 0xFFFF]
    else:
        for enabled, value in zip(descriptor.workgroup_ids, (x, y, z), strict=True):
            if enabled:
                state.s[place] = Word(value)
                place += 1
    ids = (item % bx, item // bx % by, item // (bx * by))
    if arch.packed_workitem_ids:
        state.v["v", 0] = Word(constant(ids[0] | ids[1] << 10 | ids[2] << 20))
    else:
        for k in range(descriptor.workitem_id_mode + 1):
            state.v["v", k] = Word(constant(ids[k]))
    return state
