"""Data between lanes and halves, registers by index, and two operations in one: what gfx11 and gfx12 have for it.

Source: RDNA3.5 and RDNA4 ISA manuals, 7.8 (VOPD), 7.9, 7.11 and the opcodes of V_PERMLANE*, V_MOVREL*, V_SWAP*.
"""

from __future__ import annotations

import dataclasses

from tests.slow.machine import names
from tests.slow.machine.float_mode import EXTRA
from tests.slow.machine.vector_alu import VECTOR
from tests.slow.machine.vector_execution import commit, outcome, raw_bits

M32 = (1 << 32) - 1


def _gather(wave, ins, source):
    """Each active lane reads the lane that `source` names; a disabled one as FI and BOUND_CTRL say."""
    data = list(wave.v[ins.src[0].index])
    for lane in wave.active():
        found = source(lane)
        if wave.exec_ >> found & 1 or ins.modifiers["fi"]:
            wave.v[ins.dst[0].index][lane] = data[found]
        elif ins.modifiers["bound_ctrl"]:
            wave.v[ins.dst[0].index][lane] = 0


def _row(name, lane):
    return (lane ^ 16 if "permlanex16" in name else lane) & ~15


def _permlane16(wave, ins):
    select = wave.scalar(ins.src[1]) & M32 | (wave.scalar(ins.src[2]) & M32) << 32
    _gather(wave, ins, lambda lane: _row(ins.name, lane) + (select >> 4 * (lane & 15) & 15))


def _permlane16_var(wave, ins):
    select = list(wave.v[ins.src[1].index])
    _gather(wave, ins, lambda lane: _row(ins.name, lane) + (select[lane] & 15))


def _permlane64(wave, ins):
    """The halves of a wave of 64 change places, disabled lanes are read too; a wave of 32 does nothing."""
    if wave.lanes == 64:
        data = list(wave.v[ins.src[0].index])
        for lane in wave.active():
            wave.v[ins.dst[0].index][lane] = data[lane ^ 32]


EXTRA |= {
    "v_permlane16_b32": _permlane16,
    "v_permlanex16_b32": _permlane16,
    "v_permlane16_var_b32": _permlane16_var,
    "v_permlanex16_var_b32": _permlane16_var,
    "v_permlane64_b32": _permlane64,
}


# Registers by index.


def _distances(wave, name):
    """How far M0 moves source and destination."""
    if "sd_2" in name or "swaprel" in name:
        return wave.m0 & 0x3FF, wave.m0 >> 16 & 0x3FF
    return (wave.m0 if "rels" in name else 0), (wave.m0 if "reld" in name or "relsd" in name else 0)


def _movrel(wave, ins):
    """Beyond the kernel's registers a source is v0 and a destination is not written; probes stay inside."""
    by_source, by_target = _distances(wave, ins.name)
    source = ins.src[0]
    if source.kind == "v":
        source = dataclasses.replace(source, index=source.index + by_source)
    target = ins.dst[0].index + by_target
    for lane in wave.active():
        bits = raw_bits(wave, source, lane)
        if ins.name == "v_swaprel_b32":
            wave.v[source.index][lane] = wave.v[target][lane]
        wave.v[target][lane] = bits


EXTRA |= {f"v_{name}_b32": _movrel for name in ("movreld", "movrels", "movrelsd", "movrelsd_2", "swaprel")}


def _swap_halves(wave, ins):
    """V_SWAP_B16: op_sel tells the halves, of the source in bit 0 and of the destination in bit 3."""
    select = ins.modifiers.get("op_sel", 0)
    one, two = (ins.dst[0].index, 16 * (select >> 3 & 1)), (ins.src[0].index, 16 * (select & 1))
    for lane in wave.active():
        bits = [wave.v[index][lane] >> shift & 0xFFFF for index, shift in (two, one)]
        for (index, shift), half in zip((one, two), bits, strict=True):
            wave.v[index][lane] = wave.v[index][lane] & ~(0xFFFF << shift) & M32 | half << shift


EXTRA["v_swap_b16"] = _swap_halves


# VOPD.


def _dual(wave, ins):
    """Both halves read before either writes."""
    found = []
    for half in ins.halves:
        name = half.name.replace("v_dual_", "v_")
        opcode = dataclasses.replace(half.opcode, name=names.ALIASES.get(name, name))
        half = dataclasses.replace(half, opcode=opcode)  # noqa: PLW2901
        if half.name in VECTOR:
            found.append(outcome(wave, half, *VECTOR[half.name]))
            continue
        # A dot product: run it on its own and take its writes back.
        to = wave.v[half.dst[0].index]
        before = list(to)
        EXTRA[half.name](wave, half)
        after, to[:] = list(to), before
        found.append((half, [(half.dst[0], lane, "u32", after[lane]) for lane in wave.active()], {}))
    for what in found:
        commit(wave, what)


def dual(wave, ins):
    """Whether an instruction was two in one; executes it then."""
    if not getattr(ins, "halves", ()):
        return False
    _dual(wave, ins)
    return True
