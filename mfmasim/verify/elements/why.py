"""Why an element of the output has its value: its products, with their lanes, registers, LDS bytes and lines."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.devices import SimDevice
from mfmasim.errors import MfmasimError
from mfmasim.machine.launch.limits import dimensions
from mfmasim.observe.fragments.factors import factors_of
from mfmasim.observe.fragments.sparse import GROUP
from mfmasim.observe.fragments.trace import fragment_of
from mfmasim.observe.fragments.wrong import operand_of, register_name
from mfmasim.verify.data import draw
from mfmasim.verify.elements.moves import Moves
from mfmasim.verify.elements.trace import follow
from mfmasim.verify.roles import bytes_of
from mfmasim.verify.runner import set_parameters

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.kernels import Kernel
    from mfmasim.observe.fragments.factors import Factor
    from mfmasim.observe.fragments.tiles import Tile
    from mfmasim.verify.cases import Case
    from mfmasim.verify.elements.trace import Followed
    from mfmasim.verify.launch import CaseLaunch

ELEMENT = re.compile(r"\s*([A-Za-z_]\w*)\s*\[\s*(\d+)\s*,\s*(\d+)\s*\]\s*")


@dataclass(frozen=True)
class Factored:
    """One factor of a product."""

    operand: str
    holds: str
    """The content of the register: an element such as ``A[5, 0]``, or another content in words."""
    needs: str
    lane: int
    register: str
    way: tuple[str, ...] = ()
    """Instructions on its way, the last first; only on request."""

    @property
    def wrong(self) -> bool:
        """Whether the register holds another element than the product needs."""
        return bool(self.needs) and self.holds != self.needs


@dataclass(frozen=True)
class Product:
    """One product of the sum."""

    k: int
    """-1 where both factors are padding."""
    instruction: str
    source: str
    """``file:line``."""
    pc: int
    factors: tuple[Factored, Factored]


@dataclass(frozen=True)
class Why:
    """The origin of an element of C."""

    element: str
    kernel: str
    arch: str
    says: str
    """A sentence: the last result that it is, or its other content."""
    begins: str = ""
    """The initial content of the accumulator."""
    products: tuple[Product, ...] = ()
    missing: tuple[int, ...] = ()
    """K without a product."""
    twice: tuple[int, ...] = ()
    """K of several products."""
    lines: tuple[str, ...] = field(default=())
    """Source lines of its matrix instructions, in order."""

    @property
    def wrong(self) -> tuple[Product, ...]:
        """Products with a wrong factor."""
        return tuple(product for product in self.products if any(factor.wrong for factor in product.factors))

    @property
    def ok(self) -> bool:
        """Whether the element is its own sum."""
        return bool(self.products) and not (self.wrong or self.missing or self.twice)

    def record(self) -> dict[str, Any]:
        """As a dictionary that JSON can hold."""
        return {**asdict(self), "wrong": [product.k for product in self.wrong], "ok": self.ok}


def why(case: Case, arch: str, element: str, *, ways: int = 1, compiler: str | None = None) -> Why:
    """Follow an element of C back to the elements of A and B in its sum.

    Args:
        case: a case of matrices.
        arch: one of its architectures.
        element: such as ``C[17, 3]``.
        ways: number of products whose factors are followed through the LDS to their loads; wrong products come first.
        compiler: compile with this one and ignore prebuilt code objects.

    Returns:
        The products of the sum, in the order in which they are added.

    Raises:
        MfmasimError: the element or the case cannot be followed; the message has the reason.
    """
    case = set_parameters(case, arch=arch)
    case.check_contract()
    kernel = case.compiled(arch, compiler)
    case = set_parameters(case, wave=kernel.wave)
    launch = case.make(case.mapping)
    row, col = _place(element, launch, case.title)
    name = f"C[{row}, {col}]"
    followed = follow(SimDevice(), kernel, launch)
    check = followed.check()
    check.run()
    if followed.outputs is None or not check.tiles:
        text = "; ".join(finding.message for finding in check.report.findings) or "no matrix instruction was executed"
        raise MfmasimError(f"{case.title} on {arch}: {name} cannot be followed: {text}")
    label = followed.outputs[row, col]
    if not bool(followed.tracer.is_result(np.array([label]))[0]):
        return Why(name, kernel.name, arch, f"{name} holds {_held(followed, int(label), (row, col))}")
    wave, order, slot = (int(x[0]) for x in followed.tracer.result_of(np.array([label])))
    tile = next(t for t in check.tiles if (t.wave, t.order) == (wave, order) and t.block == slot // t.labels["C"].size)
    cell = divmod(slot % tile.labels["C"].size, tile.labels["C"].shape[1])
    positions = None
    if "index" in launch.tensors:  # the index, which selects elements of B, has the data of the case's first class
        data = (*case.data[:1], "integers")[0]
        positions = draw(launch.tensors["index"], data, case.title, kernel.arch)
    return _explained(name, (row, col), tile, cell, followed, launch, kernel, ways, positions)


def _place(element: str, launch: CaseLaunch, title: str) -> tuple[int, int]:
    """Row and column of an element of C.

    Raises:
        MfmasimError: it is none.
    """
    output = launch.output
    if output is None:
        raise MfmasimError(
            f"{title} has no matrix C: why follows cases of matrices (A, B, C); why_array answers for plain arrays"
        )
    found = ELEMENT.fullmatch(element)
    if found is None or found[1].upper() != "C":
        raise MfmasimError(f"{element!r} is no element of the output: C[row, column] is expected, such as 'C[17,3]'")
    row, col = int(found[2]), int(found[3])
    if row >= output.shape[0] or col >= output.shape[1]:
        raise MfmasimError(f"{element!r} is outside C, which has {output.shape[0]} rows and {output.shape[1]} columns")
    return row, col


def _held(followed: Followed, label: int, own: tuple[int, int]) -> str:
    """The content of an element that is no result of a matrix instruction, in words."""
    place = followed.tracer.element_of_c(np.array([label]))[0]
    if tuple(int(x) for x in place) == own:
        return "what it held before the launch: nothing was stored there"
    if place[0] >= 0:
        return f"what C[{place[0]}, {place[1]}] held before the launch"
    if label == 0:
        return "the constant 0"
    return "a value that is computed from results (summed, scaled or otherwise), which labels do not follow"


def _explained(
    name: str,
    own: tuple[int, int],
    tile: Tile,
    cell: tuple[int, int],
    followed: Followed,
    launch: CaseLaunch,
    kernel: Kernel,
    ways: int,
    positions: NDArray[Any] | None,
) -> Why:
    chain = [tile]
    while chain[-1].previous is not None:
        chain.append(chain[-1].previous)
    chain.reverse()
    depth = followed.arguments.shape("A")[1] if "A" in followed.arguments else 0
    products: list[Product] = []
    spots: list[tuple[Tile, tuple[int, int]]] = []
    wanted = np.ones(depth, bool)
    if positions is not None:
        wanted = np.zeros(2 * depth, bool)
        wanted[np.arange(depth) // 2 * GROUP + positions[own[0]]] = True
    for one in chain:
        event = one.executed.event
        factors = factors_of(one, followed.arguments)
        line = kernel.source_at(event.instruction.pc)
        for slots in _pairs(one, cell, followed, positions):
            k = int(one.ks[slots[1]])
            needed = (own[0], k), (k, own[1])
            if positions is not None and k >= 0:
                kept = int(one.ks[2 * slots[0]]) // 2
                needed = (own[0], kept), (kept // 2 * GROUP + int(positions[own[0], kept]), own[1])
            made = tuple(
                _factored(one, factor, cell, slot, needed if k >= 0 else None, followed)
                for factor, slot in zip(factors, slots, strict=True)
            )
            products.append(Product(k, event.instruction.name, line, event.instruction.pc, made))  # type: ignore[arg-type]
            spots.append((one, slots))
    counts = np.bincount([p.k for p in products if p.k >= 0], minlength=len(wanted))
    order = sorted(range(len(products)), key=lambda n: not any(f.wrong for f in products[n].factors))
    chosen = [n for n in order if products[n].k >= 0 or any(f.wrong for f in products[n].factors)][: max(ways, 0)]
    if chosen:
        _with_ways(products, spots, chosen, cell, launch, kernel)
    event = tile.executed.event
    place = fragment_of(event, "D").locate(*cell, tile.block)[0]
    register = register_name(event.instruction.dst[0], place.vgpr, place.bit, fragment_of(event, "D").width)
    at = event.place(tile.index, None)
    line = kernel.line_at(event.instruction.pc)
    says = (
        f"{name} is D[{cell[0]}, {cell[1]}] of {event.instruction.name} ({line}), workgroup {at.workgroup} "
        f"wave {at.wave} lane {place.lane} {register}, "
        f"a sum over {len(chain)} matrix instruction{'s' * (len(chain) > 1)}"
    )
    first = chain[0]
    begins = "0"
    if first.initial is not None:
        begins = f"C[{', '.join(str(int(x)) for x in first.initial[cell])}]"
    elif int(first.labels["C"][cell]) != 0:
        begins = "not an element of C, nor 0"
    lines = tuple(dict.fromkeys(kernel.source_at(t.executed.event.instruction.pc) for t in chain))
    return Why(
        name,
        kernel.name,
        kernel.arch.name,
        says,
        begins,
        tuple(products),
        tuple(int(k) for k in np.flatnonzero(wanted & (counts[: len(wanted)] == 0))),
        tuple(int(k) for k in np.flatnonzero(counts > 1)),
        lines,
    )


def _pairs(
    tile: Tile, cell: tuple[int, int], followed: Followed, positions: NDArray[Any] | None
) -> list[tuple[int, int]]:
    """Places along K of operands A and B that one execution multiplies for a result.

    Args:
        tile: the execution.
        cell: row and column of the result in D.
        followed: labels.
        positions: contents of the index, (rows, kept elements), if A is sparse.

    Raises:
        MfmasimError: a position comes from elsewhere than the index.
    """
    if positions is None:
        return [(k, k) for k in range(len(tile.ks))]
    labels = tile.labels["index"][cell[0]]
    pairs = []
    for kept, (row, place) in enumerate(followed.arguments.coordinates(labels, "index").tolist()):
        if row < 0 and tile.ks[2 * kept] >= 0:
            held = followed.arguments.describe(int(labels[kept]))
            raise MfmasimError(
                f"the position of kept element {kept} of an instruction is {held}, no element of the index"
            )
        pairs.append((kept, kept // 2 * GROUP + (int(positions[row, place]) if row >= 0 else 0)))
    return pairs


def _factored(
    tile: Tile,
    factor: Factor,
    cell: tuple[int, int],
    slot_k: int,
    elements: tuple[tuple[int, int], tuple[int, int]] | None,
    followed: Followed,
) -> Factored:
    """One factor of a product.

    Args:
        tile: the execution.
        factor: A or B of the instruction.
        cell: row and column of the result in D.
        slot_k: place along K of the operand.
        elements: those of A and B that the product needs; None for padding.
        followed: labels.
    """
    line = cell[0] if factor.operand == "A" else cell[1]
    fragment = fragment_of(tile.executed.event, factor.operand)
    place = fragment.locate(*((line, slot_k) if factor.operand == "A" else (slot_k, line)), tile.block)[0]
    holds = followed.arguments.describe(int(factor.labels[line, slot_k * (2 if factor.sparse else 1)]))
    needs = ""
    if elements is not None and not followed.arguments.converted(factor.role):
        needs = followed.arguments.element(factor.role, elements[factor.role == "B"])
    register = register_name(operand_of(tile.executed.event, factor.operand), place.vgpr, place.bit, fragment.width)
    return Factored(factor.operand, holds, needs, place.lane, register)


def _with_ways(
    products: list[Product],
    spots: list[tuple[Tile, tuple[int, int]]],
    chosen: list[int],
    cell: tuple[int, int],
    launch: CaseLaunch,
    kernel: Kernel,
) -> None:
    """Run the kernel once more, and follow the factors of some products to their loads."""
    per = -(-int(np.prod(dimensions(launch.block, "block"))) // kernel.wave)
    tile = spots[chosen[0]][0]
    at = tile.executed.event.place(tile.index, None)
    first = tile.wave // per * per
    moves = Moves(at.workgroup, first, per)
    memory = {
        name: tensor.placed(bytes_of(tensor, draw(tensor, "integers", "why", kernel.arch), kernel.arch))
        for name, tensor in launch.tensors.items()
    }
    launch.run(SimDevice(), kernel, memory, {"observers": [moves], "checks": "none"})
    for number in chosen:
        tile, slots = spots[number]
        product = products[number]
        wave = tile.wave - first
        position = moves.matrix(wave, tile.order)
        done = []
        for factor, slot_k in zip(product.factors, slots, strict=True):
            operand = operand_of(tile.executed.event, factor.operand)
            line = cell[0] if factor.operand == "A" else cell[1]
            slot = (line, slot_k) if factor.operand == "A" else (slot_k, line)
            place = fragment_of(tile.executed.event, factor.operand).locate(*slot, tile.block)[0]
            steps = moves.way(wave, position, (operand.kind, operand.index + place.vgpr), place.lane, place.bit // 8)
            texts = tuple(
                f"{step.instruction.text} ({kernel.line_at(step.instruction.pc)}), "
                f"wave {step.wave} lane {step.lane}" + (f", {step.where}" if step.where else "")
                for step in steps
            )
            done.append(Factored(factor.operand, factor.holds, factor.needs, factor.lane, factor.register, texts))
        products[number] = Product(product.k, product.instruction, product.source, product.pc, (done[0], done[1]))
