"""Global accesses in which the lane's number matters: transposed loads and addresses by lane.

Source: RDNA4 ISA manual, 11.6 and GLOBAL_LOAD_ADDTID_B32. What a lane receives from GLOBAL_LOAD_TR_B128 is that
of a public measurement on gfx1201 (all 256 elements distinct, wave32): eight lanes exchange their eight halves, lane i
receiving the i-th of each. Of GLOBAL_LOAD_TR_B64 and of wave64 no mapping is public; both are refused.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mfmasim.errors import MfmasimError
from mfmasim.isa import Instruction
from mfmasim.machine.binding.operands import read_dword, scalar_reader
from mfmasim.machine.events.interface import Bound, Spaces
from mfmasim.machine.opcodes.refusal import unsupported
from mfmasim.machine.opcodes.registry import direct
from mfmasim.machine.ops.global_memory import pointer
from mfmasim.machine.ops.spaces import Part, load, store
from mfmasim.machine.state.waves import Group

TILE = 8
"""Lanes that exchange elements, and elements of each."""


def exchanged(words: list[NDArray[np.uint32]]) -> list[NDArray[np.uint32]]:
    """What lanes receive when each eight of them transpose the eight halves that they read.

    Args:
        words: four dwords per lane, each uint32 (waves, lanes).
    """
    halves = np.ascontiguousarray(np.stack(words, axis=-1)).view(np.uint16)
    waves, lanes, _ = halves.shape
    tiles = halves.reshape(waves, lanes // TILE, TILE, TILE).swapaxes(2, 3)
    out = np.ascontiguousarray(tiles).reshape(waves, lanes, TILE).view(np.uint32)
    return [out[..., k] for k in range(len(words))]


def _unknown(instruction: Instruction) -> MfmasimError:
    return unsupported(instruction, "a transposed load whose mapping is not public")


def _transposed(instruction: Instruction, machine: Spaces) -> Bound:
    if machine.kernel.wave != 32:
        raise _unknown(instruction)
    address = pointer(instruction)
    target = instruction.dst[0]

    def run(g: Group) -> None:
        # EXEC must be all ones; a lane that is not active contributes what load gives it (assumed).
        words = load(machine, g, instruction, Part("global", address(g), g.mask), 16)
        for k, word in enumerate(exchanged(list(np.broadcast_arrays(*words)))):
            g.write_v(target.kind, target.index + k, word)

    return run


direct("global_load_tr_b128", "reference")(_transposed)


def _refused(instruction: Instruction, _machine: Spaces) -> Bound:
    raise _unknown(instruction)


direct("global_load_tr_b64", "reference")(_refused)


def _by_lane(instruction: Instruction, saddr: int) -> Callable[[Group], NDArray[np.uint64]]:
    """Scalar base plus immediate plus four bytes per lane."""
    base = scalar_reader(instruction.src[saddr], "u64", instruction)
    offset = np.int64(instruction.modifiers.get("offset", 0)).astype(np.uint64)
    return lambda g: (base(g) + offset)[:, None] + 4 * np.arange(g.lanes, dtype=np.uint64)


def _load(instruction: Instruction, machine: Spaces) -> Bound:
    address, target = _by_lane(instruction, 1), instruction.dst[0]

    def run(g: Group) -> None:
        (word,) = load(machine, g, instruction, Part("global", address(g), g.mask), 4)
        g.write_v(target.kind, target.index, word)

    return run


def _store(instruction: Instruction, machine: Spaces) -> Bound:
    address, read = _by_lane(instruction, 1), read_dword(instruction.src[2], 0, instruction)
    return lambda g: store(machine, g, instruction, Part("global", address(g), g.mask), [read(g)], 4)


direct("global_load_addtid_b32 global_load_dword_addtid")(_load)
direct("global_store_addtid_b32 global_store_dword_addtid")(_store)
