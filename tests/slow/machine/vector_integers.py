"""Integer operations on parts of a register: sums of differences, bytes, packed halves; one lane at a time.

Source: CDNA3 and CDNA4 ISA manuals, chapter 12, read apart from the machine.
"""

from __future__ import annotations

from tests.slow.machine.scalar_alu import signed
from tests.slow.machine.storage import MEMORY
from tests.slow.machine.vector_alu import VECTOR, bitop3
from tests.slow.machine.vector_execution import vector

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


def _bitop3(size):
    """V_BITOP3: any function of three bits, as a table of eight."""

    def run(wave, ins):
        kind, table = f"u{size}", ins.modifiers["bitop3"]
        vector(wave, ins, (kind,) * 3, (kind,), lambda a, b, c: bitop3(a, b, c, table, size))

    return run


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


MEMORY |= {
    "v_ashr_pk_i8_i32": _ashr_pk,
    "v_ashr_pk_u8_i32": _ashr_pk,
    "v_mqsad_u32_u8": _mqsad_u32,
    "v_bitop3_b32": _bitop3(32),
    "v_bitop3_b16": _bitop3(16),
}
PACKED = [f"v_pk_{what}" for what in (
    "add_u16", "add_i16", "sub_u16", "sub_i16", "mul_lo_u16", "mad_u16", "mad_i16", "min_u16", "min_i16", "max_u16",
    "max_i16", "lshlrev_b16", "lshrrev_b16", "ashrrev_i16")]  # fmt: skip
MEMORY |= dict.fromkeys(PACKED, _packed)
