"""Kernels over matrices: run on golden and drawn inputs, and compared with golden bits or the exact reference."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.matrix import instructions
from mfmasim.observe import Finding
from mfmasim.verify.arguments import POISON
from mfmasim.verify.arrays import draw_array
from mfmasim.verify.causes import EIGHT_BITS
from mfmasim.verify.compare import Causes, bit_exact, compare_codes, differences, shown_code, within
from mfmasim.verify.exact import as_floats, evaluate, every_step_exact, magnitude, round_once, without_subnormals
from mfmasim.verify.factors import neglected
from mfmasim.verify.roles import bytes_of, codes_of, format_of, untouched

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from mfmasim.architectures import Arch
    from mfmasim.devices import Device, Report
    from mfmasim.formats import Format
    from mfmasim.kernels import Kernel
    from mfmasim.verify.cases import Case
    from mfmasim.verify.compare import Comparison
    from mfmasim.verify.expression import Expression
    from mfmasim.verify.inputs import Inputs
    from mfmasim.verify.launch import CaseLaunch
    from mfmasim.verify.result import Result
    from mfmasim.verify.roles import Tensor
    from mfmasim.verify.sums import Sums
    from mfmasim.verify.tolerance import Tolerance

Memory = dict[str, "NDArray[np.uint8]"]
"""Bytes of every matrix, by name."""
INEXACT = "matrix instructions of RDNA3 do not add small integers exactly (docs/fidelity.md)"


def run_matrices(
    device: Device, kernel: Kernel, launch: CaseLaunch, inputs: Inputs, options: Mapping[str, object]
) -> tuple[Report, Memory, list[Finding]]:
    """Launch a kernel on inputs; plain arrays have their declared values.

    Args:
        device: back end.
        kernel: the kernel.
        launch: of a case of matrices.
        inputs: codes of the matrices.
        options: passed to the launch.

    Returns:
        The launch's report, the contents of every matrix after it, and a finding for each input that the kernel wrote.
    """
    arch = kernel.arch
    memory: Memory = {}
    unset: list[NDArray[Any]] = []
    for name, tensor in launch.tensors.items():
        # Without an expected C the kernel may read it.
        reads = not tensor.writes or launch.expression is None or launch.expression.uses(tensor)
        known = reads and name in inputs.codes
        codes = inputs.codes[name] if known else untouched(tensor, arch)
        memory[name] = tensor.placed(bytes_of(tensor, codes, arch))
        unset += [] if known else [memory[name]]
    for name, array in launch.arrays.items():
        memory[name] = array.placed(inputs.codes[name] if name in inputs.codes else draw_array(array, name))
        unset += [] if array.reads else [memory[name]]
    options = {**options, "undefined": unset} if unset else options
    report = launch.run(device, kernel, memory, options)
    after = {name: np.asarray(held) for name, held in memory.items()}
    given = [tensor for tensor in launch.tensors.values() if not tensor.writes]
    changed = [_changed(kernel, tensor, inputs.codes[tensor.name], after[tensor.name]) for tensor in given]
    return report, after, [finding for finding in changed if finding is not None]


def _changed(kernel: Kernel, tensor: Tensor, before: NDArray[Any], memory: NDArray[np.uint8]) -> Finding | None:
    """The finding about an input that the kernel wrote to."""
    wrong = np.argwhere(codes_of(tensor, memory, kernel.arch) != before)
    if not len(wrong):
        return None
    element = f"{tensor.name}[{', '.join(str(int(i)) for i in wrong[0])}]"
    text = f"the kernel changed {len(wrong)} elements of its input {tensor.name}"
    return Finding("inputs", "error", text, "inputs-changed", kernel=kernel.name, element=element, count=len(wrong))


def compare_output(
    result: Result, case: Case, launch: CaseLaunch, inputs: Inputs, memory: Memory, arch: Arch, sums: Sums
) -> list[Finding]:
    """Compare C with golden data, or with the exact result: bit for bit if no kernel rounds, else within its bound.

    Args:
        result: receives the counts of elements, and the reference of the comparison.
        case: the case.
        launch: its launch.
        inputs: inputs of the launch.
        memory: contents of the matrices after the launch.
        arch: decides the formats.
        sums: how the kernel adds.

    Returns:
        The findings.
    """
    output, expression = launch.output, launch.expression
    if output is None or expression is None:
        return []
    fmt = format_of(output, arch)
    actual = output.held(memory[output.name], arch)
    bound, tolerance = launch.bound, output.tolerance
    if inputs.expected is not None:
        expected = inputs.expected.astype(actual.dtype)
        comparison, against = bit_exact(actual, expected, fmt), "golden bits"
        if not tolerance.exact or bound is not None:
            comparison, against = (
                compare_codes(actual, expected, fmt, tolerance, given=bound),
                f"golden, {_within(tolerance)}",
            )
    elif not tolerance.exact or bound is not None:
        exact = evaluate(expression, inputs.codes, arch)
        expected, values = round_once(exact, fmt), as_floats(exact, fmt.bits)
        rounded = fmt.decode(expected)
        values = np.where(np.isfinite(rounded), values, rounded)
        comparison = compare_codes(actual, expected, fmt, tolerance, values, bound)
        against = f"the exact result, {_within(tolerance)}"
    else:
        codes = inputs.codes
        if sums.flush_factors:
            codes = without_subnormals(list(launch.tensors.values()), codes, arch)
        expected, comparison, against = _with_exact(expression, codes, actual, fmt, arch, inputs, sums)
    if not sums.exact and not fmt.integer and "integers" in inputs.label:
        result.remark = INEXACT
    result.compared_with = tuple(dict.fromkeys((*result.compared_with, f"{inputs.label}: {against}")))
    shown = partial(shown_code, fmt)
    found = _gaps(result, output, memory[output.name], fmt)
    if comparison.mismatches and not any(one.id == "outputs-factor" for one in result.findings):  # once for all inputs
        found += _factor(result, expression, comparison.wrong, inputs, actual, fmt, arch, tolerance, bound, sums)
    formats = [format_of(tensor, arch).name for tensor in launch.tensors.values()]
    eight = [name for name in formats if name in EIGHT_BITS]
    causes = Causes(
        flavours=bool(eight) and (arch.fp8 == "fnuz" or any(name.endswith("fnuz") for name in eight)),
        scales=any("_scale_" in name for name in instructions(arch.name)),
    )
    label = f" ({inputs.label})"
    return found + differences(result, case, comparison, "C", actual, expected, shown, label, causes=causes)


def _factor(
    result: Result,
    expression: Expression,
    wrong: NDArray[np.bool_],
    inputs: Inputs,
    actual: NDArray[Any],
    fmt: Format,
    arch: Arch,
    tolerance: Tolerance,
    bound: object,
    sums: Sums,
) -> list[Finding]:
    """The finding about a factor that the kernel does not apply, if that explains every wrong element."""

    def with_other(other: Expression) -> NDArray[np.bool_]:
        if tolerance.exact and bound is None:
            return _with_exact(other, inputs.codes, actual, fmt, arch, inputs, sums)[1].wrong
        exact = evaluate(other, inputs.codes, arch)
        expected, values = round_once(exact, fmt), as_floats(exact, fmt.bits)
        return compare_codes(actual, expected, fmt, tolerance, values, bound).wrong

    text = neglected(expression, inputs.codes, wrong, with_other)
    return [Finding("outputs", "error", text, "outputs-factor", kernel=result.kernel)] if text else []


def _within(tolerance: Tolerance) -> str:
    """The tolerance of C in words."""
    return f"within {tolerance}" if str(tolerance) else "within the case's bound"


def _with_exact(
    expression: Expression,
    codes: Mapping[str, NDArray[Any]],
    actual: NDArray[Any],
    fmt: Format,
    arch: Arch,
    inputs: Inputs,
    sums: Sums,
) -> tuple[NDArray[Any], Comparison, str]:
    """The exact result rounded once, the comparison with it, and the kind of comparison."""
    exact = evaluate(expression, codes, arch)
    rounded = round_once(exact, fmt)
    rounds = inputs.label.startswith(("normal", "special")) and not fmt.integer
    if sums.exact and not rounds and every_step_exact(expression, codes, arch, sums.bits):
        return rounded, bit_exact(actual, rounded, fmt, zeros=False), "the exact result, bit for bit"
    values, terms = as_floats(exact, fmt.bits), magnitude(expression, codes, arch)
    comparison = within(actual, values, terms, expression.depth, fmt, sums.bits, flushed=sums.flush_sums)
    return rounded, comparison, "the exact result, within the error bound"


def _gaps(result: Result, output: Tensor, memory: NDArray[np.uint8], fmt: Format) -> list[Finding]:
    """Bytes between the lines of C (ld larger than a line) do not belong to it: they must stay poison."""
    if not output.ld or output.ld == output.line:
        return []
    gap = memory.view(fmt.carrier).reshape(output.lines, output.ld)[:, output.line :]
    if not (gap.view(np.uint8) != POISON).any():
        return []
    text = "the kernel wrote between the lines of C"
    return [Finding("outputs", "error", text, "outputs-between-lines", kernel=result.kernel)]
