"""Role-tagged arguments: the matrix of an argument, its format, and the order of its elements in memory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.errors import MfmasimError, unknown
from mfmasim.formats import format as find_format
from mfmasim.formats import pack, unpack
from mfmasim.verify.arguments import POISON, Argument
from mfmasim.verify.expression import Expression, Sparse
from mfmasim.verify.shuffles import OPERANDS, find_operand_order, find_shuffle
from mfmasim.verify.tolerance import BOUNDS, Tolerance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.architectures import Arch
    from mfmasim.formats import Format

ORDERS = ("row", "column")
LARGEST = 1 << 30
"""Most elements of a matrix."""


@dataclass(frozen=True, eq=False)
class Tensor(Argument, Expression):
    """A matrix argument of a kernel. Use `A`, `B`, `C`, `ScaleA`, `ScaleB`, `Index` to make one.

    Its role is ``A``, ``B``, ``C``, ``scale_A``, ``scale_B`` or ``index``, and its name, as a case has one matrix
    of each role. Its format is a number format, or ``fp8`` / ``bf8`` for the architecture's own flavour.
    """

    shape: tuple[int, int]
    order: str = "row"
    """``row``: elements of a row are neighbours; ``column``: elements of a column are."""
    ld: int = 0
    """Elements from one row (column) to the next; 0 means no gap."""
    bytes: int = 1
    """Scales: bytes of the word each scale stands in; the other bytes are filled with other values."""
    select: int = 0
    """For scales: the selected byte."""
    read: str = ""
    """Number format that the kernel converts the elements to before it multiplies; empty when it does not."""
    align: int = 1
    """Bytes that the kernel needs the address of every line to be a multiple of."""
    alias: Tensor | None = None
    """Another argument that lies in the same memory; no contract allows it."""
    shuffle: str = ""
    """The order of a library that it is stored in, instead of `order`: one of `SHUFFLES`, of matrices of `OPERANDS`."""

    def __post_init__(self) -> None:
        """Check the properties that are independent of the architecture."""
        if self.read:
            find_format(self.read)
        if self.order not in ORDERS:
            raise unknown("order", self.order, ORDERS)
        sizes = self.shape if isinstance(self.shape, tuple | list) else (self.shape,)
        if len(sizes) != 2 or not all(isinstance(n, int) and not isinstance(n, bool) and n > 0 for n in sizes):
            raise MfmasimError(f"{self.role} has shape {self.shape}: two positive sizes are expected")
        if sizes[0] * sizes[1] > LARGEST:
            raise MfmasimError(f"{self.role} has shape {self.shape}: more than {LARGEST:,} elements")
        if self.ld and self.ld < self.line:
            raise MfmasimError(f"{self.role} has ld {self.ld}, less than the {self.line} elements of a {self.order}")
        super().__post_init__()
        if self.align < 1 or self.align & (self.align - 1):
            raise MfmasimError(f"{self.role} has align {self.align}: a power of two is expected")
        if not 0 <= self.select < self.bytes:
            raise MfmasimError(f"{self.role} selects byte {self.select} of {self.bytes}")
        if self.shuffle and not self.role.startswith("scale"):
            find_operand_order(self.shuffle)
            if self.ld or self.writes:
                raise MfmasimError(f"{self.role} has shuffle {self.shuffle}, which is for inputs without ld")
        elif self.shuffle:
            if self.bytes > 1:
                raise MfmasimError(f"{self.role} has bytes {self.bytes}: {self.shuffle} stores one byte a scale")
            find_shuffle(self.shuffle).check(self.role, *self.by_row)

    @property
    def by_row(self) -> tuple[int, int]:
        """Rows of A, or columns of B, and elements of K or blocks of each."""
        return self.shape if self.role in ("A", "scale_A") else (self.shape[1], self.shape[0])

    @property
    def _noun(self) -> str:
        return self.role

    @property
    def writes(self) -> bool:
        """Whether the matrix is the output."""
        return self.role == "C"

    @property
    def strides(self) -> tuple[int, ...]:
        """Elements from one row to the next, and from one column to the next."""
        step = max(self.ld, self.line)
        return (step, 1) if self.order == "row" else (1, step)

    def element_bits(self, arch: Arch) -> int:
        """Bits of an element in memory; for a scale, those of its whole word."""
        return self.bytes * format_of(self, arch).bits

    def held(self, memory: NDArray[np.uint8], arch: Arch) -> NDArray[Any]:
        """Raw codes in `stored_shape`."""
        return np.ascontiguousarray(codes_of(self, memory, arch))

    @property
    def line(self) -> int:
        """Elements of a contiguous line."""
        return self.shape[1] if self.order == "row" else self.shape[0]

    @property
    def lines(self) -> int:
        """Contiguous lines."""
        return self.shape[0] if self.order == "row" else self.shape[1]

    @property
    def stored_shape(self) -> tuple[int, ...]:
        """Shape of the codes: rows, columns and, for scales, the bytes of a word."""
        return (*self.shape, self.bytes) if self.role.startswith("scale") else self.shape


def A(format: str, shape: tuple[int, int], order: str = "row", ld: int = 0, read: str = "", **place: Any) -> Tensor:  # noqa: A002
    """Matrix A, shape (M, K).

    Args:
        format: such as ``f16``, ``e4m3fn``, or ``fp8`` for the architecture's own flavour.
        shape: rows and columns.
        order: ``row`` or ``column``.
        ld: elements from one line to the next; 0 means no gap.
        read: format that the kernel converts the elements to before it multiplies, rounding to nearest even.
        place: where it lies in memory: ``offset``, bytes from an aligned address to the first element; ``align``,
            bytes that the kernel needs the address of every line to be a multiple of; ``alias``, another matrix at
            the same address; ``shuffle``, the order of a library that the matrix is stored in instead of `order`,
            such as ``aiter_16x16``.
    """
    return Tensor("A", format, shape, order, ld, read=read, **place)


def B(format: str, shape: tuple[int, int], order: str = "row", ld: int = 0, read: str = "", **place: Any) -> Tensor:  # noqa: A002
    """Matrix B, shape (K, N).

    Args:
        format: as for `A`.
        shape: rows and columns.
        order: ``row`` or ``column``.
        ld: elements from one line to the next; 0 means no gap.
        read: as for `A`.
        place: as for `A`.
    """
    return Tensor("B", format, shape, order, ld, read=read, **place)


def C(format: str, shape: tuple[int, int], order: str = "row", ld: int = 0, **more: Any) -> Tensor:  # noqa: A002
    """Matrix C, shape (M, N): the result, and an input where the expected expression uses it.

    Args:
        format: as for `A`.
        shape: rows and columns.
        order: ``row`` or ``column``.
        ld: elements from one line to the next; 0 means no gap.
        more: where it lies in memory, as for `A`; ``ulp``, ``absolute``, ``relative`` and ``close``, how far it may be
            from what is expected, as for `mfmasim.verify.Out`, instead of the bound of a sum.
    """
    bounds = {name: more.pop(name) for name in BOUNDS if name in more}
    return Tensor("C", format, shape, order, ld, tolerance=Tolerance.of("C", format, **bounds), **more)


def ScaleA(
    shape: tuple[int, int],
    bytes: int = 1,  # noqa: A002
    select: int = 0,
    order: str = "row",
    format: str = "e8m0",  # noqa: A002
    shuffle: str = "",
) -> Tensor:
    """Scales of A, shape (M, K / 32), or (M, K / 16) for an instruction whose scales cover 16 elements.

    Args:
        shape: rows and blocks of columns of A.
        bytes: bytes of the word each scale stands in.
        select: the byte that counts.
        order: ``row`` or ``column``.
        format: ``e8m0``; on CDNA5 also ``e5m3`` or ``e4m3fn``.
        shuffle: the order of a library, such as ``hipblaslt_32x8``, in place of `order`.
    """
    return Tensor("scale_A", format, shape, order, 0, bytes, select, shuffle=shuffle)


def ScaleB(
    shape: tuple[int, int],
    bytes: int = 1,  # noqa: A002
    select: int = 0,
    order: str = "row",
    format: str = "e8m0",  # noqa: A002
    shuffle: str = "",
) -> Tensor:
    """Scales of B, shape (K / 32, N), or (K / 16, N) for an instruction whose scales cover 16 elements.

    Args:
        shape: blocks of rows of B, and columns.
        bytes: as for `ScaleA`.
        select: as for `ScaleA`.
        order: ``row`` or ``column``.
        format: as for `ScaleA`.
        shuffle: as for `ScaleA`.
    """
    return Tensor("scale_B", format, shape, order, 0, bytes, select, shuffle=shuffle)


def Index(shape: tuple[int, int], order: str = "row", ld: int = 0) -> Tensor:
    """Positions of the kept elements of a 4:2 sparse A among their four: two bits each, the first lowest in memory.

    Args:
        shape: of the kept elements, (M, K / 2).
        order: ``row`` or ``column``.
        ld: elements from one line to the next; 0 means no gap.
    """
    return Tensor("index", "u2", shape, order, ld)


def sparse(kept: Tensor, index: Tensor) -> Sparse:
    """The whole matrix of a 4:2 sparse one: ``sparse(a, index) @ b``.

    Args:
        kept: `A` of shape (M, K / 2): two of every four elements along K.
        index: `Index` of the same shape; of a pair, the lower position comes first.
    """
    for tensor, role in ((kept, "A"), (index, "index")):
        if not isinstance(tensor, Tensor) or tensor.role != role:
            raise MfmasimError(f"sparse(kept, index) takes A and an Index, not {getattr(tensor, 'role', tensor)}")
    return Sparse(kept, index)


def format_of(tensor: Tensor, arch: Arch) -> Format:
    """Number format of a tensor on an architecture.

    Raises:
        MfmasimError: the format is unknown, or the architecture has no native 8-bit format.
    """
    return find_format(tensor.format, arch)


def bytes_of(tensor: Tensor, codes: NDArray[Any], arch: Arch) -> NDArray[np.uint8]:
    """Lay codes out as the kernel reads them.

    Args:
        tensor: the argument.
        codes: raw codes in `Tensor.stored_shape`.
        arch: decides the format.

    Returns:
        uint8 (bytes,); gaps between lines are poison.
    """
    fmt = format_of(tensor, arch)
    if tensor.shuffle and not tensor.role.startswith("scale"):
        lines = codes if tensor.role == "A" else codes.T
        stored = np.empty(lines.size, fmt.carrier)
        rows, depth = tensor.by_row
        stored[find_operand_order(tensor.shuffle).places(rows, depth, fmt.bits).reshape(-1)] = lines.reshape(-1)
        return bytes_of(replace(tensor, shuffle="", order="row", shape=(1, lines.size)), stored[None], arch)
    if tensor.shuffle:
        scales = codes[..., 0]
        return find_shuffle(tensor.shuffle).stored(scales if tensor.role == "scale_A" else scales.T).view(np.uint8)
    matrix = codes if tensor.order == "row" else np.swapaxes(codes, 0, 1)
    lines = matrix.reshape(tensor.lines, -1)
    padded = np.zeros((tensor.lines, max(tensor.ld, tensor.line) * tensor.bytes), fmt.carrier)
    padded[:] = POISON & fmt.mask if fmt.bits <= 8 else int.from_bytes(bytes([POISON]) * (fmt.bits // 8), "little")
    padded[:, : lines.shape[1]] = lines
    if fmt.bits >= 8:
        return np.ascontiguousarray(padded).view(np.uint8).reshape(-1)
    flat = padded.reshape(-1)
    bits = flat.size * fmt.bits
    if bits % 8:
        raise MfmasimError(f"{tensor.role}: {flat.size} elements of {fmt.bits} bits do not fill whole bytes")
    group = 16 if fmt.bits == 6 else 8
    filled = np.concatenate([flat, np.zeros(-flat.size % group, flat.dtype)])
    return pack(filled, fmt).view(np.uint8)[: bits // 8].copy()


def untouched(tensor: Tensor, arch: Arch) -> NDArray[Any]:
    """Codes of an output that the kernel may not read: a recognisable NaN, so that even 0 times it shows."""
    fmt = format_of(tensor, arch)
    pattern = int.from_bytes(bytes([POISON]) * 8, "little")
    code = pattern & fmt.mask
    if fmt.nan_code is not None:
        payload = pattern & ((1 << fmt.mantissa_bits) - 1) if fmt.special == "ieee" else 0
        code = fmt.nan_code | payload
    return np.full(tensor.stored_shape, code, fmt.carrier)


def codes_of(tensor: Tensor, memory: NDArray[np.uint8], arch: Arch) -> NDArray[Any]:
    """The inverse of `bytes_of`: raw codes in `Tensor.stored_shape`.

    Args:
        tensor: the argument.
        memory: its bytes, uint8.
        arch: decides the format.
    """
    fmt = format_of(tensor, arch)
    if tensor.shuffle and not tensor.role.startswith("scale"):
        count, depth = tensor.by_row
        stored = codes_of(replace(tensor, shuffle="", order="row", shape=(1, count * depth)), memory, arch)[0]
        codes: NDArray[Any] = stored[find_operand_order(tensor.shuffle).places(count, depth, fmt.bits)]
        return codes if tensor.role == "A" else codes.T
    if tensor.shuffle:
        scales = find_shuffle(tensor.shuffle).loaded(memory.view(fmt.carrier), tensor.by_row)
        return (scales if tensor.role == "scale_A" else scales.T)[..., None]
    width = max(tensor.ld, tensor.line) * tensor.bytes
    if fmt.bits >= 8:
        padded = memory.view(fmt.carrier).reshape(tensor.lines, width)
    else:
        words = np.concatenate([memory, np.zeros(-memory.size % 12, np.uint8)]).view(np.uint32)
        padded = unpack(words, fmt)[: tensor.lines * width].reshape(tensor.lines, width)
    lines = padded[:, : tensor.line * tensor.bytes]
    split = lines.reshape(tensor.lines, tensor.line, -1) if tensor.role.startswith("scale") else lines
    return split if tensor.order == "row" else np.swapaxes(split, 0, 1)


def orders_of(tensor: Tensor, arch: Arch) -> dict[str, NDArray[np.int64]]:
    """Where each element of an input would lie in every order that fits it, by the order's name.

    Args:
        tensor: a matrix, not scales.
        arch: decides the format.

    Returns:
        Numbers in memory, counted in elements, of the matrix's shape; without gaps between lines.
    """
    rows, cols = tensor.shape
    numbers = np.arange(rows * cols, dtype=np.int64)
    found: dict[str, NDArray[np.int64]] = {
        "row order": numbers.reshape(rows, cols),
        "column order": numbers.reshape(cols, rows).T,
    }
    lines, depth = tensor.by_row
    for name, order in OPERANDS.items():
        try:
            places = order.places(lines, depth, format_of(tensor, arch).bits)
        except MfmasimError:  # the sizes do not divide
            continue
        found[f"the order {name}"] = places if tensor.role == "A" else places.T
    return found
