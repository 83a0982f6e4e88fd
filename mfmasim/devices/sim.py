"""The simulator as a device."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from mfmasim.devices.collection import rare_collections
from mfmasim.devices.kinds import PRINTF, STOPS
from mfmasim.devices.options import WITNESS, Options
from mfmasim.devices.report import Fidelity, Report
from mfmasim.devices.spread import check_executor, spread
from mfmasim.devices.witness import witnessed
from mfmasim.errors import ExhaustedError, MfmasimError
from mfmasim.machine.binding.approximation import direction
from mfmasim.machine.events import Observer, hooks
from mfmasim.machine.execution.joint_launches import run_together
from mfmasim.machine.execution.late_delivery import Late
from mfmasim.machine.execution.run import Machine
from mfmasim.machine.launch.launch import check_quota
from mfmasim.machine.launch.layout import prepare
from mfmasim.machine.launch.lds_shapes import declared_lds
from mfmasim.machine.launch.quota import Meter, Quota
from mfmasim.machine.state.memory_snapshot import Before, Earlier
from mfmasim.observe import SEVERITIES, Finding
from mfmasim.observe.alike import folded
from mfmasim.observe.check import Check
from mfmasim.observe.conflicts import Conflicts
from mfmasim.observe.registry import checks_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from mfmasim.kernels import Kernel
    from mfmasim.machine.execution.run import Outcome
    from mfmasim.machine.execution.wave_orders import Schedule
    from mfmasim.machine.launch.argument_passing import Arguments
    from mfmasim.machine.launch.launch import Launch

SCHEDULED_WORKGROUPS = 1 << 22
"""Most workgroups of a launch whose order is chosen: the order is a list."""


class SimDevice:
    """Runs kernels in NumPy, on any architecture that the decoder supports."""

    name = "sim"

    def __repr__(self) -> str:
        """Short name."""
        return "<device sim>"

    def launch(
        self,
        kernel: Kernel,
        grid: object,
        block: object,
        args: Arguments,
        shared_bytes: int = 0,
        checks: str | Sequence[str] | None = "all",
        *,
        undefined: Sequence[int | str | NDArray[Any]] = (),
        buffers: Mapping[int, Any] | None = None,
        cluster: object = None,
        **options: Any,
    ) -> Report:
        """Run a kernel to its end.

        Args:
            kernel: such as ``code["gemm"]``.
            grid: workgroups in x, y, z.
            block: work-items of a workgroup in x, y, z.
            args: one entry per argument; arrays are buffers and updated in place, None is a null pointer, a value is
                a NumPy scalar or a Python number. A list is a structure with such fields, numbers as NumPy scalars;
                for a pointer it is a buffer that holds the structure: a list of arrays is an array of pointers.
                Padding of hand-written metadata may be left out. A dict has the entries by the arguments' names, or
                numbers. Bytes are the whole segment of arguments; hidden ones are filled in.
            shared_bytes: dynamic LDS in bytes.
            checks: ``"all"``, ``"none"``, or names of checks, each with an option or without, as ``"hazards:manual"``.
            undefined: arguments, by number or name, or arrays among them or their fields, whose buffers are
                undefined, for the check `uninitialised`: the kernel may not use what it did not write to them. All
                others count as written by the caller.
            buffers: where `args` is bytes, arrays, or lists for structures, by the byte of the segment at which their
                address belongs.
            cluster: workgroups of a cluster in x, y, z; None takes those that the kernel was compiled for.
            options: further fields of `mfmasim.devices.Options`: ``budget``, ``observers``, ``debug``, ``max_waves``,
                ``executor``, ``parts``, ``schedule``, ``quota``, ``lds``, ``approximations``.

        Returns:
            The report. Buffers hold what the kernel wrote even when there are findings.

        Raises:
            MfmasimError: bad arguments, before anything runs; or an instruction the machine does not execute.
        """
        chosen = Options.of({"checks": checks, **options})

        def laid_out() -> Launch:
            return prepare(kernel, grid, block, args, shared_bytes, undefined, buffers, cluster)

        with _enough(kernel):
            prepared = laid_out()
        report = self.run(prepared, chosen, laid_out)  # arrays change only when it is over
        prepared.collect()
        return report

    def close(self) -> None:
        """Do nothing: launches keep no state."""

    reset = close

    def launch_together(
        self,
        kernel: Kernel,
        grid: object,
        block: object,
        args: Sequence[Arguments],
        shared_bytes: int = 0,
        observers: Sequence[Observer] = (),
    ) -> bool:
        """Run several launches of a kernel at once, without checks.

        Args:
            kernel: what to run.
            grid: workgroups in x, y, z.
            block: work-items of a workgroup in x, y, z.
            args: of each launch, as `launch` takes them.
            shared_bytes: dynamic LDS in bytes.
            observers: receive the events; the number of a wave counts through all launches.

        Returns:
            Whether each launch behaved as a separate launch; if not, no array has changed.
        """
        return run_together(kernel, grid, block, args, shared_bytes, observers)

    def run(self, prepared: Launch, options: Options, again: Callable[[], Launch] | None = None) -> Report:
        """Run a launch whose memory is laid out.

        Args:
            prepared: the launch.
            options: options of the run.
            again: returns the launch in its initial state; without it, the memory that the launch overwrites
                is saved if a check may need a second run.

        Raises:
            MfmasimError: see `launch`.
        """
        if options.schedule != "usual" and prepared.workgroups > SCHEDULED_WORKGROUPS:
            raise MfmasimError(
                f"schedule {options.schedule!r}: a grid of at most {SCHEDULED_WORKGROUPS:,} workgroups is expected"
            )
        prepared.meter = Meter(options.quota or Quota())
        prepared.approximation = direction(options.approximations)
        if options.lds:
            fixed = prepared.lds_bytes - prepared.shared_bytes
            prepared.names.declared = declared_lds(options.lds, fixed, prepared.shared_bytes)
        check_quota(prepared)
        with rare_collections(), _enough(prepared.kernel, prepared.memory.size, options.names):
            running = _Running(prepared, options, checks_of(prepared, options.names), again)
            running.execute()
            running.repeat()
            running.judge()
            report = running.report(self.name)
        for check in running.checks:
            vars(check).clear()  # its parts refer to it, and would keep the memory until a full garbage collection
        return report


@contextmanager
def _enough(kernel: Kernel, size: int = 0, checks: Sequence[str] = ()) -> Iterator[None]:
    """Refuse a launch that needs more memory than the host has, in one line.

    Raises:
        ExhaustedError: the host has too little memory.
    """
    try:
        yield
    except MemoryError as error:
        parts = [f"{kernel.title}: the host has not the memory for this launch"]
        parts += [str(error)] * bool(str(error))
        parts += [f"buffers take {size:,} bytes"] * bool(size)
        parts += [f"the checks {', '.join(checks)} keep records beside them: fewer checks take less"] * bool(checks)
        raise ExhaustedError("; ".join(parts)) from None


@dataclass
class _Running:
    """The stages of a launch from its layout to its report, with the state between them."""

    launch: Launch
    options: Options
    checks: Sequence[Check]
    fresh: Callable[[], Launch] | None
    """Gives the launch as it was; None if what it overwrites is to be kept."""
    outcome: Outcome = field(init=False)
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    """What the kernel printed."""

    def __post_init__(self) -> None:
        """Save the memory that the launch overwrites, if it is needed."""
        if self.fresh is None:
            before = Before(self.launch.memory)
            if hooks(self.checks, Check.again):
                self.launch.memory.before = before
            self.fresh = lambda: replace(self.launch, memory=Earlier(before))

    def again(self) -> Launch:
        """The launch in its initial state, with the same quota."""
        assert self.fresh is not None
        return replace(self.fresh(), meter=self.launch.meter, approximation=self.launch.approximation)

    def execute(self) -> None:
        """Run the instructions."""
        launch, chosen, order = self.launch, self.options, self.options.order()
        everyone = [*self.checks, *chosen.listeners]
        for start in hooks(chosen.listeners, Observer.on_start):
            start(launch)
        late = isinstance(order, Late)  # events of late loads would be out of order
        first = everyone if late else self.checks
        if order is not None and first:
            # Findings belong to the default order, for any order of the outputs.
            usual = self._run(self.again(), first, chosen.max_waves)
            listeners = () if late else chosen.listeners
            other = self._run(launch, listeners, chosen.max_waves, order)
            self.outcome = other if other.stopped and not usual.stopped else usual
        elif chosen.executor is None:
            self.outcome = self._run(launch, everyone, chosen.max_waves, order)
        else:
            check_executor(chosen.executor, chosen.parts, chosen.listeners, self.checks)
            self.outcome, self.notes = spread(
                launch,
                chosen.executor,
                self.checks,
                lambda: checks_of(launch, chosen.names),
                chosen.budget,
                chosen.max_waves,
                chosen.parts,
            )
        for end in hooks(chosen.listeners, Observer.on_end):
            end(launch.memory)

    def _run(
        self, launch: Launch, observers: Sequence[Observer], waves: int | None = None, order: Schedule | None = None
    ) -> Outcome:
        """Run a launch; only the caller's observers may keep the machine."""
        machine = Machine(launch, observers, self.options.budget, waves, order)
        return machine.run() if self.options.listeners else machine.run_once()

    def repeat(self) -> None:
        """Run again for the checks that ask for it."""
        for check in self.checks:
            second = check.again()
            if second is not None:
                # Values of racing workgroups depend on the number in flight, which is always the same.
                repeated = self._run(self.again(), [second])
                if repeated.stopped and not self.outcome.stopped:
                    self.notes.append(f"the second run of the check {check.name} ended early: {repeated.stopped}")
                check.take()

    def judge(self) -> None:
        """Collect findings and printed lines."""
        launch, stopped = self.launch, self.outcome.stopped
        findings = [finding for check in self.checks for finding in check.findings()]
        if self.options.schedule == WITNESS and not stopped:
            limits = self.options.budget, self.options.max_waves
            findings, note = witnessed(launch, self.checks, findings, self.again, *limits)
            self.notes.append(note)
        findings = folded(findings)
        if stopped:
            findings.insert(0, ending(self.outcome, launch.kernel))
            self.notes += _left_out(self.outcome, launch.workgroups)
        launch.memory.before = None
        text, wrong = launch.printed()
        if wrong:
            findings.append(Finding(PRINTF.check, PRINTF.severity, wrong, PRINTF.id, kernel=launch.kernel.name))
        lines = text.removesuffix("\n").split("\n") if text else []
        self.findings, self.lines = _kept(findings, lines, launch.meter.quota.rows, self.notes)

    def report(self, device: str) -> Report:
        """The report of a device with that name."""
        launch, outcome, kernel = self.launch, self.outcome, self.launch.kernel
        counting = next((check for check in self.checks if isinstance(check, Conflicts)), None)
        metadata = kernel.info.metadata
        return Report(
            kernel=kernel.name,
            arch=kernel.arch.name,
            device=device,
            grid=launch.grid,
            block=launch.block,
            findings=self.findings,
            counts=outcome.instructions,
            fidelity=Fidelity(outcome.fidelity),
            waves=outcome.waves,
            lds={"bytes": launch.lds_bytes, **(counting.record() if counting is not None else {})},
            registers={
                "vgpr": metadata.vgpr_count or 0,
                "agpr": metadata.agpr_count or 0,
                "sgpr": metadata.sgpr_count or 0,
            },
            printed=self.lines,
            notes=[*self.notes, *kernel.info.disagreements, *_workgroup_mode(kernel)],
            stopped=outcome.stopped,
            executed=outcome.executed,
            program=kernel,
        )


