"""The corpora of bjacob/goc (tests, MIT): inputs made again, executed, and folded as the digests of an RX 9070 are.

Each function gives the digest of an operation for a case of golden/hardware/digests.csv. FNV-1a of 64 bits goes over
the little-endian bytes of results, or over whole words where it says so.
"""

import itertools
import re
from functools import cache

import numpy as np

from tests.silicon import values
from tests.silicon.execute import OVERFLOW, PLAIN, run

SEED, PRIME, WHOLE = 14695981039346656037, 1099511628211, 2**64 - 1
OMOD = ("", " mul:2", " mul:4", " div:2")
REGISTERS = {
    "f64": ("v[20:21]", "v[4:5]", "v[6:7]", "v[8:9]"),
    "f32": ("v20", "v4", "v6", "v8"),
    "f16": ("v20.l", "v4.l", "v6.l", "v8.l"),
}
BYTES = {"f16": 4, "f32": 4, "f64": 8}


def folded(numbers, found=SEED):
    """FNV-1a over bytes or words, after what it `found` before."""
    for number in numbers:
        found = (found ^ number) * PRIME & WHOLE
    return found


def octets(array, size=4):
    """The bytes of words."""
    return array.astype(f"<u{size}").tobytes()


def kind_of(operation):
    """f16, f32 or f64, which ends a name."""
    return operation[-3:]


def line(operation, count, signs="", after="", encoding=""):
    """An instruction of `count` sources.

    Args:
        operation: its name.
        count: of sources.
        signs: a pattern of the sources, such as ``-|a| |b| -c``.
        after: modifiers behind it.
        encoding: ``_e64`` or nothing.
    """
    to, *names = REGISTERS[kind_of(operation)]
    pattern = signs.split() or list("abc"[:count])
    texts = [text.replace(letter, name) for text, letter, name in zip(pattern, "abc", names, strict=False)]
    return f"{operation}{encoding} {', '.join([to, *texts])}{after}"


@cache
def triples(numbers, dtype):
    """All triples, the first one outermost, as columns."""
    return [np.array(column, dtype) for column in zip(*itertools.product(numbers, repeat=3), strict=True)]


def _dtype(kind):
    return np.uint64 if kind == "f64" else np.uint32


def cube_hardware(operation, case):
    """16**3 triples."""
    signs, after = (case, "") if "|" in case else ("", "" if case == "plain" else f" {case}")
    out, _ = run([line(operation, 3, signs, after)], triples(values.CUBE, np.uint32))
    return folded(octets(out[0]))


def _next(state):
    """xorshift of 32 bits."""
    state ^= state << 13 & 0xFFFFFFFF
    state ^= state >> 17
    return state ^ state << 5 & 0xFFFFFFFF


def xorshift(state):
    """A function that draws the next number."""

    def draw():
        nonlocal state
        state = _next(state)
        return state

    return draw


def numbers_of(case):
    """The numbers of a case."""
    return [int(text) for text in re.findall(r"\d+", case)]


@cache
def _random_triples(kind):
    """4,096 triples; of four, one cancels and one has a denormal product."""
    state, rows = 0x9174AB23, []
    fraction, bias, sign = (52, 1023, 63) if kind == "f64" else (23, 127, 31)
    for index in range(4096):
        row = []
        for _ in range(3):
            state = _next(state)
            number = state
            if kind == "f64":
                state = _next(state)
                number |= state << 32
            row.append(number)
        if index % 4 == 0:
            row[1], row[2] = bias << fraction | 1, row[0] ^ 1 << sign
        if index % 4 == 1:
            row = [row[0] & (1 << fraction) - 1, (bias + 1 << fraction) - 1, 1]
        rows.append(row)
    return [np.array(column, _dtype(kind)) for column in zip(*rows, strict=True)]


