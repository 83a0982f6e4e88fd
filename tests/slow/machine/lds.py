"""The LDS: reads and writes with one offset or two, transposed reads, exchanges, counts and addresses by lane number.

Source: CDNA3 and CDNA4 ISA manuals, chapter 11 and section 12.12; RDNA3.5 and RDNA4 ISA manuals, chapters 11 to 13.
"""

from __future__ import annotations

from tests.slow.machine.atomics import ATOMICS, data_of
from tests.slow.machine.storage import MEMORY, SMALL_LOADS, SMALL_STORES, WORDS, Whole, load_lane, store_lane

M32 = (1 << 32) - 1


def ds(wave, ins):
    """DS_READ*, DS_WRITE*, with one offset or two."""
    _, direction, what = ins.name.split("_", 2)
    base = ins.src[0]
    for lane in wave.active():
        address = wave.v[base.index][lane]
        if "offset0" in ins.modifiers:
            _two(wave, ins, lane, direction, what, address)
        elif direction == "read":
            load_lane(wave, ins, lane, what, wave.lds.load, address + ins.modifiers["offset"] & M32)
        else:
            store_lane(wave, lane, what, ins.src[1], wave.lds.store, address + ins.modifiers["offset"] & M32)


def _two(wave, ins, lane, direction, what, address):
    words = WORDS[what]
    step = 4 * words * (64 if "st64" in direction else 1)
    places = [address + ins.modifiers[f"offset{i}"] * step & M32 for i in (0, 1)]
    if direction.startswith("read"):
        raw = [wave.lds.load(place + 4 * k, 4) for place in places for k in range(words)]
        to = ins.dst[0]
        for k, word in enumerate(raw):
            wave.file(to.kind)[to.index + k][lane] = word
    else:
        for place, data in zip(places, ins.src[1:3], strict=True):
            store_lane(wave, lane, what, data, wave.lds.store, place)


