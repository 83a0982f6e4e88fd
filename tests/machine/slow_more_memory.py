"""More of the slow interpreter: integers, lanes and memory. It adds to the tables of the other files when imported.

Source: CDNA3 and CDNA4 ISA manuals, chapters 6, 8 to 12, read apart from the machine.
"""

from __future__ import annotations

import dataclasses

import slow_floats as fl
from slow_memory import _SMALL_LOADS, _SMALL_STORES, _WORDS, MEMORY, _load, _store, vector_address
from slow_scalar import NOTHING, signed
from slow_vector import VECTOR

M16, M32, M64 = (1 << 16) - 1, (1 << 32) - 1, (1 << 64) - 1


# Integers. Functions return exact results; the interpreter wraps or saturates them.


def _octets(value, count=4):
    return [value >> 8 * i & 255 for i in range(count)]


def _sad(a, b):
    return sum(abs(x - y) for x, y in zip(_octets(a), _octets(b), strict=True))


def _msad(a, b):
    return sum(abs(x - y) for x, y in zip(_octets(a), _octets(b), strict=True) if y)


def _sad_u16(a, b, c):
    return abs((a & M16) - (b & M16)) + abs((a >> 16) - (b >> 16)) + c


def _sliding(function, a, b, c):
    """Four sums, over bytes i to i + 3 of the eight, each added to its own 16 bits."""
    out = 0
    for i in range(4):
        out |= (function(a >> 8 * i & M32, b) + (c >> 16 * i & M16) & M16) << 16 * i
    return out


def _lerp(a, b, c):
    parts = zip(_octets(a), _octets(b), _octets(c), strict=True)
    return sum((x + y + (z & 1) >> 1) << 8 * i for i, (x, y, z) in enumerate(parts))


def _median(a, b, c):
    return sorted((a, b, c))[1]


def _two_bytes(values, low, high):
    first, second = (min(max(value, low), high) & 255 for value in values)
    return first | second << 8


def _prng(a):
    return a << 1 & M32 ^ (197 if a >> 31 else 0)


for _names, _signature, _function in (
    ("v_sad_hi_u8", "u32 u32 u32 -> u32", lambda a, b, c: (_sad(a, b) << 16) + c),
    ("v_sad_u16", "u32 u32 u32 -> u32", _sad_u16),
    ("v_msad_u8", "u32 u32 u32 -> u32", lambda a, b, c: _msad(a, b) + c),
    ("v_qsad_pk_u16_u8", "u64 u32 u64 -> u64", lambda a, b, c: _sliding(_sad, a, b, c)),
    ("v_mqsad_pk_u16_u8", "u64 u32 u64 -> u64", lambda a, b, c: _sliding(_msad, a, b, c)),
    ("v_lerp_u8", "u32 u32 u32 -> u32", _lerp),
    ("v_prng_b32", "u32 -> u32", _prng),
    ("v_sat_pk_u8_i16", "u32 -> u16", lambda a: _two_bytes((signed(a, 16), signed(a >> 16, 16)), 0, 255)),
    *((f"v_min3_{k}", f"{k} {k} {k} -> {k}", min) for k in ("u16", "i16")),
    *((f"v_max3_{k}", f"{k} {k} {k} -> {k}", max) for k in ("u16", "i16")),
    *((f"v_med3_{k}", f"{k} {k} {k} -> {k}", _median) for k in ("u16", "i16")),
):
    _sources, _, _results = _signature.partition("->")
    for _name in _names.split():
        VECTOR[_name] = (tuple(_sources.split()), tuple(_results.split()), _function)


def _value(wave, operand, lane, part=0):
    """A dword of a vector operand."""
    if operand.kind in ("v", "a"):
        return wave.file(operand.kind)[operand.index + part][lane]
    return wave.scalar(operand) >> 32 * part & M32


