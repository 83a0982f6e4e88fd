"""Why an element of a plain array has its value: the store, and the elements of inputs on which the value depends.

Vector code may compute anything, so that labels do not survive. Instead inputs are changed, many elements at once and
then fewer; an element on which the output depends changes it. The result holds for the drawn inputs.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.devices import SimDevice
from mfmasim.errors import MfmasimError, unknown
from mfmasim.machine.events import Observer
from mfmasim.machine.launch.limits import dimensions
from mfmasim.observe.flights import registers
from mfmasim.verify.arguments import called
from mfmasim.verify.elements.moves import DATA, Moves
from mfmasim.verify.plain import compared_outputs, drawn_arrays
from mfmasim.verify.runner import set_parameters

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from mfmasim.isa import Instruction
    from mfmasim.kernels import Kernel
    from mfmasim.machine.events import AccessEvent, Place
    from mfmasim.machine.launch.launch import Launch
    from mfmasim.verify.arrays import Array
    from mfmasim.verify.cases import Case
    from mfmasim.verify.launch import CaseLaunch

ELEMENT = re.compile(r"\s*([A-Za-z_]\w*)\s*\[\s*(\d+(?:\s*,\s*\d+)*)\s*\]\s*")
MOST = 1024
"""Elements that are tried one by one."""
PARTS = 8
"""Number of parts into which a part that changes the output is divided."""
TOGETHER = 64
"""Most launches at once."""
BYTES = 1 << 28
"""Bytes of the arrays of launches at once."""


@dataclass(frozen=True)
class WhyArray:
    """The origin of an element of an array."""

    element: str
    kernel: str
    arch: str
    holds: str
    needs: str
    ok: bool
    """Whether the value is right by the case."""
    stored: str
    """The last store to it; empty if nothing stored it."""
    stores: int
    way: tuple[str, ...]
    """Instructions that brought the value to the store, the last first, up to one that computes."""
    depends: dict[str, tuple[str, ...]]
    """For every input, the elements that change this one, as ranges."""
    zeroed: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Likewise, the further elements that change this one where 1 stands for every 0 of the inputs: they are read, and
    their factors are 0 in the inputs that were drawn."""

    def record(self) -> dict[str, Any]:
        """As a dictionary that JSON can hold."""
        return asdict(self)

    def lines(self) -> Iterator[str]:
        """In words."""
        needs = "as it should be" if self.ok else f"needs {self.needs}"
        yield f"{self.kernel} on {self.arch}: {self.element} holds {self.holds}, {needs}"
        if not self.stored:
            yield "  no instruction stored it"
            return
        more = f", the last of {self.stores} stores to it" if self.stores > 1 else ""
        yield f"  stored by {self.stored}{more}"
        yield from (f"      <- {step}" for step in self.way)
        for name, ranges in self.depends.items():
            yield f"  depends on {name}: {', '.join(ranges) or 'no element'}"
        for name, ranges in self.zeroed.items():
            yield f"  reads {name}: {', '.join(ranges)}, with a factor of 0 in these inputs"


def why_array(case: Case, arch: str, element: str, *, compiler: str | None = None) -> WhyArray:
    """Find the instruction that stored an element of an output, and the elements of inputs on which it depends.

    Args:
        case: a case of plain arrays.
        arch: one of its architectures.
        element: such as ``out[3, 17]``: the kernel's name of the array.
        compiler: compile with this one and ignore prebuilt code objects.

    Raises:
        MfmasimError: there is no such element, or the launch ends early.
    """
    case = set_parameters(case, arch=arch)
    case.check_contract()
    kernel = case.compiled(arch, compiler)
    case = set_parameters(case, wave=kernel.wave)
    launch = case.make()
    array, place = _found(element, launch, kernel)
    runs = _Runs(kernel, launch, drawn_arrays(case, launch))
    watch = _Stores(array, place)
    memory = runs.alone({}, [watch])
    one = next(o for o in compared_outputs(case, launch, kernel, runs.before, memory) if o.array is array)
    holds, needs = (_value(array, values[place]) for values in (one.actual, one.expected))
    name = f"{one.name}[{', '.join(map(str, place))}]"
    ok = not bool(one.comparison.wrong[place])
    if watch.last is None:
        return WhyArray(name, kernel.name, kernel.arch.name, holds, needs, ok, "", 0, (), {})
    hit = watch.last
    at = hit.place
    line = kernel.line_at(hit.instruction.pc)
    stored = f"{hit.instruction.text} ({line}), workgroup {at.workgroup} wave {at.wave} lane {hit.lane}"
    inputs = {key: called(kernel, key, len(launch.args)) for key, given in launch.arrays.items() if given.reads}
    depends = {text: runs.depends(key, array.name, place) for key, text in inputs.items()}
    zeroed: dict[str, tuple[str, ...]] = {}
    if without := _without_zeros(launch, runs.before):
        others = _Runs(kernel, launch, runs.before | without)
        for key, text in inputs.items():
            if more := others.further(runs, key, array.name, place):
                zeroed[text] = more
    way = tuple(_way(runs, hit))
    return WhyArray(name, kernel.name, kernel.arch.name, holds, needs, ok, stored, watch.count, way, depends, zeroed)


