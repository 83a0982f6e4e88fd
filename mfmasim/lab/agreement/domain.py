"""Variations of a case within its contract: shapes, strides, places in memory, factors.

Nothing is declared twice. A parameter in ``needs=`` is a size with the values that the contract admits; the use of a
parameter in the arguments shows whether it is a stride, an offset or a factor. ``draws=`` of a case names
values of any other parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import lcm, prod
from typing import Any

from mfmasim.architectures import arch as find_arch
from mfmasim.errors import MfmasimError
from mfmasim.verify.cases import Case
from mfmasim.verify.contract import Parameters, admitted, check_memory, first_admitted, names_in
from mfmasim.verify.data import LARGEST
from mfmasim.verify.expression import Times
from mfmasim.verify.launch import CaseLaunch
from mfmasim.verify.roles import Tensor, format_of
from mfmasim.verify.runner import set_parameters
from mfmasim.verify.sums import sums_of

FACTORS = (1.0, 0.0, -1.0, 0.5, 1.25, -2.5, 3.0)
"""Values of a factor of the expected expression; each is exact in f32, with few significant bits."""
PADS = (0, 1, 3)
"""Padding behind a line, in units of the alignment."""
PLACES = (0, 1, 3, 16)
"""Offset of a matrix, in units of the alignment."""
F32, NARROW = 24, 4.0
"""Bits of f32's significand; the largest magnitude of elements where sums are kept in fewer, such as f16."""
PROBE = 1 << 14
"""A stride that no case uses."""
MOST = 4096
"""Values of a size that are tried."""


def _stride(launch: CaseLaunch, value: float) -> list[Tensor]:
    return [tensor for tensor in launch.tensors.values() if tensor.ld == value]


def _offset(launch: CaseLaunch, value: float) -> list[Tensor]:
    return [tensor for tensor in launch.tensors.values() if tensor.offset == value]


def _factor(launch: CaseLaunch, value: float) -> list[Times]:
    parts = () if launch.expression is None else launch.expression.parts()
    return [part for part in parts if isinstance(part, Times) and part.factor == value]


KINDS: tuple[tuple[str, type, float, Callable[[CaseLaunch, float], list[Any]]], ...] = (
    ("stride", int, PROBE, _stride),
    ("offset", int, 64, _offset),
    ("factor", float, 0.8125, _factor),
)
"""Kinds of parameters by the effect of a probing value: kind, type, value, and a test of the launch."""