def _ashr_pk(wave, ins):
    """V_ASHR_PK: shift two integers, saturate to bytes, into the half that op_sel[3] names."""
    low, high = (-128, 127) if "_i8_" in ins.name else (0, 255)
    shift = 16 * (ins.modifiers.get("op_sel", 0) >> 3 & 1)
    to = ins.dst[0].index
    for lane in wave.active():
        a, b, c = (_value(wave, operand, lane) for operand in ins.src[:3])
        half = _two_bytes((signed(a) >> (c & 31), signed(b) >> (c & 31)), low, high)
        wave.v[to][lane] = wave.v[to][lane] & ~(M16 << shift) & M32 | half << shift


def _mqsad_u32(wave, ins):
    for lane in wave.active():
        a = _value(wave, ins.src[0], lane) | _value(wave, ins.src[0], lane, 1) << 32
        b = _value(wave, ins.src[1], lane)
        sums = [_msad(a >> 8 * i & M32, b) + _value(wave, ins.src[2], lane, i) for i in range(4)]
        for i, total in enumerate(sums):
            wave.v[ins.dst[0].index + i][lane] = min(total, M32) if ins.modifiers.get("clamp") else total & M32


_PACKED = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
    "mad": lambda a, b, c: a * b + c, "min": min, "max": max,
    "lshlrev": lambda a, b: b << (a & 15), "lshrrev": lambda a, b: b >> (a & 15), "ashrrev": lambda a, b: b >> (a & 15),
}  # fmt: skip


def _packed(wave, ins):
    """V_PK_*_U16, V_PK_*_I16, V_PK_*_B16: one half at a time."""
    word = ins.name.split("_")[2]
    sign = ins.name.endswith("_i16")
    low, high = (-(1 << 15), (1 << 15) - 1) if sign else (0, M16)
    for lane in wave.active():
        out = 0
        for part, choice in enumerate(("op_sel", "op_sel_hi")):
            halves = []
            for number, operand in enumerate(ins.src):
                raw = _value(wave, operand, lane) >> 16 * (ins.modifiers[choice] >> number & 1) & M16
                halves.append(signed(raw, 16) if sign else raw)
            if word == "ashrrev":
                halves[0] &= 15
            result = _PACKED[word](*halves)
            if ins.modifiers.get("clamp"):
                result = min(max(result, low), high)
            out |= (result & M16) << 16 * part
        wave.v[ins.dst[0].index][lane] = out


MEMORY |= {"v_ashr_pk_i8_i32": _ashr_pk, "v_ashr_pk_u8_i32": _ashr_pk, "v_mqsad_u32_u8": _mqsad_u32}
PACKED = [f"v_pk_{what}" for what in (
    "add_u16", "add_i16", "sub_u16", "sub_i16", "mul_lo_u16", "mad_u16", "mad_i16", "min_u16", "min_i16", "max_u16",
    "max_i16", "lshlrev_b16", "lshrrev_b16", "ashrrev_i16")]  # fmt: skip
MEMORY |= dict.fromkeys(PACKED, _packed)


# Lanes and registers chosen at run time.


def _read_v(wave, operand):
    return list(wave.file(operand.kind)[operand.index])


def _lane_swap(wave, ins):
    """V_PERMLANE16_SWAP, V_PERMLANE32_SWAP as the manual's loops: vdst of the upper part against src0 of the lower."""
    first, second = wave.v[ins.dst[0].index], wave.v[ins.src[0].index]
    size = 16 if "16" in ins.name else 32
    active = set(wave.active())
    one, two = list(first), list(second)
    for start in range(0, 64, 2 * size):
        for lane in range(start, start + size):
            two[lane], one[lane + size] = one[lane + size], two[lane]
    for lane in active:
        first[lane], second[lane] = one[lane], two[lane]