def ending(outcome: Outcome, kernel: Kernel) -> Finding:
    """The finding about a launch that ended early."""
    kind, pc, place = STOPS[outcome.stopped_by], outcome.stopped_pc, outcome.stopped_at
    instruction = None if pc is None else kernel.instruction_at(pc)
    return Finding(
        check=kind.check,
        severity=kind.severity,
        message=outcome.stopped,
        id=kind.id,
        kernel=kernel.name,
        pc=pc,
        source="" if pc is None else kernel.source_at(pc),
        workgroup=None if place is None else place.workgroup,
        wave=None if place is None else place.wave,
        lane=None if place is None else place.lane,
        instruction="" if instruction is None else instruction.name,
        text="" if instruction is None else instruction.text,
    )


def _left_out(outcome: Outcome, workgroups: int) -> list[str]:
    """A sentence on the part that was not executed, and so not checked."""
    counted = (outcome.cut, "stopped before their end"), (outcome.unexecuted, "not executed")
    return [f"{count:,} of {workgroups:,} workgroups were {what}" for count, what in counted if count]


def _kept(
    findings: list[Finding], lines: list[str], most: int | None, notes: list[str]
) -> tuple[list[Finding], list[str]]:
    """The worst findings and the first printed lines, at most `most` of each; a note counts the omitted ones."""
    if most is None or max(len(findings), len(lines)) <= most:
        return findings, lines
    left = max(0, len(findings) - most), max(0, len(lines) - most)
    notes.append(f"quota of {most:,} rows: {left[0]:,} findings and {left[1]:,} printed lines are left out")
    return sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))[:most], lines[:most]


def _workgroup_mode(kernel: Kernel) -> list[str]:
    """RDNA: whether a workgroup has both compute units of a pair (LLVM's AMDGPU usage guide, ENABLE_WGP_MODE)."""
    if not kernel.info.descriptor.fields.get("wgp_mode"):
        return []
    return ["workgroups run in WGP mode, on two compute units; results do not depend on it"]
