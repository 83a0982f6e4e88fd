"""Inputs of the kit's probes. They follow from a probe's name alone, so that a kit file has results only."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.formats import FORMATS
from mfmasim.formats import format as find_format
from mfmasim.lab.calibration.probe_data import FITTED, TILES, Tiles, matrices

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.lab.kit.kernels import ProbeKernel
    from mfmasim.matrix import MatrixInstruction

EXACT = 4
"""Tiles of small integers, whose sums every rounding leaves exact: they show the layout."""
PARTS = {"all": slice(0, TILES), "few": slice(0, TILES, 4), "exact": slice(0, 0)}
"""Tiles for models that a probe uses, in addition to the exact tiles."""


def _seed(name: str) -> np.random.Generator:
    return np.random.default_rng([20_260_101, zlib.crc32(name.encode())])


_F32 = np.array(
    [0x00000000, 0x00000001, 0x00000100, 0x007FFFFF, 0x00800000, 0x00800001, 0x3F7FFFFF, 0x3F800000, 0x3F800001,
     0x3F000000, 0x40000000, 0x40400000, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FA00000, 0x7FC00000, 0x7FFFFFFF,
     0x3E800000, 0x42480000, 0x43800000, 0x46FFFE00, 0x477FFF00, 0x4B000000, 0x4B800001, 0x4F000000, 0x0C800000,
     0x0D000000, 0x72800000, 0x7E800000, 0x7F000000, 0x33800000, 0x34000000],
    np.uint32,
)  # fmt: skip
_F16 = np.array(
    [0x0000, 0x0001, 0x0010, 0x03FF, 0x0400, 0x0401, 0x3BFF, 0x3C00, 0x3C01, 0x3800, 0x4000, 0x4200, 0x7BFF, 0x7C00,
     0x7C01, 0x7D00, 0x7E00, 0x7FFF, 0x3400, 0x5640, 0x7800, 0x0C00], np.uint32,
)  # fmt: skip


def _f32(rng: np.random.Generator, n: int) -> NDArray[np.uint32]:
    """A mixture: ordinary numbers, any bits, edges, numbers of the smallest and largest exponents."""
    which = rng.random(n)
    near = rng.integers(0, 1 << 23, n) | (rng.integers(112, 143, n) << 23)
    tail = rng.integers(0, 1 << 23, n) | (
        np.where(rng.random(n) < 0.5, rng.integers(0, 40, n), rng.integers(215, 255, n)) << 23
    )
    anything = rng.integers(0, 1 << 32, n)
    edges = _F32[rng.integers(0, len(_F32), n)].astype(np.int64)
    made = np.select([which < 0.5, which < 0.65, which < 0.8], [near, tail, anything], edges)
    return np.asarray(made ^ (rng.integers(0, 2, n) << 31), np.int64).astype(np.uint32)


def _f16(rng: np.random.Generator, n: int) -> NDArray[np.uint32]:
    which = rng.random(n)
    near = rng.integers(0, 1 << 10, n) | (rng.integers(8, 23, n) << 10)
    made = np.select(
        [which < 0.4, which < 0.8], [near, rng.integers(0, 1 << 15, n)], _F16[rng.integers(0, len(_F16), n)]
    )
    return np.asarray(made ^ (rng.integers(0, 2, n) << 15)).astype(np.uint32)


def _bf16(rng: np.random.Generator, n: int) -> NDArray[np.uint32]:
    return _f32(rng, n) >> np.uint32(16)


def _f64(rng: np.random.Generator, n: int) -> NDArray[np.uint64]:
    """f32's mixture with more exponents and bits."""
    wide = _f32(rng, n)
    exponent = (wide >> np.uint32(23) & np.uint32(255)).astype(np.int64)
    far = np.where(exponent == 255, 2047, np.where(exponent == 0, 0, exponent - 127 + 1023))
    far = np.where((rng.random(n) < 0.3) & (exponent % 255 != 0), rng.integers(0, 2047, n), far).astype(np.uint64)
    fraction = (wide & np.uint32(0x7FFFFF)).astype(np.uint64) << np.uint64(29)
    low = np.where(rng.random(n) < 0.7, rng.integers(0, 1 << 29, n), 0).astype(np.uint64)
    sign = (wide >> np.uint32(31)).astype(np.uint64) << np.uint64(63)
    return np.asarray(sign | far << np.uint64(52) | fraction | low, np.uint64)


def _words(rng: np.random.Generator, kind: str, count: int, n: int) -> NDArray[np.uint32]:
    """Dwords of a source, (count, n)."""
    if kind == "mask":
        return rng.integers(0, 2, (1, n)).astype(np.uint32)
    if kind == "f64":
        return np.ascontiguousarray(_f64(rng, n)).view(np.uint32).reshape(n, 2).T
    return np.stack([_dwords(rng, kind, n) for _ in range(count)])


