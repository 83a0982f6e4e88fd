"""Data between lanes, registers chosen at run time, clocks and traps.

Source: CDNA3 and CDNA4 ISA manuals, chapters 3, 6, 11 and 12, read apart from the machine.
"""

from __future__ import annotations

import dataclasses

from mfmasim.isa.opcode import opcode
from tests.slow.machine.scalar_alu import NOTHING
from tests.slow.machine.storage import MEMORY
from tests.slow.machine.vector_execution import raw_bits

M16, M32, M64 = (1 << 16) - 1, (1 << 32) - 1, (1 << 64) - 1


# Lanes and registers chosen at run time.


def _read_v(wave, operand):
    return list(wave.file(operand.kind)[operand.index])


def _read_lane(wave, ins):
    wave.write_scalar(ins.dst[0], raw_bits(wave, ins.src[0], wave.scalar(ins.src[1]) & wave.lanes - 1))


def _read_first_lane(wave, ins):
    wave.write_scalar(ins.dst[0], raw_bits(wave, ins.src[0], next(iter(wave.active()), 0)))


def _write_lane(wave, ins):
    wave.file(ins.dst[0].kind)[ins.dst[0].index][wave.scalar(ins.src[1]) & wave.lanes - 1] = wave.scalar(ins.src[0])


def _swap(wave, ins):
    one, two = (wave.file(x.kind)[x.index] for x in (ins.dst[0], ins.src[0]))
    for lane in wave.active():
        one[lane], two[lane] = two[lane], one[lane]


def _count_below(first):
    """V_MBCNT: bits of S0 that belong to lanes below this one, added to S1."""

    def run(wave, ins):
        to = ins.dst[0]
        for lane in wave.active():
            mask, start = (raw_bits(wave, operand, lane) for operand in ins.src)
            below = (1 << lane) - 1 >> first & M32
            wave.file(to.kind)[to.index][lane] = (start + (mask & below).bit_count()) & M32

    return run


def _lane_swap(wave, ins):
    """V_PERMLANE16_SWAP, V_PERMLANE32_SWAP as the manual's loops: vdst of the upper part against src0 of the lower."""
    first, second = wave.v[ins.dst[0].index], wave.v[ins.src[0].index]
    size = 16 if "16" in ins.name else 32
    active = set(wave.active())
    one, two = list(first), list(second)
    if ins.modifiers.get("bound_ctrl") and not ins.modifiers.get("fi"):  # nothing comes from lanes that EXEC disables
        one, two = ([v if lane in active else 0 for lane, v in enumerate(values)] for values in (one, two))
    for start in range(0, wave.lanes, 2 * size):
        for lane in range(start, start + size):
            two[lane], one[lane + size] = one[lane + size], two[lane]
    for lane in active:
        first[lane], second[lane] = one[lane], two[lane]


def _named_lane(wave, lane, address):
    """The lane that a byte address names: of the wave, or of the half that asks."""
    if wave.facts.permutes_halves:
        return lane // 32 * 32 + address // 4 % 32
    return address // 4 % wave.lanes


def _permute(wave, ins):
    tmp = [0] * wave.lanes
    address, data = (_read_v(wave, operand) for operand in ins.src[:2])
    offset = ins.modifiers["offset"]
    for lane in wave.active():
        tmp[_named_lane(wave, lane, address[lane] + offset & M32)] = data[lane]
    for lane in wave.active():
        wave.file(ins.dst[0].kind)[ins.dst[0].index][lane] = tmp[lane]


def _bpermute(wave, ins):
    address, data = (_read_v(wave, operand) for operand in ins.src[:2])
    active = wave.active()
    for lane in active:
        source = _named_lane(wave, lane, address[lane] + ins.modifiers["offset"] & M32)
        wave.file(ins.dst[0].kind)[ins.dst[0].index][lane] = data[source] if source in active else 0


def _swizzled(offset, i):
    """The lane that lane i reads, from the manual's pseudocode."""
    if offset >= 0xE000:
        mask = offset & 31
        j = int(f"{i & 31:05b}"[::-1], 2) >> mask.bit_count()
        return j | i & mask | i & 32
    if offset >= 0xC000:
        mask, rotate = offset & 31, offset >> 5 & 31
        if offset >> 10 & 1:
            rotate = -rotate
        return (i & mask | (i + rotate) & ~mask) & 31 | i & 32
    if offset & 0x8000:
        return i // 4 * 4 + (offset >> 2 * (i % 4) & 3)
    return ((i & 31 & offset & 31) | offset >> 5 & 31) ^ offset >> 10 & 31 | i & 32


