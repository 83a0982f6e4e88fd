"""Verifying a case: outputs against golden data or the exact reference, mapping by provenance, every finding."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.architectures import arch as find_arch
from mfmasim.devices import SimDevice
from mfmasim.devices import device as open_device
from mfmasim.isa import MATRIX
from mfmasim.observe import Finding
from mfmasim.verify.compare import Comparison, bit_exact, within
from mfmasim.verify.contract import check_memory
from mfmasim.verify.elements.provenance import check_sources
from mfmasim.verify.elements.trace import check_mapping
from mfmasim.verify.exact import (
    as_floats,
    evaluate,
    every_step_exact,
    flushes,
    keeps_sums,
    magnitude,
    round_once,
    sum_bits,
    without_subnormals,
)
from mfmasim.verify.expression import Expression, MatMul, Scaled, Sum, Times
from mfmasim.verify.inputs import inputs_of
from mfmasim.verify.plain import arrays_in, missing_instructions, run_arrays
from mfmasim.verify.prebuilt import code_for
from mfmasim.verify.result import Result
from mfmasim.verify.roles import Tensor, bytes_of, codes_of, format_of, placed, tensors_in, untouched
from mfmasim.verify.suppress import suppress

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from mfmasim.architectures import Arch
    from mfmasim.devices import Device, Report
    from mfmasim.formats import Format
    from mfmasim.observe.fragments.mapping import MappingReport
    from mfmasim.program import Kernel
    from mfmasim.verify.cases import Case

__all__ = ["informed", "select", "verify_case"]

ALIKE = {"error": 0, "warning": 1, "info": 2}


def verify_case(
    case: Case,
    arch: str,
    *,
    group: str = "",
    device: str | Device = "sim",
    compiler: str | None = None,
    budget: int | None = None,
    kernel: Kernel | None = None,
    observers: Sequence[Any] = (),
    schedule: str = "usual",
    inputs: Mapping[str, NDArray[Any]] | None = None,
) -> Result:
    """Verify a case on one architecture.

    Args:
        case: the case.
        arch: one of the case's architectures.
        group: family or file, for the report.
        device: back end, by name, such as ``sim`` or ``hip:1``, or an open one; only the simulator proves mappings.
        compiler: compile with this one and leave prebuilt code objects aside.
        budget: instructions a wave may execute.
        kernel: run this one and not the case's own (for mutants).
        observers: further listeners to the machine's events, in every launch but that of the mapping check.
        schedule: order of waves in these launches, as `SimDevice.launch` has it.
        inputs: what arguments hold (``argument 0``, a field ``argument 2[1]``), in place of golden data and of what
            data classes draw: codes of a matrix in its stored shape, values of an array. There is one launch then.

    Returns:
        The result. Whatever goes wrong with the kernel is in it.

    Raises:
        MfmasimError: the case itself is wrong, or its kernel cannot be compiled or executed.
    """
    start = time.perf_counter()
    target = find_arch(arch)
    device_name = device if isinstance(device, str) else device.name
    if target.name in case.skip:
        kernel_name = case.kernel_name()
        left_out = Result(group, case.title, kernel_name, target.name, device_name, status="skipped")
        left_out.source = str(case.source)
        left_out.findings.append(Finding("skip", "info", case.skip[target.name], "skip-declared", kernel=kernel_name))
        return left_out
    case = informed(case, arch=target.name)
    case.check_contract()
    back_end = open_device(device) if isinstance(device, str) else device
    if kernel is None:
        kernel = code_for(case.source, target.name, compiler, case.flags)[case.kernel_name()]
    result = Result(group, case.title, kernel.name, target.name, device_name)
    result.source = str(case.source)
    result.code = {"sha256": kernel.code.sha256, "made_by": kernel.code.made_by}
    case = informed(case, wave=kernel.wave)
    built = case.make()
    watched = back_end if isinstance(back_end, SimDevice) else None  # only the simulator sees what a kernel does
    options: dict[str, Any] = ({"observers": observers} if observers else {}) | (
        {} if budget is None else {"budget": budget}
    )
    if schedule != "usual":
        options["schedule"] = schedule
    if arrays_in(built):
        report, findings = run_arrays(result, case, built, kernel, back_end, options, inputs or {})
        _note(result, report)
        _merge(result, [*report.findings, *findings])
        if watched and not report.stopped:
            result.findings += missing_instructions(case, report.counts, kernel)
            if built.get("sources") and case.mapping is not None:
                _mapped(result, check_sources(watched, kernel, case.make(case.mapping)))
        return _settled(result, case, start)
    check_memory(tensors_in(built), target, case.name)
    executed: Counter[str] = Counter()
    wide = any(format_of(t, target).name == "f64" for t in tensors_in(built) if t.role in ("A", "B"))
    keeps, bits = keeps_sums(kernel, target), sum_bits(kernel, target, wide=wide)
    flush = flushes(kernel, target)
    for label, codes, expected in inputs_of(case, built, target, inputs, bits):
        report, outputs = _run(back_end, kernel, built, codes, target, options)
        _merge(result, [*report.findings, *_changed(kernel, codes, outputs, target, tensors_in(built))])
        _note(result, report)
        executed += report.counts
        if report.stopped:
            break
        _compare(result, case, built, target, label, codes, outputs, expected, keeps=keeps, bits=bits, flush=flush)
    if watched and not report.stopped:
        result.findings += missing_instructions(case, executed, kernel)
    if watched and case.mapping is not None and not report.stopped:
        _mapped(result, check_mapping(watched, kernel, case.make(case.mapping)))
    if built.get("expect") is None:
        text = "nothing is expected of C: outputs are not compared"
        level = "warning" if result.mapping["slots_checked"] else "error"
        result.findings.append(Finding("outputs", level, text, "outputs-not-compared", kernel=kernel.name))
    return _settled(result, case, start)


def informed(case: Case, **facts: Any) -> Case:
    """The case with its parameters `arch` and `wave`, if it has them, set to what the launch is for."""
    known = {name: value for name, value in facts.items() if name in case.parameters}
    return replace(case, parameters={**case.parameters, **known})


def _note(result: Result, report: Report) -> None:
    result.launch = report
    result.fidelity, result.fidelity_of = str(report.fidelity), report.fidelity.operations
    result.matrix_fidelity = report.fidelity.among(MATRIX)
    result.lds = report.lds
    result.executed = dict(sorted(report.counts.items()))


def _mapped(result: Result, mapping: MappingReport) -> None:
    result.mapping = {"slots_checked": mapping.slots_checked, "mismatches": mapping.mismatches}
    _merge(result, mapping.findings)


def _settled(result: Result, case: Case, start: float) -> Result:
    suppress(result, case.suppress)
    result.findings.sort(key=lambda f: ALIKE[f.severity])
    result.settle()
    result.seconds = time.perf_counter() - start
    return result


def _reads(expression: Any, tensor: Tensor) -> bool:
    """Whether an expression uses a tensor with a factor other than 0."""
    if isinstance(expression, MatMul | Sum):
        return _reads(expression.left, tensor) or _reads(expression.right, tensor)
    if isinstance(expression, Times):
        return expression.factor != 0 and _reads(expression.matrix, tensor)
    if isinstance(expression, Scaled):
        return _reads(expression.matrix, tensor) or _reads(expression.scale, tensor)
    return expression is tensor


def _run(
    device: Device,
    kernel: Kernel,
    built: Mapping[str, Any],
    inputs: Mapping[int, NDArray[Any]],
    arch: Arch,
    options: Mapping[str, Any],
) -> tuple[Report, dict[int, NDArray[np.uint8]]]:
    buffers: dict[int, NDArray[np.uint8]] = {}
    args: list[Any] = []
    unset: list[int] = []
    for number, arg in enumerate(built["args"]):
        if not isinstance(arg, Tensor):
            args.append(arg)
            continue
        # Where nothing is expected of C, the kernel may read it.
        read = arg.role != "C" or built.get("expect") is None or _reads(built["expect"], arg)
        known = id(arg) in inputs and read
        if id(arg) not in buffers:
            buffers[id(arg)] = bytes_of(arg, inputs[id(arg)] if known else untouched(arg, arch), arch)
        args.append(placed(arg, buffers[id(arg)]))
        unset += [] if known else [number]
    given = dict(options) | ({"undefined": unset} if unset else {})
    report = device.launch(kernel, built["grid"], built["block"], args, built.get("shared_bytes", 0), "all", **given)
    return report, buffers


def _changed(
    kernel: Kernel,
    inputs: Mapping[int, NDArray[Any]],
    buffers: Mapping[int, NDArray[np.uint8]],
    arch: Arch,
    tensors: Sequence[Tensor],
) -> list[Finding]:
    """Inputs that the kernel wrote to."""
    found = []
    for tensor in tensors:
        if tensor.role == "C":
            continue
        wrong = np.argwhere(codes_of(tensor, buffers[id(tensor)], arch) != inputs[id(tensor)])
        if len(wrong):
            place = ", ".join(str(int(i)) for i in wrong[0])
            text = f"the kernel changed {len(wrong)} elements of its input {tensor.role}"
            found.append(
                Finding(
                    "inputs",
                    "error",
                    text,
                    "inputs-changed",
                    kernel=kernel.name,
                    element=f"{tensor.role}[{place}]",
                    count=len(wrong),
                )
            )
    return found


def _compare(
    result: Result,
    case: Case,
    built: Mapping[str, Any],
    arch: Arch,
    label: str,
    inputs: Mapping[int, NDArray[Any]],
    buffers: Mapping[int, NDArray[np.uint8]],
    expected: Mapping[str, NDArray[Any]] | None,
    *,
    keeps: bool,
    bits: int,
    flush: tuple[bool, bool],
) -> None:
    output = next((t for t in tensors_in(built) if t.role == "C"), None)
    expression = built.get("expect")
    if output is None or not isinstance(expression, Expression):
        return
    fmt = format_of(output, arch)
    actual = np.ascontiguousarray(codes_of(output, buffers[id(output)], arch))
    if expected is not None:
        want = expected["model"].astype(actual.dtype)
        comparison = bit_exact(actual, want, fmt)
        against = "golden bits"
        _check_gaps(result, output, buffers[id(output)], arch)
    else:
        if flush[0]:
            inputs = without_subnormals(tensors_in(built), inputs, arch)
        exact = evaluate(expression, inputs, arch)
        want = round_once(exact, fmt)
        drawn = label.startswith(("normal", "special")) and not fmt.integer
        if keeps and not drawn and every_step_exact(expression, inputs, arch, bits):
            comparison, against = bit_exact(actual, want, fmt, zeros=False), "the exact result, bit for bit"
        else:
            depth = _depth(expression)
            bound = magnitude(expression, inputs, arch)
            values = as_floats(exact, fmt.bits)
            comparison = within(actual, values, bound, depth, fmt, bits, flushed=flush[1])
            against = "the exact result, within the error bound"
        _check_gaps(result, output, buffers[id(output)], arch)
    result.outputs["elements"] += actual.size
    result.outputs["mismatches"] += comparison.mismatches
    result.outputs["max_ulp"] = max(result.outputs["max_ulp"], comparison.max_ulp)
    result.compared_with = tuple(dict.fromkeys((*result.compared_with, f"{label}: {against}")))
    if comparison.mismatches:
        _merge(result, [_output_finding(result, comparison, actual, want, label, case, fmt)])


def _check_gaps(result: Result, output: Tensor, memory: NDArray[np.uint8], arch: Arch) -> None:
    """Bytes between the lines of C (ld larger than a line) belong to nobody: they must stay poison."""
    if not output.ld or output.ld == output.line:
        return
    fmt = format_of(output, arch)
    gap = memory.view(fmt.carrier).reshape(output.lines, output.ld)[:, output.line :]
    if (gap.view(np.uint8) != 0xA5).any():
        text = "the kernel wrote between the lines of C"
        _merge(result, [Finding("outputs", "error", text, "outputs-between-lines", kernel=result.kernel)])


def _depth(expression: Any) -> int:
    if isinstance(expression, MatMul):
        return expression.left.shape[1]
    if isinstance(expression, Sum):
        return _depth(expression.left) + _depth(expression.right)
    if isinstance(expression, Times):
        return _depth(expression.matrix)
    return 1


def _output_finding(
    result: Result,
    comparison: Comparison,
    actual: NDArray[Any],
    want: NDArray[Any],
    label: str,
    case: Case,
    fmt: Format,
) -> Finding:
    row, col = (int(i) for i in np.argwhere(comparison.wrong)[0])
    digits = actual.dtype.itemsize * 2
    return Finding(
        check="outputs",
        severity="error",
        message=f"{comparison.mismatches} of {actual.size} elements differ ({label}), the worst by "
        f"{comparison.max_ulp} ulp",
        id="outputs-differ",
        kernel=result.kernel,
        source=case.source.name,
        element=f"C[{row}, {col}]",
        expected=f"{int(want[row, col]):#0{digits + 2}x} ({float(fmt.decode(want[row, col])):.9g})",
        actual=f"{int(actual[row, col]):#0{digits + 2}x} ({float(fmt.decode(actual[row, col])):.9g})",
        count=comparison.mismatches,
    )


def _merge(result: Result, findings: Sequence[Finding]) -> None:
    """Add findings, each place once."""
    seen = {(f.id, f.pc, f.other, f.element if f.check != "outputs" else "") for f in result.findings}
    for finding in findings:
        key = (finding.id, finding.pc, finding.other, finding.element if finding.check != "outputs" else "")
        if key not in seen:
            seen.add(key)
            result.findings.append(finding)


def select(cases: Sequence[Case], arch: str | None, names: str | Sequence[str] | None = None) -> list[tuple[Case, str]]:
    """Pairs of case and architecture that match a choice.

    Args:
        cases: cases of a target.
        arch: only this architecture.
        names: only cases whose name contains this, or one of these.

    Returns:
        The pairs, in order.
    """
    wanted = find_arch(arch).name if arch else None
    texts = [names] if isinstance(names, str) else names
    return [
        (case, a)
        for case in cases
        for a in case.arch
        if (wanted is None or a == wanted) and (not texts or any(text in case.title for text in texts))
    ]
