"""Typed buffer accesses, one lane and one component at a time, in fractions.

Source: CDNA3 ISA manual, 9.1.3, 9.1.4 and 9.1.8; RDNA3 ISA manual, 9.5 and table 52. Rounding of stores and what they
leave alone: as Direct3D's typed buffers, which no manual confirms.
"""

from __future__ import annotations

from fractions import Fraction

from tests.slow.machine import floats as fl
from tests.slow.machine.scalar_alu import signed
from tests.slow.machine.storage import MEMORY
from tests.slow.machine.vector_memory import buffer_place, field

SPLIT = ((), (8,), (16,), (8, 8), (32,), (16, 16), (11, 11, 10), (10, 11, 11), (2, 10, 10, 10), (10, 10, 10, 2),
         (8,) * 4, (32, 32), (16,) * 4, (32,) * 3, (32,) * 4, ())  # fmt: skip
NUMBERS = ("unorm", "snorm", "uscaled", "sscaled", "uint", "sint", None, "float")
_SIX = NUMBERS[:6]
UNIFIED = [((), None)]
UNIFIED_GFX10 = [((), None)]
for _bits, _kinds in (
    ((8,), _SIX),
    ((16,), (*_SIX, "float")),
    ((8, 8), _SIX),
    ((32,), ("uint", "sint", "float")),
    ((16, 16), (*_SIX, "float")),
    ((11, 11, 10), ("float",)),
    ((10, 11, 11), ("float",)),
    ((2, 10, 10, 10), ("unorm", "snorm", "uint", "sint")),
    ((10, 10, 10, 2), _SIX),
    ((8,) * 4, _SIX),
    ((32, 32), ("uint", "sint", "float")),
    ((16,) * 4, (*_SIX, "float")),
    ((32,) * 3, ("uint", "sint", "float")),
    ((32,) * 4, ("uint", "sint", "float")),
):
    UNIFIED += [(_bits, _kind) for _kind in _kinds]
    # RDNA2 has all meanings of what lies within one dword (RDNA2 ISA manual, table of buffer formats).
    _kinds = (*_SIX, "float") if 11 in _bits else _SIX if 10 in _bits else _kinds
    UNIFIED_GFX10 += [(_bits, _kind) for _kind in _kinds]


def _unified(wave, number):
    """(bits of the components, kind) of a number that says both."""
    known = UNIFIED_GFX10 if wave.facts.resource == "gfx10" else UNIFIED
    return known[number] if number < len(known) else ((), None)


def _format(wave, ins):
    """(bits of the components, kind, destination selects)."""
    first, m = ins.src[1].index, ins.modifiers
    own = tuple(field(wave, first, 96 + 3 * k, 3) for k in range(4))
    if "data_format" in m:
        return SPLIT[m["data_format"]], NUMBERS[m["num_format"]], (4, 5, 6, 7)
    if "format" in m:
        return (*_unified(wave, m["format"]), (4, 5, 6, 7))
    if wave.facts.resource != "gfx9":
        return (*_unified(wave, field(wave, first, 108, 7 if wave.facts.resource == "gfx10" else 6)), own)
    return SPLIT[field(wave, first, 111, 4)], NUMBERS[field(wave, first, 108, 3)], own


def _convert(raw, own, form):
    """One float format to another; a NaN keeps its highest bits and becomes quiet."""
    sign = fl.sign_of(raw, own)
    if fl.is_nan(raw, own):
        shift, fraction = form[1] - own[1], fl.fraction_of(raw, own)
        fraction = fraction << shift if shift > 0 else fraction >> -shift
        return fl.quiet(fl.infinity(sign, form) | fraction, form)
    return fl.infinity(sign, form) if fl.is_inf(raw, own) else fl.rounded(fl.value(raw, own), form, sign)


def _small(raw, bits):
    """Value of a float without a sign, of 5 exponent bits; None for infinity, False for a NaN."""
    fraction = bits - 5
    exponent, rest = raw >> fraction, raw & (1 << fraction) - 1
    if exponent == 31:
        return False if rest else None
    if exponent == 0:
        return Fraction(rest, 1 << 14 + fraction)
    return (1 + Fraction(rest, 1 << fraction)) * Fraction(2) ** (exponent - 15)


def _load_value(raw, bits, kind, short):
    form = fl.F16 if short else fl.F32
    low = 0xFFFF if short else 0xFFFFFFFF
    if kind == "uint":
        return raw & low
    if kind == "sint":
        return signed(raw, bits) & low
    if kind == "float":
        if bits >= 16:
            own = fl.F16 if bits == 16 else fl.F32
            return raw if own == form else _convert(raw, own, form)
        value = _small(raw, bits)
        if value is None or value is False:
            rest = (raw & (1 << bits - 5) - 1) << (10 if short else 23) - (bits - 5)
            return fl.infinity(0, form) | (rest and fl.quiet(rest, form))
        return fl.rounded(value, form)
    number = Fraction(raw if kind[0] == "u" else signed(raw, bits))
    if kind == "unorm":
        number /= (1 << bits) - 1
    elif kind == "snorm":
        number = max(number / ((1 << bits - 1) - 1), Fraction(-1))
    return fl.rounded(number, form)


