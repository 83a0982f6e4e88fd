"""Conversions of 8 and 16 values, and between f16 and FP8, one lane at a time.

Source: CDNA5 ISA manual, 7.6 with its tables 36 and 37, and the opcodes' texts.
"""

from __future__ import annotations

import re

from mfmasim import formats
from mfmasim.formats.conversions import conversions
from tests.slow import formats as exact
from tests.slow.machine import conversions as slow
from tests.slow.machine import float_mode as more
from tests.slow.machine import floats as fl
from tests.slow.machine.floats import F16, F32
from tests.slow.machine.vop3p import BF16, _raw

M16, M32 = (1 << 16) - 1, (1 << 32) - 1
slow.SMALL["gfx1250"] = {"fp8": "e4m3fn", "bf8": "e5m2", "fp6": "e2m3fn", "bf6": "e3m2fn", "fp4": "e2m1fn"}

LANES_AND_BYTES = {
    # OPSEL[2:0] of F4 and F6: first lane of the scales, their byte for lanes 0 to 15 and for lanes 16 to 31
    0b000: (0, 0, 1), 0b001: (0, 2, 3), 0b010: (16, 0, 1), 0b011: (16, 2, 3),
    0b100: (0, 0, 2), 0b101: (0, 1, 3), 0b110: (16, 0, 2), 0b111: (16, 1, 3),
}  # fmt: skip
LANES_AND_BYTES_OF_F8 = {
    # OPSEL[3:0]
    **{byte | half << 2: (16 * half, byte, byte) for byte in range(4) for half in range(2)},
    0b1000: (0, 0, 1),
    0b1010: (16, 2, 3),
}


def _store(wave, ins, found, registers):
    """Results of all lanes at once: the destination may be a source."""
    for lane, bits in found.items():
        for k in range(registers):
            wave.v[ins.dst[0].index + k][lane] = bits >> 32 * k & M32


def _scale(wave, ins, lane, kind):
    operand, select = ins.src[1], ins.modifiers.get("scale_sel", 0)
    first, low, high = LANES_AND_BYTES_OF_F8[select] if kind[-1] == "8" else LANES_AND_BYTES[select & 7]
    return _raw(wave, operand, first + lane % 16) >> 8 * (high if lane >= 16 else low) & 255