def div_fmas_hardware(operation, case):
    """Pairs of boundary values, or random ones, with VCC clear or set."""
    kind = kind_of(operation)
    corpus, *rest = case.split()
    vcc = rest[0] == "vcc"
    signs = " ".join(rest[vcc:])
    sources = triples(values.FMAS[kind], _dtype(kind)) if corpus == "pairs" else _random_triples(kind)
    out, _ = run([line(operation, 3, "" if signs == "plain" else signs)], sources, vcc=int(vcc))
    return folded(octets(out[0], BYTES[kind]))


def div_fixup_hardware(operation, case):
    """16**3 triples, without and with FP16_OVFL."""
    kind = kind_of(operation)
    mode = OVERFLOW if "ovfl" in case else PLAIN
    signs = case.removeprefix("ovfl ")
    text = line(operation, 3, "" if signs == "plain" else signs)
    out, _ = run([text], triples(values.FIXUP[kind], _dtype(kind)), modes=mode, start=0x12345678)
    return folded(octets(out[0], BYTES[kind]))


def div_scale_hardware(operation, case):
    """24**2 pairs of a denominator and a numerator, of which S0 is one after NEG; value and VCC of each."""
    kind = kind_of(operation)
    role, neg, omod, clamp = (int(text.partition("=")[2]) for text in case.split())
    below, above = (
        np.array(c, _dtype(kind)) for c in zip(*itertools.product(values.SCALE[kind], repeat=2), strict=True)
    )
    first = above if role else below
    if (neg & 1 != 0) != (neg & (4 if role else 2) != 0):
        first = first ^ _dtype(kind)(1 << (63 if kind == "f64" else 31))
    to, *names = REGISTERS[kind]
    texts = [f"-{name}" if neg >> k & 1 else name for k, name in enumerate(names)]
    after = (" clamp" if clamp else "") + OMOD[omod]
    out, vcc = run([f"{operation} {to}, vcc_lo, {', '.join(texts)}{after}"], [first, below, above])
    found = SEED
    for value, bit in zip(out[0].tolist(), vcc[0].tolist(), strict=True):
        for octet in value.to_bytes(BYTES[kind], "little"):
            found = (found ^ octet) * PRIME & WHOLE
        found = (found ^ bit) * PRIME & WHOLE
    return found


TWO_OF_64 = {"add", "mul", "min_num", "max_num", "minimum", "maximum"}


def fp64_output_hardware(operation, _case):
    """32 values with every OMOD, CLAMP and NEG; the second source is 1 (of a sum -0), the third -0; one NaN."""
    word = operation.split("_", 1)[1].removesuffix("_f64")
    count = 3 if word == "fma" else 2 if word in TWO_OF_64 else 1
    first = np.array(values.WIDE, np.uint64)
    second = np.full(32, 1 << 63 if word == "add" else 0x3FF0000000000000, np.uint64)
    encoding = "_e64" if word not in ("fma", "minimum", "maximum") else ""
    return _of_64([first, second, np.full(32, 1 << 63, np.uint64)], operation, count, encoding)


def _of_64(sources, operation, count, encoding):
    lines = []
    for variant in range(16):
        signs = ["-a" if variant & 1 else "a", "b", "c"][:count]
        after = (" clamp" if variant & 2 else "") + OMOD[variant >> 2]
        lines.append(line(operation, count, " ".join(signs), after, encoding))
    out, _ = run(lines, sources)
    nan = out & np.uint64(WHOLE >> 1) > 0x7FF0000000000000
    return folded(octets(np.where(nan, np.uint64(0x7FF8000000000000), out), 8))


def fp64_output(operation, case):
    """V_LDEXP_F64 by a power of 0 or -1."""
    first = np.array(values.WIDE, np.uint64)
    power = np.full(32, int(case.split()[1]) & 0xFFFFFFFF, np.uint32)
    lines = []
    for variant in range(16):
        after = (" clamp" if variant & 2 else "") + OMOD[variant >> 2]
        lines.append(f"{operation} v[20:21], {'-' if variant & 1 else ''}v[4:5], v6{after}")
    out, _ = run(lines, [first, power])
    nan = out & np.uint64(WHOLE >> 1) > 0x7FF0000000000000
    return folded(octets(np.where(nan, np.uint64(0x7FF8000000000000), out), 8))