def _without_zeros(launch: CaseLaunch, before: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The inputs of drawn numbers that have zeros, with 1 in their places; what a case gives may be indices."""
    out = {}
    for key, array in launch.arrays.items():
        fmt = array.number_format
        if not array.reads or fmt is None or not (array.drawn or isinstance(array.data, str)):
            continue
        codes = before[key].view(f"u{array.dtype.itemsize}")
        zeros = fmt.decode(codes.astype(fmt.carrier)) == 0
        if zeros.any() and not zeros.all():  # an input of zeros only is an unused buffer
            one = np.asarray(fmt.encode(np.array([1.0])))[0]
            out[key] = np.where(zeros, one.astype(codes.dtype), codes).view(array.dtype)
    return out


def _found(element: str, launch: CaseLaunch, kernel: Kernel) -> tuple[Array, tuple[int, ...]]:
    """The output and the place of an element.

    Raises:
        MfmasimError: it is none.
    """
    outputs = {called(kernel, key, len(launch.args)): array for key, array in launch.arrays.items() if array.writes}
    found = ELEMENT.fullmatch(element)
    example = f"such as '{next(iter(outputs))}[{', '.join('0' * len(next(iter(outputs.values())).shape))}]'"
    if found is None:
        raise MfmasimError(f"{element!r} is no element of an output: NAME[index, ...] is expected, {example}")
    if found[1] not in outputs:
        raise unknown("output", found[1], outputs, f"of the kernel, {example}")
    array = outputs[found[1]]
    place = tuple(int(index) for index in found[2].split(","))
    if len(place) != len(array.shape) or any(i >= n for i, n in zip(place, array.shape, strict=True)):
        raise MfmasimError(f"{element!r} is outside {found[1]}, whose shape is {array.shape}")
    return array, place


def _value(array: Array, value: object) -> str:
    """An element's bits, and the number."""
    fmt = array.number_format
    bits = np.asarray(value).view(f"u{array.dtype.itemsize}").item()
    number = str(value) if fmt is None else f"{float(fmt.decode(np.array([bits], np.uint64))[0]):.9g}"
    return (
        number if array.dtype.kind in "iu" and fmt is None else f"{number} ({bits:#0{2 + 2 * array.dtype.itemsize}x})"
    )


@dataclass(frozen=True)
class _Hit:
    """A store to the element."""

    instruction: Instruction
    number: int
    """Number of its wave in the launch."""
    place: Place
    lane: int
    offset: int
    """First byte of the element in the lane's data."""


class _Stores(Observer):
    """Finds the stores to one element."""

    name = "stores"

    def __init__(self, array: Array, place: tuple[int, ...]) -> None:
        self._array, self._place = array, place
        self.memory: Mapping[str, NDArray[Any]] = {}
        self.last: _Hit | None = None
        self.count = 0
        self._first = -1

    def on_start(self, launch: Launch) -> None:
        """Find where the element lies."""
        own = self.memory[self._array.name]
        region = next(region for region, held in launch.buffers if np.shares_memory(held, own))
        number = int(np.ravel_multi_index(self._place, self._array.shape))
        self._first = region.address + number * self._array.dtype.itemsize

    def on_access(self, event: AccessEvent) -> None:
        """Keep the last store."""
        if event.space != "global" or event.kind == "read":
            return
        addresses = event.addresses.astype(np.int64)
        inside = (addresses < self._first + self._array.dtype.itemsize) & (addresses + event.size > self._first)
        if event.active is not None:
            inside = inside & event.active
        for row in range(len(event.numbers)) if inside.any() else ():
            for lane in np.flatnonzero(inside[min(row, len(inside) - 1)]).tolist():
                offset = max(self._first - int(addresses[min(row, len(addresses) - 1), lane]), 0)
                place = event.place(row, lane)
                self.last = _Hit(event.instruction, int(event.numbers[row]), place, lane, offset)
                self.count += 1


class _Runs:
    """Launches of a case on changed inputs."""

    def __init__(self, kernel: Kernel, launch: CaseLaunch, before: dict[str, NDArray[Any]]) -> None:
        self.kernel, self.launch, self.before = kernel, launch, before
        self._device, self._apart = SimDevice(), False
        self._base: dict[str, NDArray[Any]] = {}
        self._known: dict[tuple[str, str, tuple[int, ...]], tuple[list[int] | None, list[list[int]]]] = {}

    def alone(self, changed: Mapping[str, NDArray[Any]], observers: list[Observer]) -> dict[str, NDArray[Any]]:
        """One launch; returns the contents of the arrays.

        Raises:
            MfmasimError: it ends early.
        """
        memory = self._memory(changed)
        for observer in observers:
            if isinstance(observer, _Stores):
                observer.memory = memory
        report = self.launch.run(self._device, self.kernel, memory, {"observers": observers, "checks": "none"})
        if report.stopped:
            raise MfmasimError(f"{self.kernel.title}: the launch ended early: {report.stopped}")
        return memory

    def base(self, output: str, place: tuple[int, ...]) -> bytes:
        """Bytes of an element of an output when nothing is changed."""
        self._base = self._base or self.alone({}, [])
        return bytes(self._base[output][place].tobytes())

    def _memory(self, changed: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        arrays = self.launch.arrays
        return {name: arrays[name].placed({**self.before, **changed}[name].copy()) for name in arrays}

    def depends(self, given: str, output: str, place: tuple[int, ...]) -> tuple[str, ...]:
        """Elements of an input on which an element of an output depends, as ranges.

        First lines along each axis are changed, then the elements at the crossings of lines that matter, if they are
        few.

        Args:
            given: place of the input among the arguments.
            output: of the output.
            place: of the element.
        """
        shape = self.before[given].shape
        found, lines = self._elements(given, output, place)
        if not lines:
            return ()
        block = f"[{', '.join(_axis(line) for line in lines)}]"
        if found is None:
            return (f"some of {block}, {int(np.prod([len(line) for line in lines])):,} elements",)
        closed = all(line[-1] - line[0] + 1 == len(line) for line in lines)
        whole = len(shape) > 1 and closed and len(found) == int(np.prod([len(line) for line in lines]))
        return (block,) if whole and sum(size > 1 for size in shape) > 1 else _ranges(found, shape)

    def further(self, first: _Runs, given: str, output: str, place: tuple[int, ...]) -> tuple[str, ...]:
        """Elements of an input that matter here and not in other runs, as ranges; empty if they are too many."""
        here, _ = self._elements(given, output, place)
        there, _ = first._elements(given, output, place)
        if here is None or there is None:
            return ()
        return _ranges(sorted({*here} - {*there}), self.before[given].shape)

    def _elements(self, given: str, output: str, place: tuple[int, ...]) -> tuple[list[int] | None, list[list[int]]]:
        """Numbers of the elements that matter, None if they are too many; and the lines of each axis."""
        key = given, output, place
        if key not in self._known:
            self._known[key] = self._tried(given, output, place)
        return self._known[key]

    def _tried(self, given: str, output: str, place: tuple[int, ...]) -> tuple[list[int] | None, list[list[int]]]:
        shape = self.before[given].shape
        numbers = np.arange(self.before[given].size).reshape(shape)
        tried = _Trials(self, given, output, place)
        lines = []
        for axis, size in enumerate(shape):
            slices = [np.take(numbers, i, axis).reshape(-1) for i in range(size)]
            lines.append(tried.changing(slices))
            if not lines[-1]:
                return [], []
        crossings = numbers[np.ix_(*lines)].reshape(-1)
        if sum(size > 1 for size in shape) < 2:
            return crossings.tolist(), lines
        if len(crossings) > MOST:
            return None, lines
        return crossings[tried.changing([np.array([n]) for n in crossings])].tolist(), lines

    def outcomes(
        self, given: str, trials: list[tuple[NDArray[Any], NDArray[Any]]], output: str, place: tuple[int, ...]
    ) -> Iterator[bytes]:
        """The element's bytes after a launch for each trial, many launches at once where that is possible."""
        each = sum(array.nbytes for array in self.before.values())
        together = max(1, min(TOGETHER, BYTES // max(each, 1)))
        for start in range(0, len(trials), together):
            changed = []
            for part, variant in trials[start : start + together]:
                values = self.before[given].copy()
                values.reshape(-1)[part] = variant[part]
                changed.append({given: values})
            memories = [self._memory(one) for one in changed]
            if self._apart or not self.launch.run_together(self._device, self.kernel, memories, []):
                self._apart = True
                memories = [self.alone(one, []) for one in changed]
            for memory in memories:
                yield memory[output][place].tobytes()


@dataclass(frozen=True)
class _Trials:
    """Which parts of an input change an element of an output."""

    runs: _Runs
    given: str
    output: str
    place: tuple[int, ...]

    def changing(self, units: list[NDArray[Any]]) -> list[int]:
        """Numbers of the units, sets of elements, that change the output; many are tried at once, then fewer."""
        runs, output, place = self.runs, self.output, self.place
        variants = [v.reshape(-1) for v in _variants(runs.launch.arrays[self.given], runs.before[self.given])]
        found: list[int] = []
        parts = [list(range(len(units)))]
        while parts:
            trials = [(np.concatenate([units[n] for n in part]), variant) for part in parts for variant in variants]
            hits = [now != runs.base(output, place) for now in runs.outcomes(self.given, trials, output, place)]
            each = len(variants)
            alive = [part for n, part in enumerate(parts) if any(hits[each * n : each * (n + 1)])]
            found += [part[0] for part in alive if len(part) == 1]
            parts = [p.tolist() for a in alive if len(a) > 1 for p in np.array_split(a, min(PARTS, len(a)))]
        return sorted(found)


def _axis(found: list[int]) -> str:
    """Indices of an axis, from the first to the last."""
    return f"{found[0]}..{found[-1]}" if len(found) > 1 else str(found[0])


def _variants(array: Array, values: NDArray[Any]) -> list[NDArray[Any]]:
    """Other values for every element: larger ones and smaller ones, by irregular steps, so that they do not cancel."""
    fmt, rng = array.number_format, np.random.default_rng(0)
    if fmt is None:
        some = rng.integers(1, 100, (2, *values.shape)).astype(values.dtype)
        return [values ^ values.dtype.type(1), values + some[0], values - some[1]]
    carrier = np.dtype(f"u{array.dtype.itemsize}")
    numbers = fmt.decode(values.view(carrier).astype(fmt.carrier))
    numbers = np.where(np.isfinite(numbers), numbers, 1.0)
    step = np.maximum(np.abs(numbers), 1.0) * rng.uniform(0.8, 1.2, numbers.shape)
    return [
        np.asarray(fmt.encode(numbers + factor * step)).astype(carrier).view(array.dtype).reshape(values.shape)
        for factor in (0.75, -1.75)
    ]


def _way(runs: _Runs, hit: _Hit) -> Iterator[str]:
    """Instructions that brought the value to its store, the last first."""
    kernel, launch = runs.kernel, runs.launch
    per = -(-int(np.prod(dimensions(launch.block, "block"))) // kernel.wave)
    first = hit.number // per * per
    moves = Moves(hit.place.workgroup, first, per)
    runs.alone({}, [moves])
    wave = hit.number - first
    executed = moves.executed[wave]
    position = max(n for n, (instruction, _) in enumerate(executed) if instruction.pc == hit.instruction.pc)
    operands = [operand for operand in hit.instruction.src if operand.field in DATA]
    data = list(registers(operands[:1]))
    if not data:
        return
    register = data[min(hit.offset // 4, len(data) - 1)]
    for step in moves.way(wave, position, register, hit.lane, hit.offset % 4):
        line = kernel.line_at(step.instruction.pc)
        where = f", {step.where}" if step.where else ""
        yield f"{step.instruction.text} ({line}), wave {step.wave} lane {step.lane}{where}"


def _ranges(found: list[int], shape: tuple[int, ...]) -> tuple[str, ...]:
    """Elements as ranges of the last index: ``[3, 0..63]``."""
    out: list[list[Any]] = []
    for number in found:
        *lead, last = (int(i) for i in np.unravel_index(number, shape))
        if out and out[-1][0] == lead and out[-1][2] == last - 1:
            out[-1][2] = last
        else:
            out.append([lead, last, last])
    texts = [(*map(str, lead), str(a) if a == b else f"{a}..{b}") for lead, a, b in out]
    return tuple(f"[{', '.join(text)}]" for text in texts)
