"""Matrix instructions: the rows, columns and k of their operands for all sizes, and the sums that they continue."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from mfmasim.errors import MfmasimError
from mfmasim.machine.opcodes.matrix import resolve
from mfmasim.prove.contents import (
    COLUMN,
    DEPTH,
    PAD,
    REST,
    RESULT,
    ROW,
    Byte,
    dword,
    factor_of,
    interned,
    interned_value,
)
from mfmasim.prove.global_races import lines_of
from mfmasim.prove.inequality import pinned
from mfmasim.prove.polynomial import Polynomial, TooLarge, constant, of
from mfmasim.prove.words import known

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from mfmasim.isa import Instruction, Operand
    from mfmasim.kernels import Kernel
    from mfmasim.prove.contract import Contract, Region
    from mfmasim.prove.state import State

__all__ = ["Multiplied", "line_and_place", "multiplied"]

INTEGERS = ("i8", "u8", "i4", "u4")
"""Formats whose signedness NEG selects, on RDNA."""
LONGEST = 4096
"""Most k of a sum beyond its contiguous range."""


@dataclass
class Multiplied:
    """The results of a matrix instruction."""

    why: str = ""
    """Why the operands are not proved; empty if they are proved."""
    registers: dict[tuple[str, int], tuple[Byte, ...]] = field(default_factory=dict)


Sum: TypeAlias = tuple[Polynomial, frozenset[int]]
"""The k of a sum: the range from 0 to a number, and further k relative to that number."""


class Unproved(Exception):  # noqa: N818 - control flow
    """An operand whose elements are unknown."""


def multiplied(state: State, ins: Instruction, kernel: Kernel, contract: Contract) -> Multiplied:
    """Follow a matrix instruction.

    Args:
        state: before it.
        ins: the instruction.
        kernel: has the architecture and the lanes of a wave.
        contract: its matrices.
    """
    try:
        return Multiplied("", _followed(state, ins, kernel, contract))
    except Unproved as stop:
        return Multiplied(str(stop))
    except (MfmasimError, TooLarge) as error:
        return Multiplied(str(error) or "an operand has too many terms")


def _followed(
    state: State, ins: Instruction, kernel: Kernel, contract: Contract
) -> dict[tuple[str, int], tuple[Byte, ...]]:
    operation, modes = resolve(ins, kernel.arch, kernel.wave)
    signs = modes.neg & 3 if operation.under(modes)["A"].format in INTEGERS else 0  # the formats of A and B
    plain = replace(type(modes)(), scale_a_byte=modes.scale_a_byte, scale_b_byte=modes.scale_b_byte, neg=signs)
    if modes != plain:
        raise Unproved("its modifiers are not followed")
    if operation.sparse or operation.blocks > 1:
        raise Unproved("sparse operands and blocks are not followed")
    if operation.D.width != 32 or operation.C.width != 32:
        raise Unproved(f"results of {operation.D.width} bits are not followed")
    if state.exec.literals or not state.exec.on.all():
        raise Unproved("EXEC is not known to be full")
    fragments, sources = operation.under(modes), dict(zip(operation.row.sources, ins.src, strict=False))
    matrices = _exchanged(state, sources["A"], contract)
    rows, a_depth, a_padded = _operand(state, fragments["A"], sources["A"], contract, matrices["A"])
    columns, b_depth, b_padded = _operand(state, fragments["B"], sources["B"], contract, matrices["B"])
    pins = pinned(state.facts)
    a_depth, b_depth = a_depth.substituted(pins), b_depth.substituted(pins)
    if not a_depth.same(b_depth):
        raise Unproved(f"k of A is not k of B: {a_depth} and {b_depth}")
    for side, lines in (("A", rows), ("B", columns)):
        _scaled(state, fragments, sources, contract, side, matrices[side], lines, a_depth)
    first, steps = _steps(a_depth)
    kind = of(RESULT) + of(PAD) if a_padded and b_padded else of(RESULT)
    down, across = (ROW, COLUMN) if matrices["A"] == "A" else (COLUMN, ROW)
    wanted = [
        kind + _picked(rows, row) * of(down) + _picked(columns, column) * of(across)
        for row, column in _places_of(operation.D)
    ]
    before, others = _before(state, sources["C"], wanted)
    depth, rest = _extended(before.substituted(pins), others, first, steps)
    tail = depth * of(DEPTH) + (of(REST).scaled(interned(rest)) if rest else 0)
    target = ins.dst[0]
    return {
        (target.kind, target.index + k): tuple(part + tail + byte for byte in range(4)) for k, part in enumerate(wanted)
    }


def _exchanged(state: State, operand: Operand, contract: Contract) -> dict[str, str]:
    """The case's matrix in each operand: exchanged if the kernel computes the transposed product.

    A lane then holds consecutive columns of one row of C.
    """
    pointers = {r.tensor.role: r.pointer for r in contract.regions if r.tensor is not None}
    first = dword(state, operand, 0)[0] if operand.kind in ("v", "a") else None
    other = first is not None and {"A", "B"} <= pointers.keys() and pointers["B"] in first.symbols
    return {"A": "B", "B": "A"} if other else {"A": "A", "B": "B"}


@lru_cache(maxsize=256)
def _table(fragment: Any) -> tuple[NDArray[np.void], list[tuple[int, int]]]:
    """Places of the elements of an operand, and registers and bytes in which elements begin."""
    table = fragment.table()
    bytes_ = np.unique(table["vgpr"] * 4 + table["bit"] // 8)
    return table, [divmod(int(byte), 4) for byte in bytes_]


def _places_of(result: Any) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Row and column of each lane, for each register of a result of 32 bits."""
    table = _table(result)[0]
    for vgpr in range(result.vgprs):
        places = table[table["vgpr"] == vgpr]
        if len(places) != result.lanes:
            raise Unproved("lanes without a result are not followed")
        row, column = np.zeros(result.lanes, np.int64), np.zeros(result.lanes, np.int64)
        row[places["lane"]], column[places["lane"]] = places["row"], places["col"]
        yield row, column


