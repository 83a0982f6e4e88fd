"""Shortcuts of a kernel: its outputs on other inputs and sizes, and the operands of its instructions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.errors import MfmasimError
from mfmasim.formats import format as find_format
from mfmasim.kernels import Kernel
from mfmasim.lab.shortcuts.patterns import PATTERNS
from mfmasim.lab.shortcuts.probing import FAR, Probe, Probed, numbers, redrawn
from mfmasim.machine.launch.quota import Quota
from mfmasim.verify.arguments import POISON
from mfmasim.verify.arrays import Array
from mfmasim.verify.cases import Case
from mfmasim.verify.contract import broken
from mfmasim.verify.result import Result
from mfmasim.verify.runner import set_parameters

__all__ = ["Shortcut", "shortcuts_of"]

LARGER = 64.0
"""Factor of larger inputs."""
COARSE = 0.05
"""Error relative to the largest expected number that no rounding causes."""
FINE = 2.0**-17
"""Relative error (of root mean squares) that sums of f32 do not reach."""
NARROW = ("f16", "bf16", "e4m3fn", "e5m2")
CLOCK_TEXT = re.compile("HW_ID|SHADER_CYCLES|REALTIME|XCC_ID|CYCLES")
"""Hardware registers and messages that are clocks or places."""


@dataclass(frozen=True)
class Shortcut:
    """A shortcut that a kernel takes."""

    name: str
    """A name of `PATTERNS`."""
    text: str
    """The evidence, in one sentence."""


def shortcuts_of(case: Case, kernel: Kernel, result: Result, quota: Quota) -> list[Shortcut]:
    """The shortcuts of a kernel, in the order of `PATTERNS`.

    Args:
        case: a case; for a case with matrices, whose elements are always followed, only findings and instructions are
            examined.
        kernel: its kernel.
        result: of verifying it.
        quota: of each launch.
    """
    case = set_parameters(case, arch=kernel.arch.name, wave=kernel.wave)
    found = [*_of_findings(result), *_of_code(kernel)]
    launch = case.make()
    if launch.plain and callable(launch.expect):
        found += _of_inputs(case, kernel, quota)
    order = list(PATTERNS)
    return sorted({one.name: one for one in reversed(found)}.values(), key=lambda one: order.index(one.name))


def _of_findings(result: Result) -> Iterator[Shortcut]:
    """Shortcuts by the findings of checks."""
    ids = {finding.id: finding for finding in result.findings if finding.severity == "error"}
    for name, prefix in (("stale-memory", "uninitialised-"), ("changes-inputs", "inputs-changed")):
        for identity, finding in ids.items():
            if identity.startswith(prefix):
                yield Shortcut(name, finding.message.partition("\n")[0])
                break
    outside = [f for f in result.findings if f.id == "bounds-outside-buffer" and f.message.startswith("read")]
    if outside:
        yield Shortcut("beyond-arguments", outside[0].message.partition("\n")[0])


def _of_code(kernel: Kernel) -> Iterator[Shortcut]:
    """Shortcuts by the instructions' operands, and by the code object's variables."""
    for one in kernel.reachable:
        if one.opcode.kind == "clock" or (one.opcode.kind in ("getreg", "message") and CLOCK_TEXT.search(one.text)):
            yield Shortcut("clock", f"{one.text.strip()} at {one.pc:#x} reads a clock or a place")
            break
    if kernel.code.object.variables:
        yield Shortcut("keeps-state", "the code object has writable variables, which stay from launch to launch")


def _of_inputs(case: Case, kernel: Kernel, quota: Quota) -> Iterator[Shortcut]:
    """Shortcuts by outputs on other inputs and sizes."""
    probe = Probe(case, kernel, quota)
    first = probe.run()
    if first.stopped:
        return
    if text := _not_written(probe, first):
        yield Shortcut("not-written", text)
        return
    others = [probe.run(redrawn(seed)) for seed in (1, 2)] if probe.drawn else []
    if any(one.stopped for one in others):
        return
    if others and all(_same(first.actual, one.actual) and not _same(first.expected, one.expected) for one in others):
        yield Shortcut(
            "constant", "two other draws of the inputs give the same outputs bit by bit; the reference does not"
        )
        return
    if not first.right and (name := _returned(probe, first)):
        yield Shortcut("returns-input", f"the outputs are the bits of {name}")
    yield from _ignored(probe, first)
    if not first.right:
        return
    if any(one.fails for one in others):
        worst = max(one.wrong for one in others)
        yield Shortcut("known-inputs", f"right for the test's inputs; of others of the same class {worst:.0%} is wrong")
        return
    if any(not one.right for one in others):
        return
    yield from _of_values(probe)
    yield from _of_errors(probe, [first, *others])
    yield from _of_sizes(case, kernel, quota)


def _same(one: Any, other: Any) -> bool:
    return bool(one) and all(one[name].tobytes() == other[name].tobytes() for name in one)


def _not_written(probe: Probe, found: Probed) -> str:
    """Outputs that still hold the initial pattern, where other values are expected."""
    for name, values in found.actual.items():
        raw = values.view(np.uint8).reshape(*values.shape, values.dtype.itemsize)
        held = (raw == POISON).all(axis=-1)
        expected = found.expected[name].view(np.uint8).reshape(raw.shape)
        held &= (raw != expected).any(axis=-1)
        if held.mean() > FAR:
            return f"{held.sum():,} of {held.size:,} elements of {probe.called(name)} hold what memory held before"
    return ""


def _returned(probe: Probe, found: Probed) -> str:
    for values in found.actual.values():
        for name, given in found.inputs.items():
            alike = name in probe.names and given.dtype == values.dtype and given.size >= values.size > 1
            if alike and np.array_equal(
                given.reshape(-1)[: values.size].view(np.uint8), values.reshape(-1).view(np.uint8)
            ):
                return probe.called(name)
    return ""


def _ignored(probe: Probe, first: Probed) -> Iterator[Shortcut]:
    """Inputs on which the reference depends and the outputs do not."""
    if len(probe.drawn) < 2:
        return
    for name in probe.drawn:
        found = probe.run(_one_redrawn(name))
        if found.stopped:
            continue
        needed = [found.expected[one] != first.expected[one] for one in first.expected]
        if not any(changes.mean() > FAR for changes in needed):
            continue
        if _same(first.actual, found.actual):
            yield Shortcut("ignores-input", f"{probe.called(name)} changes the reference and no output")
            return


def _one_redrawn(chosen: str) -> Callable[[str, Array, NDArray[Any]], NDArray[Any]]:
    """One input drawn anew, the others as they were."""
    draw = redrawn(3)
    return lambda name, array, own: draw(name, array, own) if name == chosen else own


def _of_values(probe: Probe) -> Iterator[Shortcut]:
    """Zeros, and larger values for which the reference is finite."""
    real = [name for name in probe.drawn if probe.names[name].dtype.kind == "f"]
    if not real:
        return
    for name, change in (("zeros", 0.0), ("large-values", LARGER)):
        found = probe.run(_times(change))
        if found.stopped or not found.finite or not found.fails:
            continue
        if name == "large-values" and not _far_off(found):
            continue
        what = "for inputs of zeros" if name == "zeros" else f"for inputs that are {LARGER:g} times as large"
        yield Shortcut(name, f"right for the test's inputs; {what} {found.wrong:.0%} of the outputs is wrong")


def _times(factor: float) -> Callable[[str, Array, NDArray[Any]], NDArray[Any]]:
    def scaled(_: str, array: Array, values: NDArray[Any]) -> NDArray[Any]:
        return (values * values.dtype.type(factor)) if array.dtype.kind == "f" else values

    return scaled


def _far_off(found: Probed) -> bool:
    """Whether an output is no number, or its error no rounding."""
    for name, want in found.expected.items():
        have, right = numbers(found.actual[name]), numbers(want)
        if not np.isfinite(have).all() or _coarse(have, right) > COARSE:
            return True
    return False


def _coarse(have: NDArray[Any], want: NDArray[Any]) -> float:
    """Largest error relative to the largest expected number."""
    size = float(np.abs(want).max(initial=0.0))
    return float(np.abs(have - want).max(initial=0.0)) / size if size else 0.0


def _of_errors(probe: Probe, runs: Sequence[Probed]) -> Iterator[Shortcut]:
    """Errors that no rounding in the arguments' precision causes."""
    last = runs[0]
    for name, want in last.expected.items():
        array = probe.launch.arrays[name]
        if array.dtype.kind != "f" or not np.isfinite(numbers(want)).all():
            continue
        have, right, called = numbers(last.actual[name]), numbers(want), probe.called(name)
        if not np.isfinite(have).all():
            continue
        if min(_coarse(numbers(one.actual[name]), numbers(one.expected[name])) for one in runs) > COARSE:
            share = _coarse(have, right)
            yield Shortcut(
                "tolerance", f"{called} is within its tolerance, and off by {share:.0%} of its largest number"
            )
            return
        wide = all(one.dtype.itemsize >= 4 for one in probe.names.values() if one.dtype.kind == "f")
        error = _relative(have, right)
        if array.dtype.itemsize < 4 or not wide or error < FINE:
            continue
        for fmt in NARROW:
            inputs = probe.run(_rounded(fmt))
            if inputs.stopped:
                continue
            narrow = _relative(have, numbers(inputs.expected[name]), right)
            if narrow < error / 3:
                yield Shortcut(
                    "lower-precision", f"the error of {called}, {error:.1e}, is that of inputs rounded to {fmt}"
                )
                return


