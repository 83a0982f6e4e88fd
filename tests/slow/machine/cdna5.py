"""Vector operations that CDNA5 has beyond those of RDNA4 and CDNA4, one lane at a time.

Source: CDNA5 ISA manual, chapter 7 and the opcodes of VOP1, VOP2, VOP3 and VOP3P.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from tests.slow.machine import approximate
from tests.slow.machine import float_mode as more
from tests.slow.machine import floats as fl
from tests.slow.machine.float_mode import EXTRA, NOW, row
from tests.slow.machine.floats import F16, F32
from tests.slow.machine.minimum import NUMBER
from tests.slow.machine.scalar_alu import signed
from tests.slow.machine.vector_alu import bitop3
from tests.slow.machine.vop3p import BF16, _picked, _raw

M16, M32, M64 = (1 << 16) - 1, (1 << 32) - 1, (1 << 64) - 1


# Integers.


def _limits(kind):
    size = int(kind[1:])
    return (-(1 << (size - 1)), (1 << (size - 1)) - 1) if kind[0] == "i" else (0, (1 << size) - 1)


def _saturated(value, kind):
    low, high = _limits(kind)
    return min(max(value, low), high)


for _names, _signature, _function in (
    ("v_add_nc_u64", "u64 u64 -> u64", lambda a, b: a + b),
    ("v_sub_nc_u64", "u64 u64 -> u64", lambda a, b: a - b),
    ("v_mul_u64", "u64 u64 -> u64", lambda a, b: a * b),
    ("v_mad_u32", "u32 u32 u32 -> u32", lambda a, b, c: a * b + c),
    ("v_mad_nc_u64_u32", "u32 u32 u64 -> u64", lambda a, b, c: a * b + c),
    ("v_mad_nc_i64_i32", "i32 i32 i64 -> i64", lambda a, b, c: a * b + c),
    *(
        (f"v_{word}_{kind}", f"{kind} {kind} -> {kind}", choose)
        for word, choose in (("min", min), ("max", max))
        for kind in ("i64", "u64")
    ),
):
    row(_names, _signature, _function)


def _value(wave, operand, lane, kind):
    raw = _raw(wave, operand, lane) & M32
    return signed(raw) if kind == "i32" else raw


def _sum_then(choose, kind):
    """The addition saturates, whatever CLAMP says; CLAMP makes negative results zero."""

    def run(wave, ins):
        out = {}
        for lane in wave.active():
            a, b, c = (_value(wave, operand, lane, kind) for operand in ins.src)
            found = choose(_saturated(a + b, kind), c)
            out[lane] = max(found, 0) if ins.modifiers.get("clamp") else found
        for lane, found in out.items():
            wave.v[ins.dst[0].index][lane] = found & M32

    return run


def _packed_integers(function, kind):
    """Three packed sources; CLAMP makes negative results zero."""

    def run(wave, ins):
        out = {}
        for lane in wave.active():
            halves = []
            for choice in ("op_sel", "op_sel_hi"):
                values = []
                for number, operand in enumerate(ins.src):
                    raw = _raw(wave, operand, lane) >> 16 * (ins.modifiers[choice] >> number & 1) & M16
                    values.append(signed(raw, 16) if kind == "i16" else raw)
                found = function(*values)
                halves.append((max(found, 0) if ins.modifiers.get("clamp") else found) & M16)
            out[lane] = halves[0] | halves[1] << 16
        for lane, bits in out.items():
            wave.v[ins.dst[0].index][lane] = bits

    return run


for _word, _choose in (("min", min), ("max", max)):
    for _kind in ("i32", "u32"):
        EXTRA[f"v_add_{_word}_{_kind}"] = _sum_then(_choose, _kind)
    for _kind in ("i16", "u16"):
        EXTRA[f"v_pk_{_word}3_{_kind}"] = _packed_integers(_choose, _kind)
        EXTRA[f"v_pk_add_{_word}_{_kind}"] = _packed_integers(
            lambda a, b, c, f=_choose, k=_kind: f(_saturated(a + b, k), c), _kind
        )


def _bitop2(wave, ins):
    """V_BITOP2: V_BITOP3 whose third source is zero."""
    for lane in wave.active():
        a, b = (_raw(wave, operand, lane) & M32 for operand in ins.src)
        wave.v[ins.dst[0].index][lane] = bitop3(a, b, 0, ins.modifiers["bitop3"], 32)


EXTRA["v_bitop2_b32"] = _bitop2


# BF16.


def _freely(function):
    """Nearest even, all denormals; FP16_OVFL makes an overflow the largest number."""

    def run(*sources):
        mode = NOW.mode
        NOW.mode = mode & ~0xFF | 0xF0
        out = function(*sources, BF16)
        NOW.mode = mode
        finite = not any(fl.is_inf(bits, BF16) or fl.is_nan(bits, BF16) for bits in sources)
        return out - 1 if mode >> 23 & 1 and finite and fl.is_inf(out, BF16) else out

    return run


def _unit(bits, clamp):
    """The CLAMP modifier: NaN and everything negative become 0."""
    if not clamp:
        return bits
    return 0 if fl.is_nan(bits, BF16) or fl.sign_of(bits, BF16) else min(bits, 0x3F80)


def _packed_floats(function, count):
    def run(wave, ins):
        out = {}
        for lane in wave.active():
            halves = [function(*[_picked(ins, wave, lane, i, part, 16) for i in range(count)]) for part in range(2)]
            out[lane] = sum(_unit(bits, ins.modifiers.get("clamp")) << 16 * k for k, bits in enumerate(halves))
        for lane, bits in out.items():
            wave.v[ins.dst[0].index][lane] = bits

    return run


for _name, _count, _function in (
    ("add", 2, more.add),
    ("mul", 2, more.multiply),
    ("fma", 3, lambda a, b, c, form: more.fused(a, b, c, form, (a, b, c))),  # which NaN comes first was not captured
    ("min_num", 2, NUMBER["min_num"]),
    ("max_num", 2, NUMBER["max_num"]),
):
    EXTRA[f"v_pk_{_name}_bf16"] = _packed_floats(_freely(_function), _count)


def _num3(word):
    pair = NUMBER[word]

    def run(wave, ins):
        out = {}
        for lane in wave.active():
            halves = []
            for part in range(2):
                a, b, c = (_picked(ins, wave, lane, i, part, 16) for i in range(3))
                found = pair(pair(a, b, F16), c, F16)
                halves.append(more.clamped(found, F16) if ins.modifiers.get("clamp") else found)
            out[lane] = halves[0] | halves[1] << 16
        for lane, bits in out.items():
            wave.v[ins.dst[0].index][lane] = bits

    return run


EXTRA |= {"v_pk_min3_num_f16": _num3("min_num"), "v_pk_max3_num_f16": _num3("max_num")}


def _mix_source(wave, ins, number, lane):
    operand, raw = ins.src[number], _raw(wave, ins.src[number], lane)
    if ins.modifiers["op_sel_hi"] >> number & 1:
        raw = (raw >> 16 * (ins.modifiers["op_sel"] >> number & 1) & M16) << 16
    raw = raw & 0x7FFFFFFF if operand.abs else raw
    return raw ^ operand.neg << 31


def _to_bf16(bits):
    if fl.is_nan(bits, F32):
        return bits >> 16 | 0x40
    if fl.is_inf(bits, F32):
        return bits >> 16
    out = fl.rounded(fl.value(bits, F32), BF16, bits >> 31)
    return out - 1 if NOW.mode >> 23 & 1 and fl.is_inf(out, BF16) else out


def _mix(wave, ins):
    found = {}
    for lane in wave.active():
        out = more.fused(*[_mix_source(wave, ins, i, lane) for i in range(3)], F32)
        old = wave.v[ins.dst[0].index][lane]
        if ins.name == "v_fma_mix_f32_bf16":
            found[lane] = more.clamped(out, F32) if ins.modifiers["clamp"] else out
            continue
        half = _unit(_to_bf16(out), ins.modifiers["clamp"])
        found[lane] = half | old & 0xFFFF0000 if ins.name == "v_fma_mixlo_bf16" else half << 16 | old & M16
    for lane, bits in found.items():
        wave.v[ins.dst[0].index][lane] = bits


EXTRA |= dict.fromkeys(("v_fma_mix_f32_bf16", "v_fma_mixlo_bf16", "v_fma_mixhi_bf16"), _mix)


# Approximations: the nearest result, worked out with decimal places to spare.


def _tanh(number):
    """Of a Fraction: itself below 2**-10, and 1 from 8 on."""
    size = abs(number)
    if size < Fraction(1, 1024):
        return number
    if size >= 8:
        return Fraction(1 if number > 0 else -1)
    power = (2 * Decimal(number.numerator) / Decimal(number.denominator)).exp()
    return Fraction((power - 1) / (power + 1))


def _hyperbolic(bits, form):
    bits = more.entering(bits, form)
    if fl.is_nan(bits, form):
        return fl.quiet(bits, form)
    if fl.is_inf(bits, form):
        return fl.rounded(Fraction(-1 if fl.sign_of(bits, form) else 1), form)
    return more.leaving(fl.rounded(_tanh(fl.value(bits, form)), form, fl.sign_of(bits, form)), form)


for _kind, _form in (("f16", F16), ("f32", F32)):
    row(f"v_tanh_{_kind}", f"{_kind} -> {_kind}", lambda a, f=_form: _hyperbolic(a, f))


def _brain(function):
    """A function of one BF16, of the half that OP_SEL names, into the half that it names; CLAMP is ignored."""

    def run(wave, ins):
        found, operand, select = {}, ins.src[0], ins.modifiers.get("op_sel", 0)
        for lane in wave.active():
            bits = _raw(wave, operand, lane) >> 16 * (select & 1) & M16
            bits = bits & 0x7FFF if operand.abs else bits
            out = function(bits ^ operand.neg << 15)
            shift, old = 16 * (select >> 3 & 1), wave.v[ins.dst[0].index][lane]
            found[lane] = old & ~(M16 << shift) & M32 | out << shift
        for lane, bits in found.items():
            wave.v[ins.dst[0].index][lane] = bits

    return run


def _exact(word, bits):
    """As the slow model of f16 does, where all denormals are kept; infinite results of zeros are no overflow."""
    special = approximate._special(word, bits, BF16)
    if special is not None:
        return special
    out = fl.rounded(Fraction(approximate._EXACT[word](fl.value(bits, BF16))), BF16)
    return out - 1 if NOW.mode >> 23 & 1 and fl.is_inf(out, BF16) else out


for _word in ("rcp", "rsq", "sqrt", "exp", "log", "sin", "cos"):
    EXTRA[f"v_{_word}_bf16"] = _brain(lambda bits, w=_word: _exact(w, bits))
EXTRA["v_tanh_bf16"] = _brain(_freely(_hyperbolic))


# Lanes.


def _group_source(name, lane, amount, width, lanes):
    base = lane // width * width
    if "bcast" in name:
        return base + amount % 64 % width
    if "up" in name:
        return lane if lane - base < amount else lane - amount
    if "down" in name:
        return lane + amount if lane - base + amount < width else lane
    other = lane ^ amount % 64
    return lane if amount >= lanes or other >= base + width else other


def _permlane(wave, ins):
    """Lanes that EXEC disables are read, too."""
    amount, width = (wave.scalar(operand) & M32 for operand in ins.src[1:3])
    data = [_raw(wave, ins.src[0], lane) for lane in range(wave.lanes)]
    for lane in wave.active():
        wave.v[ins.dst[0].index][lane] = data[_group_source(ins.name, lane, amount, width, wave.lanes)]


EXTRA |= {f"v_permlane_{word}_b32": _permlane for word in ("bcast", "up", "down", "xor")}


def _index(wave, ins):
    found = {}
    for lane in wave.active():
        index, width = (_raw(wave, operand, lane) & M32 for operand in ins.src)
        mask = width - 1 & M32
        found[lane] = (index & 63 & mask) + (lane & ~mask & M32) << 2 & M32
    for lane, bits in found.items():
        wave.v[ins.dst[0].index][lane] = bits


EXTRA["v_permlane_idx_gen_b32"] = _index


# Tables.


def _lookup(size):
    def run(wave, ins):
        found = {}
        for lane in wave.active():
            high, low, indices = (_raw(wave, operand, lane) for operand in ins.src)
            table = high << 32 * ins.src[1].count | low
            entries = [table >> size * (indices >> 4 * i & 15) & ((1 << size) - 1) for i in range(16)]
            found[lane] = sum(entry << size * i for i, entry in enumerate(entries))
        for lane, bits in found.items():
            for k in range(size // 2):
                wave.v[ins.dst[0].index + k][lane] = bits >> 32 * k & M32

    return run


EXTRA |= {f"v_perm_pk16_b{size}_u4": _lookup(size) for size in (4, 6, 8)}


def _nibbles(low, high):
    def pack(a):
        parts = [a >> 8 * i & 255 for i in range(4)]
        values = [signed(part, 8) if low else part for part in parts]
        return sum((min(max(value, low), high) & 15) << 4 * i for i, value in enumerate(values))

    return pack


row("v_sat_pk4_i4_i8", "u32 -> u16", _nibbles(-8, 7))
row("v_sat_pk4_u4_u8", "u32 -> u16", _nibbles(0, 15))
