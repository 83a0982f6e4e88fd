"""A matrix product without its operands: model, formats, modes, K of one instruction; checks of all that is given."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from mfmasim.errors import MfmasimError, unknown
from mfmasim.formats import FORMATS
from mfmasim.matrix.arithmetic.bounds import FACTOR_FRACTION_BITS
from mfmasim.matrix.arithmetic.factors import Factors, decode
from mfmasim.matrix.arithmetic.scratch import Scratch
from mfmasim.matrix.request import Operands

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from mfmasim.matrix.models import Model
    from mfmasim.matrix.request import Formats, Modes

_WORDS = {name: Scratch(np.uint32) for name in "ab"}
"""Memory of the decoded factors of A and B."""


@dataclass(frozen=True)
class Result:
    """Bit fields of a format of c and d."""

    dtype: str
    sign: int
    inf: int
    quiet: int


RESULTS: dict[str, Result] = {
    "f64": Result("u8", 1 << 63, 0x7FF << 52, 1 << 51),
    "f32": Result("u4", 1 << 31, 0x7F800000, 0x00400000),
    "f16": Result("u2", 1 << 15, 0x7C00, 0x0200),
    "bf16": Result("u2", 1 << 15, 0x7F80, 0x0040),
}


@dataclass(frozen=True)
class Product:
    """Parameters that all tiles of a product share."""

    model: Model
    formats: Formats
    modes: Modes
    k: int
    """K of one instruction, in stored elements of A: no step crosses a multiple of it."""

    @cached_property
    def clamp(self) -> bool:
        """Whether a finite overflow gives the largest finite number."""
        return (self.modes.clamp or self.modes.fp16_ovfl) and self.model.clamp == "max"

    @cached_property
    def flush_inputs(self) -> str:
        """Flushing of subnormal factors, as in `Model.flush_inputs`."""
        flushed_by_mode = self.model.mode_denormals and not self.modes.denormals
        return self.model.flush_inputs or ("signed" if flushed_by_mode else "")

    @cached_property
    def fraction_bits(self) -> int:
        """Fraction bits of the formats of A and B together: a product has at most two more."""
        return FORMATS[self.formats.a].mantissa_bits + FORMATS[self.formats.b].mantissa_bits

    @cached_property
    def carriers(self) -> tuple[np.dtype[Any], ...] | None:
        """Types of A, B and C where `mfmasim.matrix.arithmetic.small_batches` may compute; codes fill theirs."""
        model, formats = self.model, self.formats
        rows = FORMATS[formats.a], FORMATS[formats.b]
        if model.algorithm != "aligned" or model.nan_rules != "ieee" or self.clamp or self.k % model.group:
            return None
        if any(row.bits != 8 * row.carrier.itemsize for row in rows) or not formats.d == formats.addend == "f32":
            return None
        if rows[0].bits == rows[1].bits == 8:
            # Grids of products of about one are not coarser than the least product, and there are no infinities.
            least = 2 - sum(row.bias for row in rows) - self.fraction_bits
            fits = least + model.product_bits >= 0 and all(row.inf_code is None for row in rows)
        else:
            read = min(rows[0].mantissa_bits, model.input_mantissa_bits or 23)
            fits = (
                rows[0] is rows[1]
                and read <= FACTOR_FRACTION_BITS
                and model.partial_sums == 1
                and model.drop_addend_below is None
            )
        return (*(row.carrier for row in rows), FORMATS["f32"].carrier) if fits else None

    def factors(self, operand: str, codes: NDArray[Any], *, lasting: bool = False) -> Factors:
        """Decode codes of ``a`` or ``b``.

        Args:
            operand: ``a`` or ``b``.
            codes: its codes.
            lasting: whether the factors outlive the next call for the same operand.
        """
        name = self.formats.a if operand == "a" else self.formats.b
        out = None if lasting else _WORDS[operand]
        return decode(name, codes, self.model.input_mantissa_bits, self.flush_inputs, out)

    def steps(self, k: int) -> Iterator[slice]:
        """Slices of k that are summed together: at most `Model.group` long, never across instructions."""
        for base in range(0, k, self.k):
            top = min(base + self.k, k)
            for start in range(base, top, self.model.group):
                yield slice(start, min(start + self.model.group, top))


Rest: TypeAlias = "Callable[[Product, Operands], NDArray[Any]]"
"""D of some tiles by whatever path can, for a path that leaves them to others."""

_INTEGERS = tuple(name for name, form in FORMATS.items() if form.integer and form.bits <= 8)
_FLOATS = tuple(name for name, form in FORMATS.items() if not form.integer and form.special != "scale")


@lru_cache(maxsize=256)
def checked_product(model: Model, formats: Formats, modes: Modes, k: int) -> Product:
    """Parameters of a product, once for all its operands.

    Args:
        model: the accumulation model.
        formats: formats of A and B, and of C and D.
        modes: clamp, MODE.FP16_OVFL and MODE.denorm.
        k: K of one instruction.

    Raises:
        MfmasimError: formats that do not fit the model, or a modifier that it does not have.
    """
    integer = model.algorithm == "integer"
    factors = _INTEGERS if integer else _FLOATS
    for name in (formats.a, formats.b):
        if name not in factors:
            raise unknown("integer matrix element format" if integer else "matrix element format", name, factors)
    if integer and formats.d != "i32":
        raise MfmasimError(f"integer products accumulate in i32, not {formats.d}")
    for name in {formats.d, formats.addend} if not integer else ():
        if name not in RESULTS:
            raise unknown("format of C and D", name, RESULTS)
    if formats.addend != formats.d and model.algorithm != "aligned":
        raise MfmasimError(f"model {model.name} adds and returns one format, not {formats.addend} and {formats.d}")
    if model.algorithm == "fma" and not formats.a == formats.b == formats.d:
        raise MfmasimError(f"model {model.name} multiplies and adds in one format, not {formats.a} into {formats.d}")
    if modes.clamp and model.clamp == "none":
        raise MfmasimError(f"model {model.name} has no clamp")
    if k < 1:
        raise MfmasimError(f"K of an instruction must be at least 1, not {k}")
    return Product(model, formats, modes, k)


def checked(product: Product, given: Operands) -> tuple[Operands, tuple[int, ...]]:
    """The operands as unsigned arrays, and the leading axes that they broadcast to.

    Args:
        product: formats, model and modes.
        given: operands from the caller.

    Raises:
        MfmasimError: shapes or types that do not fit, or scales that the model does not have.
    """
    formats = product.formats
    operands = Operands(
        _codes("a", formats.a, given.a),
        _codes("b", formats.b, given.b),
        _codes("c", formats.addend, given.c),
        None if given.scale_a is None else _codes("scale_a", formats.scale_a, given.scale_a),
        None if given.scale_b is None else _codes("scale_b", formats.scale_b, given.scale_b),
        None if given.index is None else _codes("index", "2-bit positions", given.index, bits=2),
    )
    _check_shapes(product, operands)
    shapes = [array.shape[:-2] for array in operands.named().values()]
    if shapes.count(shapes[0]) == len(shapes):
        return operands, shapes[0]
    try:
        return operands, np.broadcast_shapes(*shapes)
    except ValueError:
        axes = ", ".join(dict.fromkeys(map(str, shapes)))
        raise MfmasimError(f"leading axes of the operands do not fit together: {axes}") from None


def _codes(name: str, fmt: str, codes: object, bits: int = 0) -> NDArray[Any]:
    """Codes as an unsigned array; refuses floats, negatives and codes that do not fit."""
    array, bits = np.asarray(codes), bits or FORMATS[fmt].bits
    if array.dtype.kind not in "ui":
        raise MfmasimError(f"{name} must be raw {fmt} codes in an unsigned integer array, not {array.dtype}")
    if array.ndim < 2:
        raise MfmasimError(f"{name} must have at least two axes (rows, columns), not shape {array.shape}")
    if array.dtype.itemsize * 8 > bits or array.dtype.kind == "i":
        if array.size and (int(array.max()) >> bits or int(array.min()) < 0):
            bad = array[(array < 0) | (array >> bits != 0)].flat[0]
            raise MfmasimError(f"{name} holds {int(bad)}, which is not a code of {fmt} ({bits} bits)")
        array = array.astype(np.dtype(f"u{max(1, bits // 8)}"))
    return array


def _check_shapes(product: Product, operands: Operands) -> None:
    """(..., M, K) x (..., K, N) + (..., M, N); a sparse A has half as many columns as B has rows."""
    a, b, c = operands.a, operands.b, operands.c
    m, k, n = *a.shape[-2:], b.shape[-1]
    dense = k if operands.index is None else 2 * k
    if dense != b.shape[-2]:
        raise MfmasimError(f"a has K = {dense} (shape {a.shape}) but b has K = {b.shape[-2]} (shape {b.shape})")
    if c.shape[-2:] != (m, n):
        raise MfmasimError(f"c must end in {(m, n)} (M, N), but has shape {c.shape}")
    if operands.index is not None and operands.index.shape[-2:] != (m, k):
        raise MfmasimError(f"index must hold one position per kept element, {(m, k)}, not {operands.index.shape}")
    if not operands.scaled:
        return
    model = product.model
    if not model.scale_point:
        raise MfmasimError(f"model {model.name} has no block scales")
    block = product.formats.block
    if block % model.group:
        raise MfmasimError(f"model {model.name} sums {model.group} products, which straddles scale blocks of {block}")
    for name, scale, rows in (("scale_a", operands.scale_a, m), ("scale_b", operands.scale_b, n)):
        if scale is not None and scale.shape[-2:] != (rows, -(-k // block)):
            ends = (rows, -(-k // block))
            raise MfmasimError(
                f"{name} must end in {ends} (one code per {block} of K = {k}), but has shape {scale.shape}"
            )