def rdna4_dx9_hardware(operation, case):
    """All 512 modifiers of 32 triples; one NaN."""
    chosen, lane = int(case.split()[1]), np.arange(32)
    table = np.array(values.DX9, np.uint32)
    a, b, c = table, np.full(32, 0x3F800000, np.uint32), np.full(32, 1 << 31, np.uint32)
    if chosen == 1:
        a, b, c = np.where(lane & 1, 1 << 31, 0).astype(np.uint32), table[(lane * 5 + 3) % 32], table
    if chosen == 2:
        b, c = table[(lane * 7 + 1) % 32], table[(lane * 3 + 5) % 32]
    if chosen == 3:
        a, b = (0x00800000 + lane % 8).astype(np.uint32), (0x3EFFFFF0 + lane).astype(np.uint32)
        c = np.where(lane & 1, 1 << 31, 0).astype(np.uint32)
    lines = []
    for mode in range(512):
        signs = [("-" if mode >> k & 1 else "") + (f"|{x}|" if mode >> k + 3 & 1 else x) for k, x in enumerate("abc")]
        lines.append(line(operation, 3, " ".join(signs), (" clamp" if mode & 256 else "") + OMOD[mode >> 6 & 3]))
    out, _ = run(lines, [a, b, c])
    nan = out & np.uint64(0x7FFFFFFF) > 0x7F800000
    return folded(octets(np.where(nan, np.uint64(0x7FC00000), out)))


MASKS = {
    32: (0xFFFFFFFF, 0, 0xAAAAAAAA, 0x55555555, 1, 0x80000000, 0xFFFF, 0xFFFF0000),
    64: (WHOLE, 0, 0xAAAAAAAAAAAAAAAA, 0x5555555555555555, 1, 1 << 63, 0xFFFFFFFF, 0xFFFFFFFF00000000),
}


def ds_swizzle_hardware(_operation, case):
    """2,368 offsets of all modes; words."""
    wave, mask = (int(text) for text in case.split()[1::2])
    offsets = [
        *range(0xC000, 0xC800),
        *range(0xE000, 0xE020),
        *range(0x8000, 0x8100),
        *(31 | i << 10 for i in range(32)),
    ]
    lane = np.arange(wave, dtype=np.uint32)
    lines = [f"ds_swizzle_b32 v20, v4 offset:{offset}" for offset in offsets]
    out, _ = run(lines, [lane + 1], start=0xDEAD0000 + lane, exec_=MASKS[wave][mask], wave=wave)
    return folded(out.reshape(-1).tolist())


def _masks(bits):
    """Lanes of waves of 32 as words."""
    return np.packbits(bits.reshape(-1, 32).astype(np.uint8), axis=1, bitorder="little").view(np.uint32)[:, 0]


def class_hardware(operation, case):
    """65,536 values, edges or random, with random masks of classes."""
    kind, compare = kind_of(operation), operation.startswith("v_cmpx")
    mask, modifiers = (text.partition("=")[2] for text in case.split())
    modifiers, index = int(modifiers), np.arange(65536, dtype=np.uint32)
    random = index * np.uint32(0x7395A831) ^ np.uint32(0xA7925163)
    edge = np.array(values.EDGES[kind], _dtype(kind))[index % 16]
    if kind == "f16":
        source = index | (65535 - index) << np.uint32(16)
    elif kind == "f32":
        source = np.where(index < 32768, edge, random)
    else:
        low = index * np.uint32(0x83A1459D) ^ np.uint32(0x5389D241)
        source = np.where(index < 32768, edge, random.astype(np.uint64) << np.uint64(32) | low)
    classes = index * np.uint32(0x9E3779B9) ^ np.uint32(0xA5A59669)
    first = "v[4:5]" if kind == "f64" else "v4" + ("" if kind == "f32" else ".h" if modifiers & 4 else ".l")
    second = "v6" + ("" if kind != "f16" else ".h" if modifiers & 8 else ".l")
    first = f"|{first}|" if modifiers & 1 else first
    first = f"-{first}" if modifiers & 2 else first
    to = "" if compare else "vcc_lo, "
    _, bits = run([f"{operation}_e64 {to}{first}, {second}"], [source, classes], exec_=int(mask, 16), modes=0)
    return folded(octets(_masks(bits[0])))


