"""Operands that reach the corners of matrix arithmetic, as raw codes made from format rows alone."""

import functools

import numpy as np

from mfmasim.matrix.models import MODELS, ROUTES
from tests.slow.matrix import exact
from tests.slow.matrix.fixed import decode, row

INTEGERS = {"i8": 8, "u8": 8, "i4": 4, "u4": 4, "i32": 32}
STORE = {"f64": np.uint64, "f32": np.uint32, "xf32": np.uint32, "i32": np.uint32, "f16": np.uint16, "bf16": np.uint16}

CLASSES = ("bits", "finite", "middling", "wide", "cancel", "ties", "special", "subnormal", "root", "overflow", "few")


def cases():
    """(model name, a, b, d, K, kind) for every model, input pair and output that an instruction can have."""
    found = {}
    for route in ROUTES:
        model = MODELS[route.model]
        step = {"fma": 4, "integer": 16}.get(model.algorithm, model.group)
        ks = route.ks or ((64,) if model.scale_point else (step, 2 * step))
        for a in route.inputs:
            for b in route.inputs:
                fp8 = {a, b} & {"e4m3fn", "e5m2"} and {a, b} & {"e4m3fnuz", "e5m2fnuz"}
                # The two 16-bit formats and the two flavours of FP8 do not mix.
                if fp8 or ("f16" in {a, b} and a != b):
                    continue
                for k in ks:
                    found[route.model, a, b, route.output, k, route.kinds[-1]] = None
    # 4x4x4 forms have half a group.
    found["cdna3_16bit", "f16", "f16", "f32", 4, "mfma"] = None
    return list(found)


def bits_of(form):
    return INTEGERS[form] if form in INTEGERS else row(form).bits


def store(form):
    return STORE.get(form, np.uint8)


def assemble(source, form, shape, fields):
    """Codes of random sign and mostly simple fractions, with the given exponent fields."""
    parts = row(form)
    size = int(np.prod(shape))
    top = (1 << parts.mantissa_bits) - 1
    simple = source.choice(np.array([0, 0, 1, top], np.uint64), size)
    fraction = np.where(source.random(size) < 0.5, simple, source.integers(0, top + 1, size, dtype=np.uint64))
    sign = source.integers(0, 2, size).astype(np.uint64)
    fields = np.clip(fields, 0, (1 << parts.exponent_bits) - 1).astype(np.uint64).reshape(-1)
    code = sign << np.uint64(parts.bits - 1) | fields << np.uint64(parts.mantissa_bits) | fraction
    return code.astype(store(form)).reshape(shape)


@functools.cache
def nans(form):
    """Which codes of an 8-bit format are not numbers."""
    return np.array([decode(code, form).kind != "finite" for code in range(256)])


