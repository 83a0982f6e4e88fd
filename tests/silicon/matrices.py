"""Corpora of bjacob/goc (tests, MIT) of matrix instructions, executed from code objects.

FNV-1a goes over the bytes of D's registers, register after register.
"""

import numpy as np

import mfmasim
from tests.captures import table
from tests.machine import harness
from tests.silicon import values
from tests.silicon.corpora import folded, numbers_of, octets, xorshift

FIRST, TARGET = 10, 44
PAIRS = (4, 8, 12, 9, 13, 14)
"""Sparse indices of a group of four: two of them in ascending order."""


def registers(first, count):
    """Text of a range of VGPRs."""
    return f"v{first}" if count == 1 else f"v[{first}:{first + count - 1}]"


def executed(line, data, to, count, arch="gfx1201"):
    """D's registers after a line.

    Args:
        line: instruction, whose sources stand from v10 on.
        data: uint32 (registers, 32) that v10 and so on hold.
        to: first register of D.
        count: of D's registers.
        arch: the architecture.
    """
    body = [
        "s_load_b128 s[8:11], s[0:1], 0x0",
        "v_and_b32 v0, 31, v0",
        "v_lshlrev_b32 v0, 2, v0",
        "s_wait_kmcnt 0",
        *(f"global_load_b32 v{FIRST + r}, v0, s[8:9] offset:{128 * r}" for r in range(len(data))),
        "s_wait_loadcnt 0",
        line,
        "s_nop 7",
        "s_nop 7",
        *(f"global_store_b32 v0, v{to + r}, s[10:11] offset:{128 * r}" for r in range(count)),
        "s_endpgm",
    ]
    out = np.zeros((count, 32), np.uint32)
    kernel = harness.kernel("\n".join(body), f"{arch}:32", "pp")
    mfmasim.device("sim").launch(kernel, 1, 32, [data, out], checks="none")
    return out


def digest(line, data, to, count):
    """FNV-1a over D."""
    return folded(octets(executed(line, data, to, count)))


def _indices(draw):
    return [sum(PAIRS[draw() % 6] << 4 * group for group in range(8)) for _ in range(32)]


def _single(draw):
    """One of the five numbers from -2 to 2 as f32."""
    return int(np.float32(draw() % 5 - 2).view(np.uint32))


def integers(operation, case):
    """Random words, accumulators near the limits; signed A and B, CLAMP and the index key by the modifiers' bits."""
    sample, modifiers = numbers_of(case)
    draw = xorshift(0xA3987412 + sample)
    rows = [[draw() for _ in range(32)] for _ in range(6)]
    rows += [[values.ACCUMULATORS[draw() % 6] for _ in range(32)] for _ in range(8)]
    data = np.array([*rows, _indices(draw)], np.uint32)
    unsigned = "u" + operation[-1]
    shape = mfmasim.instruction("gfx1201", operation, a=unsigned, b=unsigned)
    a, b, c = registers(10, shape.A.vgprs), registers(12, shape.B.vgprs), registers(16, 8)
    after = f"neg_lo:[{modifiers & 1},{modifiers >> 1 & 1},0]{' clamp' if modifiers & 4 else ''}"
    if "swmmac" in operation:
        key = " index_key:1" if modifiers & 8 else ""
        return digest(f"{operation} {c}, {a}, {b}, v24{key} {after}", data, 16, 8)
    return digest(f"{operation} {registers(TARGET, 8)}, {a}, {b}, {c} {after}", data, TARGET, 8)


def swmmac8(operation, case):
    """Small integers in FP8 and BF8."""
    sample, key = numbers_of(case)
    codes = {"fp8": (0xC0, 0xB8, 0, 0x38, 0x40), "bf8": (0xC0, 0xBC, 0, 0x3C, 0x40)}
    draw = xorshift(0x7381A593 + sample)
    rows = []
    for kind, count in zip(operation.split("_")[-2:], (2, 4), strict=True):
        rows += [[sum(codes[kind][draw() % 5] << 8 * k for k in range(4)) for _ in range(32)] for _ in range(count)]
    rows += [[_single(draw) for _ in range(32)] for _ in range(8)]
    data = np.array([*rows, _indices(draw)], np.uint32)
    key = " index_key:1" if key else ""
    return digest(f"{operation} v[16:23], v[10:11], v[12:15], v24{key}", data, 16, 8)


def swmmac16(operation, case):
    """Small integers in f16 and bf16; NEG of A and B, lower and upper halves, and the index key by the bits."""
    (m,) = numbers_of(case)
    one, wide = (0x3F80 if operation.endswith("bf16") else 0x3C00), "_f32_" in operation
    codes = (0xC000, 0x8000 | one, 0, one, 0x4000)
    draw = xorshift(0x76895231)

    def pair():
        low = codes[draw() % 5]
        return low | codes[draw() % 5] << 16

    rows = [[pair() for _ in range(32)] for _ in range(12)]
    count = 8 if wide else 4
    rows += [[_single(draw) if wide else pair() for _ in range(32)] for _ in range(count)]
    rows += [[0] * 32] * (8 - count)
    data = np.array([*rows, _indices(draw)], np.uint32)
    signs = f"neg_lo:[{m & 1},{m >> 1 & 1},0] neg_hi:[{m >> 2 & 1},{m >> 3 & 1},0]"
    key = " index_key:1" if m & 16 else ""
    return digest(f"{operation} {registers(22, count)}, v[10:13], v[14:21], v30{key} {signs}", data, 22, count)


def halves(matrix):
    """Registers of A, or of B, C and D transposed: lanes 0 to 15 hold columns 0 to 7 of all rows."""
    lane = np.arange(32)
    at = lane // 16 * 8
    return [matrix[lane % 16, at + 2 * r] | matrix[lane % 16, at + 2 * r + 1] << np.uint32(16) for r in range(4)]


def packed_differences():
    """Results of packed_wmma.csv that differ, and how many there are."""
    differ = count = 0
    for row in table("packed_wmma.csv"):
        a, b, c, d = (np.array([int(x, 16) for x in row[n].split()], np.uint32).reshape(16, 16) for n in "abcd")
        data = np.array(halves(a) + halves(b.T) + halves(c.T), np.uint32)
        line = f"{row['instruction']} v[44:47], v[10:13], v[14:17], v[18:21]"
        change = executed(line, data, TARGET, 4, row["arch"]) ^ np.array(halves(d.T), np.uint32)
        differ += np.count_nonzero(change & 0xFFFF) + np.count_nonzero(change >> np.uint32(16))
        count += d.size
    return differ, count


MATRICES = {
    "bjacob/goc tests/integer_wmma_hardware.h": integers,
    "bjacob/goc tests/rdna4_swmmac_integer_hardware.h": integers,
    "bjacob/goc tests/rdna4_swmmac8_hardware.h": swmmac8,
    "bjacob/goc tests/rdna4_swmmac16_hardware.h": swmmac16,
}