def _widening(target, kind, count):
    form = slow.FORMS[target]

    def run(wave, ins):
        found, size = {}, slow.small(kind).bits
        for lane in wave.active():
            scale, raw = _scale(wave, ins, lane, kind), _raw(wave, ins.src[0], lane)
            power = None if scale == 255 else scale - 127
            out = 0
            for k in range(count):
                code = raw >> size * k & ((1 << size) - 1)
                bits = slow.widened(code, kind, target, power)
                infinite = exact.decode(slow.small(kind), code).magnitude == "inf"
                if target == "bf16" and more.NOW.mode >> 23 & 1 and fl.is_inf(bits, BF16) and not infinite:
                    bits -= 1
                out |= bits << fl.width(form) * k
            found[lane] = out
        _store(wave, ins, found, fl.width(form) * count // 32)

    return run


def _narrowed(bits, form, kind, power):
    """±Inf becomes NaN if FP16_OVFL is set (7.6.2)."""
    if fl.is_inf(bits, form) and more.NOW.mode >> 23 & 1 and kind[-1] == "8":
        return exact.encode(slow.small(kind), exact.Number(bool(fl.sign_of(bits, form)), "nan"))
    return slow.narrowed(bits, form, kind, power)


def _narrowing(kind, source, count, random):
    form = slow.FORMS[source]

    def run(wave, ins):
        found, row = {}, slow.small(kind)
        for lane in wave.active():
            field = _raw(wave, ins.src[2 if random else 1], lane) >> 23 & 255
            power = None if field == 255 else 127 - field
            raw, size = _raw(wave, ins.src[0], lane), fl.width(form)
            values = [raw >> size * k & ((1 << size) - 1) for k in range(count)]
            values = [more.entering(bits, F32) if form == F32 else bits for bits in values]
            out = 0
            noise = slow.sequence(_raw(wave, ins.src[1], lane) & M32, count // 2) if random else []
            for k, bits in enumerate(values):
                if random and not (fl.is_inf(bits, form) and more.NOW.mode >> 23 & 1):
                    part = noise[k // 2] >> 16 * (k % 2) & M16
                    code = slow.narrowed_randomly(bits, form, row, part << 16, power)
                else:
                    code = _narrowed(bits, form, kind, power)
                out |= code << row.bits * k
            found[lane] = out
        _store(wave, ins, found, row.bits * count // 32)

    return run


def _many(name):
    random = "_sr_" in name
    count, target, source = re.search(r"_pk(8|16)_(\w+?)_(\w+)$", name).groups()
    if name.startswith("v_cvt_scale_"):
        return _widening(target, source, int(count))
    return _narrowing(target, source, int(count), random)


def _half(wave, ins, lane):
    """A source of f16, of the half that OP_SEL names."""
    raw = _raw(wave, ins.src[0], lane) >> 16 * (ins.modifiers.get("op_sel", 0) & 1) & M16
    return slow._signed(raw, ins.src[0], F16)


def _halves_to_bytes(kind):
    def run(wave, ins, lane):
        raw = _raw(wave, ins.src[0], lane)
        low, high = (slow.narrowed(slow._signed(part, ins.src[0], F16), F16, kind) for part in (raw & M16, raw >> 16))
        return low | high << 8, 16 * (ins.modifiers.get("op_sel", 0) >> 3 & 1), 16

    return slow._into_place(run)


def _half_randomly(kind):
    def run(wave, ins, lane):
        bits = slow.narrowed_randomly(_half(wave, ins, lane), F16, slow.small(kind), _raw(wave, ins.src[1], lane))
        return bits, 8 * ins.modifiers.get("byte_sel", ins.modifiers.get("op_sel", 0) >> 2), 8

    return slow._into_place(run)


def _byte_to_half(kind):
    def run(wave, ins, lane):
        code = _raw(wave, ins.src[0], lane) >> 8 * ins.modifiers.get("byte_sel", 0) & 255
        return slow.widened(code, kind, "f16"), 16 * (ins.modifiers.get("op_sel", 0) >> 3 & 1), 16

    return slow._into_place(run)


def _bytes_to_halves(kind):
    def run(wave, ins, lane):
        word = _raw(wave, ins.src[0], lane) >> 16 * (ins.modifiers.get("op_sel", 0) & 1)
        return sum(slow.widened(word >> 8 * k & 255, kind, "f16") << 16 * k for k in range(2)), 0, 32

    return slow._into_place(run)


def _pair_randomly(target):
    def run(wave, ins, lane):
        random, out = _raw(wave, ins.src[2], lane), 0
        limit = "saturate_finite" if more.NOW.mode >> 23 & 1 else "infinity_or_nan"
        for k in range(2):
            bits = slow._signed(_raw(wave, ins.src[k], lane) & M32, ins.src[k], F32)
            part = (random >> 16 * k & M16) << 16
            out |= slow.narrowed_randomly(bits, F32, formats.format(target), part, 0, limit) << 16 * k
        return out, 0, 32

    return slow._into_place(run)


more.EXTRA |= {
    **{name: _many(name) for name in conversions("gfx1250") if re.search(r"_scale(f32)?_.*pk(8|16)_", name)},
    **{f"v_cvt_pk_{kind}_f16": _halves_to_bytes(kind) for kind in ("fp8", "bf8")},
    **{f"v_cvt_sr_{kind}_f16": _half_randomly(kind) for kind in ("fp8", "bf8")},
    **{f"v_cvt_f16_{kind}": _byte_to_half(kind) for kind in ("fp8", "bf8")},
    **{f"v_cvt_pk_f16_{kind}": _bytes_to_halves(kind) for kind in ("fp8", "bf8")},
    **{f"v_cvt_sr_pk_{target}_f32": _pair_randomly(target) for target in ("f16", "bf16")},
}
