"""Verifying a case: outputs against golden data or the exact reference, mapping by provenance, every finding."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mfmasim.architectures import arch as find_arch
from mfmasim.devices import SimDevice
from mfmasim.devices import device as open_device
from mfmasim.devices.loops import loops_of, main_loop
from mfmasim.fidelity import Trust, lowest
from mfmasim.observe import Finding
from mfmasim.observe.fragments.dot_signs import DotSigns, has_dots
from mfmasim.observe.tools.path import Path
from mfmasim.verify.arguments import Argument, leaves
from mfmasim.verify.causes import of_other_flavour, ordered
from mfmasim.verify.clobbers import inline_assembly
from mfmasim.verify.contract import check_memory
from mfmasim.verify.elements.provenance import check_sources
from mfmasim.verify.elements.trace import check_mapping
from mfmasim.verify.inputs import inputs_of
from mfmasim.verify.matrices import compare_output, run_matrices
from mfmasim.verify.orders import turns_of, wrong_orders
from mfmasim.verify.plain import missing_instructions, run_arrays
from mfmasim.verify.result import Result
from mfmasim.verify.roles import format_of
from mfmasim.verify.sums import sums_of
from mfmasim.verify.suppress import demand, suppress

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from mfmasim.devices import Device, Report
    from mfmasim.kernels import Kernel
    from mfmasim.machine.events import Observer
    from mfmasim.machine.launch.quota import Quota
    from mfmasim.verify.cases import Case
    from mfmasim.verify.launch import CaseLaunch

INTEGERS = ("i4", "u4", "i8", "u8", "i16", "u16")
"""Formats whose sign a dot product chooses."""


def verify_case(
    case: Case,
    arch: str,
    *,
    group: str = "",
    device: str | Device = "sim",
    compiler: str | None = None,
    budget: int | None = None,
    quota: Quota | None = None,
    kernel: Kernel | None = None,
    observers: Sequence[Observer] = (),
    schedule: str = "usual",
    approximations: str = "nearest",
    inputs: Mapping[str, NDArray[Any]] | None = None,
) -> Result:
    """Verify a case on one architecture.

    Args:
        case: the case.
        arch: one of the case's architectures.
        group: family or file, for the report.
        device: back end, by name, such as ``sim`` or ``hip:1``, or an open one; only the simulator proves mappings.
        compiler: compile with this one and ignore prebuilt code objects.
        budget: instructions a wave may execute.
        quota: what each launch may take, on the simulator.
        kernel: run this one instead of the case's (for mutants).
        observers: further listeners to the machine's events, in every launch except that of the mapping check.
        schedule: order of waves in these launches, as `SimDevice.launch` has it.
        approximations: results of approximate operations in them, likewise.
        inputs: what arguments hold (``argument 0``, a field ``argument 2[1]``), instead of golden data and of what
            data classes draw: codes of a matrix in its stored shape, values of an array. There is one launch then.

    Returns:
        The result. It contains every failure of the kernel.

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
    case = set_parameters(case, arch=target.name)
    case.check_contract()
    back_end = open_device(device) if isinstance(device, str) else device
    if kernel is None:
        kernel = case.compiled(target.name, compiler)
    result = Result(group, case.title, kernel.name, target.name, device_name)
    result.source = str(case.source)
    result.warnings = kernel.code.warnings
    result.code = {"sha256": kernel.code.sha256, "made_by": kernel.code.made_by}
    case = set_parameters(case, wave=kernel.wave)
    launch = case.make()
    path = Path() if target.name in case.order and isinstance(back_end, SimDevice) else None
    signs = _dot_signs(kernel, launch) if isinstance(back_end, SimDevice) else None
    watching = [*observers, *(one for one in (path, signs) if one is not None)]
    given = {
        "observers": watching or None,
        "budget": budget,
        "quota": quota,
        "schedule": None if schedule == "usual" else schedule,
        "approximations": None if approximations == "nearest" else approximations,
        "checks": case.checks if isinstance(back_end, SimDevice) else None,
    }
    options = {name: value for name, value in given.items() if value is not None}
    result.findings += of_other_flavour(kernel, launch)
    run = _run_arrays if launch.plain else _run_matrices
    with case.named():
        executed = run(result, case, launch, kernel, back_end, options, inputs)
    if isinstance(back_end, SimDevice) and executed is not None:  # only the simulator sees what a kernel does
        result.findings += missing_instructions(case, executed, kernel)
        _merge(result, signs.findings if signs is not None else [])
        if path is not None and result.launch is not None:
            result.findings += _wrong_orders(case, path, result.launch)
        follows = case.mapping is not None and (case.mapping or launch.sources or not launch.plain)
        followed = case.make(case.mapping) if follows else None
        if followed is not None and (followed.sources or not followed.plain):
            check = check_sources if followed.plain else check_mapping
            mapping = check(back_end, kernel, followed)
            result.mapping = {"slots_checked": mapping.slots_checked, "mismatches": mapping.mismatches}
            demanded = {"mapping-no-matrix": "error"} if case.demands_matrix else {}
            _merge(result, [replace(f, severity=demanded.get(f.id, f.severity)) for f in mapping.findings])
    if launch.expect is None:
        text = "the case has no expected C: outputs are not compared"
        level = "warning" if result.mapping["slots_checked"] else "error"
        result.findings.append(Finding("outputs", level, text, "outputs-not-compared", kernel=kernel.name))
    result.findings += inline_assembly(case.source, kernel.name)
    suppress(result, case.suppress)
    demand(result, case.fails)
    result.findings = ordered(result.findings)
    result.settle()
    result.seconds = time.perf_counter() - start
    return result


