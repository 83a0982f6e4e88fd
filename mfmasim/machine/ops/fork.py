"""Branches with a stack of paths in SGPRs. Source: CDNA1 and CDNA3 ISA manuals, 4.6 and S_CBRANCH_G_FORK, I_FORK, JOIN.

A fork at which the lanes of a wave disagree takes the path with fewer lanes and saves the other one, {PC, EXEC}, in the
four SGPRs from 4 * CSP on; CSP is MODE[31:29]. A join takes saved paths until CSP is what it was before the forks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.machine.binding.operands import scalar_reader
from mfmasim.machine.opcodes.registry import direct
from mfmasim.machine.ops.control import no_code
from mfmasim.machine.ops.relative import parts_of
from mfmasim.machine.state.waves import CSP, EXEC

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mfmasim.isa import Instruction
    from mfmasim.machine.events.interface import Bound, Machine
    from mfmasim.machine.state.waves import Group

    Target = Callable[[Group], NDArray[np.int64]]

ENTRY = 4
"""SGPRs of a saved path: EXEC, then the program counter."""
ONE = np.uint32(CSP & -CSP)
"""1 in the field CSP of MODE."""


def stack_pointer(g: Group) -> NDArray[np.uint32]:
    """CSP of each wave."""
    return g.mode // ONE


def _exec(g: Group) -> NDArray[np.uint64]:
    low, high = (g.s(EXEC + k).astype(np.uint64) for k in range(2))
    return np.broadcast_to(low | high << np.uint64(32), (g.count,))


def _write_pair(g: Group, code: int, value: NDArray[np.uint64]) -> None:
    g.write_s(code, value.astype(np.uint32))
    g.write_s(code + 1, (value >> np.uint64(32)).astype(np.uint32))


def _lanes(masks: NDArray[np.uint64]) -> NDArray[Any]:
    """Lanes of each mask."""
    octets = np.ascontiguousarray(masks)[:, None].view(np.uint8)
    return np.asarray(np.unpackbits(octets, axis=1).sum(axis=1))


def _jump(g: Group, instruction: Instruction, machine: Machine, to: NDArray[np.int64]) -> None:
    """Go on at addresses of the code object; one outside the code ends the launch."""
    for address in set(to.tolist()):
        if not machine.kernel.code.is_code(address):
            machine.stop("fetch", no_code(machine, address), instruction.pc, g, to.tolist().index(address))
            return
    g.pc = to


def _fork(instruction: Instruction, machine: Machine) -> Bound:
    """Lanes whose bit of S0 is set branch, to S1 (G_FORK) or to the label (I_FORK); the others do not."""
    read = scalar_reader(instruction.src[0], "u64", instruction)
    base, after = machine.launch.image_base, instruction.pc + instruction.size
    if instruction.target is None:
        pointer = scalar_reader(instruction.src[1], "u64", instruction)
        target: Target = lambda g: pointer(g).astype(np.int64) - base  # noqa: E731
    else:
        label = np.array([instruction.target])
        target = lambda g: label  # noqa: ARG005, E731

    def run(g: Group) -> None:
        active, chosen, there = _exec(g), read(g), np.broadcast_to(target(g), (g.count,))
        passing, failing = active & chosen, active & ~chosen
        whole = passing == active
        split = ~whole & (failing != active)
        fewer = _lanes(failing) < _lanes(passing)
        goes = whole | split & ~fewer
        if split.any():
            saved = np.where(fewer, there, after).astype(np.uint64) + np.uint64(base)
            other, now = np.where(fewer, passing, failing), np.where(fewer, failing, passing)
            numbers = np.where(split, np.broadcast_to(stack_pointer(g), (g.count,)), CSP)
            for number, part in parts_of(g, numbers):
                if number == CSP:
                    continue
                mine = numbers == number
                _write_pair(part, ENTRY * number, other[mine])
                _write_pair(part, ENTRY * number + 2, saved[mine])
                _write_pair(part, EXEC, now[mine])
                part.write_mode(part.mode + ONE)
            g.refresh()
        _jump(g, instruction, machine, np.where(goes, there, after))

    return run


def _join(instruction: Instruction, machine: Machine) -> Bound:
    """Go on where CSP is S0; else take the path that was saved last."""
    read = scalar_reader(instruction.src[0], "u32", instruction)
    base, after = machine.launch.image_base, instruction.pc + instruction.size

    def run(g: Group) -> None:
        pointer = np.broadcast_to(stack_pointer(g), (g.count,))
        to = np.full(g.count, after)
        numbers = np.where(pointer == read(g), CSP, pointer - np.uint32(1) & np.uint32(7))
        for number, part in parts_of(g, numbers):
            if number == CSP:
                continue
            low, high, first, second = (part.s(ENTRY * number + k) for k in range(ENTRY))
            to[numbers == number] = (first.astype(np.int64) | second.astype(np.int64) << 32) - base
            part.write_mode(part.mode - ONE)
            part.write_s(EXEC, low)
            part.write_s(EXEC + 1, high)
        g.refresh()
        _jump(g, instruction, machine, to)

    return run


direct("s_cbranch_g_fork s_cbranch_i_fork")(_fork)
direct("s_cbranch_join")(_join)
