"""Corpora of bjacob/goc (tests, MIT) of integers, selections, permutations of lanes and interpolation.

Digests of golden/hardware/digests.csv; FNV-1a goes over bytes of results, of permutations over their words.
"""

import itertools
from functools import cache

import numpy as np

from tests.silicon.corpora import MASKS, OMOD, SEED, folded, numbers_of, octets
from tests.silicon.execute import OVERFLOW, PLAIN, run
from tests.silicon.values import ADDENDS, FACTORS

LANE = np.arange(32, dtype=np.uint32)


def _masks(bits):
    """Lanes of waves of 32 as words."""
    return np.packbits(bits.reshape(-1, 32).astype(np.uint8), axis=1, bitorder="little").view(np.uint32)[:, 0]


def _exec(text):
    return int(text.split("exec")[1].strip("= "), 16)


def mad64(operation, case):
    """16**3 triples; results of each wave, then its carries."""
    a, b, c = zip(*itertools.product(FACTORS, FACTORS, ADDENDS), strict=True)
    sources = [np.array(a, np.uint32), np.array(b, np.uint32), np.array(c, np.uint64)]
    line = f"{operation} v[20:21], vcc_lo, v4, v6, v[8:9]{' clamp' if 'clamp=1' in case else ''}"
    out, carry = run([line], sources, start=0xDEADBEEFCAFEBABE, exec_=_exec(case))
    found = SEED
    for results, mask in zip(out[0].reshape(-1, 32), _masks(carry[0]), strict=True):
        found = folded(octets(mask), folded(octets(results, 8), found))
    return found


def permlane(operations, _case):
    """FI and BOUND_CTRL, and within them 16 selections, of lanes or of a pair of scalars; EXEC masks outermost."""
    picks = [[j * 7 + pattern & 15 for j in range(16)] for pattern in range(16)]
    words = [[sum(n << 4 * k for k, n in enumerate(row[at : at + 8])) for at in (0, 8)] for row in picks]
    lane = np.tile(LANE, 16)
    sources = [lane + np.uint32(0xABC00000), np.array([row[n % 16] for row in picks for n in range(32)], np.uint32)]
    found = SEED
    for mask, name in itertools.product(MASKS[32], operations.split()):
        after = [f" op_sel:[{mode & 1},{mode >> 1}]" for mode in range(4)]
        if "_var_" in name:  # a wave for each selection
            out, _ = run([f"{name} v20, v4, v6{text}" for text in after], sources, start=0xDEF00000 + lane, exec_=mask)
        else:
            scalars = [f"s_mov_b32 s20, {low:#x}\ns_mov_b32 s21, {high:#x}\n" for low, high in words]
            lines = [f"{move}{name} v20, v4, s20, s21{text}" for text in after for move in scalars]
            out, _ = run(lines, [sources[0][:32]], start=0xDEF00000 + LANE, exec_=mask)
        found = folded(out.reshape(-1).tolist(), found)
    return found


def trig_preop(operation, case):
    """All exponents, and of each all segments; ABS, NEG, OMOD and CLAMP by the bits of the modifiers."""
    (m,) = numbers_of(case)
    power, lane = (x.reshape(-1) for x in np.meshgrid(np.arange(2048, dtype=np.uint64), LANE, indexing="ij"))
    first = power << np.uint64(52) | (lane & np.uint32(1)).astype(np.uint64) << np.uint64(63)
    text = "|v[4:5]|" if m & 1 else "v[4:5]"
    line = f"{operation} v[20:21], {'-' if m & 2 else ''}{text}, v6{' clamp' if m & 16 else ''}{OMOD[m >> 2 & 3]}"
    out, _ = run([line], [first, lane | np.uint32(0xDEADBEE0)])
    return folded(octets(out[0], 8))


def _signs(names, m):
    return ", ".join(f"-{name}" if m >> k & 1 else name for k, name in enumerate(names))


def interp32(operations, case):
    """NEG and CLAMP, and that inactive lanes of a quad are read."""
    sources = [
        ((LANE * step + start) % 64 - np.float32(32)).astype(np.float32) * np.float32(scale)
        for step, start, scale in ((13, 7, 0.125), (29, 3, 0.0625), (37, 17, 0.03125))
    ]
    sources = [source.view(np.uint32) for source in sources]
    chosen, mask = (range(16), _exec(case)) if "exec" in case else (numbers_of(case), 0xFFFFFFFF)
    lines = [
        f"{name} v20, {_signs(('v4', 'v6', 'v8'), m)}{' clamp' if m & 8 else ''} wait_exp:7"
        for name in operations.split()
        for m in chosen
    ]
    out, _ = run(lines, sources, start=0xDEADBEEF, exec_=mask)
    return folded(octets(out))


def _random(count, *ways):
    index = np.arange(count, dtype=np.uint32)
    return [index * np.uint32(times) ^ np.uint32(change) for times, change in ways]


