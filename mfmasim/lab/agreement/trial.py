"""A trial: one case with its own shape and inputs, judged by simulator, device and reference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.architectures import arch as find_arch
from mfmasim.devices import Device, Report, SimDevice
from mfmasim.errors import MfmasimError
from mfmasim.kernels import Kernel
from mfmasim.lab.agreement.judging import Differences, agreement, agrees, pieces
from mfmasim.lab.agreement.recording import Call, Plain
from mfmasim.lab.agreement.threeway import matrix_instructions
from mfmasim.lab.agreement.writers import Writers
from mfmasim.observe import Finding
from mfmasim.observe.alike import alike
from mfmasim.verify.arguments import Argument, called, leaves
from mfmasim.verify.cases import Case
from mfmasim.verify.launch import CaseLaunch
from mfmasim.verify.result import Result
from mfmasim.verify.runner import set_parameters, verify_case

SHOWN = 5


@dataclass
class Trial:
    """A case with drawn parameters and inputs."""

    case: Case
    """The case with the drawn parameters."""
    arch: str
    inputs: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    """Contents of arguments and fields, by name (``argument 0``); all others have the case's declared contents."""

    def __repr__(self) -> str:
        """One line that can be copied: the case, its parameters, and the unusual elements of each input."""
        parts = [f"{self.case.title} on {self.arch}"]
        values = {n: v for n, v in self.case.parameters.items() if n not in ("arch", "wave")}
        parts += [" ".join(f"{name}={value}" for name, value in values.items())] if values else []
        launch = set_parameters(self.case, arch=self.arch).make()
        args = dict(leaves(launch.args))
        names = self._names([args[place].name for place in self.inputs], len(launch.args))
        parts += [f"{names[args[place].name]} {_contents(array)}" for place, array in self.inputs.items()]
        return "; ".join(parts)

    def _names(self, places: list[str], count: int) -> dict[str, str]:
        """The kernel's own names of arguments, where they are known."""
        try:
            target = find_arch(self.arch).name
            kernel = self.case.compiled(target)
            return {place: called(kernel, place, count) for place in places}
        except MfmasimError:
            return {place: place for place in places}

    def _repr_pretty_(self, printer: Any, _: object) -> None:
        """Print as `repr` does, in hypothesis and IPython."""
        printer.text(repr(self))


def _contents(array: NDArray[Any]) -> str:
    """The most frequent element, and the first places of others."""
    bits = np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}")
    values, counts = np.unique(bits, return_counts=True)
    common = values[counts.argmax()]
    others = np.argwhere(bits != common)
    places = [f"[{', '.join(str(int(i)) for i in p)}]: {int(bits[tuple(p)]):#x}" for p in others[:SHOWN]]
    more = f", and {len(others) - SHOWN} more" if len(others) > SHOWN else ""
    return f"{int(common):#x}" + (f" but {', '.join(places)}{more}" if places else "")


