"""Vector memory through buffer resources, and loads that go straight to the LDS.

Source: CDNA3 and CDNA4 ISA manuals, chapter 9, read apart from the machine; RDNA3.5 and RDNA4 ISA manuals, chapter 9;
where hardware differs, AMD's rocjitsu, which says what it compared with a gfx950, a gfx1100 and a gfx1201.
"""

from __future__ import annotations

from tests.slow.machine.flat import Scratch, scratch_address, vector_address
from tests.slow.machine.scalar_alu import signed
from tests.slow.machine.storage import MEMORY, SMALL_LOADS, SMALL_STORES, WORDS, Whole, load_lane, size_of, store_lane

M32, M64 = (1 << 32) - 1, (1 << 64) - 1


def field(wave, first, low, count):
    """A field of the 128-bit resource."""
    whole = sum(wave.s[first + k] << 32 * k for k in range(4))
    return whole >> low & (1 << count) - 1


def buffer_place(wave, ins, lane, byte, payload=4, typed=False):
    """(address, in range) of the component of `payload` bytes that starts at a byte of the lane's data."""
    if wave.arch == "gfx1250":
        return _cdna5_place(wave, ins, lane, byte, payload)
    return (_cdna_place if wave.facts.resource == "gfx9" else _rdna_place)(wave, ins, lane, byte, payload, typed)


def _parts(wave, ins, lane):
    """(index register or None, offset, SGPR offset); the offset wraps at 32 bits."""
    vaddr, _, soffset = ins.src[:3]
    registers = [wave.v[vaddr.index + k][lane] for k in range(ins.modifiers["idxen"] + ins.modifiers["offen"])]
    index = registers.pop(0) if ins.modifiers["idxen"] else None
    return index, ins.modifiers["offset"] + sum(registers) & M32, wave.scalar(soffset)


def _rearranged(index, offset, stride, group, element):
    """buffer_offset of a swizzled buffer (CDNA4 9.1.5.2, RDNA3 9.4.2)."""
    index_msb, index_lsb = divmod(index, group)
    offset_msb, offset_lsb = divmod(offset, element)
    return (index_msb * stride + offset_msb * element) * group + index_lsb * element + offset_lsb


def _cdna_place(wave, ins, lane, byte, payload, typed):
    """CDNA. From a gfx950, by rocjitsu: an index register of a linear buffer drops the lane, the range ends with the
    last byte and counts the SGPR offset. Without an index there is nothing to swizzle."""
    r = ins.src[1].index
    given, offset, moved = _parts(wave, ins, lane)
    base, stride, records = field(wave, r, 0, 48), field(wave, r, 48, 14), field(wave, r, 64, 32)
    swizzle, add_tid = field(wave, r, 63, 1), field(wave, r, 119, 1)
    if given is None:
        fine = add_tid or offset + moved + byte + payload <= records
    else:
        fine = given < records if stride else offset + moved + byte + payload <= records
    index = given or 0
    if add_tid and (swizzle or given is None):
        index += lane
        stride |= 0 if typed else field(wave, r, 111, 4) << 14
    if swizzle and (add_tid or given is not None):
        place = _rearranged(index, offset + byte, stride, 8 << field(wave, r, 117, 2), 4)
    else:
        place = index * stride + offset + byte
    unbound = not field(wave, r, 111, 4) and not add_tid  # DATA_FORMAT
    return base + moved + place & M64, bool(fine) and not unbound


def _rdna_place(wave, ins, lane, byte, payload, _typed):
    """gfx11 and gfx12, where two bits of the resource choose the check (RDNA3.5 and RDNA4, 9.4 and 9.6). From a gfx1100
    and a gfx1201, by rocjitsu: an index register replaces the lane, the SGPR offset is not swizzled."""
    r = ins.src[1].index
    given, offset, moved = _parts(wave, ins, lane)
    base, stride, records = field(wave, r, 0, 48), field(wave, r, 48, 14), field(wave, r, 64, 32)
    stride *= (1, 4, 8, 32)[field(wave, r, 114, 2)] if wave.facts.split_barrier else 1
    add_tid, select = field(wave, r, 119, 1), field(wave, r, 124, 2)
    bit, size = (63, 1) if wave.facts.resource == "gfx10" else (62, 2)
    swizzle = field(wave, r, bit, size) if add_tid or given is not None else 0
    index = given if given is not None else lane * add_tid
    end = offset + byte + payload
    structured = index < records and end <= stride
    fine = {
        0: structured,
        1: index < records,
        2: records != 0,
        3: structured if swizzle and stride else end + moved <= records,
    }[select]
    # A resource without a format is bound to nothing, unless it adds the lane (9.6).
    fine = fine and bool(field(wave, r, 108, 7 if wave.facts.resource == "gfx10" else 6) or add_tid)
    place = index * stride + offset + byte
    if swizzle:
        group, element = 8 << field(wave, r, 117, 2), 16 if swizzle == 3 else 4
        # RDNA4, 9.4.2: the dwords after the first follow it within elements of 16 bytes.
        behind = byte if element == 16 and wave.facts.split_barrier else 0
        place = _rearranged(index, offset + byte - behind, stride, group, element) + behind
    return base + moved + place & M64, fine


