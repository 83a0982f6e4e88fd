"""Orders of scales, one at a time: the byte that holds a row's scale for a block of K, by the published formulas."""


def hipblaslt_32x8(row, block, rows, blocks):
    """Tiles of 32 x 8 one after the other; in one, blocks by fours, rows by sixteens."""
    tile = row // 32 * (blocks // 8) + block // 8
    return tile * 256 + block % 4 * 64 + row % 16 * 4 + block % 8 // 4 * 2 + row % 32 // 16


def hipblaslt_32x8_undivided(row, block, rows, blocks):
    """The same tiles; in one, rows are neighbours."""
    return (row // 32 * (blocks // 8) + block // 8) * 256 + block % 8 * 32 + row % 32


def hipkittens_rows(row, block, rows, blocks):
    """Word k * rows + row has the four blocks of a tile of 128, the first in its lowest byte."""
    return (block // 4 * rows + row) * 4 + block % 4


def hipkittens_lanes(row, block, rows, blocks):
    """Word 64 * n + lane of a tile of 128: block lane / 16 of rows 64 n + lane % 16 + 16 byte."""
    lane = block % 4 * 16 + row % 16
    return ((block // 4 * (rows // 64) + row // 64) * 64 + lane) * 4 + row % 64 // 16


def aiter_16x16(line, k, lines, depth, chunk):
    """Tiles of 16 lines; in one, chunks of 16 bytes of K, and of each chunk the 16 lines."""
    return ((line // 16 * (depth // chunk) + k // chunk) * 16 + line % 16) * chunk + k % chunk


def aiter_32x16(line, k, lines, depth, chunk):
    """The same with 32 lines."""
    return ((line // 32 * (depth // chunk) + k // chunk) * 32 + line % 32) * chunk + k % chunk


def aiter_gate_up_16(line, k, lines, depth, chunk):
    """A tile of 16 of the first half of the lines, then one of the second half."""
    half, inside = divmod(line, lines // 2)
    tile = inside // 16 * 2 + half
    return ((tile * (depth // chunk) + k // chunk) * 16 + inside % 16) * chunk + k % chunk
