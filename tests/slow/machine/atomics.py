"""Atomics, lane after lane.

Source: CDNA3 and CDNA4 ISA manuals, chapters 9 to 12, read apart from the machine.
"""

from __future__ import annotations

from tests.slow.machine import floats as fl
from tests.slow.machine.buffer import buffer_place
from tests.slow.machine.flat import _flat_address, _space, _Whole
from tests.slow.machine.memory import MEMORY, vector_address
from tests.slow.machine.scalar_alu import signed

M16, M32, M64 = (1 << 16) - 1, (1 << 32) - 1, (1 << 64) - 1


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
            address = wave.v[ins.src[0].index][lane] + ins.modifiers["offset"] & M32
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
