"""Kernels over plain arrays: run on drawn inputs and compared with a NumPy reference, bit for bit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.errors import MfmasimError, one_line
from mfmasim.observe import Finding
from mfmasim.verify.arguments import called
from mfmasim.verify.arrays import draw_array
from mfmasim.verify.compare import Comparison, differences, is_nan, shown_value, ulp_distance
from mfmasim.verify.patterns import matches

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from mfmasim.devices import Device, Report
    from mfmasim.program import Kernel
    from mfmasim.verify.arrays import Array
    from mfmasim.verify.cases import Case
    from mfmasim.verify.launch import CaseLaunch, Expected
    from mfmasim.verify.result import Result

__all__ = ["compare_array", "missing_instructions", "run_arrays"]


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
        result: takes the counts of elements.
        case: the case.
        launch: its launch.
        kernel: the kernel.
        device: back end.
        options: passed to the launch.
        inputs: values of arguments (``argument 0``) and fields (``argument 2[1]``), instead of the declared ones.

    Returns:
        The launch's report, and what is wrong beside its own findings.

    Raises:
        MfmasimError: what is expected does not fit the outputs.
    """
    arrays = launch.arrays
    before = {
        name: array.check(name, inputs[name])
        if name in inputs
        else draw_array(array, f"{case.title}/{name.removeprefix('argument ')}")
        for name, array in arrays.items()
    }
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
    outputs = [array for array in arrays.values() if array.writes]
    read = [before[name].copy() for name, array in arrays.items() if array.reads]
    for array, wanted in zip(outputs, _expected(case, launch.expect, read, len(outputs)), strict=True):
        name = called(kernel, array.name, len(launch.args))
        actual = np.asarray(memory[array.name])
        expected = array.check(f"case {case.name}: what is expected of {name}", wanted)
        comparison = compare_array(array, actual, expected)
        found += differences(result, case, comparison, name, actual, expected, shown_value)
    bound = max(array.ulp for array in outputs)
    how = f"within {bound} ulp" if bound else "bit for bit"
    result.compared_with = (f"the reference function, {how}",)
    return report, found


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
            f"no instruction that was executed matches {pattern!r}",
            "executes-missing",
            kernel=kernel.name,
        )
        for pattern in case.executes
        if not any(matches(pattern, found) for found in (texts if " " in pattern else names))
    ]


def _expected(case: Case, expect: Expected, inputs: list[NDArray[Any]], count: int) -> Sequence[Any]:
    with np.errstate(all="ignore"):  # references compute NaNs and overflows on purpose
        try:
            wanted = expect(*inputs) if callable(expect) else expect
        except MfmasimError:
            raise
        except Exception as error:  # a user's function may fail in any way; say where
            raise MfmasimError(f"case {case.name}: its reference fails: {one_line(error)}") from error
    wanted = wanted if isinstance(wanted, tuple | list) else (wanted,)
    if len(wanted) != count:
        raise MfmasimError(f"case {case.name}: expect gives {len(wanted)} arrays, the kernel has {count} outputs")
    return wanted


def compare_array(array: Array, actual: NDArray[Any], expected: NDArray[Any]) -> Comparison:
    """Compare one output.

    Args:
        array: its declaration: format, ulp bound, what counts as the same NaN.
        actual: values the kernel wrote.
        expected: values of the reference, same dtype and shape.

    Returns:
        The comparison. Without a bound the bits have to be the same; with one, values of the same sign and finiteness
        may differ by that many codes.
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
    return Comparison(wrong, int(distance.max(initial=0)), fmt)
