"""Atomics, lane after lane: on the LDS, on memory, and what gfx11 and gfx12 do otherwise.

Source: CDNA3 and CDNA4 ISA manuals, chapters 9 to 12; RDNA3.5 and RDNA4 ISA manuals, chapters 9 to 13.
"""

from __future__ import annotations

from tests.slow.machine import float_mode as more
from tests.slow.machine import floats as fl
from tests.slow.machine.flat import flat_address, space_of, vector_address
from tests.slow.machine.minimum import NUMBER
from tests.slow.machine.scalar_alu import signed
from tests.slow.machine.storage import MEMORY, Whole
from tests.slow.machine.vector_memory import buffer_place

M16, M32 = (1 << 16) - 1, (1 << 32) - 1
BF16 = (8, 7)


def _halves(a, b, form):
    return sum(fl.add(a >> at & M16, b >> at & M16, form) << at for at in (0, 16))


def _float_less(a, b, form):
    return fl.order(a, b, form) == -1


def _integer_atomic(name, size):
    """New value from the old one and the data, of a word such as ``add`` or ``smin``."""
    mask = (1 << size) - 1
    table = {
        "add": lambda old, data: old + data,
        "sub": lambda old, data: old - data,
        "rsub": lambda old, data: data - old,
        "smin": lambda old, data: min(signed(old, size), signed(data, size)),
        "smax": lambda old, data: max(signed(old, size), signed(data, size)),
        "umin": min,
        "umax": max,
        "and": lambda old, data: old & data,
        "or": lambda old, data: old | data,
        "xor": lambda old, data: old ^ data,
        "inc": lambda old, data: 0 if old >= data else old + 1,
        "dec": lambda old, data: data if old == 0 or old > data else old - 1,
        "swap": lambda old, data: data,
        "cmpswap": lambda old, data, compare: data if old == compare else old,
        "cmpst": lambda old, compare, data: data if old == compare else old,
        "mskor": lambda old, clear, data: old & ~clear | data,
        "wrap": lambda old, data, more: old - data if old >= data else old + more,
    }
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
ATOMICS |= {
    "add_f32": (4, _float_atomic("add", fl.F32)),
    "pk_add_f16": (4, lambda a, b: _halves(a, b, fl.F16)),
    "pk_add_bf16": (4, lambda a, b: _halves(a, b, BF16)),
}
ATOMICS |= {f"{_name}_f64": (8, _float_atomic(_name, fl.F64)) for _name in ("add", "min", "max")}
for _width in (32, 64):
    _form = fl.F32 if _width == 32 else fl.F64
    _rows = {f"{_name}_u{_width}": _integer_atomic(_name, _width) for _name in ("add", "sub", "rsub", "inc", "dec")}
    _rows |= {
        f"{_name}_{_k}{_width}": _integer_atomic({"i": "s", "u": "u"}[_k] + _name, _width)
        for _name in ("min", "max")
        for _k in "iu"
    }
    _rows |= {f"{_name}_b{_width}": _integer_atomic(_name, _width) for _name in ("and", "or", "xor", "mskor", "cmpst")}
    _rows |= {f"wrxchg_b{_width}": _integer_atomic("swap", _width)}
    _rows |= {f"{_name}_f{_width}": _float_atomic(_name, _form) for _name in ("add", "min", "max", "cmpst")}
    ATOMICS |= {f"ds_{_name}": (_width // 8, _function) for _name, _function in _rows.items()}
ATOMICS["ds_wrap_b32"] = 4, _integer_atomic("wrap", 32)
ATOMICS |= {f"ds_{_name}": ATOMICS[_name] for _name in ("pk_add_f16", "pk_add_bf16")}


def data_of(wave, operands, lane, size):
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
            address = wave.v[ins.src[0].index][lane] + ins.modifiers["offset"] & M32
            memory = Whole(wave.lds, address, size)
            fine = memory.fine
        elif unit == "buffer":
            address, fine = buffer_place(wave, ins, lane, 0, size)
            memory = wave.memory
        elif unit == "flat":
            memory, address = space_of(wave, lane, flat_address(wave, ins, lane), size)
        else:
            memory, address = wave.memory, vector_address(wave, ins, lane)
        old = memory.load(address, size) if fine else 0
        if fine:
            memory.store(address, function(old, *data_of(wave, ins.src[first:], lane, size)), size)
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


# gfx11 and gfx12.


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


def _add(old, data, form=fl.F32):
    """ADD_F32, ADD_F64: infinities of both signs give the negative NaN (13.3; CDNA5 12.3)."""
    out = fl.add(old, data, form)
    made = fl.is_nan(out, form) and not (fl.is_nan(old, form) or fl.is_nan(data, form))
    return out | fl.zero(1, form) if made else out


def _cache_add(old, data):
    """Cache atomics of gfx11 are hardwired to flush denormal inputs (13.2)."""
    flush = more.NOW.arch.startswith("gfx11")
    return _add(*(more.flushed(bits, fl.F32) if flush else bits for bits in (old, data)))


def _by_generation(name, function):
    """An operation that gfx9 has under the same name with another rule."""
    old = ATOMICS[name][1]

    def run(*sources):
        return (function if more.NOW.rdna else old)(*sources)

    return run


_NEW = {
    "add_f32": (4, _by_generation("add_f32", _cache_add)),
    "add_f64": (8, _by_generation("add_f64", lambda old, data: _add(old, data, fl.F64))),
    "sub_clamp_u32": (4, lambda old, data: max(old - data, 0)),
    "cond_sub_u32": (4, lambda old, data: old - data if old >= data else old),
    "min_f32": (4, _by_generation("ds_min_f32", _chosen(-1, fl.F32))),
    "max_f32": (4, _by_generation("ds_max_f32", _chosen(1, fl.F32))),
    "min_num_f32": (4, lambda old, data: NUMBER["min_num"](data, old, fl.F32)),
    "max_num_f32": (4, lambda old, data: NUMBER["max_num"](data, old, fl.F32)),
    "min_num_f64": (8, lambda old, data: NUMBER["min_num"](data, old, fl.F64)),
    "max_num_f64": (8, lambda old, data: NUMBER["max_num"](data, old, fl.F64)),
    "cmpswap_f32": (4, lambda old, data, compare: data if fl.order(old, compare, fl.F32) == 0 else old),
    "cmpswap_f64": (8, lambda old, data, compare: data if fl.order(old, compare, fl.F64) == 0 else old),
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
    "add_f64": (8, _by_generation("ds_add_f64", lambda old, data: _add(old, data, fl.F64))),
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
