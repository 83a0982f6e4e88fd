"""Kernels over plain arrays: run on drawn inputs and compared with a NumPy reference, bit for bit."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from mfmasim.errors import MfmasimError, one_line
from mfmasim.machine.launch.interchange import as_array
from mfmasim.observe import Finding
from mfmasim.verify.arguments import called
from mfmasim.verify.arrays import draw_array
from mfmasim.verify.causes import EIGHT_BITS
from mfmasim.verify.compare import Comparison, compare_codes, differences, shown_code, shown_value
from mfmasim.verify.patterns import matches
from mfmasim.verify.tolerance import bound_of, bounded

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Collection, Iterator, Mapping

    from numpy.typing import NDArray

    from mfmasim.devices import Device, Report
    from mfmasim.kernels import Kernel
    from mfmasim.verify.arrays import Array
    from mfmasim.verify.cases import Case
    from mfmasim.verify.launch import CaseLaunch, Expected
    from mfmasim.verify.result import Result


def run_arrays(
    result: Result,
    case: Case,
    launch: CaseLaunch,
    kernel: Kernel,
    device: Device,
    options: Mapping[str, object],
    inputs: Mapping[str, NDArray[Any]],
) -> tuple[Report, list[Finding]]:
    """Run a case of plain arrays once and compare every output.

    Args:
        result: receives the counts of elements.
        case: the case.
        launch: its launch.
        kernel: the kernel.
        device: back end.
        options: passed to the launch.
        inputs: values of arguments (``argument 0``) and fields (``argument 2[1]``), instead of the declared ones.

    Returns:
        The launch's report, and findings besides its own.

    Raises:
        MfmasimError: the expected values do not fit the outputs.
    """
    arrays = launch.arrays
    before = drawn_arrays(case, launch, inputs)
    memory = {name: array.placed(before[name].copy()) for name, array in arrays.items()}
    unset = [memory[name] for name, array in arrays.items() if not array.reads]
    report = launch.run(device, kernel, memory, {**options, "undefined": unset} if unset else options)
    found: list[Finding] = []
    if report.stopped:
        return report, found
    for name, array in arrays.items():
        if not array.writes and memory[name].tobytes() != before[name].tobytes():
            text = f"the kernel changed its input {called(kernel, name, len(launch.args))}"
            found.append(Finding("inputs", "error", text, "inputs-changed", kernel=kernel.name))
    hows = []
    fp8 = any(array.format in EIGHT_BITS for array in arrays.values())
    for one in compared_outputs(case, launch, kernel, before, memory):
        shown = _shown(one.array)
        found += differences(
            result, case, one.comparison, one.name, one.actual, one.expected, shown, fp8=fp8, before=one.before
        )
        hows.append(", ".join([*filter(None, [str(one.array.tolerance)]), *["its bound"] * one.bounded]))
    how = ", ".join(f"within {text}" for text in dict.fromkeys(filter(None, hows))) or "bit for bit"
    result.compared_with = (f"the reference function, {how}",)
    return report, found


def drawn_arrays(
    case: Case, launch: CaseLaunch, inputs: Mapping[str, NDArray[Any]] | None = None
) -> dict[str, NDArray[Any]]:
    """Contents of every array before the launch, by its place among the arguments.

    Args:
        case: the case.
        launch: its launch.
        inputs: values instead of the declared ones, by place.
    """
    return {
        name: array.check(name, inputs[name])
        if inputs and name in inputs
        else draw_array(array, f"{case.title}/{name.removeprefix('argument ')}")
        for name, array in launch.arrays.items()
    }


@dataclass(frozen=True)
class ComparedOutput:
    """One output, with the reference's values."""

    array: Array
    name: str
    """The kernel's own."""
    actual: NDArray[Any]
    expected: NDArray[Any]
    comparison: Comparison
    bounded: bool
    """Whether the reference gave a bound of its error."""
    before: NDArray[Any]
    """What it held before the launch."""


def compared_outputs(
    case: Case,
    launch: CaseLaunch,
    kernel: Kernel,
    before: Mapping[str, NDArray[Any]],
    memory: Mapping[str, NDArray[Any]],
) -> Iterator[ComparedOutput]:
    """Every output in order.

    Args:
        case: the case.
        launch: its launch.
        kernel: the kernel.
        before: contents of its arrays before the launch, by place.
        memory: contents after the launch.

    Raises:
        MfmasimError: what is expected does not fit the outputs.
    """
    outputs = [array for array in launch.arrays.values() if array.writes]
    read = [before[name].copy() for name, array in launch.arrays.items() if array.reads]
    for array, (wanted, bound) in zip(outputs, _expected(case, launch.expect, read, len(outputs)), strict=True):
        name = called(kernel, array.name, len(launch.args))
        actual = np.asarray(memory[array.name])
        expected, exact = _rounded(array, f"case {case.name}: what is expected of {name}", wanted, bound)
        comparison = compare_array(array, actual, expected, exact, bound)
        held = before[array.name]
        yield ComparedOutput(array, name, actual, expected, comparison, bound is not None, held)