def float_compare_hardware(operation, case):
    """4,096 pairs with all modifiers and halves, the modifiers outermost."""
    kind = kind_of(operation)
    pairs = _compared(kind)
    to = "" if operation.startswith("v_cmpx") else "vcc_lo, "
    lines = []
    for mode in range(64 if kind == "f16" else 16):
        texts = []
        for k, name in enumerate(("v[4:5]", "v[6:7]") if kind == "f64" else ("v4", "v6")):
            half = "" if kind != "f16" else ".h" if mode >> 4 + k & 1 else ".l"
            text = f"|{name}{half}|" if mode >> k & 1 else name + half
            texts.append(f"-{text}" if mode >> 2 + k & 1 else text)
        lines.append(f"{operation}_e64 {to}{', '.join(texts)}")
    _, bits = run(lines, pairs, modes=0 if case == "flush" else PLAIN)
    return folded(octets(_masks(bits)))


@cache
def _compared(kind):
    """Pairs of edges, then random ones, every fourth of equal values."""
    edges, rows = values.EDGES[kind], []
    for i in range(4096):
        if i < 256:
            a, b = edges[i % 16], edges[i // 16]
            if kind == "f16":
                a, b = a | edges[15 - i % 16] << 16, b | edges[15 - i // 16] << 16
        else:
            words = (
                (0x7395A831, 0xA7925163),
                (0x83A1459D, 0x5389D241),
                (0x38459317, 0x187ABD31),
                (0x9E3779B9, 0xA5A59669),
            )
            high, low, upper, lower = ((i * times & 0xFFFFFFFF) ^ change for times, change in words)
            a, b = high << 32 | low, upper << 32 | lower
            if i % 4 == 0:
                b = a
            elif kind == "f64" and i % 4 == 1:
                b = a & 0xFFFFFFFF00000000 | b & 0xFFFFFFFF
        rows.append((a, b) if kind == "f64" else (a & 0xFFFFFFFF, b & 0xFFFFFFFF))
    return [np.array(column, _dtype(kind)) for column in zip(*rows, strict=True)]


def half_minmax(operation, case):
    """8**3 triples, the first source fastest, over words with 0xdead above; one NaN in the second set."""
    third, second, first = triples(values.MEDIAN[int(case.split()[1])], np.uint32)
    out, _ = run([line(operation, 3)], [first, second, third], start=0xDEAD0000)
    nan = out[0] & np.uint64(0x7FFF) > 0x7C00
    return folded(np.where(nan, np.uint64(0xDEAD7E00), out[0]).tolist())


CORPORA = {
    "bjacob/goc tests/cube_hardware.h": cube_hardware,
    "bjacob/goc tests/div_fmas_hardware.h": div_fmas_hardware,
    "bjacob/goc tests/div_fixup_hardware.h": div_fixup_hardware,
    "bjacob/goc tests/div_scale_hardware.h": div_scale_hardware,
    "bjacob/goc tests/fp64_output_hardware.h": fp64_output_hardware,
    "bjacob/goc tests/fp64_output_test.cpp": fp64_output,
    "bjacob/goc tests/rdna4_dx9_hardware.h": rdna4_dx9_hardware,
    "bjacob/goc tests/ds_swizzle_hardware.h": ds_swizzle_hardware,
    "bjacob/goc tests/class_hardware.h": class_hardware,
    "bjacob/goc tests/float_compare_hardware.h": float_compare_hardware,
    "bjacob/goc tests/half_minmax_test.cpp": half_minmax,
}
