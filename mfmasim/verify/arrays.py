"""Plain array arguments: inputs and outputs of a kernel with a NumPy reference, and the data drawn for them."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.architectures import Arch
from mfmasim.errors import MfmasimError, unknown
from mfmasim.formats import FORMATS, Format
from mfmasim.formats import format as find_format
from mfmasim.machine.launch.interchange import as_array
from mfmasim.verify.arguments import POISON, Argument
from mfmasim.verify.tolerance import Tolerance

if TYPE_CHECKING:
    from collections.abc import Callable

# Formats with a NumPy dtype; elements of every other format are its codes.
DTYPES: dict[str, Any] = {
    "i8": np.int8, "u8": np.uint8, "i16": np.int16, "u16": np.uint16, "i32": np.int32, "u32": np.uint32,
    "i64": np.int64, "u64": np.uint64, "f16": np.float16, "f32": np.float32, "f64": np.float64,
}  # fmt: skip

ARRAY_CLASSES = {
    "bits": "random bits: every NaN, infinity and denormal, every integer",
    "special": "half extremes (zeros, denormals, limits, infinities, NaNs, powers of two and their neighbours)",
    "normal": "normally distributed values (integers: of every length, both signs)",
    "integers": "small integers from -9 to 9 (0 to 9 for unsigned formats)",
    "index": "0, 1, 2, ...",
    "zeros": "zeros",
}
"""Data classes of plain arrays."""

NANS = ("any", "bits")


@dataclass(frozen=True, eq=False)
class Array(Argument):
    """A plain array argument. Use `In`, `Out`, `InOut` to make one.

    Its role is ``in``, ``out`` or ``inout``; its format ``i8`` to ``u64``, ``f16``, ``f32``, ``f64``, or another number
    format, whose codes are the elements.
    """

    data: str | NDArray[Any] | Callable[[], NDArray[Any]] = "zeros"
    """A class of `ARRAY_CLASSES`, the values, or a function that computes them when a launch needs them."""
    nan: str = "any"
    """``any``: a NaN equals any NaN; ``bits``: payload and sign count."""
    drawn: str = ""
    """A class of `ARRAY_CLASSES` that drawn trials may use instead of given values."""
    name: str = ""
    """Its place among the arguments, ``argument 2[1]``, set by the launch."""

    def __post_init__(self) -> None:
        """Check the declaration, which needs no architecture."""
        if self.format not in DTYPES and (self.format not in FORMATS or find_format(self.format).bits < 8):
            names = [*DTYPES, *(f for f in FORMATS if find_format(f).bits >= 8)]
            raise unknown("format", self.format, list(dict.fromkeys(names)), "of an array")
        if not self.shape or not all(isinstance(n, int) and n > 0 for n in self.shape):
            raise MfmasimError(f"array of shape {self.shape}: positive sizes are expected")
        if self.nan not in NANS:
            raise unknown("nan", self.nan, NANS)
        super().__post_init__()
        for kind in (self.data if isinstance(self.data, str) else "zeros", self.drawn or "zeros"):
            if kind not in ARRAY_CLASSES:
                raise unknown("data class", kind, ARRAY_CLASSES, "of an array")
        if not isinstance(self.data, str) and not callable(self.data):
            self.check("data", self.data)

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's dtype for the values; unsigned codes where NumPy has none."""
        return np.dtype(DTYPES[self.format] if self.format in DTYPES else find_format(self.format).carrier)

    @property
    def number_format(self) -> Format | None:
        """The number format of floating-point elements; None for integers."""
        return None if self.dtype.kind in "iu" and self.format in DTYPES else find_format(self.format)

    @property
    def reads(self) -> bool:
        """Whether the kernel may read the case's values."""
        return self.role != "out"

    @property
    def writes(self) -> bool:
        """Whether the kernel may write."""
        return self.role != "in"

    def element_bits(self, arch: Arch) -> int:  # noqa: ARG002 - the same on all
        """Bits of memory that an element takes."""
        return 8 * self.dtype.itemsize

    def held(self, memory: NDArray[np.uint8], arch: Arch) -> NDArray[Any]:  # noqa: ARG002 - the same on all
        """Values in the array's dtype and shape."""
        return np.asarray(memory.view(self.dtype).reshape(self.shape))

    def codes(self, values: object) -> NDArray[Any]:
        """Values as an array; those of the array's format in ml_dtypes or PyTorch as its codes."""
        found = np.asarray(values)
        fmt = self.number_format
        same = fmt is not None and found.dtype.name != self.dtype.name and found.dtype.name in (fmt.name, *fmt.aliases)
        return found.view(self.dtype) if same else found

    def check(self, what: str, values: object) -> NDArray[Any]:
        """Check that values have the array's dtype and shape; they are not converted, because a conversion may round.

        Raises:
            MfmasimError: they have another dtype or shape.
        """
        found = self.codes(as_array(values, what))
        # Plain numbers: the shape of an array of unknown length is not checked.
        if found.dtype != self.dtype or found.shape != tuple(map(int, self.shape)):
            raise MfmasimError(
                f"{what} is {found.dtype} {found.shape}, the array of {self.format} needs {self.dtype} {self.shape}"
            )
        return np.ascontiguousarray(found)


def _sizes(shape: Any) -> tuple[int, ...]:
    if isinstance(shape, str):
        raise MfmasimError(f"shape {shape!r}: sizes are expected; an array has no name, as in In('f32', (4, 1000))")
    return tuple(shape) if isinstance(shape, tuple | list) else (shape,)