def _shown(array: Array) -> Callable[[Any], str]:
    """The text of an output's element in findings: its bits, and its value if it differs from the bits."""
    coded = array.number_format is not None and array.dtype.kind == "u"
    return partial(shown_code, array.number_format) if coded else shown_value  # type: ignore[arg-type]


def _rounded(array: Array, what: str, values: object, bound: object) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
    """Expected values in the array's dtype, and before rounding if they were given in another dtype.

    Raises:
        MfmasimError: another shape, or another dtype although the output has to be exact.
    """
    found = array.codes(as_array(values, what))
    numbers = found.dtype.kind in "fiu" or hasattr(ml_dtypes, found.dtype.name)
    if (
        found.dtype == array.dtype
        or found.shape != array.shape
        or not numbers
        or not (array.tolerance.real or bound is not None)
    ):
        return array.check(what, found), None
    exact = found.astype(np.float64)
    fmt = array.number_format
    if fmt is None:
        limits = np.iinfo(array.dtype)
        return np.clip(np.rint(exact), limits.min, limits.max).astype(array.dtype), exact
    codes = fmt.encode(exact, overflow="infinity_or_nan")
    rounded = fmt.decode(codes)
    return codes.astype(f"u{array.dtype.itemsize}").view(array.dtype), np.where(np.isfinite(rounded), exact, rounded)


def missing_instructions(case: Case, counts: Counter[str], kernel: Kernel) -> list[Finding]:
    """A finding for each pattern of the case that no executed instruction matches.

    A pattern with a space is matched with the whole text of the kernel's instructions whose mnemonics were executed.

    Args:
        case: the case.
        counts: wave-instructions that were executed, by mnemonic.
        kernel: the kernel.
    """
    names = {half for name in counts for half in name.split(" :: ")}  # two operations in one instruction
    texts = {i.text for i in kernel.instructions if i.name in counts} if " " in "".join(case.executes) else ()
    return [
        Finding(
            "executes",
            "error",
            f"no instruction that was executed matches {pattern!r}{_nearest(pattern, names)}",
            "executes-missing",
            kernel=kernel.name,
        )
        for pattern in case.executes
        if not any(matches(pattern, found) for found in (texts if " " in pattern else names))
    ]


def _nearest(pattern: str, names: Collection[str]) -> str:
    """Executed mnemonics that are similar to a pattern, for a message."""
    near = get_close_matches(re.sub(r"\W", "", pattern.partition(" ")[0]), sorted(names), 3, 0.7)
    return f"; nearest: {', '.join(near)}" if near else ""


def _expected(case: Case, expect: Expected, inputs: list[NDArray[Any]], count: int) -> list[tuple[Any, Any]]:
    """Expected values of each output, with the bound of its error; None without a bound."""
    with np.errstate(all="ignore"):  # references compute NaNs and overflows on purpose
        try:
            wanted = expect(*inputs) if callable(expect) else expect
        except MfmasimError:
            raise
        except Exception as error:  # a user's function may fail in any way; say where
            raise MfmasimError(f"case {case.name}: its reference fails: {one_line(error)}") from error
    if not isinstance(wanted, tuple | list) or (count == 1 and isinstance(wanted, tuple) and len(wanted) == 2):
        wanted = (wanted,)
    if len(wanted) != count:
        raise MfmasimError(f"case {case.name}: expect gives {len(wanted)} arrays, the kernel has {count} outputs")
    return [each if isinstance(each, tuple) and len(each) == 2 else (each, None) for each in wanted]


def compare_array(
    array: Array,
    actual: NDArray[Any],
    expected: NDArray[Any],
    exact: NDArray[np.float64] | None = None,
    bound: object = None,
) -> Comparison:
    """Compare one output.

    Args:
        array: its declaration: format, tolerance, equality of NaNs.
        actual: values the kernel wrote.
        expected: values of the reference, same dtype and shape.
        exact: expected values before rounding; None without rounding.
        bound: bounds of the errors by the reference; None if it returned none.

    Returns:
        The comparison. Without a tolerance the bits have to be the same.
    """
    carrier = np.dtype(f"u{array.dtype.itemsize}")
    have, want = actual.view(carrier), expected.view(carrier)
    fmt, tolerance = array.number_format, array.tolerance
    if fmt is not None:
        return compare_codes(have, want, fmt, tolerance, exact, bound, array.nan)
    gap = np.maximum(actual, expected).astype(object) - np.minimum(actual, expected).astype(object)
    distance = np.minimum(gap, np.iinfo(np.int64).max).astype(np.int64)
    wrong, furthest = (have != want) & (distance > tolerance.ulp), int(distance.max(initial=0))
    if not tolerance.real and bound is None:
        return Comparison(wrong, furthest)
    wide = np.longdouble  # holds 64 bits
    wanted = expected.astype(wide) if exact is None else exact.astype(wide)
    found = bounded(actual.astype(wide), wanted, bound_of(tolerance, wanted, bound), ~wrong)
    return Comparison(found.wrong, furthest, None, found)