def _dot_signs(kernel: Kernel, launch: CaseLaunch) -> DotSigns | None:
    """What follows integers to dot products, if the case has arrays of integers and the kernel such products."""
    arguments = [(place, arg) for place, arg in leaves(launch.args) if isinstance(arg, Argument)]
    formats = {place: arg.format for place, arg in arguments if arg.format in INTEGERS}
    return DotSigns(formats) if formats and has_dots(kernel.reachable) else None


def _run_arrays(
    result: Result,
    case: Case,
    launch: CaseLaunch,
    kernel: Kernel,
    device: Device,
    options: Mapping[str, object],
    inputs: Mapping[str, NDArray[Any]] | None,
) -> Counter[str] | None:
    """Run a case of plain arrays; wave-instructions that were executed, or None where the launch ended early."""
    report, findings = run_arrays(result, case, launch, kernel, device, options, inputs or {})
    _note(result, report)
    _merge(result, [*report.findings, *findings])
    return None if report.stopped else report.counts


def _run_matrices(
    result: Result,
    case: Case,
    launch: CaseLaunch,
    kernel: Kernel,
    device: Device,
    options: Mapping[str, object],
    inputs: Mapping[str, NDArray[Any]] | None,
) -> Counter[str] | None:
    """Run a case of matrices on each of its inputs; returns what `_run_arrays` does."""
    arch = kernel.arch
    check_memory(list(launch.tensors.values()), arch, case.name)
    factors = [launch.tensors[name] for name in ("A", "B") if name in launch.tensors]
    sums = sums_of(kernel, wide=any(format_of(tensor, arch).name == "f64" for tensor in factors))
    executed: Counter[str] = Counter()
    for given in inputs_of(case, launch, arch, inputs, sums.bits):
        report, memory, changed = run_matrices(device, kernel, launch, given, options)
        _merge(result, [*report.findings, *changed])
        _note(result, report)
        if report.stopped:
            return None
        executed += report.counts
        _merge(result, compare_output(result, case, launch, given, memory, arch, sums))
    return executed


def _wrong_orders(case: Case, path: Path, report: Report) -> list[Finding]:
    """Findings about the order of the main loop; a mutant may have none."""
    if report.program is None:
        return []
    main = main_loop(loops_of(report.program, report.executed))
    turns = [] if main is None else turns_of(path.instructions, main, report.program.arch)
    found = wrong_orders(case.order[report.arch], turns, report.kernel)
    program = report.program
    return [one if one.pc is None else replace(one, source=program.source_at(one.pc)) for one in found]


def set_parameters(case: Case, **facts: Any) -> Case:
    """The case with its parameters `arch` and `wave`, if it has them, set to those of the launch."""
    known = {name: value for name, value in facts.items() if name in case.parameters}
    return replace(case, parameters={**case.parameters, **known})


def launched(report: Report, title: str) -> Result:
    """The result of a launch without a case: its findings decide.

    Args:
        report: of the launch.
        title: name of the launch.
    """
    result = Result("", title, report.kernel, report.arch, report.device)
    _merge(result, report.findings)
    _note(result, report)
    result.settle()
    return result


def _note(result: Result, report: Report) -> None:
    result.launch = report
    trust = Trust.of([(result.fidelity, result.fidelity_of), (str(report.fidelity), report.fidelity.operations)])
    result.fidelity, result.fidelity_of = trust.level, trust.operations
    result.matrix_fidelity = lowest(filter(None, (result.matrix_fidelity, report.matrix_fidelity)), default="")
    result.lds = report.lds
    result.executed = dict(sorted(report.counts.items()))


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
    wanted = None if arch is None else find_arch(arch).name
    texts = [names] if isinstance(names, str) else names
    return [
        (case, a)
        for case in cases
        for a in case.arch
        if (wanted is None or a == wanted) and (not texts or any(text in case.title for text in texts))
    ]
