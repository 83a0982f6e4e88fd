"""A slow model of CDNA5's fragments: the tables of the manual, transcribed row by row, and looked up.

Source: CDNA5 ISA manual 7.12.2 to 7.12.6. A table gives, for lanes 0 to 15 and for lanes 16 to 31, the first k of each
register; the elements of a register follow one another.
"""

# Registers of 16-bit A and B, K = 32 (7.12.2); B of sparse forms, K = 64 (7.12.4).
HALVES = [(0, 8), (2, 10), (4, 12), (6, 14), (16, 24), (18, 26), (20, 28), (22, 30)]
SPARSE_HALVES = [(0, 16), (2, 18), (4, 20), (6, 22), (8, 24), (10, 26), (12, 28), (14, 30)]
SPARSE_HALVES += [(low + 32, high + 32) for low, high in SPARSE_HALVES]
# 8 bits, K = 64: registers 4 to 7 are "above + 32"; K = 128 is two of them one after the other (7.12.2).
BYTES = [(0, 8), (4, 12), (16, 24), (20, 28)]
BYTES += [(low + 32, high + 32) for low, high in BYTES]
MANY_BYTES = BYTES + [(low + 64, high + 64) for low, high in BYTES]
# 8-bit floats of f8f6f4 (7.12.6.1.1, some rows of which the manual prints), and B of sparse 8-bit forms (7.12.5).
SMALL_BYTES = [(0, 16), (4, 20), (8, 24), (12, 28)]
SMALL_BYTES += [(low + 32, high + 32) for low, high in SMALL_BYTES]
SMALL_BYTES += [(low + 64, high + 64) for low, high in SMALL_BYTES]
PRINTED = {
    0: (0, 16),
    1: (4, 20),
    2: (8, 24),
    3: (12, 28),
    4: (32, 48),
    7: (44, 60),
    8: (64, 80),
    12: (96, 112),
    15: (108, 124),
}
# 6 bits: V0 to V5 hold K = 0..31 and 32..63 as one string of bits, V6 to V11 the next 64; 4 bits likewise in four each.
STRINGS = [(0, 32), (64, 96)]


def by_registers(table, width):
    """(half, bit of the lane's registers) -> k."""
    return {
        (half, 32 * register + width * part): first + part
        for register, firsts in enumerate(table)
        for half, first in enumerate(firsts)
        for part in range(32 // width)
    }


def by_strings(width):
    return {
        (half, 32 * width * number + width * part): first + part
        for number, firsts in enumerate(STRINGS)
        for half, first in enumerate(firsts)
        for part in range(32)
    }


def inputs(width, k, *, small, sparse):
    """k by (half of the wave, bit) of a 16-row A or of B; of a sparse form its dense B."""
    if width == 32:
        return by_registers([(0, 2), (1, 3)], 32)
    if width == 16:
        return by_registers(SPARSE_HALVES if sparse else HALVES, 16)
    if width < 8:
        return by_strings(width)
    if small or sparse:
        return by_registers(SMALL_BYTES, 8)
    return by_registers(MANY_BYTES if k == 128 else BYTES, 8)


def kept(width, k):
    """Number of the kept element by (half, bit): the table of the dense A that sparse A is packed as (7.12.3)."""
    return inputs(width, k // 2, small=False, sparse=False)


def rows_of_c(width):
    """Row by (half, bit) of C and D with 16 rows (7.12.2)."""
    if width == 32:
        return {(half, 32 * register): register + 8 * half for register in range(8) for half in range(2)}
    return {
        (half, 32 * register + 16 * part): 2 * register + part + 8 * half
        for register in range(4)
        for part in range(2)
        for half in range(2)
    }


def index_of_halves():
    """(lane, first bit) of the index of each kept element, from the loop printed in 7.12.4."""
    found = {}
    for row in range(16):
        for col in range(0, 64, 4):
            first_bit = (col >> 2 & 7) * 4
            lane = (col >> 5 & 1) * 16 + row
            found[row, col // 2] = (lane, first_bit)
            found[row, col // 2 + 1] = (lane, first_bit + 2)
    return found


def index_of_bytes():
    """The same of 8 bits, as rocjitsu has it: contiguous selectors of 32, over kept elements in runs of 16 a lane.

    rocjitsu numbers kept elements so that lane half h holds 16 h to 16 h + 15 in its first four registers, then
    32 + 16 h to 32 + 16 h + 15; the manual's numbers of the same places come from its table of packed A.
    """
    found = {}
    numbers = kept(8, 128)
    for (half, bit), manual in numbers.items():
        slot = bit // 8
        theirs = 32 * (slot // 16) + 16 * half + slot % 16
        for row in range(16):
            found[row, manual] = (row + 16 * (theirs // 32), 2 * (theirs % 32))
    return found


# The figures of 10.9.2: lanes over columns K, for rows M = 0 to 7 and 8 to 15 where a lane loads 8 rows.
FIGURES = {
    "tr16_b128": [[*range(8), *range(16, 24)], [*range(8, 16), *range(24, 32)]],
    "tr8_b64": [
        [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27],
        [4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31],
    ],
    "tr6_b96": [[*range(8), *range(16, 24), *range(8, 16), *range(24, 32)]],
    "tr4_b64": [[*range(8), *range(16, 24), *range(8, 16), *range(24, 32)]],
}
LABELS = {"tr6_b96": [*range(4), *range(8, 12), *range(16, 20), *range(24, 28)]}
LABELS["tr6_b96"] += [k + 4 for k in LABELS["tr6_b96"]]
"""K of each column where the figure does not count up."""


def loaded_by(form):
    """(first row, K) that each lane loads."""
    labels = LABELS.get(form, range(32))
    return {
        lane: (8 * half, k) for half, lanes in enumerate(FIGURES[form]) for k, lane in zip(labels, lanes, strict=False)
    }


def received(form, lane):
    """K of each element that a lane receives, of row lane % 16.

    16 and 8 bits: the fragment of 16 rows and 16 columns. Of 6 and 4 bits no fragment has 32 columns: rocjitsu's places
    have runs of 8 for 6 bits (as a matrix of 16 bits has them), and of 16 for 4 bits.
    """
    half = lane // 16
    if form in {"tr16_b128", "tr8_b64"}:
        return [8 * half + e for e in range(8)]
    if form == "tr6_b96":
        return [8 * half + e % 8 + 16 * (e // 8) for e in range(16)]
    return [16 * half + e for e in range(16)]