def interp16(operation, case):
    """1,024 random words; NEG, CLAMP and halves by the bits of the modifiers; one NaN."""
    overflow, m = numbers_of(case)
    sources = _random(1024, (0x7395A831, 0xA7925163), (0x83A1459D, 0x5389D241), (0x38459317, 0x187ABD31))
    half, other = (".h" if m & bit else ".l" for bit in (16, 32))
    last = "_p2_" in operation
    names = (f"v4{half}", "v6", "v8" if last else f"v8{other}")
    line = f"{operation} v20{other if last else ''}, {_signs(names, m)}{' clamp' if m & 8 else ''} wait_exp:7"
    out, _ = run([line], sources, start=0xCAFEBEEF, modes=OVERFLOW if overflow else PLAIN)
    words, shift = out[0], np.uint64(16 if m & 32 else 0)
    if last:
        wrong = words >> shift & np.uint64(0x7FFF) > 0x7C00
        words[wrong] = words[wrong] & ~(np.uint64(0xFFFF) << shift) | np.uint64(0x7E00) << shift
    else:
        words = np.where(words & np.uint64(0x7FFFFFFF) > 0x7F800000, np.uint64(0x7FC00000), words)
    return folded(octets(words))


def cndmask(operation, case):
    """65,536 words; ABS of both sources, then NEG, by the bits of the modifiers."""
    condition, m = numbers_of(case)
    index = np.arange(65536, dtype=np.uint32)
    sources = [index | (65535 - index) << np.uint32(16), *_random(65536, (0x7395A831, 0xA7925163))]
    texts = [f"|{name}|" if m >> k & 1 else name for k, name in enumerate(("v4", "v6"))]
    line = f"{operation}_e64 v20, {_signs(texts, m >> 2)}, vcc_lo"
    out, _ = run([line], sources, vcc=condition, start=0xCAFEBEEF)
    return folded(octets(out[0]))


@cache
def _compared(bits):
    """Pairs of edges, then random ones, three of four equal in some half; of 16 bits every fourth equal."""
    sign, most = 1 << bits - 1, (1 << bits) - 1
    edges = [
        0,
        1,
        2,
        sign - 2,
        sign - 1,
        sign,
        sign + 1,
        sign + 2,
        most - 1,
        most,
        0xFFFF,
        0x10000,
        0x7FFFFFFF,
        0x80000000,
        0xFFFFFFFF,
        0x100000000,
    ]
    edges = np.array([edge & most for edge in edges], np.uint64)
    index, low, high = np.arange(65536), np.uint64(0xFFFFFFFF), ~np.uint64(0xFFFFFFFF)
    ways = (0x7395A831, 0xA7925163), (0x83A1459D, 0x5389D241), (0x38459317, 0x187ABD31), (0x9E3779B9, 0xA5A59669)
    words = [column.astype(np.uint64) for column in _random(65536, *ways)]
    a, b = (words[k] << np.uint64(32) | words[k + 1] for k in (0, 2))
    way = index % 4
    b = np.select([way == 0, way == 1, way == 2], [a, a & high | b & low, b & high | a & low], b)
    if bits == 16:
        a = (index | (65535 - index) << 16).astype(np.uint64)
        b = np.where(way == 0, a, words[0])
    a[:256], b[:256] = edges[index[:256] % 16], edges[index[:256] // 16]
    return a, b


def integer_compare(operation, case):
    """65,536 pairs; halves by the bits."""
    half, bits, to = numbers_of(case)[0], int(operation[-2:]), "" if "cmpx" in operation else "vcc_lo, "
    names = {16: [f"v4.{'lh'[half & 1]}", f"v6.{'lh'[half >> 1]}"], 32: ["v4", "v6"], 64: ["v[4:5]", "v[6:7]"]}[bits]
    _, found = run([f"{operation}_e64 {to}{', '.join(names)}"], _compared(bits), exec_=_exec(case), modes=0)
    return folded(octets(_masks(found[0])))


MOVED = (
    0x0, 0x8000, 0x1, 0x8001, 0x3FF, 0x83FF, 0x400, 0x8400, 0x3C00, 0xBC00, 0x3800, 0xB800, 0x4000, 0xC000, 0x7BFF,
    0xFBFF, 0x7C00, 0xFC00, 0x7C01, 0xFC01, 0x7E01, 0xFE01, 0x3555, 0xB555, 0x3BFF, 0xBBFF, 0x3C01, 0xBC01, 0x7BFE,
    0xFBFE, 0x2AAA, 0xAAAA,
)  # fmt: skip


def half_move(_operation, _case):
    """ABS, NEG, OMOD and CLAMP, then halves, in the words of V_MOV_B16_E64 V20, V4: LLVM assembles none of them."""
    numbers, lines = np.array(MOVED, np.uint32), []
    for m, halves in itertools.product(range(32), range(4)):
        low = 0xD59C0014 | (m & 1) << 8 | (halves & 1) << 11 | (halves >> 1) << 14 | (m >> 4) << 15
        high = 0x00000104 | (m >> 2 & 3) << 27 | (m >> 1 & 1) << 29
        lines.append(f".long {low:#x}, {high:#x}")
    out, _ = run(lines, [numbers | np.roll(numbers, -7) << np.uint32(16)], start=0xABCD1234)
    return folded(out.reshape(-1).tolist())


LANES = {
    "bjacob/goc tests/half_move_hardware.h": half_move,
    "bjacob/goc tests/integer_compare_hardware.h": integer_compare,
    "bjacob/goc tests/rdna4_mad64_hardware.h": mad64,
    "bjacob/goc tests/permlane_test.cpp": permlane,
    "bjacob/goc tests/rdna4_trig_preop_hardware.h": trig_preop,
    "bjacob/goc tests/interp32_hardware.h": interp32,
    "bjacob/goc tests/rdna4_interp16_hardware.h": interp16,
    "bjacob/goc tests/rdna4_cndmask_hardware.h": cndmask,
}
