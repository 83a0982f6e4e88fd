"""Asynchronous copies between memory and the LDS, lane by lane, and loads for several workgroups of a cluster.

Source: CDNA5 ISA manual, 10.7 and 10.8. The immediate is part of both addresses. Each workgroup that
needs the data of a multicast load issues it: the mask in M0 says which of them may share one request, and only those
receive data; outside a cluster, and with a mask of 0, it is an ordinary load. That a workgroup which is not in its own
mask receives nothing is assumed. A lane whose address in the LDS is out of range reads nothing from memory
(triton-lang/triton, pull 9761, by AMD's developers: such a load is dropped before it is fetched).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from mfmasim.arrays import Flags
from mfmasim.isa import Instruction, Operand
from mfmasim.machine.binding.operands import read_dword
from mfmasim.machine.events.interface import Bound, Spaces
from mfmasim.machine.opcodes.registry import direct
from mfmasim.machine.ops.global_memory import pointer, put
from mfmasim.machine.ops.spaces import Access, Part, lds_address, load, store
from mfmasim.machine.state.waves import Group

SIZES = (("b8", 1), ("b32", 4), ("b64", 8), ("b128", 16))
MASK = np.uint32(0xFFFF)
"""Bits of M0, or of a descriptor, that name workgroups."""


def receivers(
    machine: Spaces, g: Group, instruction: Instruction, masks: NDArray[np.uint32], requests: Callable[[int], bytes]
) -> Flags | None:
    """Waves that receive the data of a load for several workgroups; None for all of them.

    Args:
        machine: the spaces.
        g: the waves.
        instruction: what loads.
        masks: workgroups that share the request, (1 or waves,); 0 where it is an ordinary load.
        requests: what each wave of the group requests, as bytes that are equal for equal requests.
    """
    clusters = machine.launch.clusters
    masks = np.broadcast_to(masks & MASK, (g.count,))
    if masks.any() and machine.notify.multicasts:
        machine.notify.multicast(instruction, g, masks, requests)
    if clusters.workgroups == 1 or not masks.any():
        return None
    own = masks >> (g.workgroup % clusters.workgroups).astype(np.uint32) & np.uint32(1)
    machine.outcome.fidelity[instruction.name] = "assumed"
    received: Flags = (own != 0) | (masks == 0)
    return received


def _shared(machine: Spaces, g: Group, instruction: Instruction, part: Part) -> Part:
    """The lanes of a load for several workgroups that receive data."""
    address = np.broadcast_to(part.address, (g.count, g.lanes))
    active = np.broadcast_to(g.active, (g.count, g.lanes))
    found = receivers(
        machine, g, instruction, g.s(machine.arch.m0), lambda wave: np.where(active, address, 0)[wave].tobytes()
    )
    return part if found is None else Part(part.space, part.address, active & found[:, None])


def _lds(operand: Operand, instruction: Instruction) -> Callable[[Group], NDArray[np.int64]]:
    """Address in the LDS: a register, and the immediate."""
    base, offset = read_dword(operand, 0, instruction), instruction.modifiers.get("offset", 0) & 0xFFFFFFFF
    return lambda g: lds_address(base(g), offset)


def _received(machine: Spaces, part: Part, target: Part) -> Part:
    """The lanes of a load whose data begin within the LDS; the others do not load."""
    inside = target.address < machine.launch.lds_bytes
    if inside.all():
        return part
    return Part(part.space, part.address, inside if part.mask is None else inside & part.mask)


def _load(size: int, shared: bool, instruction: Instruction, machine: Spaces) -> Bound:
    address, place = pointer(instruction), _lds(instruction.src[2], instruction)

    def run(g: Group) -> None:
        part = Part("global", address(g), g.mask)
        if shared:
            part = _shared(machine, g, instruction, part)
        target = Part("lds", place(g), part.mask)
        words = load(machine, g, instruction, _received(machine, part, target), size)
        store(machine, g, instruction, target, words, size)

    return run


def _store(size: int, instruction: Instruction, machine: Spaces) -> Bound:
    address, place = pointer(instruction), _lds(instruction.src[2], instruction)

    def run(g: Group) -> None:
        words = load(machine, g, instruction, Part("lds", place(g), g.mask), size)
        store(machine, g, instruction, Part("global", address(g), g.mask), words, size)

    return run


def _to_registers(size: int, instruction: Instruction, machine: Spaces) -> Bound:
    """A load for several workgroups to registers."""
    address, target = pointer(instruction), instruction.dst[0]

    def run(g: Group) -> None:
        part = _shared(machine, g, instruction, Part("global", address(g), g.mask))
        words = load(machine, g, instruction, part, size)
        if part.mask is not None:  # a lane that receives nothing keeps what it holds
            words = [np.where(part.mask, word, g.v(target.kind, target.index + k)) for k, word in enumerate(words)]
        put(machine, g, target, words, Access(size))

    return run


for _name, _size in SIZES:
    direct(f"global_load_async_to_lds_{_name}")(partial(_load, _size, False))
    direct(f"cluster_load_async_to_lds_{_name}")(partial(_load, _size, True))
    direct(f"global_store_async_from_lds_{_name}")(partial(_store, _size))
    if _size > 1:
        direct(f"cluster_load_{_name}")(partial(_to_registers, _size))