def In(
    format: str,  # noqa: A002
    shape: int | tuple[int, ...],
    data: str | NDArray[Any] | Callable[[], NDArray[Any]] = "special",
    offset: int = 0,
    drawn: str = "",
) -> Array:
    """An array the kernel reads.

    Args:
        format: ``i8`` to ``u64``, ``f16``, ``f32``, ``f64``; or another number format such as ``bf16``, as codes.
        shape: number of elements, or several sizes, the last one contiguous.
        data: a class of `ARRAY_CLASSES`, the values, or a function that computes them when a launch needs them:
            `mfmasim prove` asks for shapes alone.
        offset: bytes from an aligned address to the first element.
        drawn: a class of values that `mfmasim explore` may use instead; without it given values stay.
    """
    return Array("in", format, _sizes(shape), data, offset=offset, drawn=drawn)


def Out(
    format: str,  # noqa: A002
    shape: int | tuple[int, ...],
    ulp: int = 0,
    nan: str = "any",
    offset: int = 0,
    **bounds: Any,
) -> Array:
    """An array the kernel writes completely; it holds a pattern of 0xA5 before.

    Args:
        format: as for `In`.
        shape: as for `In`.
        ulp: units in the last place that may differ, where IEEE 754 does not define the result.
        nan: ``any`` (a NaN equals any NaN) or ``bits``.
        offset: as for `In`.
        bounds: ``absolute`` and ``relative``, largest errors: an element is right if the error is at most absolute +
            relative * |expected|; ``close=True`` for PyTorch's of the format (`mfmasim.verify.tolerance.DEFAULTS`).
    """
    tolerance = Tolerance.of("Out", format, ulp=ulp, **bounds)
    return Array("out", format, _sizes(shape), "zeros", nan, offset=offset, tolerance=tolerance)


def InOut(
    format: str,  # noqa: A002
    shape: int | tuple[int, ...],
    data: str | NDArray[Any] | Callable[[], NDArray[Any]] = "zeros",
    ulp: int = 0,
    nan: str = "any",
    offset: int = 0,
    drawn: str = "",
    **bounds: Any,
) -> Array:
    """An array the kernel reads and writes.

    Args:
        format: as for `In`.
        shape: as for `In`.
        data: its values before the launch, as for `In`.
        ulp: as for `Out`.
        nan: as for `Out`.
        offset: as for `In`.
        drawn: as for `In`.
        bounds: as for `Out`.
    """
    tolerance = Tolerance.of("InOut", format, ulp=ulp, **bounds)
    return Array("inout", format, _sizes(shape), data, nan, drawn, offset=offset, tolerance=tolerance)


def draw_array(array: Array, seed: str) -> NDArray[Any]:
    """The values of an array before the launch.

    Args:
        array: the argument.
        seed: text from which the random values follow.

    Returns:
        Values in the array's dtype and shape.
    """
    if not array.reads:
        return (
            np.frombuffer(bytes([POISON]) * (array.dtype.itemsize * int(np.prod(array.shape))), array.dtype)
            .reshape(array.shape)
            .copy()
        )
    if not isinstance(array.data, str):
        return array.check("data", array.data() if callable(array.data) else array.data).copy()
    rng = np.random.default_rng(zlib.crc32(f"{seed}/{array.data}".encode()))
    codes = _codes(rng, array, int(np.prod(array.shape)))
    values: NDArray[Any] = codes.astype(f"u{array.dtype.itemsize}").view(array.dtype)
    return values.reshape(array.shape)


def _codes(rng: np.random.Generator, array: Array, count: int) -> NDArray[Any]:
    """Elements as unsigned integers."""
    bits, fmt = 8 * array.dtype.itemsize, array.number_format
    random = rng.integers(0, 1 << 64, count, dtype=np.uint64) >> np.uint64(64 - bits)
    if array.data == "bits":
        return random
    if array.data == "special":
        chosen = np.array(_float_extremes(fmt) if fmt else _integer_extremes(bits), np.uint64)
        return np.where(rng.random(count) < 0.5, rng.choice(chosen, count), random)
    if array.data == "normal" and fmt is None:
        # Equal numbers of integers of each length.
        long: NDArray[Any] = random.astype(f"u{bits // 8}").view(array.dtype)
        long >>= rng.integers(0, bits, count).astype(array.dtype)
        return long
    low = 0 if array.dtype.kind == "u" and fmt is None else -9
    values = np.zeros(count)
    if array.data == "index":
        values = np.arange(count, dtype=np.float64)
    elif array.data == "integers":
        values = rng.integers(low, 10, count).astype(np.float64)
    elif array.data == "normal":
        values = rng.normal(size=count)
    return fmt.encode(values) if fmt else values.astype(np.int64)


def _float_extremes(fmt: Format) -> list[int]:
    one = fmt.bias << fmt.mantissa_bits
    top = fmt.max_code
    smallest = 1 << fmt.mantissa_bits
    positive = [0, 1, 2, smallest - 1, smallest, smallest + 1, one - 1, one, one + 1, one + smallest // 2, top - 1, top]
    positive += [one + k * smallest for k in (-2, -1, 1, 2, 3, fmt.mantissa_bits, fmt.mantissa_bits + 1)]
    if fmt.inf_code is not None:
        positive += [fmt.inf_code, fmt.inf_code, fmt.inf_code + 1]
    if fmt.nan_code is not None:
        positive += [fmt.nan_code, fmt.mask & ~fmt.sign_bit]
    return [code & fmt.mask for p in positive for code in (p, p | fmt.sign_bit)]


def _integer_extremes(bits: int) -> list[int]:
    around = [(1 << k) + d for k in range(0, bits, max(1, bits // 16)) for d in (-1, 0, 1)]
    return [n & ((1 << bits) - 1) for v in [0, *around, (1 << (bits - 1)) - 1, 1 << (bits - 1)] for n in (v, -v)]
