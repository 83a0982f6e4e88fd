"""VGPRs above v255: the registers that an instruction accesses in the mode that S_SET_VGPR_MSB has set.

Source: CDNA5 ISA manual, 3.3.2.3 (which bits extend which operand) and 3.4.3 (their places in MODE).
"""

from __future__ import annotations

import dataclasses

from tests.slow.machine.storage import MEMORY

SOURCES, DESTINATION = (14, 16, 18), 12
"""Bits of MODE for S0, S1, S2 and the destination."""


def _moved(operand, shift, mode):
    if operand.kind != "v" or shift is None:
        return operand
    return dataclasses.replace(operand, index=operand.index + 256 * (mode >> shift & 3))


def _shifts(ins):
    """For every source the place of its bits: by the order of the manual's table."""
    if ins.encoding in ("FLAT", "GLOBAL", "SCRATCH"):
        return (SOURCES[0], None, SOURCES[1])
    if ins.encoding in ("MUBUF", "MTBUF"):
        return (SOURCES[0], None, None, DESTINATION)
    return tuple(SOURCES[min(number, 2)] if operand.printed else DESTINATION for number, operand in enumerate(ins.src))


def selected(wave, ins):
    """The instruction with the registers that it accesses."""
    mode = wave.mode
    if wave.arch != "gfx1250" or ins.name.startswith("s_") or not mode >> 12 & 0xFF:
        return ins
    to = [_moved(operand, DESTINATION if k == 0 else SOURCES[0], mode) for k, operand in enumerate(ins.dst)]
    src = [_moved(operand, shift, mode) for operand, shift in zip(ins.src, _shifts(ins), strict=False)]
    halves = tuple(selected(wave, half) for half in ins.halves)
    return dataclasses.replace(ins, dst=tuple(to), src=(*src, *ins.src[len(src) :]), halves=halves)


def _set(wave, ins):
    """The immediate has S0, S1, S2 and the destination from its lowest bits on."""
    bits = ins.src[0].bits
    for place, shift in enumerate((*SOURCES, DESTINATION)):
        wave.mode = wave.mode & ~(3 << shift) | (bits >> 2 * place & 3) << shift


MEMORY["s_set_vgpr_msb"] = _set