def _store_value(word, bits, kind, short):
    form = fl.F16 if short else fl.F32
    top = (1 << bits) - 1
    if kind == "uint":
        return min(word, top)
    if kind == "sint":
        return max(-(1 << bits - 1), min((1 << bits - 1) - 1, signed(word, 16 if short else 32))) & top
    if kind == "float" and bits >= 16:
        own = fl.F16 if bits == 16 else fl.F32
        return word if own == form else _convert(word, form, own)
    nan, infinite, value = fl.is_nan(word, form), fl.is_inf(word, form), None
    negative = bool(word >> (15 if short else 31))
    if not nan and not infinite:
        value = fl.value(word, form)
    if kind == "float":
        fraction = bits - 5
        if nan or (infinite and not negative):
            return 31 << fraction | (1 << fraction - 1 if nan else 0)
        if infinite or value <= 0:
            return 0
        return max((raw for raw in range(31 << fraction) if _small(raw, bits) <= value), default=0)
    value = Fraction(0) if nan else Fraction(-(1 << 40) if negative else 1 << 40) if infinite else value
    if kind in ("unorm", "snorm"):
        scaled = max(Fraction(-1 if kind == "snorm" else 0), min(Fraction(1), value)) * (top >> (kind == "snorm"))
        return int(abs(scaled) + Fraction(1, 2)) * (-1 if scaled < 0 else 1) & top
    low, high = (0, top) if kind == "uscaled" else (-(1 << bits - 1), top >> 1)
    return max(low, min(high, int(value))) & top


def _typed(wave, ins):
    """[T]BUFFER_LOAD/STORE_[D16_][HI_]FORMAT_*."""
    count = len(ins.name.rsplit("_", 1)[1])
    short, high = "d16" in ins.name, "hi" in ins.name.split("_")
    bits, kind, selects = _format(wave, ins)
    bits = bits if kind else ()
    packed = any(size % 8 for size in bits)
    starts = [0 if packed else sum(bits[:k]) // 8 for k in range(len(bits))]
    sizes = [4 if packed else size // 8 for size in bits]
    for lane in wave.active():
        # The element is in range as a whole or not at all.
        fine = buffer_place(wave, ins, lane, 0, sum(bits) // 8, typed=True)[1]
        places = [buffer_place(wave, ins, lane, *place, typed=True)[0] for place in zip(starts, sizes, strict=True)]

        def component(k, places=places, fine=fine):
            raw = wave.memory.load(places[k], sizes[k]) if fine else 0
            return raw >> (sum(bits[:k]) if packed else 0) & (1 << bits[k]) - 1

        if "_load_" in ins.name:
            one = 1 if kind in ("uint", "sint") else 0x3C00 if short else 0x3F800000
            values = []
            for select in selects[:count]:
                if select - 4 in range(len(bits)):
                    values.append(_load_value(component(select - 4), bits[select - 4], kind, short))
                else:
                    values.append(one if select == 1 and bits else 0)
            _put_registers(wave, ins.dst[0], lane, values, short, high)
            continue
        words = [_register(wave, ins.src[3], lane, k, short, high) for k in range(count)]
        raws = {}
        for k in range(len(bits)):
            given = [words[i] for i, select in enumerate(selects[:count]) if select == 4 + k]
            if given:
                raws[k] = _store_value(given[0], bits[k], kind, short)
        if packed:
            if fine:
                wave.memory.store(places[0], sum(raw << sum(bits[:k]) for k, raw in raws.items()), 4)
            continue
        for k, raw in raws.items() if fine else ():
            wave.memory.store(places[k], raw, sizes[k])


def _register(wave, operand, lane, k, short, high):
    if not short:
        return wave.file(operand.kind)[operand.index + k][lane]
    return wave.file(operand.kind)[operand.index + k // 2][lane] >> 16 * (k % 2 or high) & 0xFFFF


def _put_registers(wave, operand, lane, values, short, high):
    file = wave.file(operand.kind)
    if not short:
        for k, value in enumerate(values):
            file[operand.index + k][lane] = value
    elif len(values) == 1:
        old = 0 if wave.facts.clears_halves else file[operand.index][lane]
        file[operand.index][lane] = old & 0xFFFF | values[0] << 16 if high else old & 0xFFFF0000 | values[0]
    else:
        for k in range(0, len(values), 2):
            file[operand.index + k // 2][lane] = values[k] | (values[k + 1] << 16 if k + 1 < len(values) else 0)


for _unit in ("buffer", "tbuffer"):
    for _way in ("load", "store"):
        for _what in ("x", "xy", "xyz", "xyzw"):
            for _name in (f"format_{_what}", f"d16_format_{_what}", f"format_d16_{_what}"):
                MEMORY[f"{_unit}_{_way}_{_name}"] = _typed
        MEMORY[f"{_unit}_{_way}_d16_hi_format_x"] = MEMORY[f"{_unit}_{_way}_format_d16_hi_x"] = _typed
