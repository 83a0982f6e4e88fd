"""Comparing two runs of one case: outputs bit by bit, findings, conflicts, counters, registers and cost."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.architectures import arch as find_arch
from mfmasim.cost.cases import record_case
from mfmasim.cost.costed import Costed, product_of
from mfmasim.devices import SimDevice
from mfmasim.errors import MfmasimError
from mfmasim.lab.agreement.judging import Differences, pieces
from mfmasim.lab.agreement.trial import Keeper
from mfmasim.lab.agreement.writers import Writers
from mfmasim.lab.comparing.rules import rules
from mfmasim.verify.arguments import leaves
from mfmasim.verify.data import draw
from mfmasim.verify.roles import Tensor, format_of
from mfmasim.verify.runner import set_parameters, verify_case

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from mfmasim.architectures import Arch
    from mfmasim.kernels import Kernel
    from mfmasim.lab.comparing.sides import Side
    from mfmasim.verify.cases import Case
    from mfmasim.verify.result import Result

PARTS = ("outputs", "findings", "conflicts", "registers", "counters", "cost")
"""Compared parts, in this order."""
ALIKE = "both have the same matrix instructions with the same rules: the difference is made before or behind them"
KEPT = 3
"""Most differing elements that are kept."""


@dataclass(frozen=True)
class Row:
    """One quantity, on both sides."""

    part: str
    """One of `PARTS`."""
    name: str
    first: Any
    second: Any

    @property
    def same(self) -> bool:
        """Whether there is no difference."""
        return bool(self.first == self.second)


@dataclass
class Comparison:
    """Two runs of one case."""

    case: str
    sides: tuple[str, str]
    """Texts of the sides, with their architectures."""
    rows: list[Row]
    outputs: Differences
    explained: list[str] = field(default_factory=list)
    """Origin of the first element that differs, and differences of the two kernels' rules."""
    notes: list[str] = field(default_factory=list)

    def differing(self, part: str) -> bool:
        """Whether a part differs."""
        return any(not row.same for row in self.rows if row.part == part)

    def refused(self, allowed: frozenset[str]) -> list[str]:
        """Parts that differ without being allowed to."""
        return [part for part in PARTS if part not in allowed and self.differing(part)]

    def record(self) -> dict[str, Any]:
        """As a dictionary that JSON can hold."""
        return {
            "case": self.case,
            "sides": list(self.sides),
            "outputs": {
                "elements": self.outputs.elements,
                "mismatches": self.outputs.mismatches,
                "max_ulp": self.outputs.max_ulp,
                "first": [
                    {"launch": d.launch, "element": d.element, "values": [d.simulator, d.device], "ulp": d.ulp}
                    for d in self.outputs.first
                ],
            },
            "explained": self.explained,
            "notes": self.notes,
            "rows": [
                {"part": row.part, "name": row.name, "values": [row.first, row.second], "same": row.same}
                for row in self.rows
            ],
        }


@dataclass
class _Ran:
    case: Case
    kernel: Kernel
    result: Result
    device: Keeper
    writers: Writers
    cost: dict[str, Any]


def _run(case: Case, side: Side, arch: str, formats: str, group: str) -> _Ran:
    """One side; its matrices hold numbers that are drawn in the formats of an architecture."""
    target = find_arch(arch)
    # Golden data have other inputs on each architecture.
    own = replace(side.case(set_parameters(case, arch=target.name)), golden="", fails=())
    kernel = side.kernel(own, arch)
    device, writers = Keeper(SimDevice(), own.checks), Writers()
    inputs = _inputs(set_parameters(own, wave=kernel.wave), target, find_arch(formats))
    result = verify_case(own, arch, group=group, kernel=kernel)
    verify_case(own, arch, group=group, device=device, kernel=kernel, observers=[writers], inputs=inputs)
    if not device.reports:
        raise MfmasimError(
            f"{side.text}: {own.title} was not launched: {'; '.join(f.message for f in result.findings)}"
        )
    return _Ran(set_parameters(own, wave=kernel.wave), kernel, result, device, writers, _cost(own, arch, kernel))


def _inputs(case: Case, arch: Arch, formats: Arch) -> dict[str, NDArray[Any]]:
    """Codes of the matrices; those of a format that differs between the architectures hold the nearest numbers."""
    data = "normal" if "normal" in case.data else case.data[-1]
    found = {}
    for place, tensor in leaves(case.make().args):
        if isinstance(tensor, Tensor):
            codes = draw(tensor, data, case.title, formats)
            here, there = format_of(tensor, arch), format_of(tensor, formats)
            found[place] = codes if here is there else here.encode(there.decode(codes)).astype(codes.dtype)
    return found


