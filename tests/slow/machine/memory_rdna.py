"""Memory operations that gfx11 and gfx12 have beyond gfx9's: parts of a dword into SGPRs, atomics, LDS by lane number.

Source: RDNA3.5 and RDNA4 ISA manuals, chapters 8, 9, 11 to 13 and the opcodes of SMEM, DS and the vector memory units.
"""

from __future__ import annotations

from tests.slow.machine import float_mode as more
from tests.slow.machine import floats as fl
from tests.slow.machine.atomics import ATOMICS, _atomic, _data
from tests.slow.machine.buffer import _bits
from tests.slow.machine.flat import _Whole
from tests.slow.machine.memory import MEMORY
from tests.slow.machine.names_rdna import NOTHING as MORE_NOTHING
from tests.slow.machine.scalar_alu import NOTHING, signed
from tests.slow.machine.vector_alu_rdna import NUMBER

M32 = (1 << 32) - 1
NOTHING |= MORE_NOTHING


# Scalar loads of 8 and 16 bits.

_SMALL = {"u8": (1, False), "i8": (1, True), "u16": (2, False), "i16": (2, True)}


def _part(wave, ins):
    """S_LOAD_U8 ... S_BUFFER_LOAD_I16: each part of the address is cut to the size of the data."""
    size, sign = _SMALL[ins.name.rsplit("_", 1)[1]]
    cut = ~(size - 1)
    base, soffset = ins.src[:2]
    offset = (ins.modifiers.get("offset", 0) & cut) + (wave.scalar(soffset) & cut if soffset.kind == "s" else 0)
    fine, start = True, wave.pair(base.index)
    if "buffer" in ins.name:
        stride, records = _bits(wave, base.index, 48, 14), _bits(wave, base.index, 64, 32)
        start, fine = _bits(wave, base.index, 0, 48), offset < (stride or 1) * records
    raw = wave.memory.load((start & cut) + offset, size) if fine else 0
    wave.write_scalar(ins.dst[0], signed(raw, 8 * size) if sign else raw)


MEMORY |= {f"s_{unit}load_{what}": _part for unit in ("", "buffer_") for what in _SMALL}


# Atomics.


def _chosen(wanted, form):
    """MIN and MAX of gfx11: a signalling NaN comes out quieted; a quiet one loses; -0 is below +0 (13.3).

    Which of two NaNs is the first the manual leaves open: taken to be memory's.
    """

    def run(old, data):
        for bits in (old, data):
            if fl.is_signalling(bits, form):
                return fl.quiet(bits, form)
        if fl.is_nan(data, form):
            return old
        return data if fl.is_nan(old, form) else fl._select(old, data, form, wanted)

    return run


def _add(old, data):
    """ADD_F32: infinities of both signs give the negative NaN (13.3)."""
    out = fl.add(old, data, fl.F32)
    return out | 1 << 31 if fl.is_nan(out, fl.F32) and not (fl.is_nan(old, fl.F32) or fl.is_nan(data, fl.F32)) else out


def _cache_add(old, data):
    """Cache atomics of gfx11 are hardwired to flush denormal inputs (13.2)."""
    flush = more.NOW.arch.startswith("gfx11")
    return _add(*(more.flushed(bits, fl.F32) if flush else bits for bits in (old, data)))


def _by_generation(name, function):
    """An operation that gfx9 has under the same name with another rule."""
    old = ATOMICS[name][1]

    def run(*sources):
        return (function if more.NOW.arch.startswith("gfx1") else old)(*sources)

    return run


