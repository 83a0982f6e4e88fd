"""Python floats to raw bits, by the struct module and not by our own encoders."""

import struct

from tests.slow.matrix.fixed import UNIT, decode, row


def f64(x):
    return struct.unpack("<Q", struct.pack("<d", x))[0]


def f32(x):
    return struct.unpack("<I", struct.pack("<f", x))[0]


def f16(x):
    return struct.unpack("<H", struct.pack("<e", x))[0]


def bf16(x):
    bits = f32(x)
    assert bits & 0xFFFF == 0, f"{x} is not a bf16"
    return bits >> 16


def small(x, form):
    """Code of x in a format of at most 8 bits, found by trying all of them."""
    for code in range(1 << row(form).bits):
        number = decode(code, form)
        if number.kind == "finite" and number.value == int(x * 2**300) << (-UNIT - 300):
            return code
    raise AssertionError(f"{x} is not an {form}")


def encode(x, form):
    made = {"f64": f64, "f32": f32, "xf32": f32, "f16": f16, "bf16": bf16}.get(form)
    return made(x) if made else small(x, form)


def vector(values, form, k):
    """Codes of the values, padded with +0 to k elements."""
    return [encode(x, form) for x in values] + [0] * (k - len(values))