def _scaled(
    state: State,
    fragments: Mapping[str, Any],
    sources: Mapping[str, Operand],
    contract: Contract,
    side: str,
    matrix: str,
    lines: Polynomial,
    depth: Polynomial,
) -> None:
    """Check that the scales of an operand belong to the lines and k of its elements.

    Raises:
        Unproved: a scale belongs to other elements than those that it multiplies.
    """
    role = f"scale_{matrix}"
    declared = any(r.tensor is not None and r.tensor.role == role for r in contract.regions)
    fragment, operand = fragments.get(f"scale_{side}"), sources.get(f"scale_{side}")
    if not declared:
        if operand is not None and (operand.kind != "const" or operand.bits):
            raise Unproved(f"the case has no scales of {matrix}")
        return
    if fragment is None or operand is None:
        raise Unproved(f"it does not apply the scales of {matrix}")
    region, line, place, _ = _elements(state, fragment, operand, contract, role)
    number, block = _table(fragment)[0]["row"], _table(fragment)[0]["col"]
    if not line.same(_picked(lines, number)):
        raise Unproved(f"scales of {matrix} are of lines {line}")
    blocks = _of_axis(place, block, role, "block")
    whole = next(r for r in contract.regions if r.tensor is not None and r.tensor.role == matrix)
    along, own = (1 if matrix == "A" else 0), (1 if side == "A" else 0)
    size = fragments[side].shape[own] // (int(block.max()) + 1)
    if not whole.shape[along].same(region.shape[along].scaled(size)):
        raise Unproved(f"a scale of {matrix} is not declared to cover {size} k")
    inside = depth - _picked(blocks, np.arange(fragments[side].shape[own]) // size).scaled(size)
    if not inside.is_constant or np.any(np.asarray(inside.constant) // size):
        raise Unproved(f"scales of {matrix} are of other k: {blocks} of {depth}")


def _picked(value: Polynomial, index: NDArray[np.int64]) -> Polynomial:
    """A polynomial of rows, columns or k, selected by an index."""
    return value.mapped(lambda c: c[:, index])


def _operand(
    state: State, fragment: Any, operand: Operand, contract: Contract, matrix: str
) -> tuple[Polynomial, Polynomial, bool]:
    """Lines (rows of A, columns of B) and k of an operand, and whether the matrix is padded with zeros.

    Lines and k are polynomials with coefficients (waves, lines or k).
    """
    _, lines, depth, pads = _elements(state, fragment, operand, contract, matrix)
    table = _table(fragment)[0]
    key, other = ("row", "col") if fragment.name == "A" else ("col", "row")
    return _of_axis(lines, table[key], matrix, "line"), _of_axis(depth, table[other], matrix, "k"), pads


def _elements(
    state: State, fragment: Any, operand: Operand, contract: Contract, role: str
) -> tuple[Region, Polynomial, Polynomial, bool]:
    """The matrix whose elements an operand holds; the line of every element, and its number within the line.

    A line is a row of A or a column of B. The last result is whether the matrix is padded with zeros.
    """
    regions = [r for r in contract.regions if r.tensor is not None and r.tensor.role == role]
    if len(regions) != 1 or regions[0].tensor is None:
        raise Unproved(f"the case has no single matrix {role}")
    region, tensor = regions[0], regions[0].tensor
    if tensor.read:
        raise Unproved(f"{role} is converted before it is multiplied")
    if region.format != fragment.format:
        raise Unproved(f"{role} is {region.format}, the instruction reads {fragment.format}")
    if operand.kind not in ("v", "a"):
        raise Unproved(f"{role} is no vector register")
    table, used = _table(fragment)
    width = int(table["width"][0])
    flat: list[Byte] = [byte for k in range(fragment.vgprs) for byte in dword(state, operand, k)]
    for vgpr, byte in used:
        if any(flat[4 * vgpr + byte + k] is None for k in range(width // 8 or 1)):
            raise Unproved(f"what {operand.kind}{operand.index + vgpr} holds for {role} is not known")
    value, bit = _placed([constant(0) if byte is None else byte for byte in flat], table, len(state.waves))
    if PAD in value.symbols:
        row, column = factor_of(value, ROW), factor_of(value, COLUMN)
        if np.any(bit) or not value.same(of(PAD) * of(region.pointer) + of(ROW) * row + of(COLUMN) * column):
            raise Unproved(f"{operand.kind}{operand.index} holds {value}, not elements of {role}")
        return (region, row, column, True) if role.endswith("A") else (region, column, row, True)
    if not value.begins_with(region.pointer):
        raise Unproved(f"{operand.kind}{operand.index} holds {value}, which is not of {role} alone")
    offset = value - of(region.pointer)
    facts = [f for f in state.facts if all(isinstance(c, int) for c in f.terms.values())]
    found = line_and_place(region, offset, facts, bit)
    if found is None:
        raise Unproved(f"{offset} is not split into a line of {role} and a place within it")
    line, place, left = found
    if not left.same(constant(8 * tensor.select)):
        raise Unproved(f"{offset} is not where elements of {role} begin")
    along_line = tensor.order == ("row" if role.endswith("A") else "column")
    return (region, line, place, False) if along_line else (region, place, line, False)


def _placed(flat: Sequence[Polynomial], table: NDArray[Any], waves: int) -> tuple[Polynomial, NDArray[np.int64]]:
    """Address of the first byte of every element, with coefficients (waves, places), and its first bit in the byte."""
    width = int(table["width"][0])
    lanes = max((c.shape[-1] for p in flat for c in p.terms.values() if not isinstance(c, int)), default=1)
    shape = (waves, max(lanes, int(table["lane"].max()) + 1))
    at, bit = table["vgpr"] * 4 + table["bit"] // 8, (table["bit"] % 8).astype(np.int64)
    terms: dict[Any, Any] = {}
    for monomial in {m for p in flat for m in p.terms}:
        whole = np.stack([np.broadcast_to(np.asarray(p.terms.get(monomial, 0), np.int64), shape) for p in flat], axis=2)
        first = whole[:, table["lane"], at]
        for k in range(1, (width + 7) // 8 + 1):
            more = bit + width > 8 * k  # elements that extend into byte k
            if (whole[:, table["lane"][more], at[more] + k] != first[:, more] + (0 if monomial else k)).any():
                raise Unproved("the bytes of an element do not follow one another")
        terms[monomial] = first
    return Polynomial({m: int(c.flat[0]) if (c == c.flat[0]).all() else c for m, c in terms.items()}), bit


def _of_axis(value: Polynomial, number: NDArray[np.int32], role: str, what: str) -> Polynomial:
    """Values by one index of a polynomial over all places, which may depend on no other index."""
    count = int(number.max()) + 1
    first = np.zeros(count, np.int64)
    first[number[::-1]] = np.arange(len(number))[::-1]
    terms: dict[Any, Any] = {}
    for monomial, c in value.terms.items():
        if isinstance(c, int):
            terms[monomial] = c
            continue
        chosen = c[:, first]
        if (chosen[:, number] != c).any():
            wrong = np.argwhere(chosen[:, number] != c)[0]
            raise Unproved(f"the {what} of {role} differs between places of index {number[wrong[1]]}: {value}")
        terms[monomial] = chosen
    return Polynomial(terms)


def _steps(depth: Polynomial) -> Sum:
    """The first k of an instruction, and all of its k relative to the first."""
    first = depth.mapped(lambda c: c[:, :1])
    if not all(isinstance(c, int) for c in first.terms.values()):
        raise Unproved(f"waves sum different k: {first}")
    gaps = depth - first
    if not gaps.is_constant:
        raise Unproved(f"k is no number of elements away from {first}: {depth}")
    array = np.atleast_2d(np.asarray(gaps.constant, np.int64))
    if (array != array[:1]).any():
        raise Unproved("waves sum different k")
    found = frozenset(array[0].tolist())
    if len(found) != array.shape[1]:
        raise Unproved(f"a k is multiplied twice: {depth}")
    return first, found


def _before(state: State, operand: Operand, wanted: Sequence[Polynomial]) -> Sum:
    """The k of the sums in the accumulator, which must have the same rows and columns."""
    found: Sum | None = None
    for k, part in enumerate(wanted):
        name = f"{operand.kind}{operand.index + k}"
        zero = known(state.operand(operand, k if operand.kind in ("v", "a") else 0))
        if zero is not None and np.any(np.asarray(zero) != 0):
            raise Unproved(f"the sum in {name} does not begin with 0")
        one = _continued(dword(state, operand, k), part, name) if zero is None else (constant(0), frozenset())
        if found is not None and not (found[0].same(one[0]) and found[1] == one[1]):
            raise Unproved(f"the sum in {name} is over other k than that in {operand.kind}{operand.index}")
        found = one
    assert found is not None
    return found


def _continued(content: Sequence[Byte], part: Polynomial, name: str) -> Sum:
    """The k of a sum in a register, which must have the same row and column."""
    first = content[0]
    if first is None:
        raise Unproved(f"the sum in {name} is not known")
    left = first - part
    depth, rest = factor_of(left, DEPTH), left.terms.get((REST,), 0)
    if not isinstance(rest, int) or rest < 0 or (left - depth * of(DEPTH) - of(REST).scaled(rest)).terms:
        raise Unproved(f"{name} holds {first}, not the sum of {part}")
    if any(byte is None or not byte.same(first + number) for number, byte in enumerate(content)):
        raise Unproved(f"the bytes of {name} are not those of a sum")
    return depth, interned_value(rest) if rest else frozenset()


def _extended(depth: Polynomial, rest: frozenset[int], first: Polynomial, steps: frozenset[int]) -> Sum:
    """The k of a sum after further k are added: ``[0, depth)``, and those beyond the range, relative to depth."""
    gap = first - depth
    if not gap.is_constant or not isinstance(gap.constant, int):
        raise Unproved(f"k from {first} on does not follow the sum up to {depth}")
    new = {gap.constant + step for step in steps}
    if min(new) < 0 or new & rest:
        raise Unproved(f"k from {first} on is summed twice, the sum is up to {depth}")
    every = rest | new
    if len(every) > LONGEST:
        raise Unproved("too many k are left out")
    whole = next(k for k in range(len(every) + 1) if k not in every)
    return depth + whole, frozenset(k - whole for k in every if k >= whole)


def line_and_place(
    region: Region, offset: Polynomial, facts: Sequence[Polynomial], bit: int | NDArray[np.int64] = 0
) -> tuple[Polynomial, Polynomial, Polynomial] | None:
    """Line, element within the line and bit within the element of an offset in a matrix; None if they are not found.

    Args:
        region: the matrix.
        offset: bytes from its first element.
        facts: polynomials that are not negative.
        bit: bits that are added to the offset.
    """
    if not region.strides or region.tensor is None or region.tensor.shuffle:
        return None
    least = region.bits // region.tensor.bytes
    found = lines_of([(offset.scaled(8) + constant(bit), least, list(facts))], region.strides[0].scaled(8))
    if found is None:
        return None
    (line, _, _), (rest, _, _) = found[0][0], found[1][0]
    left = constant(rest.constant % region.bits)
    if not rest.divisible(region.bits):
        return None
    return line, Polynomial({m: c // region.bits for m, c in (rest - left).terms.items()}), left