def _relative(have: NDArray[Any], want: NDArray[Any], size: NDArray[Any] | None = None) -> float:
    """Root mean square of an error, relative to that of the expected values."""
    whole = float(np.sqrt(np.mean((want if size is None else size) ** 2)))
    return float(np.sqrt(np.mean((have - want) ** 2))) / whole if whole else 0.0


def _rounded(fmt: str) -> Callable[[str, Array, NDArray[Any]], NDArray[Any]]:
    """Inputs rounded to a narrower format."""
    narrow = find_format(fmt)

    def changed(_: str, array: Array, values: NDArray[Any]) -> NDArray[Any]:
        if array.dtype.kind != "f":
            return values
        return narrow.decode(narrow.encode(values.astype(np.float64))).astype(values.dtype)

    return changed


def _of_sizes(case: Case, kernel: Kernel, quota: Quota) -> Iterator[Shortcut]:
    """Other sizes that the contract admits: twice each size that it names, and one step more."""
    for name, value in case.parameters.items():
        if not isinstance(value, int) or isinstance(value, bool) or not re.search(rf"\b{name}\b", case.needs):
            continue
        for other in (value * 2, value + 1, value // 2):
            parameters = {**case.parameters, name: other}
            if other < 1 or other == value or broken(case.needs, parameters):
                continue
            changed = replace(case, parameters=parameters)
            try:
                found = Probe(changed, kernel, quota, changed.make()).run()
            except MfmasimError:
                continue
            if found.fails:
                yield Shortcut("one-size", f"right at {name}={value}; at {name}={other} {found.wrong:.0%} is wrong")
                return
            break
