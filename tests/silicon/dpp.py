"""Corpora of bjacob/goc (tests, MIT) under DPP: eight EXEC masks, several operations, seven permutations.

A digest of golden/hardware/digests.csv covers all operations that its row names; FNV-1a goes over the words of the
destination, unwritten lanes included.
"""

import itertools
from functools import partial

import numpy as np

from tests.silicon.corpora import MASKS, OMOD, SEED, folded
from tests.silicon.execute import OVERFLOW, PLAIN, run

PERMUTATIONS = (
    "dpp8:[7,6,5,4,3,2,1,0]",
    "dpp8:[7,6,5,4,3,2,1,0] fi:1",
    "row_shl:1 row_mask:0xf bank_mask:0xf",
    "row_shl:1 row_mask:0xf bank_mask:0xf bound_ctrl:1",
    "row_shl:1 row_mask:0xf bank_mask:0xf fi:1",
    "row_shl:1 row_mask:0xf bank_mask:0xf bound_ctrl:1 fi:1",
    "row_xmask:7 row_mask:0x1 bank_mask:0x5 bound_ctrl:1",
)
LANE = np.arange(32, dtype=np.uint32)
DEAD = np.uint32(0xDEAD0000) + LANE


def spelled(operation, count, low, permutation):
    """A line with the modifiers of `low`: bits of NEG, ABS (from 3), OMOD (6), CLAMP (8), halves (9)."""
    half = operation.endswith("16")
    texts = []
    for place, name in enumerate(("v4", "v6", "v8")[:count]):
        whole = not half or ("_dot2_" in operation and place < 2)
        text = name if whole else name + (".h" if low >> 9 + place & 1 else ".l")
        text = f"|{text}|" if low >> 3 + place & 1 else text
        texts.append(f"-{text}" if low >> place & 1 else text)
    to = "v20" + ((".h" if low >> 12 & 1 else ".l") if half else "")
    after = (" clamp" if low >> 8 & 1 else "") + OMOD[low >> 6 & 3]
    texts += ["vcc_lo"] * ("cndmask" in operation)
    return f"{operation}_e64_dpp {', '.join([to, *texts])}{after} {permutation}"


def corpus(lines, sources, start, *, modes=PLAIN, vcc=0, nan=None, found=SEED):
    """Destinations of all EXEC masks, outermost, and lines.

    Args:
        lines: instructions.
        sources: of them.
        start: of the destination.
        modes: MODE.
        vcc: bit of VCC of each lane.
        nan: a function of the results, (lines, lanes), that makes all NaNs one, or nothing.
        found: digest of what comes before.
    """
    for mask in MASKS[32]:
        out, _ = run(lines, sources, start=start, exec_=mask, modes=modes, vcc=vcc)
        found = folded((nan(out) if nan else out).reshape(-1).tolist(), found)
    return found


def one_nan(out, lines=()):
    """NaNs of 32 bits, or of the half that a line writes, as the quiet one."""
    if not lines:
        return np.where(out & np.uint64(0x7FFFFFFF) > 0x7F800000, np.uint64(0x7FC00000), out)
    out = out.copy()
    for row, line in zip(out, lines, strict=True):
        shift = np.uint64(16 if " v20.h," in line else 0)
        wrong = row >> shift & np.uint64(0x7FFF) > 0x7C00
        row[wrong] = row[wrong] & ~(np.uint64(0xFFFF) << shift) | np.uint64(0x7E00) << shift
    return out


def singles(numbers):
    """Bits of small numbers as f32."""
    return np.asarray(numbers, np.float32).view(np.uint32)


WORDS = np.array([0, 0xFFFFFFFF, 1, 0x80000000, 0x7FFFFFFF, 0xAAAAAAAA, 0x55555555, 0x01010101], np.uint32)
ONE_SOURCE = ("v_clz", "v_ctz", "v_cls", "v_not")


def dpp_integer(operations, _case):
    """Words, and for a second source ones below which lanes are counted."""
    first, second = WORDS[LANE % 8] ^ LANE // 8 * np.uint32(0x01010101), np.uint32(0xFFFFFF00) + LANE
    lines = [
        spelled(name, 1 if name.startswith(ONE_SOURCE) else 2, 0, text) for name in operations for text in PERMUTATIONS
    ]
    return corpus(lines, [first, second], DEAD)


THREE_WORDS = [
    WORDS[LANE % 8] ^ LANE // 8 * np.uint32(0x01010101),
    np.uint32(0xFFFFFF00) + LANE,
    WORDS[(LANE + 3) % 8] ^ LANE // 8 * np.uint32(0x10101010),
]


