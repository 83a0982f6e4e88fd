"""Packed and mixed floats and dot products, one lane at a time.

Source: CDNA3 and CDNA4 ISA manuals, 6.4, 6.7 and VOP3P.
"""

from __future__ import annotations

from tests.slow.machine import float_mode as more
from tests.slow.machine import floats as fl
from tests.slow.machine.floats import F16, F32

BF16 = (8, 7)
M32 = 0xFFFFFFFF
PLAIN = {"neg_lo": 0, "neg_hi": 0, "op_sel": 0, "op_sel_hi": 7}


def _raw(wave, operand, lane):
    if operand.kind in ("v", "a"):
        file = wave.file(operand.kind)
        return sum(file[operand.index + i][lane] << 32 * i for i in range(operand.count))
    return wave.scalar(operand)


def _picked(ins, wave, lane, number, part, size):
    """The part of a source that the low (0) or high (1) result takes, with its sign."""
    operand, modifiers = ins.src[number], ins.modifiers
    raw = _raw(wave, operand, lane)
    if ins.encoding == "VOP3P":
        high = modifiers[("op_sel", "op_sel_hi")[part]] >> number & 1
        if size == 32 and operand.kind != "v" and not wave.facts.pairs_of_scalars:
            high = 0
        negative = modifiers[("neg_lo", "neg_hi")[part]] >> number & 1
    else:
        high, negative = part, (operand.neg, operand.abs)[part]
        if wave.facts.keeps_halves and ins.name == "v_pk_fmac_f16" and operand.kind == "const" and operand.index < 249:
            # An inline float stands in both halves; measured on a gfx1100 (llvm-project 94116).
            high = part if operand.index < 240 else 0
    bits = raw >> size * high & ((1 << size) - 1)
    return bits ^ (negative << (size - 1))


def _halfwise(function, count):
    def run(wave, ins):
        for lane in wave.active():
            out = 0
            for part in range(2):
                result = function(*[_picked(ins, wave, lane, i, part, 16) for i in range(count)], F16)
                out |= (more.clamped(result, F16) if ins.modifiers.get("clamp") else result) << 16 * part
            wave.file(ins.dst[0].kind)[ins.dst[0].index][lane] = out

    return run


def _dwordwise(function, count):
    def run(wave, ins):
        for lane in wave.active():
            out = []
            for part in range(2):
                result = function(*[_picked(ins, wave, lane, i, part, 32) for i in range(count)], F32)
                out.append(more.clamped(result, F32) if ins.modifiers.get("clamp") else result)
            for part in range(2):
                wave.v[ins.dst[0].index + part][lane] = out[part]

    return run


def _three(function):
    return lambda a, b, c, form: function(function(a, b, form), c, form)


def _minimum(a, b, form):
    return more._propagated(a, b, form, more.smaller)


def _maximum(a, b, form):
    return more._propagated(a, b, form, more.larger)


def _move(wave, ins):
    """V_PK_MOV_B32."""
    select = ins.modifiers["op_sel"]
    for lane in wave.active():
        out = [_raw(wave, ins.src[i], lane) >> 32 * (select >> i & 1) & M32 for i in range(2)]
        for i in range(2):
            wave.v[ins.dst[0].index + i][lane] = out[i]


def _converted(bits, source, target, mode):
    """Between formats, rounded once; a NaN keeps its upper bits and is quiet."""
    sign = fl.sign_of(bits, source)
    if fl.is_nan(bits, source):
        fraction = fl.fraction_of(bits, source)
        shift = target[1] - source[1]
        fraction = fraction << shift if shift >= 0 else fraction >> -shift
        return fl.quiet(fl.infinity(sign, target) | fraction, target)
    if fl.is_inf(bits, source):
        return fl.infinity(sign, target)
    out = more.nearest_or_directed(fl.value(bits, source), target, mode, sign)
    if target == F16 and more.NOW.mode >> 23 & 1 and fl.is_inf(out, target):
        out -= 1
    return out


