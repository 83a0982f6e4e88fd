"""The slow model against PyPI mmasim, an independent model of CDNA1, CDNA2 and CDNA3 validated on hardware.

mmasim 2.1.1 does not model NaN payloads, and for two bf8 operands it loses a NaN or an infinity in the value that a
group of 16 adds to (its drop rule is applied before specials are handled); such elements are left out and counted.
"""

import importlib.util
import random

import pytest

from mfmasim.architectures import ARCHITECTURES
from mfmasim.matrix.models import model_for
from tests.longtier import this_round
from tests.oracles import require
from tests.slow.matrix import dot
from tests.slow.matrix.fixed import decode, is_nan, row

pytestmark = pytest.mark.oracle

#   family   arch      mmasim's suffix           a           b           d      K   variant
CASES = (
    ("CDNA1", "gfx908", "f32_16x16x4f32", "f32", "f32", "f32", 4, ""),
    ("CDNA1", "gfx908", "f32_16x16x16f16", "f16", "f16", "f32", 16, ""),
    ("CDNA1", "gfx908", "f32_16x16x8bf16", "bf16", "bf16", "f32", 8, ""),
    ("CDNA2", "gfx90a", "f64_16x16x4f64", "f64", "f64", "f64", 4, ""),
    ("CDNA2", "gfx90a", "f32_16x16x4f32", "f32", "f32", "f32", 4, ""),
    ("CDNA2", "gfx90a", "f32_16x16x16f16", "f16", "f16", "f32", 16, ""),
    ("CDNA2", "gfx90a", "f32_16x16x8bf16", "bf16", "bf16", "f32", 8, ""),
    ("CDNA2", "gfx90a", "f32_16x16x16bf16_1k", "bf16", "bf16", "f32", 16, "1k"),
    ("CDNA3", "gfx942", "f64_16x16x4_f64", "f64", "f64", "f64", 4, ""),
    ("CDNA3", "gfx942", "f32_16x16x4_f32", "f32", "f32", "f32", 4, ""),
    ("CDNA3", "gfx942", "f32_16x16x8_xf32", "xf32", "xf32", "f32", 8, ""),
    ("CDNA3", "gfx942", "f32_16x16x16_f16", "f16", "f16", "f32", 16, ""),
    ("CDNA3", "gfx942", "f32_16x16x16_bf16", "bf16", "bf16", "f32", 16, ""),
    ("CDNA3", "gfx942", "f32_4x4x4_16b_f16", "f16", "f16", "f32", 4, ""),
    ("CDNA3", "gfx942", "f32_16x16x32_fp8_fp8", "e4m3fnuz", "e4m3fnuz", "f32", 32, ""),
    ("CDNA3", "gfx942", "f32_16x16x32_fp8_bf8", "e4m3fnuz", "e5m2fnuz", "f32", 32, ""),
    ("CDNA3", "gfx942", "f32_16x16x32_bf8_fp8", "e5m2fnuz", "e4m3fnuz", "f32", 32, ""),
    ("CDNA3", "gfx942", "f32_16x16x32_bf8_bf8", "e5m2fnuz", "e5m2fnuz", "f32", 32, ""),
    ("CDNA3", "gfx942", "f32_32x32x16_fp8_fp8", "e4m3fnuz", "e4m3fnuz", "f32", 16, ""),
)


def some_code(source, form, style):
    """A code: any bits, a middling number, or one of the format's corner cases."""
    fields = row(form)
    if style == "bits":
        return source.getrandbits(fields.bits)
    sign = source.getrandbits(1) << (fields.bits - 1)
    fraction = source.choice([0, (1 << fields.mantissa_bits) - 1, source.getrandbits(fields.mantissa_bits)])
    top = (1 << fields.exponent_bits) - 1
    reach = min(12, fields.bias - 1)
    field = {
        "middling": fields.bias + source.randint(-reach, reach),
        "small": source.randint(0, min(3, top)),
        "root": fields.bias // 2 + source.randint(-1, 1),
        "corner": source.choice([0, 0, 1, fields.bias, top - 1, top]),
    }[style]
    return sign | field << fields.mantissa_bits | fraction


def compare(case, count, seed):
    family, arch, suffix, a_format, b_format, d_format, k, variant = case
    require("mmasim", importlib.util.find_spec("mmasim") is not None, "pip install --group oracles")
    import torch
    from mmasim.amd.sim import MFMA

    operation = MFMA(family, suffix)
    model = model_for(ARCHITECTURES[arch], "mfma", a_format, b_format, d_format, k, variant)
    source = random.Random(f"{family} {suffix} {seed}")
    styles = ["bits", "middling", "small", "root", "corner"]
    a, b, c = [], [], []
    for _ in range(count):
        style = source.choice(styles)
        kept = source.choice([k, k, 1, 2])
        a.append([some_code(source, a_format, style) if i < kept else 0 for i in range(k)])
        b.append([some_code(source, b_format, style) if i < kept else 0 for i in range(k)])
        source.shuffle(a[-1])
        c.append(some_code(source, d_format, source.choice(styles)))

    def tensor(codes, form):
        bits = row(form).bits
        signed = [[code - (code >> (bits - 1) << bits) for code in line] for line in codes]
        store = {8: torch.int8, 16: torch.int16, 32: torch.int32, 64: torch.int64}[bits]
        kind = {
            "f64": torch.float64,
            "f32": torch.float32,
            "xf32": torch.float32,
            "f16": torch.float16,
            "bf16": torch.bfloat16,
            "e4m3fnuz": torch.float8_e4m3fnuz,
            "e5m2fnuz": torch.float8_e5m2fnuz,
        }[form]
        return torch.tensor(signed, dtype=store).view(kind)

    theirs = operation.dpa(tensor(a, a_format), tensor(b, b_format), tensor([c], d_format)[0])
    width = row(d_format).bits
    theirs = [int(x) % (1 << width) for x in theirs.view(torch.int64 if width == 64 else torch.int32)]
    compared, left_out, wrong = 0, 0, []
    for one_a, one_b, one_c, expected in zip(a, b, c, theirs, strict=True):
        if a_format == b_format == "e5m2fnuz":
            running = [one_c, dot(model, a_format, b_format, d_format, one_a[:16], one_b[:16], one_c)]
            if any(decode(value, d_format).kind != "finite" for value in running[: k // 16]):
                left_out += 1
                continue
        found = dot(model, a_format, b_format, d_format, one_a, one_b, one_c)
        compared += 1
        if found != expected and not (is_nan(found, d_format) and is_nan(expected, d_format)):
            wrong.append(([hex(x) for x in one_a], [hex(x) for x in one_b], hex(one_c), hex(found), hex(expected)))
    assert not wrong, f"{len(wrong)} of {compared} differ; first {wrong[0]}"
    assert compared + left_out == count
    assert left_out < count / 4
    return compared


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[2]}")
def test_equals_mmasim(case):
    assert compare(case, 250, seed=1) >= 180


@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[2]}")
def test_equals_mmasim_on_many(case):
    assert compare(case, 10000, seed=2 + this_round()) >= 7500
