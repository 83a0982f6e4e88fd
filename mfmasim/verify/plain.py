"""Kernels over plain arrays: run on drawn inputs and compared with what a NumPy function says, bit for bit."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.errors import MfmasimError
from mfmasim.observe import Finding
from mfmasim.verify.arrays import Array, arrays_within, draw_array, replaced, set_down
from mfmasim.verify.compare import Comparison, is_nan, ulp_distance

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from mfmasim.devices import Device, Report
    from mfmasim.program import Kernel
    from mfmasim.verify.cases import Case
    from mfmasim.verify.result import Result

__all__ = ["arrays_in", "compare_array", "missing_instructions", "run_arrays"]


def arrays_in(built: Mapping[str, Any]) -> list[Array]:
    """Plain arrays among the arguments and their fields, in order."""
    return [array for _, array in arrays_within(built["args"])]


def run_arrays(
    result: Result,
    case: Case,
    built: Mapping[str, Any],
    kernel: Kernel,
    device: Device,
    options: Mapping[str, Any],
    inputs: Mapping[str, NDArray[Any]],
) -> tuple[Report, list[Finding]]:
    """Run a case of plain arrays once and compare every output.

    Args:
        result: takes the counts of elements.
        case: the case.
        built: what its function returned.
        kernel: the kernel.
        device: back end.
        options: passed to the launch.
        inputs: values of arguments (``argument 0``) and fields (``argument 2[1]``), in place of the declared ones.

    Returns:
        The launch's report, and what is wrong beside its own findings.

    Raises:
        MfmasimError: what is expected does not fit the outputs.
    """
    args = list(built["args"])
    called = [arg.name or f"argument {number}" for number, arg in enumerate(kernel.args)]
    arrays = list(arrays_within(args, called))
    places = [name for name, _ in arrays_within(args)]
    start = {
        id(a): a.check(place, inputs[place])
        if place in inputs
        else draw_array(a, f"{case.title}/{place.removeprefix('argument ')}")
        for (_, a), place in zip(arrays, places, strict=True)
    }
    memory = {id(a): set_down(a, start[id(a)].copy()) for _, a in arrays}
    given = replaced(args, lambda array: memory[id(array)])
    unset = [memory[id(a)] for _, a in arrays if not a.reads]
    options = dict(options) | ({"undefined": unset} if unset else {})
    report = device.launch(kernel, built["grid"], built["block"], given, built.get("shared_bytes", 0), "all", **options)
    found: list[Finding] = []
    if report.stopped:
        return report, found
    for name, array in arrays:
        if not array.writes and memory[id(array)].tobytes() != start[id(array)].tobytes():
            text = f"the kernel changed its input {name}"
            found.append(Finding("inputs", "error", text, "inputs-changed", kernel=kernel.name))
    outputs = [(name, array) for name, array in arrays if array.writes]
    wanted = _expected(case, built["expect"], [start[id(a)].copy() for _, a in arrays if a.reads], len(outputs))
    for (name, array), want in zip(outputs, wanted, strict=True):
        actual = np.asarray(memory[id(array)])
        values = array.check(f"case {case.name}: what is expected of {name}", want)
        comparison = compare_array(array, actual, values)
        result.outputs["elements"] += actual.size
        result.outputs["mismatches"] += comparison.mismatches
        result.outputs["max_ulp"] = max(result.outputs["max_ulp"], comparison.max_ulp)
        if comparison.mismatches:
            found.append(_finding(kernel, case, name, actual, values, comparison))
    bound = max(array.ulp for _, array in outputs)
    how = f"within {bound} ulp" if bound else "bit for bit"
    result.compared_with = (f"the reference function, {how}",)
    return report, found


def missing_instructions(case: Case, counts: Counter[str], kernel: Kernel) -> list[Finding]:
    """A finding for each pattern of the case that no executed instruction matches.

    A pattern with a space is matched with the whole text of the kernel's instructions whose mnemonics were executed.
    """
    names = {half for name in counts for half in name.split(" :: ")}  # two operations in one instruction
    texts = {i.text for i in kernel.instructions if i.name in counts} if " " in "".join(case.executes) else ()
    return [
        Finding(
            "executes",
            "error",
            f"no instruction that was executed matches {pattern!r}",
            "executes-missing",
            kernel=kernel.name,
        )
        for pattern in case.executes
        if not any(re.fullmatch(pattern, found) for found in (texts if " " in pattern else names))
    ]


def _expected(case: Case, expect: Any, inputs: list[NDArray[Any]], count: int) -> Sequence[Any]:
    with np.errstate(all="ignore"):  # references meet NaNs and overflows on purpose
        try:
            wanted = expect(*inputs) if callable(expect) else expect
        except MfmasimError:
            raise
        except Exception as error:  # a user's function may fail in any way; say where
            raise MfmasimError(f"case {case.name}: its reference fails: {type(error).__name__}: {error}") from error
    wanted = wanted if isinstance(wanted, tuple | list) else (wanted,)
    if len(wanted) != count:
        raise MfmasimError(f"case {case.name}: {len(wanted)} arrays are expected, the kernel has {count} outputs")
    return wanted


def compare_array(array: Array, actual: NDArray[Any], expected: NDArray[Any]) -> Comparison:
    """Compare one output.

    Args:
        array: its declaration: format, ulp bound, what counts as the same NaN.
        actual: values the kernel wrote.
        expected: values of the reference, same dtype and shape.

    Returns:
        The comparison. Without a bound the bits have to be the same; with one, values of the same sign and finiteness
        may lie so many codes apart.
    """
    carrier = np.dtype(f"u{array.dtype.itemsize}")
    have, want = actual.view(carrier), expected.view(carrier)
    wrong = have != want
    fmt = array.number_format
    if fmt is None:
        gap = np.maximum(actual, expected).astype(object) - np.minimum(actual, expected).astype(object)
        distance = np.minimum(gap, np.iinfo(np.int64).max).astype(np.int64)
        return Comparison(wrong & (distance > array.ulp), int(distance.max(initial=0)))
    nan_have, nan_want = is_nan(have, fmt), is_nan(want, fmt)
    distance = ulp_distance(have, want, fmt)
    if array.nan == "any":
        wrong &= ~(nan_have & nan_want)
    if array.ulp:
        near = (distance <= array.ulp) & ~nan_have & ~nan_want & ((have ^ want) & carrier.type(fmt.sign_bit) == 0)
        wrong &= ~near
    return Comparison(wrong, int(distance.max(initial=0)))


def _finding(
    kernel: Kernel, case: Case, name: str, actual: NDArray[Any], expected: NDArray[Any], comparison: Comparison
) -> Finding:
    place = tuple(int(i) for i in np.argwhere(comparison.wrong)[0])
    return Finding(
        check="outputs",
        severity="error",
        message=f"{comparison.mismatches} of {actual.size} elements differ, the worst by {comparison.max_ulp} ulp",
        id="outputs-differ",
        kernel=kernel.name,
        source=case.source.name,
        element=f"{name}[{', '.join(map(str, place))}]",
        expected=_shown(expected[place]),
        actual=_shown(actual[place]),
        count=comparison.mismatches,
    )


def _shown(value: Any) -> str:
    bits = int(value.view(f"u{value.dtype.itemsize}"))
    text = f"{bits:#0{2 * value.dtype.itemsize + 2}x}"
    return text if value.dtype.kind == "u" else f"{text} ({value})"