def half_of(bits, mode):
    """f32 to f16 with denormals as MODE has them; what is tiny is a zero."""
    if not (more.keeps(F16, 1) or fl.is_nan(bits, F32) or fl.is_inf(bits, F32)):
        number = fl.value(bits, F32)
        if number and more.is_tiny(number, F16, mode):
            return fl.zero(int(number < 0), F16)
    return more.leaving(_converted(bits, F32, F16, mode), F16)


def _mix_source(wave, ins, number, lane):
    operand = ins.src[number]
    raw = _raw(wave, operand, lane)
    if ins.modifiers["op_sel_hi"] >> number & 1:
        half = raw >> 16 * (ins.modifiers["op_sel"] >> number & 1) & 0xFFFF
        raw = _converted(more.entering(half, F16), F16, F32, 0)
    if operand.abs:
        raw &= 0x7FFFFFFF
    return raw ^ (operand.neg << 31)


def _fused_half(a, b, c):
    """a * b + c as f16: on RDNA rounded once, before to f32 first."""
    out = more.fused(a, b, c, F32)
    a, b, c = (more.entering(bits, F32) for bits in (a, b, c))
    if not more.NOW.rdna or any(fl.is_nan(bits, F32) or fl.is_inf(bits, F32) for bits in (a, b, c)):
        return half_of(out, more.rounding(F16))
    number = fl.value(a, F32) * fl.value(b, F32) + fl.value(c, F32)
    return more.finite_result(number, F16, fl.sign_of(out, F32))


def _mix(wave, ins):
    for lane in wave.active():
        sources = [_mix_source(wave, ins, i, lane) for i in range(3)]
        out = more.fused(*sources, F32)
        to = wave.v[ins.dst[0].index]
        form = F32
        if ins.name != "v_fma_mix_f32":
            form, out = F16, _fused_half(*sources)
        if ins.modifiers["clamp"]:
            out = more.clamped(out, form)
        if ins.name == "v_fma_mixlo_f16":
            out |= to[lane] & 0xFFFF0000
        elif ins.name == "v_fma_mixhi_f16":
            out = out << 16 | to[lane] & 0xFFFF
        to[lane] = out


def _interpolate(wave, ins):
    """V_INTERP_*: the parameters are those of one lane of each quad (RDNA3 ISA manual, 12.3)."""
    first, half = "_p10_" in ins.name, "f16" in ins.name
    select, old_mode = ins.modifiers.get("op_sel", 0), more.NOW.mode
    more.NOW.mode |= 15 if "_rtz_" in ins.name else 0
    found = {}
    for lane in wave.active():
        lanes = (lane - lane % 4 + (1 if first else 2), lane, lane - lane % 4 if first else lane)
        values = []
        for number, (operand, where) in enumerate(zip(ins.src, lanes, strict=True)):
            raw = wave.v[operand.index][where]
            if half and (number == 0 or (number == 2 and first)):
                raw = (raw >> 16 * (select >> number & 1) & 0xFFFF) ^ (operand.neg << 15)
                values.append(_converted(more.entering(raw, F16), F16, F32, 0))
            else:
                values.append(raw ^ (operand.neg << 31))
        if half and not first:
            out, form = _fused_half(*values), F16
        else:
            out, form = more.fused(*values, F32), F32
        found[lane] = more.clamped(out, form) if ins.modifiers["clamp"] else out
    more.NOW.mode = old_mode
    for lane, out in found.items():
        to = wave.v[ins.dst[0].index]
        if half and not first:
            to[lane] = out << 16 | to[lane] & 0xFFFF if select >> 3 & 1 else out | to[lane] & 0xFFFF0000
        else:
            to[lane] = out


# Dot products.