def _permute(wave, ins):
    tmp = [0] * 64
    address, data = (_read_v(wave, operand) for operand in ins.src[:2])
    offset = ins.modifiers["offset"]
    for lane in wave.active():
        tmp[(address[lane] + offset & M32) // 4 % 64] = data[lane]
    for lane in wave.active():
        wave.file(ins.dst[0].kind)[ins.dst[0].index][lane] = tmp[lane]


def _bpermute(wave, ins):
    address, data = (_read_v(wave, operand) for operand in ins.src[:2])
    active = wave.active()
    for lane in active:
        source = (address[lane] + ins.modifiers["offset"] & M32) // 4 % 64
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
        wave.indexing = True
        m0 = m0 & ~0xF0FF | wave.scalar(ins.src[0]) & 255 | ins.src[1].bits << 12
    elif ins.name == "s_set_gpr_idx_off":
        wave.indexing = False
    elif ins.name == "s_set_gpr_idx_idx":
        m0 = m0 & ~0xFF | wave.scalar(ins.src[0]) & 255
    else:
        m0 = m0 & ~0xF000 | (ins.src[0].bits & 15) << 12
    wave.s[124] = m0


def indexed(wave, ins):
    """The instruction that executes when VGPR indexing is on."""
    if not getattr(wave, "indexing", False) or not ins.name.startswith("v_"):
        return ins
    enabled, index = wave.s[124] >> 12, wave.s[124] & 255
    places = {"src0": 1, "src1": 2, "src2": 4, "vdst": 8, "": 8}

    def moved(operand):
        if operand.kind == "v" and enabled & places[operand.field]:
            return dataclasses.replace(operand, index=operand.index + index)
        return operand

    # Beyond the registers a source is v0, and an instruction with such a destination does nothing.
    dst, src = [moved(operand) for operand in ins.dst], [moved(operand) for operand in ins.src]
    if any(operand.kind == "v" and operand.index + operand.count > 256 for operand in dst):
        return dataclasses.replace(ins, name="v_nop", dst=(), src=())
    src = [dataclasses.replace(x, index=0) if x.kind == "v" and x.index + x.count > 256 else x for x in src]
    return dataclasses.replace(ins, dst=tuple(dst), src=tuple(src))


def _movrel(wave, ins):
    m0 = wave.s[124]
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


MEMORY |= {"v_permlane16_swap_b32": _lane_swap, "v_permlane32_swap_b32": _lane_swap, "ds_permute_b32": _permute,
           "ds_bpermute_b32": _bpermute, "ds_swizzle_b32": _swizzle, "s_memtime": _clock, "s_memrealtime": _clock,
           "s_trap": _trap}  # fmt: skip
MEMORY |= {f"s_set_gpr_idx_{what}": _index_mode for what in ("on", "off", "idx", "mode")}
MEMORY |= {f"s_movrel{way}_b{size}": _movrel for way in "sd" for size in (32, 64)}
NOTHING.discard("s_set_gpr_idx_off")
NOTHING.update(("s_wakeup", "s_sendmsg", "v_clrexcp", "ds_nop", "buffer_invl2", "buffer_wbinvl1", "buffer_wbinvl1_vol"))


# FLAT and SCRATCH.

SCRATCH_BYTES = 96
"""Scratch of a work-item in the probes' kernels."""
SHARED, PRIVATE = 0x10000, 0x20000
"""Upper halves of the addresses in the LDS and scratch apertures."""


class Scratch:
    """The scratch of one lane; reads outside give poison, writes outside are dropped."""

    def __init__(self, wave, lane):
        if not hasattr(wave, "scratch"):
            wave.scratch = [bytearray(b"\xa5" * SCRATCH_BYTES) for _ in range(64)]
        self.data = wave.scratch[lane]

    def load(self, address, size):
        """Little-endian integer; an access that ends outside gives poison as a whole."""
        if not 0 <= self.first <= len(self.data) - self.whole:
            return 0xA5A5A5A5 & (1 << 8 * size) - 1
        return int.from_bytes(self.data[address : address + size], "little")

    def store(self, address, value, size):
        """Write the low bytes."""
        if 0 <= self.first <= len(self.data) - self.whole:
            self.data[address : address + size] = (value & (1 << 8 * size) - 1).to_bytes(size, "little")

    def access(self, first, whole):
        """The access that the following loads and stores are parts of."""
        self.first, self.whole = first, whole
        return self


def _size(what):
    table = {**{k: 4 * v for k, v in _WORDS.items()}, **{k: v[0] for k, v in (_SMALL_LOADS | _SMALL_STORES).items()}}
    return table[what]


class _Whole:
    """LDS access in parts that is inside or outside as a whole."""

    def __init__(self, lds, first, size):
        self.lds, self.fine = lds, first + size <= len(lds.data)

    def load(self, address, size):
        """0 when the whole access does not fit."""
        return self.lds.load(address, size) if self.fine else 0

    def store(self, address, value, size):
        """Nothing when the whole access does not fit."""
        if self.fine:
            self.lds.store(address, value, size)


def _space(wave, lane, address, size):
    """(memory, address in it) of a flat address."""
    high, low = address >> 32, address & M32
    if high == SHARED:
        return _Whole(wave.lds, low, size), low
    if high == PRIVATE:
        return Scratch(wave, lane).access(low, size), low
    return wave.memory, address


def _flat_address(wave, ins, lane):
    vaddr = ins.src[0].index
    return (wave.v[vaddr][lane] | wave.v[vaddr + 1][lane] << 32) + ins.modifiers["offset"] & M64


def _scratch_address(wave, ins, lane):
    vaddr, saddr = ins.src[:2]
    total = wave.v[vaddr.index][lane] if vaddr.kind == "v" else 0
    total += wave.s[saddr.index] if saddr.kind == "s" else 0
    return signed(total) + ins.modifiers["offset"]


def _private(wave, ins):
    """FLAT_* and SCRATCH_* loads and stores."""
    segment, direction, what = ins.name.split("_", 2)
    size = _size(what)
    places = []
    for lane in wave.active():
        if segment == "flat":
            places.append((lane, *_space(wave, lane, _flat_address(wave, ins, lane), size)))
        else:
            address = _scratch_address(wave, ins, lane)
            places.append((lane, Scratch(wave, lane).access(address, size), address))
    for lane, memory, address in places:
        if direction == "load":
            _load(wave, ins, lane, what, memory.load, address)
        else:
            _store(wave, lane, what, ins.src[2], memory.store, address)


MEMORY |= {f"{unit}_load_{what}": _private for unit in ("flat", "scratch") for what in _SMALL_LOADS | _WORDS}
MEMORY |= {f"{unit}_store_{what}": _private for unit in ("flat", "scratch") for what in _SMALL_STORES | _WORDS}

_NEW = {"b32": "dword", "b64": "dwordx2", "b96": "dwordx3", "b128": "dwordx4", "u8": "ubyte", "i8": "sbyte",
        "u16": "ushort", "i16": "sshort", "b8": "byte", "b16": "short"}  # fmt: skip
ALIASES = {}
"""gfx11 and gfx12 spelling: gfx9 spelling."""
for _unit in ("flat", "scratch"):
    for _way in ("load", "store"):
        ALIASES |= {f"{_unit}_{_way}_{new}": f"{_unit}_{_way}_{old}" for new, old in _NEW.items()}
        ALIASES |= {f"{_unit}_{_way}_d16_{half}{new}": f"{_unit}_{_way}_{_NEW[new]}_d16{'_hi' if half else ''}"
                    for half in ("", "hi_") for new in ("u8", "i8", "b8", "b16")}  # fmt: skip
for _half in ("u8", "i8"):
    ALIASES |= {f"ds_load_{_half}_d16{hi}": f"ds_read_{_half}_d16{hi}" for hi in ("", "_hi")}
ALIASES["ds_store_b8_d16_hi"] = "ds_write_b8_d16_hi"
ALIASES = {new: old for new, old in ALIASES.items() if old in MEMORY}


# Buffers, loads to the LDS, transposed reads.


def _bits(wave, first, low, count):
    """A field of the 128-bit resource."""
    whole = sum(wave.s[first + k] << 32 * k for k in range(4))
    return whole >> low & (1 << count) - 1


def buffer_place(wave, ins, lane, byte):
    """(address, in range) of the component that starts at a byte of the lane's data."""
    vaddr, srsrc, soffset = ins.src[:3]
    idxen, offen = ins.modifiers["idxen"], ins.modifiers["offen"]
    registers = [wave.v[vaddr.index + k][lane] for k in range(idxen + offen)]
    index = registers[0] if idxen else 0
    offset = ins.modifiers["offset"] + (registers[-1] if offen else 0) + byte
    r = srsrc.index
    base, stride, records = _bits(wave, r, 0, 48), _bits(wave, r, 48, 14), _bits(wave, r, 64, 32)
    swizzle, add_tid = _bits(wave, r, 63, 1), _bits(wave, r, 119, 1)
    if add_tid:
        stride |= _bits(wave, r, 111, 4) << 14
    fine = (add_tid and not idxen) or (index if idxen and stride else offset) < records
    index += lane if add_tid else 0
    if swizzle:
        group, element = 8 << _bits(wave, r, 117, 2), 4
        place = (
            (index // group * stride + offset // element * element) * group + index % group * element + offset % element
        )
    else:
        place = index * stride + offset
    return base + wave.scalar(soffset) + place & M64, fine


def _buffer_word(wave, ins, lane, byte, size):
    address, fine = buffer_place(wave, ins, lane, byte)
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
    lds = _Whole(wave.lds, place, 4 * len(words))
    for k, word in enumerate(words):
        lds.store(place + 4 * k, word, 4)


def _buffer(wave, ins):
    _, direction, what = ins.name.split("_", 2)
    size = _size(what)
    step = min(size, 4)
    if ins.modifiers.get("lds"):
        for lane in wave.active():
            words = [_buffer_word(wave, ins, lane, byte, step) for byte in range(0, size, 4)]
            _fill_lds(wave, ins, lane, words, size, what[0] == "s")
        return
    lanes = [(lane, [buffer_place(wave, ins, lane, byte) for byte in range(0, size, 4)]) for lane in wave.active()]
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
            _load(wave, ins, lane, what, read, 0)
        else:
            _store(wave, lane, what, ins.src[3], write, 0)


def _segment_to_lds(wave, ins):
    """GLOBAL_LOAD_LDS_*, SCRATCH_LOAD_LDS_*."""
    segment, _, _, what = ins.name.split("_", 3)
    size = _size(what)
    for lane in wave.active():
        if segment == "global":
            memory, address = wave.memory, vector_address(wave, ins, lane)
        else:
            address = _scratch_address(wave, ins, lane)
            memory = Scratch(wave, lane).access(address, size)
        words = [memory.load(address + byte, min(size, 4)) for byte in range(0, size, 4)]
        _fill_lds(wave, ins, lane, words, size, what[0] == "s")


def _transposed(wave, ins):
    """Element j of lane t comes from element (16 j + t) of the sixteen lanes' data, one lane after the other."""
    bits = int(ins.name.rsplit("_b", 1)[1])
    count = 96 // 6 if bits == 6 else 64 // bits
    size = bits * count // 8
    active = wave.active()
    read = {}
    for lane in active:
        place = wave.v[ins.src[0].index][lane] + ins.modifiers["offset"]
        read[lane] = _Whole(wave.lds, place, size).load(place, size)
    for lane in active:
        start = lane // 16 * 16
        out = 0
        for j in range(count):
            number = 16 * j + lane % 16
            data = read.get(start + number // count, 0)
            out |= (data >> bits * (number % count) & (1 << bits) - 1) << bits * j
        for k in range(size // 4):
            wave.file(ins.dst[0].kind)[ins.dst[0].index + k][lane] = out >> 32 * k & M32


MEMORY |= {f"buffer_load_{what}": _buffer for what in _SMALL_LOADS | _WORDS}
MEMORY |= {f"buffer_store_{what}": _buffer for what in _SMALL_STORES | _WORDS}
MEMORY |= {f"{unit}_load_lds_{what}": _segment_to_lds for unit in ("global", "scratch")
           for what in ("ubyte", "sbyte", "ushort", "sshort", "dword", "dwordx3", "dwordx4")}  # fmt: skip
MEMORY |= {f"ds_read_b{96 if bits == 6 else 64}_tr_b{bits}": _transposed for bits in (16, 8, 6, 4)}
for _way in ("load", "store"):
    _more = {f"buffer_{_way}_{new}": f"buffer_{_way}_{old}" for new, old in _NEW.items()}
    _more |= {f"buffer_{_way}_d16_{half}{new}": f"buffer_{_way}_{_NEW[new]}_d16{'_hi' if half else ''}"
              for half in ("", "hi_") for new in ("u8", "i8", "b8", "b16")}  # fmt: skip
    ALIASES |= {new: old for new, old in _more.items() if old in MEMORY}


# Atomics.

BF16 = (8, 7)


def _halves(a, b, form):
    return sum(fl.add(a >> at & M16, b >> at & M16, form) << at for at in (0, 16))


def _float_less(a, b, form):
    return fl.order(a, b, form) == -1


def _integer_atomic(name, size):
    """New value from the old one and the data, of a word such as ``add`` or ``smin``."""
    mask = (1 << size) - 1
    table = {
        "add": lambda old, data: old + data, "sub": lambda old, data: old - data, "rsub": lambda old, data: data - old,
        "smin": lambda old, data: min(signed(old, size), signed(data, size)),
        "smax": lambda old, data: max(signed(old, size), signed(data, size)),
        "umin": min, "umax": max, "and": lambda old, data: old & data, "or": lambda old, data: old | data,
        "xor": lambda old, data: old ^ data, "inc": lambda old, data: 0 if old >= data else old + 1,
        "dec": lambda old, data: data if old == 0 or old > data else old - 1, "swap": lambda old, data: data,
        "cmpswap": lambda old, data, compare: data if old == compare else old,
        "cmpst": lambda old, compare, data: data if old == compare else old,
        "mskor": lambda old, clear, data: old & ~clear | data,
        "wrap": lambda old, data, more: old - data if old >= data else old + more,
    }  # fmt: skip
    return lambda *sources: table[name](*sources) & mask


def _float_atomic(name, form):
    return {
        "add": lambda old, data: fl.add(old, data, form),
        "min": lambda old, data: data if _float_less(data, old, form) else old,
        "max": lambda old, data: data if _float_less(old, data, form) else old,
        "cmpst": lambda old, compare, data: data if fl.order(old, compare, form) == 0 else old,
    }[name]


ATOMICS = {}
"""Name without its unit: (bytes, function)."""
for _name in ("swap", "cmpswap", "add", "sub", "smin", "umin", "smax", "umax", "and", "or", "xor", "inc", "dec"):
    ATOMICS[_name] = 4, _integer_atomic(_name, 32)
    ATOMICS[f"{_name}_x2"] = 8, _integer_atomic(_name, 64)
ATOMICS |= {"add_f32": (4, _float_atomic("add", fl.F32)), "pk_add_f16": (4, lambda a, b: _halves(a, b, fl.F16)),
            "pk_add_bf16": (4, lambda a, b: _halves(a, b, BF16))}  # fmt: skip
ATOMICS |= {f"{_name}_f64": (8, _float_atomic(_name, fl.F64)) for _name in ("add", "min", "max")}
for _width in (32, 64):
    _form = fl.F32 if _width == 32 else fl.F64
    _rows = {f"{_name}_u{_width}": _integer_atomic(_name, _width) for _name in ("add", "sub", "rsub", "inc", "dec")}
    _rows |= {f"{_name}_{_k}{_width}": _integer_atomic({"i": "s", "u": "u"}[_k] + _name, _width)
              for _name in ("min", "max") for _k in "iu"}  # fmt: skip
    _rows |= {f"{_name}_b{_width}": _integer_atomic(_name, _width) for _name in ("and", "or", "xor", "mskor", "cmpst")}
    _rows |= {f"wrxchg_b{_width}": _integer_atomic("swap", _width)}
    _rows |= {f"{_name}_f{_width}": _float_atomic(_name, _form) for _name in ("add", "min", "max", "cmpst")}
    ATOMICS |= {f"ds_{_name}": (_width // 8, _function) for _name, _function in _rows.items()}
ATOMICS["ds_wrap_b32"] = 4, _integer_atomic("wrap", 32)
ATOMICS |= {f"ds_{_name}": ATOMICS[_name] for _name in ("pk_add_f16", "pk_add_bf16")}


def _data(wave, operands, lane, size):
    """The sources of an atomic: each as many registers as the value has, one operand after the other."""
    words = [wave.file(x.kind)[x.index + k][lane] for x in operands for k in range(x.count)]
    step = size // 4
    return [sum(words[i + k] << 32 * k for k in range(step)) for i in range(0, len(words), step)]


def _atomic(wave, ins):
    """DS_*, GLOBAL_ATOMIC_*, FLAT_ATOMIC_*, BUFFER_ATOMIC_*: lane after lane."""
    unit = ins.name.split("_")[0]
    size, function = ATOMICS[ins.name.replace("_rtn", "") if unit == "ds" else ins.name.split("_", 2)[2]]
    first = {"ds": 1, "buffer": 3}.get(unit, 2)
    back = {}
    for lane in wave.active():
        fine = True
        if unit == "ds":
            address = wave.v[ins.src[0].index][lane] + ins.modifiers["offset"]
            memory = _Whole(wave.lds, address, size)
            fine = memory.fine
        elif unit == "buffer":
            address, fine = buffer_place(wave, ins, lane, 0)
            fine = fine and buffer_place(wave, ins, lane, size - 4)[1]
            memory = wave.memory
        elif unit == "flat":
            memory, address = _space(wave, lane, _flat_address(wave, ins, lane), size)
        else:
            memory, address = wave.memory, vector_address(wave, ins, lane)
        old = memory.load(address, size) if fine else 0
        if fine:
            memory.store(address, function(old, *_data(wave, ins.src[first:], lane, size)), size)
        back[lane] = old
    for lane, old in back.items():
        for k in range(size // 4 if ins.dst else 0):
            wave.file(ins.dst[0].kind)[ins.dst[0].index + k][lane] = old >> 32 * k & M32


for _name in ATOMICS:
    if not _name.startswith("ds_"):
        MEMORY |= {f"{_unit}_atomic_{_name}": _atomic for _unit in ("global", "flat", "buffer")}
        continue
    _stem, _, _type = _name.rpartition("_")
    MEMORY[f"{_stem}_rtn_{_type}"] = _atomic
    if "wrxchg" not in _name and "wrap" not in _name:
        MEMORY[_name] = _atomic


def _scalar_buffer(wave, ins):
    """S_BUFFER_LOAD: dwords from a resource, 0 beyond its range."""
    first, soffset = ins.src[0].index, ins.src[1]
    stride, records = _bits(wave, first, 48, 14), _bits(wave, first, 64, 32)
    offset = ins.modifiers.get("offset", 0) + (wave.s[soffset.index] if soffset.kind == "s" else 0)
    base = _bits(wave, first, 0, 48) & ~3
    words = []
    for k in range(ins.dst[0].count):
        at = (offset & ~3) + 4 * k
        words.append(wave.memory.load(base + at, 4) if at < (records * stride if stride else records) else 0)
    wave.s[ins.dst[0].index : ins.dst[0].index + len(words)] = words


MEMORY |= {f"s_buffer_load_{what}": _scalar_buffer for what in _WORDS if what.startswith("dword")}
