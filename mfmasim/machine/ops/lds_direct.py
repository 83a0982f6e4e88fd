"""Direct-to-LDS loads: memory to the LDS without VGPRs.

Source: CDNA3 ISA manual, 9.1.9 and 10.3; CDNA4 ISA manual, 9.1.9 (12 and 16 bytes). The LDS address depends only
on the lane's number: M0 + immediate + 4 * lane, or 16 * lane for 12 and 16 bytes. The immediate is part of both
addresses.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from mfmasim.isa import Instruction
from mfmasim.machine.events.interface import Bound, Spaces
from mfmasim.machine.opcodes.registry import direct
from mfmasim.machine.ops.global_memory import LOADS, RESOLVERS
from mfmasim.machine.ops.spaces import Access, Part, extend, load, store
from mfmasim.machine.state.waves import Group


def to_lds(
    instruction: Instruction, machine: Spaces, access: Access, fetch: Callable[[Group], list[NDArray[np.uint32]]]
) -> Bound:
    """Bind a direct-to-LDS load; `fetch` gives what each lane loaded, 0 where that was out of range."""
    # M0 holds as many bits of offset as the largest allocation needs: 16 on CDNA3, 18 on CDNA4.
    bits = np.uint32((1 << (machine.arch.lds_bytes - 1).bit_length()) - 1)
    if instruction.encoding != "MUBUF":
        bits &= ~np.uint32(3)
    m0 = machine.arch.m0
    pitch = 4 if access.size <= 4 else 16
    offset = instruction.modifiers.get("offset", 0)

    def run(g: Group) -> None:
        words = fetch(g)
        if access.size < 4:
            words = [extend(words[0], access)]
        place = (g.s(m0) & bits).astype(np.int64)[:, None] + offset + pitch * np.arange(g.lanes)
        store(machine, g, instruction, Part("lds", place, g.mask), words, 4 * len(words))

    return run


def _segment(segment: str, access: Access, instruction: Instruction, machine: Spaces) -> Bound:
    resolve = RESOLVERS[segment](instruction)
    return to_lds(instruction, machine, access, lambda g: load(machine, g, instruction, resolve(g)[0], access.size))


SEGMENTS = {
    "ubyte": ("global", "scratch"), "sbyte": ("global", "scratch"), "ushort": ("global", "scratch"),
    "sshort": ("global", "scratch"), "dword": ("global", "scratch"), "dwordx3": ("global",), "dwordx4": ("global",),
}  # fmt: skip
for _what, _, _access in LOADS:
    for _unit in SEGMENTS.get(_what, ()):
        direct(f"{_unit}_load_lds_{_what}")(partial(_segment, _unit, _access))
