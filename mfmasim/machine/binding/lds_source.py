"""LDS_DIRECT, a source of vector instructions: one value of the LDS for all lanes, whose address and type M0 holds.

Source: CDNA1 ISA manual, LDS direct reads: M0[15:0] is the byte, M0[18:16] the type; LLVM has the operand up to gfx10,
without gfx90a and gfx94x.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfmasim.machine.events.notify import Part
from mfmasim.machine.opcodes.refusal import unsupported
from mfmasim.machine.state import private_memory
from mfmasim.machine.state.touched_bytes import Outside

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.isa import Instruction
    from mfmasim.machine.events.interface import Bound, Machine
    from mfmasim.machine.state.waves import Group

M0 = 124
TYPES = {0: np.uint8, 1: np.uint16, 2: np.uint32, 4: np.int8, 5: np.int16}
"""Types by M0[18:16]; smaller ones are extended to 32 bits. 3, 6 and 7 are reserved."""


def with_source(instruction: Instruction, machine: Machine, step: Bound) -> Bound:
    """The step of an instruction, after a read of LDS_DIRECT if this is one of its sources.

    Args:
        instruction: the instruction.
        machine: its LDS, and observers.
        step: the instruction's function of its sources.
    """
    if not instruction.reads_lds_direct:
        return step

    def run(g: Group) -> None:
        value = np.zeros(g.count, np.uint32)
        m0 = np.broadcast_to(g.s(M0), (g.count,))
        kinds = m0 >> 16 & 7
        for kind in np.unique(kinds).tolist():
            if kind not in TYPES:
                raise unsupported(instruction, f"type {kind} in M0[18:16] of a read by LDS_DIRECT in")
            own = kinds == kind
            value[own] = _read(instruction, machine, g, m0, own, np.dtype(TYPES[kind]))[own]
        g.put_lds_source(value)
        step(g)

    return run


def _read(
    instruction: Instruction,
    machine: Machine,
    g: Group,
    m0: NDArray[np.uint32],
    own: NDArray[np.bool_],
    dtype: np.dtype[np.generic],
) -> NDArray[np.uint32]:
    """Values of some waves, (waves,)."""
    address = np.broadcast_to((m0 & 0xFFFF).astype(np.int64)[:, None], (g.count, g.lanes))
    mask = np.broadcast_to(own[:, None], address.shape) & g.active
    if machine.notify.accesses:
        machine.notify.access(instruction, g, Part("lds", address, mask), "read", dtype.itemsize)
    inside = address[:, :1] + dtype.itemsize <= machine.launch.lds_bytes
    if (outside := ~inside & mask).any():
        machine.notify.fault(instruction, g, "lds", "read", dtype.itemsize, Outside(outside, address.astype(np.uint64)))
    (word,) = private_memory.read(machine.lds, g.workgroup[:, None], address[:, :1], dtype.itemsize, inside)
    return word[:, 0].astype(f"u{dtype.itemsize}").view(dtype).astype(np.int32).view(np.uint32)
