"""Published swizzles, one row each, for a tile of the caller's size where the source leaves it open."""

from __future__ import annotations

from collections.abc import Callable

from mfmasim.errors import MfmasimError, unknown
from mfmasim.lds.swizzles import Swizzle, Term

_CK = 'CK documentation, "Load Data Share Index Swapping"'


def linear(rows: int, row_bytes: int) -> Swizzle:
    """The linear tile, row after row."""
    return Swizzle(rows, row_bytes, name="linear")


def padding(rows: int, row_bytes: int, pad: int) -> Swizzle:
    """Rows with `pad` unused bytes after each.

    Args:
        rows: rows of the tile.
        row_bytes: bytes of a row.
        pad: unused bytes after each.
    """
    return Swizzle(rows, row_bytes, pad=pad, name=f"padding {pad}")


def row_xor(rows: int, row_bytes: int, *, chunk: int = 16, shift: int = 0, mask: int | None = None) -> Swizzle:
    """``chunk_index ^= (row >> shift) & mask``.

    Args:
        rows: rows of the tile.
        row_bytes: bytes of a row, a power of two.
        chunk: bytes that stay together, a power of two.
        shift: lowest row bit that counts.
        mask: which of the row bits from there; None is as many as a row has chunks.

    Raises:
        MfmasimError: sizes that are not powers of two, or a mask that leaves the row.
    """
    for what, value in (("row_bytes", row_bytes), ("chunk", chunk)):
        if value < 1 or value & (value - 1):
            raise MfmasimError(f"{what} {value} must be a power of two: an exclusive-or would leave the row")
    chunks = row_bytes // chunk
    used = chunks - 1 if mask is None else mask
    if used >= max(chunks, 1):
        raise MfmasimError(f"mask {used} is too wide for {chunks} chunks of {chunk} bytes in a row of {row_bytes}")
    column_bits, chunk_bits = row_bytes.bit_length() - 1, chunk.bit_length() - 1
    terms = (Term(column_bits + shift, used, chunk_bits),) if used else ()
    return Swizzle(rows, row_bytes, terms, name=f"row xor (row >> {shift}) & {used}")


def ck_tile(rows: int, row_bytes: int, *, chunk: int = 16, banks: int = 32) -> Swizzle:
    """CK-Tile's LDS descriptor: rows side by side until they fill the banks, chunk ^= line % chunks of a line.

    Source: CK documentation, "Load Data Share Index Swapping": K0' = K0 ^ (M % (KPerBlock / KPack * MLdsLayer)), with
    MLdsLayer rows in a line of all banks. Where a row is shorter than that, low row bits are exchanged too.

    Args:
        rows: rows of the tile.
        row_bytes: bytes of a row, a power of two.
        chunk: bytes that stay together, a power of two.
        banks: banks that a line fills.
    """
    line = max(row_bytes, 4 * banks)
    if line % row_bytes:
        raise MfmasimError(f"rows of {row_bytes} bytes do not fill a line of {line} bytes")
    across = row_xor(1, line, chunk=chunk)  # the terms are those of any number of rows
    return Swizzle(rows, row_bytes, across.terms, name=f"ck_tile, {banks} banks", source=_CK)


_G4 = 'ROCm blog "cdna4-gemm-kernels" (March 2026), 16x128 FP8 tile: pair and perm of the row'
_4W = 'ROCm blog "4wave-fp8gemm" (May 2026): offset ^= ((offset % 2048) >> 8) << 4'
_HK = "HazyResearch/HipKittens f09e968, shared tiles of bf16"
_WMMA = "wmma_ops (gfx1151), FP16 tiles of BLOCK_K = 16: "

_ROWS: dict[str, tuple[Callable[[], Swizzle], str]] = {
    "linear_16x128": (lambda: linear(16, 128), "no swizzle"),
    "cdna4_gemm": (lambda: Swizzle(16, 128, (Term(8, 7, 4), Term(9, 1, 4), Term(10, 1, 4))), _G4),
    "cdna4_4wave": (lambda: Swizzle(16, 128, (Term(8, 7, 4),)), _4W),
    "row_and_7": (lambda: row_xor(16, 128), "chunk ^= row & 7, free on CDNA3 and CDNA4"),
    "pair_and_7": (lambda: row_xor(16, 128, shift=1), "chunk ^= (row >> 1) & 7, free on CDNA4 only"),
    "ck_tile_16x128": (lambda: ck_tile(16, 128), "CK-Tile, 32 banks"),
    "ck_tile_32x64": (lambda: ck_tile(32, 64), "CK-Tile, 32 banks, two rows to a line"),
    "hk_st_16x32": (lambda: Swizzle(16, 64, (Term(9, 1, 5),)), _HK),
    "hk_st_32x32": (lambda: Swizzle(32, 64, (Term(9, 1, 5), Term(10, 1, 4))), _HK),
    "wmma_ops_padding": (lambda: padding(128, 32, 16), _WMMA + "8 halfs of padding, stride 24"),
    "wmma_ops_xor": (lambda: row_xor(128, 32), _WMMA + "k_group ^ (row & 1) as printed, which changes nothing"),
    "wmma_ops_xor_32_banks": (lambda: row_xor(128, 32, shift=2), _WMMA + "corrected for 32 banks, 8-lane phases"),
    "wmma_ops_xor_64_banks": (lambda: row_xor(128, 32, shift=3), _WMMA + "corrected for 64 banks, 16-lane phases"),
    "wmma_ops_xor_k32": (lambda: row_xor(128, 64), "wmma_ops with BLOCK_K = 32: k_group ^ (row & 3) as printed"),
}

NAMES = tuple(_ROWS)
"""Names of the published swizzles."""


def swizzle(name: str) -> Swizzle:
    """A published swizzle.

    Raises:
        MfmasimError: unknown name.

    >>> print(swizzle("cdna4_4wave"))
    cdna4_4wave (16x128 bytes): offset ^= ((offset >> 4) & 0x70)
    """
    if name not in _ROWS:
        raise unknown("swizzle", name, NAMES)
    make, source = _ROWS[name]
    return make().named(name, source)