def _cost(case: Case, arch: str, kernel: Kernel) -> dict[str, Any]:
    """Cycles of each pipe, and the estimate of the launch."""
    try:
        costed = Costed(record_case(case, arch, kernel=kernel), product_of(find_arch(arch), None), case.title)
    except MfmasimError:  # no rates for this architecture, or an instruction without one
        return {}
    time = costed.estimated.milliseconds
    cycles = {f"{pipe} cycles": round(cost, 2) for pipe, cost in costed.bound.cycles.items() if cost}
    return {
        **cycles,
        "bounded by": costed.bound.pipe,
        "launch, us": f"{time['low'] * 1e3:.3g} to {time['high'] * 1e3:.3g}",
    }


def compare(case: Case, sides: tuple[Side, Side], archs: tuple[str, str], group: str = "") -> Comparison:
    """Run a case on both sides and compare.

    Args:
        case: the case.
        sides: the two sides.
        archs: the architecture of each.
        group: its family or file.

    Raises:
        MfmasimError: a side cannot be compiled or executed.
    """
    first, second = (_run(case, side, arch, archs[0], group) for side, arch in zip(sides, archs, strict=True))
    outputs = Differences()
    left = first.device.after, second.device.after
    memory = {place: (left[0][place], left[1][place]) for place in left[0] if place in left[1]}
    for piece in pieces(first.case.make(), first.kernel.arch, memory):
        outputs.add(0, piece, KEPT)
    texts = [
        side.text if arch in side.text else f"{side.text} ({arch})" for side, arch in zip(sides, archs, strict=True)
    ]
    found = Comparison(first.case.title, (texts[0], texts[1]), [*_rows(first, second, outputs)], outputs)
    if not all(
        name in second.device.before and np.array_equal(array, second.device.before[name])
        for name, array in first.device.before.items()
    ):
        found.notes.append("the two launches do not have the same bytes as inputs: formats or parameters differ")
    if outputs.mismatches:
        found.explained = [*_stores(outputs, first, second), *(rules(first.kernel, second.kernel) or (ALIKE,))]
    return found


def _stores(outputs: Differences, first: _Ran, second: _Ran) -> Iterator[str]:
    """The instructions that stored the first element that differs."""
    row = outputs.first[0]
    texts = []
    for ran in (first, second):
        stored = ran.writers.of(row.launch, row.argument, row.byte)
        line = "" if stored is None else ran.kernel.line_at(stored.pc)
        texts.append("never stored" if stored is None else f"stored by {stored.name} ({line})")
    yield f"{row.element}: {row.simulator} {texts[0]}, {row.device} {texts[1]}"


def _rows(first: _Ran, second: _Ran, outputs: Differences) -> Iterator[Row]:
    yield Row("outputs", f"elements that differ, of {outputs.elements:,}", 0, outputs.mismatches)
    yield Row("outputs", "status", first.result.status, second.result.status)
    tables = [
        Counter((f.severity, f.id) for f in ran.result.findings if f.id != "conflicts-lds") for ran in (first, second)
    ]
    for severity, name in sorted({*tables[0], *tables[1]}):
        yield Row("findings", f"{severity} {name}", *(table[severity, name] for table in tables))
    for key in ("bytes", "extra_passes", "degree"):
        yield from _both("conflicts", {key: first.result.lds.get(key)}, {key: second.result.lds.get(key)})
    reports = [ran.device.reports[-1] for ran in (first, second)]
    yield from _both("registers", *(report.registers for report in reports))
    yield from _both("registers", *({"wave": ran.kernel.wave, **_scratch(ran.kernel)} for ran in (first, second)))
    yield from _both("counters", *(report.counters for report in reports))
    yield from _both("cost", first.cost, second.cost)


def _scratch(kernel: Kernel) -> dict[str, Any]:
    """Bytes of scratch of a work-item, and registers that are spilled there."""
    metadata = kernel.info.metadata
    spilled = None if metadata is None else metadata.vgpr_spill_count
    return {"scratch bytes": kernel.info.descriptor.private_segment_fixed_size, "spilled VGPRs": spilled}


def _both(part: str, one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[Row]:
    for name in dict.fromkeys((*one, *other)):
        if one.get(name) or other.get(name):
            yield Row(part, name, one.get(name), other.get(name))