def _swizzle(wave, ins):
    data = _read_v(wave, ins.src[0])
    active = wave.active()
    for lane in active:
        source = _swizzled(ins.modifiers["offset"], lane)
        wave.file(ins.dst[0].kind)[ins.dst[0].index][lane] = data[source] if source in active else 0


def _index_mode(wave, ins):
    """S_SET_GPR_IDX_*: M0[7:0] is the index, M0[15:12] says what it applies to."""
    m0 = wave.s[124]
    if ins.name == "s_set_gpr_idx_on":
        wave.mode |= 1 << 27
        m0 = m0 & ~0xF0FF | wave.scalar(ins.src[0]) & 255 | ins.src[1].bits << 12
    elif ins.name == "s_set_gpr_idx_off":
        wave.mode &= ~(1 << 27)
    elif ins.name == "s_set_gpr_idx_idx":
        m0 = m0 & ~0xFF | wave.scalar(ins.src[0]) & 255
    else:
        m0 = m0 & ~0xF000 | (ins.src[0].bits & 15) << 12
    wave.s[124] = m0


def indexed(wave, ins):
    """The instruction that executes when VGPR indexing is on."""
    if not wave.mode >> 27 & 1 or not wave.facts.vector_mode or not ins.name.startswith("v_"):
        return ins
    enabled, index = wave.s[124] >> 12, wave.s[124] & 255
    places = {"src0": 1, "src1": 2, "src2": 4, "vdst": 8, "": 8}

    def moved(operand):
        if operand.kind == "v" and enabled & places[operand.field]:
            return dataclasses.replace(operand, index=operand.index + index)
        return operand

    # Beyond the wave's registers, all of a unified file, a source is v0 and with such a destination nothing happens.
    dst, src = [moved(operand) for operand in ins.dst], [moved(operand) for operand in ins.src]
    if any(operand.kind == "v" and operand.index + operand.count > wave.vgprs for operand in dst):
        return dataclasses.replace(ins, opcode=opcode("v_nop", "VOP1"), dst=(), src=())
    src = [dataclasses.replace(x, index=0) if x.kind == "v" and x.index + x.count > wave.vgprs else x for x in src]
    return dataclasses.replace(ins, dst=tuple(dst), src=tuple(src))


def _movrel(wave, ins):
    m0 = wave.m0
    count = ins.dst[0].count
    source, target = ins.src[0], ins.dst[0].index
    # Beyond s101 a source is s0 and a destination is not written.
    if "movrels" in ins.name:
        first = source.index + m0 & M32
        first = first if first + count <= 102 else 0
        values = wave.s[first : first + count]
    else:
        values = [wave.scalar(source) >> 32 * k & M32 for k in range(count)]
        target = target + m0 & M32
        if target + count > 102:
            return
    wave.s[target : target + count] = values


def _clock(wave, ins):
    """Any number that grows will do: the probes look at differences only."""
    wave.set_pair(ins.dst[0].index, wave.steps)


def _trap(wave, ins):
    wave.ended = True


MEMORY |= {
    "v_readlane_b32": _read_lane,
    "v_readfirstlane_b32": _read_first_lane,
    "v_writelane_b32": _write_lane,
    "v_swap_b32": _swap,
    "v_mbcnt_lo_u32_b32": _count_below(0),
    "v_mbcnt_hi_u32_b32": _count_below(32),
}
MEMORY |= {
    "v_permlane16_swap_b32": _lane_swap,
    "v_permlane32_swap_b32": _lane_swap,
    "ds_permute_b32": _permute,
    "ds_bpermute_b32": _bpermute,
    "ds_swizzle_b32": _swizzle,
    "s_memtime": _clock,
    "s_memrealtime": _clock,
    "s_trap": _trap,
}
MEMORY |= {f"s_set_gpr_idx_{what}": _index_mode for what in ("on", "off", "idx", "mode")}
MEMORY |= {f"s_movrel{way}_b{size}": _movrel for way in "sd" for size in (32, 64)}
NOTHING.discard("s_set_gpr_idx_off")
NOTHING.update(("s_wakeup", "s_sendmsg", "v_clrexcp", "ds_nop", "buffer_invl2", "buffer_wbinvl1", "buffer_wbinvl1_vol"))