def _dwords(rng: np.random.Generator, kind: str, n: int) -> NDArray[np.uint32]:
    if kind in ("f16", "pk_f16"):
        return _f16(rng, n) | _f16(rng, n) << np.uint32(16)
    if kind in ("pk_bf16", "bf16"):
        return _bf16(rng, n) | _bf16(rng, n) << np.uint32(16)
    if kind == "f32":
        return _f32(rng, n)
    which = rng.random(n)  # any bits: a third f32, a third two f16
    halves = _f16(rng, n) | _f16(rng, n) << np.uint32(16)
    words = rng.integers(0, 1 << 32, n).astype(np.uint32)
    return np.select([which < 0.4, which < 0.7], [_f32(rng, n), halves], words).astype(np.uint32)


def operation_inputs(kernel: ProbeKernel, n: int, wave: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Contents of `in` and, before the launch, of `out`.

    Args:
        kernel: of an operation.
        n: work-items.
        wave: work-items of a block.
    """
    rng = _seed(kernel.name)
    rows = [_words(rng, kind, count, n) for kind, count in kernel.sources]
    if len(rows) == 3 and kernel.sources[0][0] == kernel.sources[2][0] and kernel.name.startswith("op_v_div"):
        _division(rng, kernel, rows)
    given = np.concatenate(rows) if rows else np.zeros((0, n), np.uint32)
    if kernel.formats:
        turns = np.resize(np.array(kernel.formats, np.uint32), n // wave)
        given = np.concatenate([given.reshape(-1), np.resize(turns, n)]).reshape(-1, n)
    memory = kernel.form in ("atomic", "load", "store")
    out: NDArray[np.uint32] = np.full((4 if memory else kernel.results, n), 0xA5A5A5A5, np.uint32)
    if kernel.form == "atomic":
        kind, count = kernel.sources[0]
        out = np.tile(_words(rng, kind, count, n).T, (1, 4 // count)).reshape(4, n)
    if not given.size:
        given = np.zeros((1, n), np.uint32)
    return np.ascontiguousarray(given), np.ascontiguousarray(out)


def _division(rng: np.random.Generator, kernel: ProbeKernel, rows: list[NDArray[np.uint32]]) -> None:
    """V_DIV_SCALE's first source is its second or third; exponents lie near the limits of its rules."""
    n = rows[0].shape[1]
    high, bits, bias = (1, 20, 1023) if kernel.sources[0][0] == "f64" else (0, 23, 127)
    far = rng.integers(-8, 9, n) + np.where(rng.random(n) < 0.5, 96 if not high else 768, -96 if not high else -768)
    where = np.flatnonzero(rng.random(n) < 0.5)
    below = np.asarray(rng.integers(1, 2 * bias, n))
    above = np.asarray(np.clip(below + far, 1, 2 * bias))
    keep = np.uint32((1 << 31) | ((1 << bits) - 1))
    for row, exponent in ((rows[1], below), (rows[2], above)):
        row[high, where] = (row[high, where] & keep) | (exponent[where] << bits).astype(np.uint32)
    small = np.flatnonzero(rng.random(n) < 0.15)
    rows[2][high, small] = (rows[2][high, small] & keep) | (rng.integers(18, 60, len(small)) << bits).astype(np.uint32)
    if "scale" in kernel.name:
        first = rng.random(n) < 0.5
        rows[0][:] = np.where(first, rows[1], rows[2])


@dataclass(frozen=True)
class MatrixInputs:
    """Registers and codes of the tiles of a matrix probe; the exact tiles come last."""

    registers: NDArray[np.uint32]
    """Rows of `in`, (dwords, tiles * lanes)."""
    codes: dict[str, NDArray[Any]]
    """a, b, c, and scale_a, scale_b, index where there are any: as `MatrixInstruction.multiply` takes them."""
    tiles: int
    fitted: slice
    """Tiles that models are fitted to, among those that are taken."""


def matrix_inputs(op: MatrixInstruction, name: str, part: str) -> MatrixInputs:
    """Inputs of a matrix probe.

    Args:
        op: the instruction.
        name: of the kernel.
        part: a key of `PARTS`.
    """
    chosen = np.arange(TILES)[PARTS[part]]
    rng = _seed(name)
    index = _index(rng, op, TILES + EXACT) if op.sparse else None
    keep = _kept(op, index[:TILES, 0]) if index is not None else None
    blocks = []
    for block in range(op.blocks):
        floats = FORMATS[op.a].exponent_bits
        made = matrices(op, f"{name}.{block}", keep) if floats else _integers(rng, op, keep)
        blocks.append(_joined(made, _exact(rng, op, None if index is None else _kept(op, index[TILES:, 0]))))
    taken = np.concatenate([chosen, TILES + np.arange(EXACT)])

    def gathered(field: str) -> NDArray[Any]:
        arrays = [getattr(one, field)[taken] for one in blocks]
        return np.stack(arrays, axis=1) if op.blocks > 1 else arrays[0]

    codes = {field: gathered(field) for field in ("a", "b", "c")}
    if index is not None:
        codes["index"] = index[taken, 0] if op.blocks == 1 else index[taken]
        codes["a"] = np.take_along_axis(codes["a"], _places(codes["index"]), axis=-1)
    if op.scale_A is not None:
        codes.update({field: gathered(field) for field in ("scale_a", "scale_b")})
    regs = [op.operands[operand].pack(codes[field]) for operand, field in _fields(op)]
    rows = np.concatenate([array.transpose(1, 0, 2).reshape(array.shape[1], -1) for array in regs])
    fitted = int((chosen < FITTED).sum())
    return MatrixInputs(np.ascontiguousarray(rows, np.uint32), codes, len(taken), slice(0, fitted))


def _fields(op: MatrixInstruction) -> list[tuple[str, str]]:
    """Operands in the order of the kernel's sources, with the names of their codes."""
    every = (("A", "a"), ("B", "b"), ("C", "c"), ("scale_A", "scale_a"), ("scale_B", "scale_b"), ("index", "index"))
    return [pair for pair in every if pair[0] in op.operands]


def _index(rng: np.random.Generator, op: MatrixInstruction, tiles: int) -> NDArray[np.uint8]:
    """Positions of the two kept elements of each group of four; those of a row's first group are 0 and 1."""
    pairs = np.array([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)], np.uint8)
    drawn = rng.integers(0, 6, (tiles, op.blocks, op.m, op.k // 4))
    drawn[..., 0] = 0
    return pairs[drawn].reshape(tiles, op.blocks, op.m, op.k // 2)


def _places(index: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Dense k of each kept element."""
    return np.asarray(index.astype(np.int64) + np.arange(index.shape[-1]) // 2 * 4)


def _kept(op: MatrixInstruction, index: NDArray[np.uint8]) -> NDArray[np.bool_]:
    keep = np.zeros((*index.shape[:-1], op.k), bool)
    np.put_along_axis(keep, _places(index), True, axis=-1)
    return keep


def _integers(rng: np.random.Generator, op: MatrixInstruction, keep: NDArray[np.bool_] | None) -> Tiles:
    """Any integers; the last tiles are as the others."""
    width = 4 if "4" in op.a else 8
    a = rng.integers(0, 1 << width, (TILES, op.m, op.k)).astype(np.uint8)
    b = rng.integers(0, 1 << width, (TILES, op.k, op.n)).astype(np.uint8)
    c = rng.integers(0, 1 << 32, (TILES, op.m, op.n)).astype(np.uint32)
    if keep is not None:
        a[~keep] = 0
    return Tiles(a, b, c)


def _exact(rng: np.random.Generator, op: MatrixInstruction, keep: NDArray[np.bool_] | None) -> Tiles:
    """Small integers; block scales are powers of two near 1."""
    if not FORMATS[op.a].exponent_bits:
        made = _integers(rng, op, None)
        a, b, c = made.a[:EXACT], made.b[:EXACT], made.c[:EXACT]
        if keep is not None:
            a[~keep] = 0
        return Tiles(a, b, c)
    fa, fb, fd = (find_format(name) for name in (op.a, op.b, op.c))
    most = 1 if find_format(op.d).bits == 16 else 3
    a, b, c = (
        np.asarray(fmt.encode(rng.integers(-most, most + 1, shape).astype(np.float64))).astype(fmt.carrier)
        for fmt, shape in ((fa, (EXACT, op.m, op.k)), (fb, (EXACT, op.k, op.n)), (fd, (EXACT, op.m, op.n)))
    )
    if keep is not None:
        a[~keep] = 0
    if op.scale_A is None:
        return Tiles(a, b, c)
    scales = [
        rng.integers(125, 130, (EXACT, rows, op.k // op.row.scale_block)).astype(np.uint8) for rows in (op.m, op.n)
    ]
    return Tiles(a, b, c, *scales)


def _joined(first: Tiles, last: Tiles) -> Tiles:
    def both(field: str) -> Any:
        one, other = getattr(first, field), getattr(last, field)
        return None if one is None else np.concatenate([one, other])

    return Tiles(both("a"), both("b"), both("c"), both("scale_a"), both("scale_b"))