def dpp_bitfield(operations, _case):
    """Words; offsets, and widths."""
    counts = {"v_bfm_b32": 2, "v_bfrev_b32": 1}
    lines = [spelled(name, counts.get(name, 3), 0, text) for name in operations for text in PERMUTATIONS]
    return corpus(lines, THREE_WORDS, DEAD)


def dpp_integer16_ternary(operations, _case):
    """All halves of sources and destination; CLAMP of V_MAD."""
    lines = [
        spelled(name, 3, (n & 15) << 9 | (n & 16) << 4, text)
        for name in operations
        for text in PERMUTATIONS
        for n in range(32 if "_mad_" in name else 16)
    ]
    return corpus(lines, THREE_WORDS, DEAD)


def dpp_integer16(operations, _case):
    """All halves of sources and destination; CLAMP of the sums."""
    sources = [WORDS[LANE % 8] ^ LANE // 8 * np.uint32(0x01010101), np.uint32(0xFFFFFF00) + LANE]
    lines = [
        spelled(name, 2, (n & 3) << 9 | (n & 4) << 10 | (n & 8) << 5, text)
        for name in operations
        for text in PERMUTATIONS
        for n in range(16 if "_nc_" in name else 8)
    ]
    return corpus(lines, sources, DEAD)


def cndmask(operations, _case):
    """Three conditions, which no modifier touches; NEG and ABS of both sources, and all halves."""
    numbers = (0x1, 0x807FFFFF, 0x800000, 0x80000000, 0x7F800001, 0xFF800000, 0x3F800000, 0xFF7FFFFF)
    numbers = np.array(numbers, np.uint32)
    lines = [
        spelled(name, 2, m >> 2 & 3 | (m & 3) << 3 | (m & 48) << 5 | (m & 64) << 6, text)
        for name in operations
        for m in range(128 if name.endswith("16") else 16)
        for text in PERMUTATIONS
    ]
    found = SEED
    for condition in (0, 0xFFFFFFFF, 0x96969696):
        vcc = (condition >> LANE & 1).astype(np.uint32)
        found = corpus(lines, [numbers[LANE % 8], numbers[(LANE + 3) % 8]], DEAD, vcc=vcc, found=found)
    return found


def half_dot(operations, _case):
    """Sums that are exact; both settings of FP16_OVFL, and all EXEC masks, of f16 and then of bf16."""
    numbers = {
        "v_dot2_f16_f16": (
            0x3C00BC00,
            0x4000C000,
            0x4200C200,
            0x4400C400,
            0x00003C00,
            0x3800B800,
            0x4500C500,
            0x4600C600,
        ),
        "v_dot2_bf16_bf16": (
            0x3F80BF80,
            0x4000C000,
            0x4040C040,
            0x4080C080,
            0x00003F80,
            0x3F00BF00,
            0x40A0C0A0,
            0x40C0C0C0,
        ),
    }
    found = SEED
    for modes, mask, name in itertools.product((PLAIN, OVERFLOW), MASKS[32], operations):
        words = np.array(numbers[name], np.uint32)
        lines = [
            spelled(name, 3, low, text)
            for text in PERMUTATIONS
            for low in (0, 1, 2, 4, 8, 16, 32, 63, 2048, 4096, 6144, 6207)
        ]
        sources = [words[(LANE + shift) % 8] for shift in (0, 3, 5)]
        out, _ = run(lines, sources, start=DEAD, exec_=mask, modes=modes)
        found = folded(out.reshape(-1).tolist(), found)
    return found


def half_trig(operations, _case):
    """Quarters of a turn with all modifiers."""
    numbers = (0x00008000, 0x3400B400, 0x3800B800, 0x3A00BA00, 0x3C00BC00, 0x7BFFFBFF, 0x4000C000, 0x4200C200)
    lines = [
        spelled(name, 1, m & 1 | (m & 2) << 2 | (m & 28) << 4 | (m & 32) << 4 | (m & 64) << 6, text)
        for name in operations
        for m in range(128)
        for text in PERMUTATIONS
    ]
    return corpus(lines, [np.array(numbers, np.uint32)[LANE % 8]], DEAD)


def dpp_unary(operations, _case):
    """Eight numbers, without and with NEG and OMOD; one NaN."""
    first = singles([0, 1, 4, 16, 64, 256, -1, -4])[LANE % 8]
    lines = [spelled(name, 1, low, text) for name in operations for text in PERMUTATIONS for low in (0, 0x41)]
    return corpus(lines, [first], singles(100 + LANE), nan=one_nan)


def dpp16(operations, _case):
    """Controls of all families, FI, BOUND_CTRL, rows and banks."""
    controls = (
        "quad_perm:[0,1,2,3]",
        "quad_perm:[3,2,1,0]",
        "quad_perm:[0,0,0,0]",
        "quad_perm:[3,3,3,3]",
        "row_shl:1",
        "row_shl:15",
        "row_shr:1",
        "row_shr:15",
        "row_ror:1",
        "row_ror:15",
        "row_mirror",
        "row_half_mirror",
        "row_share:0",
        "row_share:15",
        "row_xmask:0",
        "row_xmask:15",
    )
    lines = [
        spelled(name, 3, 0, f"{control} row_mask:{rows:#x} bank_mask:{banks:#x}{' bound_ctrl:1' * bound}{' fi:1' * fi}")
        for name in operations
        for control in controls
        for fi, bound in itertools.product(range(2), repeat=2)
        for rows, banks in ((15, 15), (1, 5), (2, 10), (0, 15))
    ]
    return corpus(lines, [singles(LANE + 1), singles(2 + 0 * LANE), singles(100 + LANE)], singles(1000 + LANE))


TINY = (
    0x0, 0x1, 0x1FFFFF, 0x3FFFFF, 0x400000, 0x400001, 0x7FFFFE, 0x7FFFFF, 0x800000, 0x800001, 0xBFFFFF, 0xFFFFFF,
    0x1000000, 0x1000001, 0x1800000, 0x3F800000,
)  # fmt: skip


def dpp_arithmetic(operations, case):
    """Small integers with one OMOD, or tiny numbers with each, both with NEG."""
    first, lows = singles((LANE % 11).astype(int) - 5), (0, 0x41)
    if case == "tiny":
        first, lows = np.array([*TINY, *(x | 1 << 31 for x in TINY)], np.uint32), (0, 0x41, 0x81, 0xC1)
    sources = [first, singles((LANE % 7).astype(int) - 3), singles((LANE % 9).astype(int) - 4)]
    lines = [
        spelled(name, 2 if place < 9 else 3, low, text)
        for place, name in enumerate(operations)
        for text in PERMUTATIONS
        for low in lows
    ]
    return corpus(lines, sources, singles(100 + LANE))


HALVES = {
    "plain": (
        0x3C00BC00, 0xC0004000, 0x38003400, 0xB800B400, 0x44004200, 0xC400C200, 0x3A003600, 0xBA00B600,
    ),
    "tiny": (
        0x00018001, 0x03FF83FF, 0x04008400, 0x04018401, 0x08008800, 0x3C00BC00, 0x00008000, 0x7BFFFBFF,
    ),
    "exponents": (
        0x4C004BFF, 0x00008000, 0x7C00FC00, 0x7BFFFBFF, 0xCE40CE00, 0x00018001, 0x3BFF3C01, 0x40003C00,
    ),
}  # fmt: skip
SELECTIONS = (0, 1, 2, 4, 8, 16, 32, 48, 64, 127, 128, 256, 512, 896, 1023, 943)
LOWS = {
    "binary": [n & 3 | (n & 12) << 1 | (n & 112) << 2 | (n & 384) << 2 | (n & 512) << 3 for n in SELECTIONS],
    "unary": [0, 1, 8, 9, 64, 128, 192, 256, 512, 4096, 4608, 5065],
    "three": [0, 1, 2, 4, 8, 16, 32, 64, 128, 192, 256, 512, 1024, 2048, 4096, 7680, 8191, 7935],
    "fmac": [0, 1, 2, 8, 16, 64, 128, 192, 256, 512, 1024, 4096, 6107, 5851],
    "exponents": [0, 1, 8, 9, 64, 128, 192, 256, 512, 4096, 4608, 5065, 576, 640, 704],
}


def dpp_half(kind, count, operations, case):
    """Words of two halves, with many modifiers; of elementary functions one NaN."""
    corpus_, *rest = case.split()
    words = np.array(HALVES[corpus_], np.uint32)
    lines = [
        spelled(name, count - ("fmac" in name), low, text)
        for name in operations
        for text in PERMUTATIONS
        for low in LOWS["fmac" if "fmac" in name else kind]
    ]
    start = words[(LANE + 1) % 8] if "fma" in operations[0] else DEAD
    sources = [words[(LANE + shift) % 8] for shift in (0, 3, 5)]
    nan = partial(one_nan, lines=lines) if count == 1 else None
    return corpus(lines, sources, start, modes=OVERFLOW if "ovfl" in rest else PLAIN, nan=nan)


def fp8_narrow(operations, _case):
    """All modifiers: ABS and NEG of the numbers, and the half, or byte, of the destination; FP16_OVFL outermost."""
    numbers = (0x3F880000, 0xBF900001, 0x43F00000, 0x47700000, 0x7F800001, 0xFF800000, 0x33800000, 0x3F800001)
    numbers = np.array(numbers, np.uint32)
    lines = []
    for name, text, m in itertools.product(operations, PERMUTATIONS, range(32)):
        signs = [f"|{r}|" if m >> 2 * k & 1 else r for k, r in enumerate(("v4", "v6"))]
        signs = [f"-{sign}" if m >> 2 * k + 1 & 1 else sign for k, sign in enumerate(signs)]
        if "_pk_" in name:
            lines.append(f"{name}_e64_dpp v20.{'h' if m >> 4 else 'l'}, {', '.join(signs)} {text}")
        elif m < 16:
            lines.append(f"{name}_e64_dpp v20, {signs[0]}, v6{f' byte_sel:{m >> 2}' * (m > 3)} {text}")
    found = SEED
    for modes in (PLAIN, OVERFLOW):
        found = corpus(lines, [numbers[LANE % 8], numbers[(LANE + 3) % 8]], DEAD, modes=modes, found=found)
    return found


def mullit(operations, _case):
    """All modifiers; one NaN."""
    numbers = (0x1, 0x807FFFFF, 0x800000, 0x80000000, 0x7F800001, 0xFF800000, 0x3F800000, 0xFF7FFFFF)
    numbers = np.array(numbers, np.uint32)
    lines = [spelled(name, 3, low, text) for name in operations for low in range(512) for text in PERMUTATIONS]
    return corpus(lines, [numbers[(LANE + shift) % 8] for shift in (0, 3, 5)], DEAD, nan=one_nan)


def half_exponent(operations, _case):
    """V_FREXP_EXP ignores the modifiers of its result."""
    words, power = np.array(HALVES["tiny"], np.uint32)[LANE % 8], (LANE % 5).astype(np.int32) - 2
    lines = [
        spelled(name, 1 if "frexp" in name else 2, low, text)
        for name in operations
        for text in PERMUTATIONS
        for low in LOWS["unary"]
    ]
    return corpus(lines, [words, power.view(np.uint32)], DEAD)


def conversion32(operations, case):
    """OMOD and CLAMP towards f32, NEG, ABS and CLAMP from it; with and without DPP."""
    numbers = np.array(
        [
            0x0,
            0x1,
            0xFFFFFFFF,
            0x80000000,
            0x01000001,
            0x7FFFFFFF,
            0x3F000000,
            0xBF000000,
            0x3FC00000,
            0xBFC00000,
            0x4EFFFFFF,
            0xCF000000,
            0x4F800000,
            0xFF800000,
            0x7F800001,
            0x80000001,
        ],
        np.uint32,
    )
    lines = []
    for name, text, v in itertools.product(operations, PERMUTATIONS if case == "dpp" else ("",), range(8)):
        low = v << 6 if "cvt_f32" in name else v & 1 | (v & 2) << 2 | (v & 4) << 6
        line = spelled(name, 1, low, text)
        lines.append(line if case == "dpp" else line.replace("_e64_dpp", "_e64"))
    return corpus(lines, [numbers[LANE % 16]], DEAD)


UNDER_DPP = {
    "bjacob/goc tests/dpp_integer_test.cpp": dpp_integer,
    "bjacob/goc tests/dpp_bitfield_test.cpp": dpp_bitfield,
    "bjacob/goc tests/dpp_integer_ternary_test.cpp": dpp_bitfield,
    "bjacob/goc tests/dpp_integer16_ternary_test.cpp": dpp_integer16_ternary,
    "bjacob/goc tests/dpp_integer16_test.cpp": dpp_integer16,
    "bjacob/goc tests/cndmask_test.cpp": cndmask,
    "bjacob/goc tests/half_dot_test.cpp": half_dot,
    "bjacob/goc tests/half_trig_test.cpp": half_trig,
    "bjacob/goc tests/dpp_unary_test.cpp": dpp_unary,
    "bjacob/goc tests/dpp16_test.cpp": dpp16,
    "bjacob/goc tests/dpp_arithmetic_test.cpp": dpp_arithmetic,
    "bjacob/goc tests/dpp_half_binary_test.cpp": partial(dpp_half, "binary", 2),
    "bjacob/goc tests/dpp_half_unary_test.cpp": partial(dpp_half, "unary", 1),
    "bjacob/goc tests/dpp_half_minmax_test.cpp": partial(dpp_half, "three", 3),
    "bjacob/goc tests/dpp_half_fma_test.cpp": partial(dpp_half, "three", 3),
    "bjacob/goc tests/fp8_narrow_test.cpp": fp8_narrow,
    "bjacob/goc tests/mullit_test.cpp": mullit,
    "bjacob/goc tests/half_exponent_test.cpp, DPP": half_exponent,
    "bjacob/goc tests/conversion32_test.cpp": conversion32,
    "bjacob/goc tests/half_unary_test.cpp": partial(dpp_half, "exponents", 1),
}