@dataclass
class Domain:
    """Variations of a case on an architecture."""

    case: Case
    arch: str
    growth: float = 1.0
    """Elements of a drawn shape at most, as a multiple of those of the declared shape."""
    kinds: dict[str, str] = field(default_factory=dict)
    """Parameters that vary, by name, and the kind of each, in the order in which they have to be chosen."""
    largest: float = field(init=False, default=LARGEST)
    """The largest magnitude of a finite element of A and B: larger ones overflow in one order of summation."""

    def __post_init__(self) -> None:
        """Determine the kind of each parameter."""
        case, target = self.case, find_arch(self.arch).name
        kernel = case.compiled(target)
        self.case = set_parameters(case, arch=target, wave=kernel.wave)
        self.largest = LARGEST if sums_of(kernel).bits >= F32 else NARROW
        own, sizes, others = self.case.parameters, {}, {}
        spoken = names_in(self.case.needs)
        for name, value in own.items():
            if name in self.case.draws:
                sizes[name] = "declared"
            elif kind := self._recognised(name, value):
                others[name] = kind
            elif name in spoken and isinstance(value, int) and not isinstance(value, bool):
                sizes[name] = "size"
        self.kinds = sizes | others

    def _recognised(self, name: str, value: object) -> str:
        for kind, kept, probe, holders in KINDS:
            if type(value) is not kept or (kept is int and value):
                continue
            try:
                if holders(self.case.make({name: probe}), probe):
                    return kind
            except MfmasimError:
                continue
        return ""

    def values(self, name: str, chosen: Parameters) -> list[Any]:
        """Values of a parameter, the simplest first, after the choice of the parameters before it in `kinds`.

        The declared value is among them where the earlier choices allow it.
        """
        kind, own = self.kinds[name], self.case.parameters
        later = list(self.kinds)[list(self.kinds).index(name) + 1 :]
        settled = {n: v for n, v in {**own, **chosen}.items() if n not in later}
        tried: list[Any]
        if kind == "size":
            return self._sizes(name, chosen, settled)
        if kind == "declared":
            tried = list(self.case.draws[name])
        elif kind == "factor":
            tried = list(FACTORS)
        else:
            tried = [0, *self._placed(name, kind, {**own, **chosen})]
        return admitted(self.case.needs, settled, name, tried) or [own[name]]

    def _sizes(self, name: str, chosen: Parameters, settled: Parameters) -> list[int]:
        own = self.case.parameters
        scope = self.growth / prod(max(chosen[n], 1) / max(own[n], 1) for n in chosen if self.kinds[n] == "size")
        # Smallest value of each size after this one.
        later = [n for n, kind in self.kinds.items() if kind == "size" and n not in chosen and n != name]
        for other in later:
            least = self._all(other, {k: v for k, v in own.items() if k not in later})[0]
            scope /= min(1, max(least, 1) / max(own[other], 1))
        fits = [v for v in self._all(name, settled) if v <= max(scope * own[name], 1)]
        return fits or [own[name]]

    def _all(self, name: str, settled: Parameters) -> list[int]:
        own = self.case.parameters[name]
        reach = int(2 * own * max(self.growth, 1))
        tried = range(min(own, 1), min(max(reach, 16), MOST) + 1)  # no matrix is empty unless its case says so
        return admitted(self.case.needs, settled, name, tried) or [own]

    @property
    def sizes(self) -> list[str]:
        """Parameters whose values the contract decides."""
        return [name for name, kind in self.kinds.items() if kind == "size"]

    def near(self, wanted: Mapping[str, int], *, down: bool = False, least: bool = False) -> dict[str, int] | None:
        """Admitted sizes that are nearest to the wanted sizes.

        Args:
            wanted: sizes by name; each becomes the first admitted number from its value on, and the other sizes stay
                unchanged if possible.
            down: search downwards.
            least: make the other sizes as small as possible.

        Returns:
            Sizes that differ from the case's own; None if the contract admits none.
        """
        own = self.case.parameters
        names = [*wanted, *(name for name in self.sizes if name not in wanted)]
        settled = {name: value for name, value in own.items() if name not in names}
        for name in names:
            if name in wanted:
                value = wanted[name]
                tried = [*(range(value, max(value - MOST, 0), -1) if down else range(value, value + MOST))]
            else:
                # A size that depends on another size grows with it.
                scale = max((wanted[one] / max(own[one], 1) for one in wanted), default=1.0)
                around = [own[name], *range(max(int(own[name] * scale), 1), max(int(own[name] * scale), 1) + MOST)]
                low = range(min(own[name], 1), own[name])
                tried = [*low, *around] if least else [*around, *low]
            fits = first_admitted(self.case.needs, settled, name, tried)
            if fits is None:
                return None
            settled[name] = fits
        return {name: settled[name] for name in names if settled[name] != own[name]}

    def _placed(self, name: str, kind: str, parameters: Parameters) -> list[int]:
        """Strides or offsets that keep the alignment that the matrices require."""
        probe, holders = next((probe, holders) for row, _, probe, holders in KINDS if row == kind)
        try:
            held = holders(self.case.make({**parameters, name: probe}), probe)
        except MfmasimError:
            return []
        arch = find_arch(self.arch)
        if kind == "offset":
            return [lcm(*(tensor.align for tensor in held)) * step for step in PLACES[1:]]
        steps = [
            lcm(8 * t.align, t.bytes * format_of(t, arch).bits) // (t.bytes * format_of(t, arch).bits) for t in held
        ]
        step = lcm(*steps)
        line = max(tensor.line for tensor in held)
        return [(-(-line // step) + pad) * step for pad in PADS]

    def admits(self, chosen: Parameters) -> bool:
        """Whether the case can be built with these parameters, its contract holds, and its source has that kernel."""
        case = self.case.with_parameters(chosen)
        try:
            case.check_contract()
            check_memory(list(case.make().tensors.values()), find_arch(self.arch), case.name)
            case.compiled(self.arch)
        except MfmasimError:
            return False
        return True
