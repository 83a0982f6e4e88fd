"""One vector instruction, lane after lane: sources with their modifiers, results, parts of registers, lane masks."""

from __future__ import annotations

from tests.slow.machine import dpp
from tests.slow.machine import float_mode as more
from tests.slow.machine.scalar_alu import signed
from tests.slow.machine.vector_alu import FORMS

M32 = (1 << 32) - 1
KEEPS_HIGH = {"v_mad_f16", "v_mad_u16", "v_mad_i16", "v_fma_f16", "v_div_fixup_f16"}
"""16-bit operations whose result leaves the other half alone; the others clear the high half (CDNA3 manual, VOP3)."""


def raw_bits(wave, operand, lane):
    """All bits of a vector operand in one lane: 32, or 64 for a pair."""
    if operand.kind in ("v", "a"):
        file = wave.file(operand.kind)
        low = file[operand.index][lane]
        return low | file[operand.index + 1][lane] << 32 if operand.count == 2 else low
    return wave.scalar(operand)


_SIZES = {"u16": 16, "i16": 16, "f16": 16, "u64": 64, "i64": 64, "f64": 64}


def selected(raw, operand):
    """SDWA source selection: a byte, a half or the dword, zero- or sign-extended."""
    size = 8 if operand.sel < 4 else 16
    if operand.sel == 6:
        return raw
    shift = 8 * operand.sel if operand.sel < 4 else 16 * (operand.sel - 4)
    part = raw >> shift & ((1 << size) - 1)
    return signed(part, size) & M32 if operand.sext else part


def _source(wave, ins, number, kind, lane, raw):
    """Value of a source as its kind says, after selection and modifiers."""
    operand = ins.src[number]
    if kind == "m":
        return wave.mask(operand.index) >> lane & 1
    size = _SIZES.get(kind, 32)
    if ins.encoding == "SDWA" and operand.printed:
        raw = selected(raw, operand)
    elif size == 16 and ins.modifiers.get("op_sel", 0) >> (3 if operand.half and not operand.printed else number) & 1:
        raw >>= 16  # a destination that is read back is the half that is written
    raw &= (1 << size) - 1
    if operand.abs:
        raw &= ~(1 << (size - 1))
    if operand.neg:
        raw ^= 1 << (size - 1)
    if kind in ("i16", "i32", "i64"):
        return signed(raw, size)
    if kind in ("u24", "i24"):
        return signed(raw, 24) if kind == "i24" else raw & 0xFFFFFF
    return raw


def _finish(value, kind, clamp):
    """A result as raw bits: wrapped, or saturated by the clamp modifier."""
    size = _SIZES.get(kind, 32)
    if kind in FORMS:
        return more.clamped(value, FORMS[kind]) if clamp else value
    if clamp:
        low, high = (-(1 << (size - 1)), (1 << (size - 1)) - 1) if kind[0] == "i" else (0, (1 << size) - 1)
        value = min(max(value, low), high)
    return value & ((1 << size) - 1)


def _write(wave, ins, operand, lane, kind, bits):
    """Write a lane's result into its register, or the part of it that the instruction selects."""
    file = wave.file(operand.kind)
    old = file[operand.index][lane]
    if _SIZES.get(kind) == 64:
        file[operand.index][lane], file[operand.index + 1][lane] = bits & M32, bits >> 32
        return
    if ins.encoding == "SDWA":
        bits = sdwa_result(bits, old, ins.modifiers.get("dst_sel", 6), ins.modifiers.get("dst_unused", 0))
    elif _SIZES.get(kind) == 16:
        if ins.modifiers.get("op_sel", 0) >> 3 & 1:
            bits = bits << 16 | old & 0xFFFF
        elif ins.name in KEEPS_HIGH or wave.facts.keeps_halves:
            bits |= old & 0xFFFF0000
    file[operand.index][lane] = bits & M32


def sdwa_result(bits, old, select, unused):
    if select == 6:
        return bits
    size = 8 if select < 4 else 16
    shift = 8 * select if select < 4 else 16 * (select - 4)
    part = bits & ((1 << size) - 1)
    if unused == 2:
        keep = M32 ^ ((1 << size) - 1) << shift
        return old & keep | part << shift
    if unused == 1:
        part = signed(part, size)
    return part << shift & M32


def vector(wave, ins, sources, results, function):
    """An ordinary vector operation: every active lane on its own; results appear together."""
    commit(wave, outcome(wave, ins, sources, results, function))


def outcome(wave, ins, sources, results, function):
    """What an operation will write: (instruction, register writes, masks by destination)."""
    clamp = bool(ins.modifiers.get("clamp"))
    written, masks = [], {k: 0 for k, kind in enumerate(results) if kind == "m"}
    for lane in wave.active():
        origin = dpp.origin(wave, ins, lane)
        if origin is dpp.SKIP:
            continue
        values = []
        for number, kind in enumerate(sources):
            first = number == 0 and origin is not None
            raw = raw_bits(wave, ins.src[number], origin if first and origin != dpp.ZERO else lane)
            values.append(_source(wave, ins, number, kind, lane, 0 if first and origin == dpp.ZERO else raw))
        found = more.before_multiplier(function, results[0], ins)(*values)
        found = found if isinstance(found, tuple) else (found,)
        for k, (kind, value) in enumerate(zip(results, found, strict=True)):
            if kind == "m":
                masks[k] |= value << lane
            else:
                bits = _finish(more.output_scaled(value, kind, ins), kind, clamp)
                written.append((ins.dst[k], lane, kind, bits))
    return ins, written, masks


def commit(wave, what):
    """Write what `outcome` found; a destination may be another lane's source (DPP), so all of it comes last."""
    ins, written, masks = what
    for operand, lane, kind, bits in written:
        _write(wave, ins, operand, lane, kind, bits)
    for k, mask in masks.items():
        for operand in ins.dst[k : k + 1]:
            wave.set_mask(operand, mask)
        if ins.name.startswith("v_cmpx"):
            wave.exec_ = mask
