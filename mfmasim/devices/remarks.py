"""Legal, but probably unintended properties of a launch, which are known before execution."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mfmasim.isa import Instruction
    from mfmasim.isa.instruction import Operand
    from mfmasim.kernels import Kernel

UNFOLLOWED = ("call", "jump", "fork", "join")
"""Control flow whose target stands in a register."""


def remarks(kernel: Kernel, block: Sequence[int]) -> list[str]:
    """Remarks on a launch.

    Args:
        kernel: the kernel.
        block: work-items of a workgroup.
    """
    found = []
    items, wave = 1, kernel.wave
    for size in block:
        items *= size
    if items % wave:
        found.append(
            f"a block of {items} work-items is no multiple of the wave of {wave}: {items % wave} of {wave} lanes of "
            f"the last wave are active"
        )
    unread = unread_arguments(kernel)
    for number in unread:
        name = kernel.parameters[number].name
        found.append(f"argument {number}{f' ({name})' * bool(name)} is never read")
    return found


def unread_arguments(kernel: Kernel) -> tuple[int, ...]:
    """Numbers of the arguments whose bytes no instruction loads.

    Arguments are read with scalar loads from the segment, whose address stands in SGPRs when a wave starts, or are in
    SGPRs themselves. If a kernel uses that address in another way, no argument is reported.
    """
    descriptor = kernel.info.descriptor
    place = 0
    pointer: int | None = None
    preloaded: dict[int, int] = {}
    for name, count in descriptor.user_sgprs:
        if name == "kernarg_segment_ptr":
            pointer = place
        elif name == "kernarg_preload":
            preloaded = {place + n: (descriptor.kernarg_preload_offset + n) * 4 for n in range(count)}
        place += count
    read = _bytes_read(kernel, pointer, preloaded)
    if read is None:
        return ()
    return tuple(
        number
        for number, arg in enumerate(kernel.args)
        if not any(arg.offset <= b < arg.offset + arg.size for b in read)
    )


def _bytes_read(kernel: Kernel, pointer: int | None, preloaded: Mapping[int, int]) -> set[int] | None:
    """Bytes of the segment of arguments that are loaded or used; None if the address is used in another way."""
    listed = kernel.instructions
    index = {ins.pc: number for number, ins in enumerate(listed)}
    first = frozenset(preloaded) | (frozenset() if pointer is None else {pointer, pointer + 1})
    address = frozenset() if pointer is None else frozenset({pointer, pointer + 1})
    holding: dict[int, frozenset[int]] = {}
    """By instruction: registers that still hold on some path what they held when the wave started."""
    read: set[int] = set()
    todo = [(0, first)]
    while todo:
        number, held = todo.pop()
        before = holding.get(number)
        if number >= len(listed) or (before is not None and held <= before):
            continue
        held = holding[number] = held | (before or frozenset())
        ins = listed[number]
        if ins.opcode.flow in UNFOLLOWED:
            return None
        used = _loaded(ins, held, address, preloaded)
        if used is None:
            return None
        read |= used
        after = held - {r for operand in ins.dst for r in _scalars(operand)}
        if ins.target is not None:
            if ins.target not in index:
                return None
            todo.append((index[ins.target], after))
        if ins.opcode.flow not in ("branch", "end"):
            todo.append((number + 1, after))
    return read


def _loaded(
    ins: Instruction, held: frozenset[int], address: frozenset[int], preloaded: Mapping[int, int]
) -> set[int] | None:
    """Bytes of the segment that one instruction reads; None if it uses the address in another way than to load."""
    read: set[int] = set()
    for position, operand in enumerate(ins.src):
        registers = _scalars(operand) & held
        for register in registers & preloaded.keys():
            read.update(range(preloaded[register], preloaded[register] + 4))
        if not registers & address:
            continue
        fixed = len(ins.src) < 2 or ins.src[1].kind in ("off", "imm", "null")
        if position or registers != address or not fixed or (ins.opcode.unit, ins.opcode.access) != ("SMEM", "load"):
            return None
        offset = int(ins.modifiers.get("offset", 0))
        read.update(range(offset, offset + 4 * ins.dst[0].count))
    return read


def _scalars(operand: Operand) -> frozenset[int]:
    return frozenset(range(operand.index, operand.index + operand.count)) if operand.kind == "s" else frozenset()