def _cdna5_place(wave, ins, lane, byte, payload):
    """CDNA5 9.4.1, table 56, without swizzling: all in bytes."""
    r = ins.src[1].index
    given, offset, moved = _parts(wave, ins, lane)
    base, records = field(wave, r, 0, 57), field(wave, r, 57, 45)
    stride = field(wave, r, 108, 14) * (1, 4, 8, 32)[field(wave, r, 122, 2)]
    total = (given or 0) * stride + offset + moved
    fine = total + byte + payload <= records
    if field(wave, r, 125, 1):
        fine = fine and offset + moved + byte + payload <= stride
    return base + total + byte & M64, fine


def _buffer_word(wave, ins, lane, byte, size):
    address, fine = buffer_place(wave, ins, lane, byte, size)
    return wave.memory.load(address, size) if fine else 0


def _lds_place(wave, ins, lane, size):
    """Where a load to the LDS writes: M0 (16 bits on CDNA3, 18 on CDNA4), immediate and the lane."""
    bits = 0x3FFFF if ins.arch == "gfx950" else 0xFFFF
    if ins.encoding != "MUBUF":
        bits &= ~3
    return (wave.s[124] & bits) + ins.modifiers["offset"] + lane * (4 if size <= 4 else 16)


def _fill_lds(wave, ins, lane, words, size, sign):
    if size < 4:
        words = [signed(words[0], 8 * size) & M32 if sign else words[0]]
    place = _lds_place(wave, ins, lane, size)
    lds = Whole(wave.lds, place, 4 * len(words))
    for k, word in enumerate(words):
        lds.store(place + 4 * k, word, 4)


def _buffer(wave, ins):
    _, direction, what = ins.name.split("_", 2)
    size = size_of(what)
    step = min(size, 4)
    if ins.modifiers.get("lds"):
        for lane in wave.active():
            words = [_buffer_word(wave, ins, lane, byte, step) for byte in range(0, size, 4)]
            _fill_lds(wave, ins, lane, words, size, what[0] == "s")
        return
    lanes = [
        (lane, [buffer_place(wave, ins, lane, byte, step) for byte in range(0, size, 4)]) for lane in wave.active()
    ]
    for lane, places in lanes:
        # Components by their byte in the lane's data.
        def read(byte, count, places=places):
            address, fine = places[byte // 4]
            return wave.memory.load(address, count) if fine else 0

        def write(byte, value, count, places=places):
            address, fine = places[byte // 4]
            if fine:
                wave.memory.store(address, value, count)

        if direction == "load":
            load_lane(wave, ins, lane, what, read, 0)
        else:
            store_lane(wave, lane, what, ins.src[3], write, 0)


def _segment_to_lds(wave, ins):
    """GLOBAL_LOAD_LDS_*, SCRATCH_LOAD_LDS_*."""
    segment, _, _, what = ins.name.split("_", 3)
    size = size_of(what)
    for lane in wave.active():
        if segment == "global":
            memory, address = wave.memory, vector_address(wave, ins, lane)
        else:
            address = scratch_address(wave, ins, lane)
            memory = Scratch(wave, lane).access(address, size)
        words = [memory.load(address + byte, min(size, 4)) for byte in range(0, size, 4)]
        _fill_lds(wave, ins, lane, words, size, what[0] == "s")


MEMORY |= {f"buffer_load_{what}": _buffer for what in SMALL_LOADS | WORDS}
MEMORY |= {f"buffer_store_{what}": _buffer for what in SMALL_STORES | WORDS}
MEMORY |= {
    f"{unit}_load_lds_{what}": _segment_to_lds
    for unit in ("global", "scratch")
    for what in ("ubyte", "sbyte", "ushort", "sshort", "dword", "dwordx3", "dwordx4")
}