def operand(source, form, shape, kind):
    """An array of codes of one data class."""
    size = int(np.prod(shape))
    if form in INTEGERS or kind == "bits":
        return source.integers(0, 1 << bits_of(form), size, dtype=np.uint64).astype(store(form)).reshape(shape)
    parts = row(form)
    top = (1 << parts.exponent_bits) - 1
    finite_top = top - 1 if parts.special == "ieee" else top
    reach = {
        "finite": (0, finite_top),
        "middling": (parts.bias - 2, parts.bias + 2),
        "cancel": (parts.bias - 3, parts.bias + 3),
        "ties": (parts.bias - 13, parts.bias + 13),
        "wide": (parts.bias - 28, parts.bias + 28),
        "special": (parts.bias - 2, parts.bias + 2),
        "subnormal": (0, 1),
        "root": (parts.bias // 2 - 1, parts.bias // 2 + 1),
        "overflow": (parts.bias + parts.bias // 2 - 1, parts.bias + parts.bias // 2 + 2),
        "few": (parts.bias - 14, parts.bias + 14),
    }[kind]
    fields = np.clip(source.integers(reach[0], reach[1] + 1, size), 0, finite_top)
    codes = assemble(source, form, shape, fields)
    if kind == "special":
        corners = assemble(source, form, shape, source.choice([0, 0, 1, parts.bias, finite_top, top], size))
        codes = np.where(source.random(shape) < 0.06, corners, codes)
    elif parts.bits == 8:  # formats whose NaN is not a whole exponent
        codes[nans(form)[codes]] = 1
    if kind in {"ties", "cancel"}:
        codes &= np.array(-1 << max(parts.mantissa_bits - 3, 0), np.int64).astype(codes.dtype)
    if kind == "few":
        codes[source.random(shape) < 0.8] = 0
    return codes


def matrices(source, case, kind, rows=2, columns=2, batch=2):
    """a, b, c and the keyword arguments of one `multiply` call of a data class."""
    name, a_format, b_format, _, k, form_kind = case
    model = MODELS[name]
    sparse = form_kind in {"smfmac", "swmmac"} or "sparse" in name
    dense = 2 * k if sparse else k
    a = operand(source, a_format, (batch, rows, k), kind)
    b = operand(source, b_format, (batch, dense, columns), kind)
    more = {}
    if sparse:
        pairs = source.permuted(np.tile(np.arange(4), (batch, rows, k // 2, 1)), axis=-1)[..., :2]
        pairs.sort(axis=-1)
        more["selection"] = (pairs + 4 * np.arange(k // 2)[:, None]).reshape(batch, rows, k)
    if kind == "cancel" and k > 1:
        # Neighbours whose products cancel, or nearly: b changes its sign, sometimes its last bit.
        flip = np.array(1 << (bits_of(b_format) - 1)).astype(b.dtype)
        b[:, 1::2] = b[:, 0::2] ^ flip if not sparse else b[:, 1::2]
        b[:, 1] ^= source.integers(0, 2, b[:, 1].shape).astype(b.dtype)
        if not sparse:
            a[..., 1::2] = a[..., 0::2]
    if model.scale_point:
        centre, spread = source.choice([127, 127, 60, 190]), source.choice([1, 12, 60])
        shape = (batch, rows, dense // 32), (batch, dense // 32, columns)
        for key, dims in zip(("scale_a", "scale_b"), shape, strict=True):
            more[key] = np.clip(source.integers(centre - spread, centre + spread + 1, dims), 0, 255).astype(np.uint8)
            if kind == "special":
                more[key] = source.choice([0, 1, 127, 254, 255], dims, p=[0.1, 0.1, 0.6, 0.1, 0.1]).astype(np.uint8)
    return a, b, addend(source, case, kind, a, b, more), more


def addend(source, case, kind, a, b, more):
    """c of the same class, or one that nearly cancels the sum, or lies half a unit or many units away from it."""
    _, a_format, b_format, d_format, *_ = case
    shape = (*a.shape[:-1], b.shape[-1])
    c = operand(source, d_format, shape, "bits" if d_format == "i32" else kind)
    style = source.integers(0, 4)
    if d_format == "i32":
        near = source.choice([0x7FFFFFFF, 0x80000000, 0], shape).astype(np.int64) + source.integers(-99, 99, shape)
        return c if style < 2 else (near % (1 << 32)).astype(np.uint32)
    if style < 2 or kind in {"bits", "special"}:
        return c
    parts = row(d_format)
    minus = 1 << (parts.bits - 1)
    for index in np.ndindex(*shape):
        *place, i, j = index
        line, column = a[(*place, i)], b[(*place, slice(None), j)]
        ks = more["selection"][(*place, i)] if "selection" in more else range(len(line))
        scales = {
            "scale_a": more["scale_a"][(*place, i)].tolist() if "scale_a" in more else None,
            "scale_b": more["scale_b"][(*place, slice(None), j)].tolist() if "scale_b" in more else None,
        }
        total = exact(a_format, b_format, d_format, line.tolist(), [int(column[q]) for q in ks], 0, **scales)
        if style == 2:  # about minus the sum
            total = (total ^ minus) + int(source.integers(-2, 3))
        else:  # the sum times a power of two near the edge of what is kept
            total += int(source.choice([-34, -33, -27, -26, -25, -24, 22, 23, 24, 25, 26])) << parts.mantissa_bits
            total ^= int(source.integers(0, 2)) << (parts.bits - 1)
        c[index] = total % (1 << parts.bits)
    return c