def _integers(bits, signed_elements):
    def run(wave, ins):
        for lane in wave.active():
            total = _raw(wave, ins.src[2], lane)
            if signed_elements and total >> 31:
                total -= 1 << 32
            for place in range(32 // bits):
                factors = []
                for number in range(2):
                    start = place * bits
                    if bits == 16 and ins.encoding == "VOP3P":
                        start = 16 * (ins.modifiers[("op_sel", "op_sel_hi")[place]] >> number & 1)
                    element = _source0(wave, ins, number, lane) >> start & ((1 << bits) - 1)
                    if signed_elements and element >> (bits - 1):
                        element -= 1 << bits
                    factors.append(element)
                total += factors[0] * factors[1]
            if ins.modifiers.get("clamp"):
                low, high = (-(1 << 31), (1 << 31) - 1) if signed_elements else (0, M32)
                total = min(max(total, low), high)
            wave.v[ins.dst[0].index][lane] = total & M32

    return run


def _source0(wave, ins, number, lane):
    return _raw(wave, ins.src[number], lane)


def _float_dot(form, addend_first):
    """Sums of two products and an addend: each sum rounded to nearest, denormals zero but for f16 on gfx950."""

    def step(function, a, b):
        mode = more.NOW.mode
        more.NOW.mode = mode & ~0xFF
        out = function(a, b, F32)
        more.NOW.mode = mode
        return out

    def exactly(bits, flush):
        if form == BF16:
            return more.flushed(bits << 16, F32)
        return _converted(more.flushed(bits, form) if flush else bits, form, F32, 0)

    def run(wave, ins):
        for lane in wave.active():
            sources = [[_picked(ins, wave, lane, i, part, 16) for i in range(2)] for part in range(2)]
            addend = more.flushed(_raw(wave, ins.src[2], lane), F32)
            wide = [[exactly(bits, wave.facts.dot_flushes_f16) for bits in pair] for pair in sources]
            nan = fl.first_nan([*wide[0], *wide[1], addend], F32)
            if nan is None:
                parts = [step(more.multiply, *pair) for pair in wide]
                parts = [addend, *parts] if addend_first else [*parts, addend]
                out = step(more.add, step(more.add, parts[0], parts[1]), parts[2])
                nan = fl.default_nan(F32) if fl.is_nan(out, F32) else out
            wave.v[ins.dst[0].index][lane] = more.clamped(nan, F32) if ins.modifiers.get("clamp") else nan

    return run


PACKED = {
    "v_pk_add_f16": _halfwise(more.add, 2), "v_pk_mul_f16": _halfwise(more.multiply, 2),
    "v_pk_fma_f16": _halfwise(more.fused, 3), "v_pk_fmac_f16": _halfwise(more.fused, 3),
    "v_pk_min_f16": _halfwise(more.smaller, 2), "v_pk_max_f16": _halfwise(more.larger, 2),
    "v_pk_minimum3_f16": _halfwise(_three(_minimum), 3), "v_pk_maximum3_f16": _halfwise(_three(_maximum), 3),
    "v_pk_add_f32": _dwordwise(more.add, 2), "v_pk_mul_f32": _dwordwise(more.multiply, 2),
    "v_pk_fma_f32": _dwordwise(more.fused, 3), "v_pk_mov_b32": _move,
    **{f"v_interp_{p}_{what}f32": _interpolate for p in ("p10", "p2") for what in ("", "f16_", "rtz_f16_")},
    "v_fma_mix_f32": _mix, "v_fma_mixlo_f16": _mix, "v_fma_mixhi_f16": _mix,
    "v_dot2_f32_f16": _float_dot(F16, True), "v_dot2c_f32_f16": _float_dot(F16, True),
    "v_dot2_f32_bf16": _float_dot(BF16, False), "v_dot2c_f32_bf16": _float_dot(BF16, True),
    **{f"v_dot{32 // bits}{c}_{sign}32_{sign}{bits}": _integers(bits, sign == "i")
       for bits in (16, 8, 4) for sign, c in (("i", ""), ("u", ""), ("i", "c"))},
}  # fmt: skip
more.EXTRA |= PACKED
