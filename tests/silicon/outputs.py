"""Corpora of bjacob/goc (tests, MIT) of conversions, scaling and packing, at the edges of their formats.

Digests of golden/hardware/digests.csv; FNV-1a goes over bytes of results, of V_LDEXP_F16 over its words.
"""

import numpy as np

from tests.silicon.corpora import OMOD, SEED, folded, octets
from tests.silicon.execute import OVERFLOW, PLAIN, run

SINGLES = np.array([
    0x0, 0x80000000, 0x1, 0x80000001, 0x7FFFFF, 0x807FFFFF, 0x800000, 0x80800000, 0xFFFFFF, 0x80FFFFFF, 0x1000000,
    0x81000000, 0x3F000000, 0xBF000000, 0x3F800000, 0xBF800000, 0x40000000, 0xC0000000, 0x7E800000, 0xFE800000,
    0x7F000000, 0xFF000000, 0x7F7FFFFF, 0xFF7FFFFF, 0xC2FC0000, 0xC2FA0000, 0xC2FE0000, 0x7F800000, 0xFF800000,
    0x7FC12345, 0xFFC12345, 0x3F800001,
], np.uint32)  # fmt: skip
HALVES = np.array([
    0x0, 0x8000, 0x1, 0x8001, 0x3FF, 0x83FF, 0x400, 0x8400, 0x7FF, 0x87FF, 0x800, 0x8800, 0x3800, 0xB800, 0x3C00,
    0xBC00, 0x4000, 0xC000, 0x7800, 0xF800, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7C01, 0xFC01, 0x7E01, 0xFE01, 0x3555,
    0xB555, 0x3C01, 0xBC01,
], np.uint32)  # fmt: skip
POWERS = np.resize([-200, -150, -127, -126, -1, 0, 1, 127, 128, 200, -(1 << 31), (1 << 31) - 1], 32)
LANE = np.arange(32)


def _signed(text, variant):
    """With ABS (bit 1), then NEG (bit 0)."""
    text = f"|{text}|" if variant & 2 else text
    return f"-{text}" if variant & 1 else text


def _after(variant):
    return (" clamp" if variant & 16 else "") + OMOD[variant >> 2 & 3]


def output_scaling(operation, case):
    """Four sets: as they are, halved, doubled, and by other powers; all modifiers, and one NaN."""
    chosen = int(case.split()[1])
    wide = operation.startswith("v_cvt_f64")
    lines = []
    for variant in range(32):
        if operation == "v_ldexp_f32":
            lines.append(f"v_ldexp_f32 v20, {_signed('v4', variant)}, v6{_after(variant)}")
        elif operation in ("v_cvt_f64_i32", "v_cvt_f64_u32"):
            lines += [f"{operation}_e64 v[20:21], v4{_after(variant << 1 & 12 | variant << 4 & 16)}"] * (variant < 8)
        else:
            source = {"v_cvt_f32_f16": "v4.l", "v_cvt_f32_f64": "v[4:5]", "v_cvt_f64_f32": "v4"}[operation]
            to = "v[20:21]" if wide else "v20"
            lines.append(f"{operation}_e64 {to}, {_signed(source, variant)}{_after(variant)}")
    sources = [SINGLES]
    if operation == "v_ldexp_f32":
        power = POWERS if chosen == 3 else np.full(32, (0, -1, 1)[chosen])
        sources.append((power & 0xFFFFFFFF).astype(np.uint32))
    if operation == "v_cvt_f32_f16":
        sources = [HALVES]
    if operation == "v_cvt_f32_f64":
        with np.errstate(invalid="ignore"):
            numbers = SINGLES.view(np.float32).astype(np.float64) * (1, 0.5, 2, 1)[chosen]
        numbers = np.where(LANE & 1, -(2.0**-150), 2.0**-150) if chosen == 3 else numbers
        sources = [numbers.view(np.uint64)]
    out, _ = run(lines, sources)
    size, infinity, nan = (8, 0x7FF << 52, 0x7FF8 << 48) if wide else (4, 0x7F800000, 0x7FC00000)
    magnitude = out & np.uint64((1 << 8 * size - 1) - 1)
    return folded(octets(np.where(magnitude > np.uint64(infinity), np.uint64(nan), out), size))


def half_exponent(operation, _case):
    """Every encoding by five powers, with each OMOD, without and with FP16_OVFL; one NaN."""
    found, every = SEED, np.arange(1 << 16, dtype=np.uint32)
    for modes in (PLAIN, OVERFLOW):
        for power in (-25, -1, 0, 1, 24):
            lines = [f"{operation}_e64 v20.l, v4.l, v6.l{omod}" for omod in OMOD]
            out, _ = run(lines, [every, np.full_like(every, power & 0xFFFF)], start=0xDEADBEEF, modes=modes)
            nan = out & np.uint64(0x7FFF) > 0x7C00
            out = np.where(nan, out & np.uint64(0xFFFF0000) | np.uint64(0x7E00), out)
            found = folded(out.reshape(-1).tolist(), found)
    return found


def pack(operation, case):
    """65,536 pairs of halves; ABS of both in the lowest bits, NEG, and the halves of the sources."""
    mode = int(case.split()[1])
    i = np.arange(1 << 16, dtype=np.uint32)
    first, second = i | (65535 - i) << np.uint32(16), i * np.uint32(0x7395A831) ^ np.uint32(0xA7925163)
    if operation == "v_sat_pk_u8_i16":
        line = f"{operation}_e64 v20.{'h' if mode else 'l'}, v4"
    else:
        texts = []
        for place, name in enumerate(("v4", "v6")):
            text = f"{name}.{'h' if mode >> 4 + place & 1 else 'l'}"
            texts.append(_signed(text, mode >> place << 1 & 2 | mode >> 2 + place & 1))
        line = f"{operation} v20, {', '.join(texts)}"
    out, _ = run([line], [first, second], start=0xCAFEBEEF)
    return folded(octets(out[0]))


OUTPUTS = {
    "bjacob/goc tests/output_scaling_test.cpp": output_scaling,
    "bjacob/goc tests/half_exponent_test.cpp": half_exponent,
    "bjacob/goc tests/pack_hardware.h": pack,
}