@dataclass
class Verdict:
    """Results of simulator, device and reference for a trial."""

    trial: Trial
    simulator: Result
    """Simulator against reference, with the findings of its checks."""
    device: Result | None
    """Device against reference; None where there was no device."""
    differences: Differences
    """Simulator against device."""
    instructions: tuple[str, ...] = ()
    """Matrix instructions that ran."""
    stored: str = ""
    """The instruction that stored the first element which differs, and its line."""

    @property
    def blamed(self) -> list[Finding]:
        """Errors other than differing outputs: of the simulator's checks, and of the device's guard zones."""
        found = [*self.simulator.findings, *(self.device.findings if self.device is not None else ())]
        return [f for f in found if f.severity == "error" and f.id != "outputs-differ"]

    @property
    def agreement(self) -> str:
        """The disagreeing parties."""
        simulator = agrees(self.simulator)
        if self.device is None:
            return "simulator and reference agree" if simulator else "simulator and reference differ"
        return agreement(not self.differences.mismatches, simulator, agrees(self.device))

    @property
    def together(self) -> bool:
        """Whether outputs agree, regardless of other findings."""
        return (
            agrees(self.simulator) and not self.differences.mismatches and (self.device is None or agrees(self.device))
        )

    @property
    def ok(self) -> bool:
        """Whether all agree, and no check reports an error."""
        device = self.device is None or (self.device.status == "pass" and not self.differences.mismatches)
        return device and self.simulator.status == "pass"

    @property
    def kind(self) -> tuple[str, ...]:
        """Class of the failure: verdicts of one kind show the same fault."""
        return (self.agreement, *sorted({f.id for f in self.blamed}))

    def like(self, first: Verdict) -> bool:
        """Whether it fails as another verdict, or with a part of its findings: smaller shapes show fewer findings."""
        own, others = {f.id for f in self.blamed}, {f.id for f in first.blamed}
        return own <= others and (self.agreement == first.agreement or (self.together and bool(own)))

    def record(self) -> dict[str, Any]:
        """The verdict for JSON."""
        results = {"simulator_and_reference": self.simulator, "device_and_reference": self.device}
        parameters = {n: v for n, v in self.trial.case.parameters.items() if isinstance(v, int | float | str)}
        return {
            "case": self.trial.case.title,
            "arch": self.trial.arch,
            "parameters": parameters,
            "inputs": {name: _contents(array) for name, array in self.trial.inputs.items()},
            "agreement": self.agreement,
            "ok": self.ok,
            "fidelity": self.simulator.trust.record(),
            **{name: result.outputs if result is not None else None for name, result in results.items()},
            "simulator_and_device": {"elements": self.differences.elements, "mismatches": self.differences.mismatches},
            "findings": [f.id for f in self.simulator.findings if f.severity == "error"],
            "differences": [vars(row) for row in self.differences.first],
            "instructions": list(self.instructions),
            "stored_by": self.stored,
        }

    def _not_read(self) -> Iterator[str]:
        """Matrices with the factor 0 that the kernel read and stored: their contents are undefined on purpose."""
        if not any(f.check == "uninitialised" for f in self.blamed):
            return
        launch = set_parameters(self.trial.case, arch=self.trial.arch).make()
        expression = launch.expression
        if expression is None:
            return
        for name, tensor in launch.tensors.items():
            if any(part is tensor for part in expression.parts()) and not expression.uses(tensor):
                rule = "is not to be read (as in BLAS), and holds NaN here (docs/case-reference.md)"
                yield f"with the factor 0, {name} {rule}"

    def lines(self) -> Iterator[str]:
        """The verdict as lines of text."""
        yield f"{'AGREE' if self.ok else 'WRONG' if self.together else 'DIFFER':7} {self.trial}"
        if self.ok:
            return
        yield f"        {self.agreement}"
        yield f"        fidelity of the simulator: {self.simulator.trust}"
        results = [("simulator", self.simulator)] + ([("device", self.device)] if self.device is not None else [])
        for name, result in results:
            for f, *others in alike([f for f in result.findings if f.severity == "error"]):
                where = " ".join(part for part in (f.check, f.source, f.element, f.message) if part)
                values = f": expected {f.expected}, {name} has {f.actual}" if f.expected else ""
                yield f"        {name}: {where}{values}"
                if others:
                    yield f"        {name}: and {len(others)} more of the same kind at the same line"
        for row in self.differences.first:
            yield f"        {row.element}: simulator {row.simulator}, device {row.device}, {row.ulp} ulp"
        computed = f"computed by {' or '.join(self.instructions)}" if self.instructions else ""
        by = f"stored by {self.stored}" if self.stored else ""
        if computed or by:
            yield f"        {', '.join(part for part in (computed, by) if part)}"
        yield from (f"        {text}" for text in self._not_read())
        if self.trial.inputs:
            yield "        'A 0x0 but [0, 1]: 0x3c' reads: every element of A has the bits 0x0, A[0, 1] has 0x3c"