def _transposed(wave, ins):
    """Element j of lane t comes from element (16 j + t) of the sixteen lanes' data, one lane after the other."""
    bits = int(ins.name.rsplit("_b", 1)[1])
    count = 96 // 6 if bits == 6 else 64 // bits
    size = bits * count // 8
    active = wave.active()
    read = {}
    for lane in active:
        place = wave.v[ins.src[0].index][lane] + ins.modifiers["offset"] & M32
        read[lane] = Whole(wave.lds, place, size).load(place, size)
    for lane in active:
        start = lane // 16 * 16
        out = 0
        for j in range(count):
            number = 16 * j + lane % 16
            data = read.get(start + number // count, 0)
            out |= (data >> bits * (number % count) & (1 << bits) - 1) << bits * j
        for k in range(size // 4):
            wave.file(ins.dst[0].kind)[ins.dst[0].index + k][lane] = out >> 32 * k & M32


def _exchange_two(wave, ins):
    """DS_STOREXCHG_2ADDR: two places at once."""
    size = 8 if ins.name.endswith("b64") else 4
    step = size * (64 if "stride64" in ins.name else 1)
    back = {}
    for lane in wave.active():
        base = wave.v[ins.src[0].index][lane]
        data = data_of(wave, ins.src[1:3], lane, size)
        places = [base + ins.modifiers[f"offset{i}"] * step for i in (0, 1)]
        found = [Whole(wave.lds, place, size) for place in places]
        back[lane] = [lds.load(place, size) for lds, place in zip(found, places, strict=True)]
        for lds, place, value in zip(found, places, data, strict=True):
            lds.store(place, value, size)
    for lane, values in back.items():
        whole = values[0] | values[1] << 8 * size
        for k in range(size // 2):
            wave.v[ins.dst[0].index + k][lane] = whole >> 32 * k & M32


def _exchange_if(wave, ins):
    """DS_CONDXCHG32: a dword is stored, without its top bit, when that bit is set."""
    back = {}
    for lane in wave.active():
        place = wave.v[ins.src[0].index][lane] + ins.modifiers["offset"] & 0xFFF8
        back[lane] = [wave.lds.load(place + 4 * k, 4) for k in range(2)]
        for k in range(2):
            data = wave.v[ins.src[1].index + k][lane]
            if data >> 31:
                wave.lds.store(place + 4 * k, data & 0x7FFFFFFF, 4)
    for lane, words in back.items():
        for k, word in enumerate(words):
            wave.v[ins.dst[0].index + k][lane] = word


def _count(wave, ins):
    """DS_APPEND, DS_CONSUME: the number of active lanes is added once; all of them get the old value."""
    plain = ins.modifiers.get("gds") or wave.arch == "gfx908"  # MIOpen's Winograd kernels: M0 holds another address
    place = ins.modifiers["offset"] + (0 if plain else wave.m0 & 0xFFFF)
    old, active = wave.lds.load(place, 4), wave.active()
    if active:
        wave.lds.store(place, old + len(active) * (1 if ins.name == "ds_append" else -1), 4)
    for lane in active:
        wave.v[ins.dst[0].index][lane] = old


def _second_place(wave, ins):
    """DS_*_SRC2: each lane combines MEM[A] with MEM[B], which is a number of dwords away."""
    name = ins.name.replace("_src2", "").replace("write_b", "wrxchg_b")
    size, function = ATOMICS[name]
    offset = ins.modifiers["offset"]
    for lane in wave.active():
        a = wave.v[ins.src[0].index][lane]
        away = offset & 0x7FFF
        if offset >> 15:
            away, a = a >> 17, a & 0x1FFFF
        b = a + 4 * (away - (1 << 15) if away >> 14 else away)
        data = wave.lds.load(b, size) if b >= 0 else 0
        if a + size <= len(wave.lds.data):
            wave.lds.store(a, function(wave.lds.load(a, size), data), size)


def _by_lane(wave, ins):
    """DS_LOAD_ADDTID, DS_STORE_ADDTID: the address is M0, the offset and four bytes a lane."""
    for lane in wave.active():
        place = ins.modifiers["offset"] + (wave.m0 & 0xFFFF) + 4 * lane
        if ins.dst:
            wave.v[ins.dst[0].index][lane] = wave.lds.load(place, 4)
        else:
            wave.lds.store(place, wave.v[ins.src[-1].index][lane], 4)


def _fetch_all(wave, ins):
    """DS_BPERMUTE_FI: disabled lanes are read as well."""
    address, data = (list(wave.v[operand.index]) for operand in ins.src[:2])
    for lane in wave.active():
        source = (address[lane] + ins.modifiers["offset"] & M32) // 4 % wave.lanes
        wave.v[ins.dst[0].index][lane] = data[source]


MEMORY |= {f"ds_read_{what}": ds for what in SMALL_LOADS | WORDS}
MEMORY |= {f"ds_write_{what}": ds for what in SMALL_STORES | WORDS}
MEMORY |= {
    f"ds_{way}{stride}_{what}": ds for way in ("read2", "write2") for stride in ("", "st64") for what in ("b32", "b64")
}
MEMORY |= {f"ds_read_b{96 if bits == 6 else 64}_tr_b{bits}": _transposed for bits in (16, 8, 6, 4)}
MEMORY |= {
    f"ds_storexchg_2addr{stride}_rtn_b{size}": _exchange_two for stride in ("", "_stride64") for size in (32, 64)
}
MEMORY |= dict.fromkeys(
    [
        f"ds_{name}_src2_{kind}{size}"
        for size in (32, 64)
        for kind, names in {
            "u": ("add", "sub", "rsub", "inc", "dec", "min", "max"),
            "i": ("min", "max"),
            "f": ("min", "max"),
            "b": ("and", "or", "xor", "write"),
        }.items()
        for name in names
    ]
    + ["ds_add_src2_f32"],
    _second_place,
)
MEMORY |= {
    "ds_condxchg32_rtn_b64": _exchange_if,
    "ds_append": _count,
    "ds_consume": _count,
    "ds_load_addtid_b32": _by_lane,
    "ds_store_addtid_b32": _by_lane,
    "ds_bpermute_fi_b32": _fetch_all,
}