_NEW = {
    "add_f32": (4, _by_generation("add_f32", _cache_add)),
    "sub_clamp_u32": (4, lambda old, data: max(old - data, 0)),
    "cond_sub_u32": (4, lambda old, data: old - data if old >= data else old),
    "min_f32": (4, _chosen(-1, fl.F32)),
    "max_f32": (4, _chosen(1, fl.F32)),
    "min_num_f32": (4, lambda old, data: NUMBER["min_num"](data, old, fl.F32)),
    "max_num_f32": (4, lambda old, data: NUMBER["max_num"](data, old, fl.F32)),
    "cmpswap_f32": (4, lambda old, data, compare: data if fl.order(old, compare, fl.F32) == 0 else old),
}
_DS = {
    **{name: _NEW[name] for name in ("sub_clamp_u32", "cond_sub_u32", "min_num_f32", "max_num_f32")},
    **{f"{word}_f64": (8, lambda old, data, f=function: f(data, old, fl.F64)) for word, function in NUMBER.items()},
    **{
        f"{word}_f{size}": (size // 8, _by_generation(f"ds_{word}_f{size}", _chosen(wanted, form)))
        for word, wanted in (("min", -1), ("max", 1))
        for size, form in ((32, fl.F32), (64, fl.F64))
    },
    "add_f32": (4, _by_generation("ds_add_f32", _add)),
    # The new value comes first, unlike gfx9's DS_CMPST.
    "cmpstore_b32": (4, lambda old, data, compare: data if old == compare else old),
    "cmpstore_b64": (8, lambda old, data, compare: data if old == compare else old),
    "cmpstore_f32": (4, lambda old, data, compare: data if fl.order(old, compare, fl.F32) == 0 else old),
    "cmpstore_f64": (8, lambda old, data, compare: data if fl.order(old, compare, fl.F64) == 0 else old),
}
ATOMICS |= _NEW | {f"ds_{name}": found for name, found in _DS.items()}
MEMORY |= {f"{unit}_atomic_{name}": _atomic for name in _NEW for unit in ("global", "flat", "buffer")}
for _name in _DS:
    _stem, _, _type = _name.rpartition("_")
    MEMORY |= {f"ds_{_name}": _atomic, f"ds_{_stem}_rtn_{_type}": _atomic}


def _exchange_two(wave, ins):
    """DS_STOREXCHG_2ADDR: two places at once."""
    size = 8 if ins.name.endswith("b64") else 4
    step = size * (64 if "stride64" in ins.name else 1)
    back = {}
    for lane in wave.active():
        base = wave.v[ins.src[0].index][lane]
        data = _data(wave, ins.src[1:3], lane, size)
        places = [base + ins.modifiers[f"offset{i}"] * step for i in (0, 1)]
        found = [_Whole(wave.lds, place, size) for place in places]
        back[lane] = [lds.load(place, size) for lds, place in zip(found, places, strict=True)]
        for lds, place, value in zip(found, places, data, strict=True):
            lds.store(place, value, size)
    for lane, values in back.items():
        whole = values[0] | values[1] << 8 * size
        for k in range(size // 2):
            wave.v[ins.dst[0].index + k][lane] = whole >> 32 * k & M32


MEMORY |= {
    f"ds_storexchg_2addr{stride}_rtn_b{size}": _exchange_two for stride in ("", "_stride64") for size in (32, 64)
}


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
    place = ins.modifiers["offset"] + (wave.m0 & 0xFFFF)
    old, active = wave.lds.load(place, 4), wave.active()
    if active:
        wave.lds.store(place, old + len(active) * (1 if ins.name == "ds_append" else -1), 4)
    for lane in active:
        wave.v[ins.dst[0].index][lane] = old


def _by_lane(wave, ins):
    """DS_LOAD_ADDTID, DS_STORE_ADDTID: the address is M0, the offset and four bytes a lane."""
    for lane in wave.active():
        place = ins.modifiers["offset"] + (wave.m0 & 0xFFFF) + 4 * lane
        if ins.dst:
            wave.v[ins.dst[0].index][lane] = wave.lds.load(place, 4)
        else:
            wave.lds.store(place, wave.v[ins.src[-1].index][lane], 4)


def _global_by_lane(wave, ins):
    """GLOBAL_LOAD_ADDTID, GLOBAL_STORE_ADDTID: scalar base, offset and four bytes a lane."""
    base = next((x for x in ins.src if x.kind == "s"), None)
    start = (wave.pair(base.index) if base else 0) + ins.modifiers["offset"]
    for lane in wave.active():
        if ins.dst:
            wave.v[ins.dst[0].index][lane] = wave.memory.load(start + 4 * lane, 4)
        else:
            wave.memory.store(start + 4 * lane, wave.v[ins.src[-1].index][lane], 4)


def _fetch_all(wave, ins):
    """DS_BPERMUTE_FI: disabled lanes are read as well."""
    address, data = (list(wave.v[operand.index]) for operand in ins.src[:2])
    for lane in wave.active():
        source = (address[lane] + ins.modifiers["offset"] & M32) // 4 % wave.lanes
        wave.v[ins.dst[0].index][lane] = data[source]


MEMORY |= {"ds_condxchg32_rtn_b64": _exchange_if, "ds_append": _count, "ds_consume": _count,
           "ds_load_addtid_b32": _by_lane, "ds_store_addtid_b32": _by_lane, "ds_bpermute_fi_b32": _fetch_all,
           "global_load_addtid_b32": _global_by_lane, "global_store_addtid_b32": _global_by_lane}  # fmt: skip