def judge(
    trial: Trial, device: Device | None = None, *, kernel: Kernel | None = None, checks: str = "all", most: int = SHOWN
) -> Verdict:
    """Launch a trial on the simulator and on a device, and compare both with the reference and with each other.

    Args:
        trial: the trial.
        device: a GPU of the trial's architecture, or anything else that launches as one; None leaves it out.
        kernel: replaces the case's kernel.
        checks: checks of the simulator.
        most: differing elements to keep.

    Returns:
        The verdict. If the outputs of device and simulator are equal, one comparison with the reference serves both.

    Raises:
        MfmasimError: the case is wrong, or an instruction is not known.
    """
    target = find_arch(trial.arch)
    if kernel is None:
        kernel = trial.case.compiled(target.name)
    writers = Writers()
    on_simulator = Keeper(SimDevice(), checks)
    simulator = verify_case(
        trial.case, target.name, device=on_simulator, kernel=kernel, inputs=trial.inputs, observers=[writers]
    )
    launch = set_parameters(trial.case, arch=target.name, wave=kernel.wave).make()
    verdict = Verdict(trial, simulator, None, Differences(), matrix_instructions(on_simulator.reports))
    if device is not None and not on_simulator.reports[-1].stopped:
        on_device = Keeper(device, "all")
        verdict.device = verify_case(trial.case, target.name, device=on_device, kernel=kernel, inputs=trial.inputs)
        changed = [
            name for name, array in on_simulator.before.items() if not np.array_equal(array, on_device.before[name])
        ]
        if changed:
            text = f"{changed[0]} has other contents each time the case is built; derive its values from a seed"
            raise MfmasimError(f"case {trial.case.name}: {text}")
        memory = {name: (array, on_device.after[name]) for name, array in on_simulator.after.items()}
        for piece in pieces(launch, target, memory):
            verdict.differences.add(0, piece, most)
    if not verdict.ok:
        verdict.stored = _stored(verdict, launch, kernel, writers)
    return verdict


def _stored(verdict: Verdict, launch: CaseLaunch, kernel: Kernel, writers: Writers) -> str:
    """The instruction that stored the first wrong element."""
    place = next(((row.argument, row.byte) for row in verdict.differences.first), None)
    if place is None:
        place = next((_place(f, launch, kernel) for f in verdict.simulator.findings if f.id == "outputs-differ"), None)
    instruction = writers.of(0, *place) if place is not None else None
    if instruction is None:
        return "" if place is None else "nothing: the simulator never wrote there"
    return f"{instruction.name} ({kernel.line_at(instruction.pc)})"


def _place(finding: Finding, launch: CaseLaunch, kernel: Kernel) -> tuple[str, int] | None:
    """Argument and first byte of the element that an output finding names."""
    name, _, index = finding.element.rpartition("[")
    where = tuple(int(text) for text in index.rstrip("]").split(","))
    for place, arg in leaves(launch.args):
        if isinstance(arg, Argument) and name in (arg.name, called(kernel, place, len(launch.args))):
            return place, int(arg.first_bytes(kernel.arch)[where])
    return None


class Keeper(Plain):
    """Records the inputs and outputs of a launch, by name of the argument or field."""

    def __init__(self, device: Device, checks: str) -> None:
        """Launch on `device` with these checks."""
        super().__init__(device, checks)
        self.before: dict[str, NDArray[np.uint8]] = {}
        self.after: dict[str, NDArray[np.uint8]] = {}
        self.reports: list[Report] = []

    def forward(self, call: Call) -> Report:
        """Launch, and keep the bytes of every array."""
        arrays = {name: arg for name, arg in leaves(call.args) if isinstance(arg, np.ndarray) and arg.ndim}
        self.before = {name: np.frombuffer(array.tobytes(), np.uint8) for name, array in arrays.items()}
        report = super().forward(call)
        self.after = {name: np.frombuffer(array.tobytes(), np.uint8) for name, array in arrays.items()}
        self.reports.append(report)
        return report
