"""The simulator as a device."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mfmasim.devices.kinds import PRINTF, STOPS
from mfmasim.devices.report import Fidelity, Report
from mfmasim.devices.witness import witnessed
from mfmasim.errors import MfmasimError, unknown
from mfmasim.machine.approximate import direction
from mfmasim.machine.before import Before, Earlier
from mfmasim.machine.events import Observer, hooks
from mfmasim.machine.late import Late
from mfmasim.machine.launch import dimensions, prepare
from mfmasim.machine.quota import Meter, Quota, check_quota
from mfmasim.machine.run import BUDGET, Machine
from mfmasim.machine.schedule import schedule as schedule_of
from mfmasim.machine.together import run_together
from mfmasim.observe import SEVERITIES, Finding
from mfmasim.observe.check import Check
from mfmasim.observe.conflicts import Conflicts
from mfmasim.observe.registry import CHECKS, checks_of
from mfmasim.observe.tools.debugger import Debugger

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Executor

    from numpy.typing import NDArray

    from mfmasim.machine.launch import Launch
    from mfmasim.machine.passing import Arguments
    from mfmasim.machine.run import Outcome
    from mfmasim.machine.schedule import Schedule
    from mfmasim.program import Kernel

__all__ = ["SimDevice"]

SCHEDULED_WORKGROUPS = 1 << 22
"""Most workgroups of a launch whose order is chosen: the order is a list."""


def chosen_checks(checks: str | Sequence[str] | None) -> tuple[str, ...]:
    """Names of the checks that ``"all"``, ``"none"``, a list or a comma-separated string select.

    An option of a check follows its name and a colon: ``"all,hazards:manual"`` is all, one of them with an option.

    Raises:
        MfmasimError: a name is not a check, or an option not one of the check's.
    """
    if checks is None or checks == "none":
        return ()
    if checks == "all":
        return tuple(name for name, check in CHECKS.items() if check.default)
    if not isinstance(checks, str | list | tuple):
        raise MfmasimError(f"checks {checks!r}: 'all', 'none' or names of checks are expected")
    names = tuple(part.strip() for part in checks.split(",")) if isinstance(checks, str) else tuple(checks)
    chosen: dict[str, str] = {}
    for name in names:
        if name == "all":
            chosen |= {one: one for one in chosen_checks("all") if one not in chosen}
            continue
        check, colon, option = name.partition(":")
        if check not in CHECKS:
            raise unknown("check", name, [*CHECKS, "all", "none"])
        if colon and not CHECKS[check].options:
            raise MfmasimError(f"check {name!r}: {check} has no options")
        if colon and option not in CHECKS[check].options:
            raise unknown(f"option of the check {check}", option, list(CHECKS[check].options))
        chosen[check] = name
    return tuple(chosen.values())


def check_options(observers: Any, debug: Any, executor: Any, parts: Any) -> None:
    """Check the types of launch options, and that parts have an executor.

    Args:
        observers: a list.
        debug: a debugger or None.
        executor: runs parts, or None.
        parts: how many, or None.

    Raises:
        MfmasimError: names the value and what is expected.
    """
    if not isinstance(observers, list | tuple):
        raise MfmasimError(f"observers {observers!r}: a list of observers is expected")
    if debug is not None and not isinstance(debug, Debugger):
        raise MfmasimError(f"debug {debug!r}: a mfmasim.Debugger() is expected")
    if parts is not None and executor is None:
        raise MfmasimError(f"parts {parts!r}: parts need an executor")


def ending(outcome: Outcome, kernel: Kernel) -> Finding:
    """The finding about a launch that ended early."""
    kind, pc, place = STOPS[outcome.stopped_by], outcome.stopped_pc, outcome.stopped_at
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
    )


class SimDevice:
    """Runs kernels in NumPy, on any architecture that the decoder supports."""

    name = "sim"

    def __repr__(self) -> str:
        """Short name."""
        return "<device sim>"

    def launch(
        self,
        kernel: Kernel,
        grid: Any,
        block: Any,
        args: Arguments,
        shared_bytes: int = 0,
        checks: str | Sequence[str] | None = "all",
        *,
        budget: int = BUDGET,
        observers: Sequence[Observer] = (),
        debug: Debugger | None = None,
        max_waves: int | None = None,
        executor: Executor | None = None,
        parts: int | None = None,
        undefined: Sequence[int | str | NDArray[Any]] = (),
        schedule: str = "usual",
        buffers: Mapping[int, NDArray[Any]] | None = None,
        quota: Quota | None = None,
        approximations: str = "nearest",
        cluster: Any = None,
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
            budget: instructions a wave may execute; then the launch is stopped, and a finding names the place.
            observers: further observers (`mfmasim.machine.events.Observer`).
            debug: breakpoints; None costs nothing.
            max_waves: waves in flight at most (a workgroup always runs as a whole); None takes 2,048. Their
                registers, LDS and scratch never exceed 256 MB. It changes memory and speed, not the result.
            executor: a ``concurrent.futures.Executor`` that runs parts of the grid. The result is that of a launch
                without one; where workgroups of several parts share memory that they write, the launch runs in this
                process, and `Report.notes` says so. Checks that need the whole launch, and observers, are refused.
            parts: how many parts the executor is given; None takes two for each processor of this machine.
            undefined: arguments, by number or name, or arrays among them or their fields, whose buffers are
                undefined, for the check `uninitialised`: the kernel may not use what it did not write to them. All
                others count as written by the caller.
            schedule: order in which waves run, where the hardware guarantees none: ``forward`` and ``reversed`` (each
                as far as it can), ``random:SEED``, ``first:WAVE``, ``last:WAVE``; ``usual`` is all together; ``late``
                delivers loads at the last moment that the wait counters allow. Findings are the same in each.
                ``witness`` looks for an order in which a race changes the outputs, says so in the finding, and leaves
                these outputs in the buffers.
            buffers: where `args` is bytes, arrays by the byte of the segment at which their address belongs.
            quota: instructions, seconds, bytes and rows that the launch may take; None is `Quota()`. Beyond it the
                launch is refused, or stopped with a finding.
            approximations: which result reciprocals, roots, exponentials and other approximate operations give:
                ``nearest``, or the one that is ``above`` or ``below`` it in magnitude by the manual's error bound.
            cluster: workgroups of a cluster in x, y, z; None takes those that the kernel was compiled for.

        Returns:
            The report. Buffers hold what the kernel wrote even when there are findings.

        Raises:
            MfmasimError: bad arguments, before anything runs; or an instruction the machine does not execute.
        """
        names = chosen_checks(checks)
        if not isinstance(budget, int) or budget < 1:
            raise MfmasimError(f"budget {budget!r}: a positive number of instructions is expected")
        if max_waves is not None and (not isinstance(max_waves, int) or isinstance(max_waves, bool) or max_waves < 1):
            raise MfmasimError(f"max_waves {max_waves!r}: a positive number of waves is expected")
        check_options(observers, debug, executor, parts)
        order = None if schedule == "witness" else schedule_of(schedule)
        if executor is not None and schedule != "usual":
            raise MfmasimError(f"schedule {schedule!r}: an order of all waves; run without an executor")
        if schedule != "usual" and math.prod(dimensions(grid, "grid")) > SCHEDULED_WORKGROUPS:
            raise MfmasimError(
                f"schedule {schedule!r}: a grid of at most {SCHEDULED_WORKGROUPS:,} workgroups is expected"
            )
        if schedule == "witness" and "races" not in names:
            raise MfmasimError("schedule 'witness' replays what the check 'races' finds; turn that check on")
        if quota is not None and not isinstance(quota, Quota):
            raise MfmasimError(f"quota {quota!r}: a mfmasim.Quota(...) is expected")
        meter, step = Meter(quota or Quota()), direction(approximations)
        prepared = prepare(kernel, grid, block, args, shared_bytes, undefined, buffers, cluster)
        prepared.meter, prepared.approximation = meter, step
        report = self.run(
            prepared, names, budget, observers, debug, max_waves, executor, parts,
            # Arrays change only when it is over.
            lambda: replace(
                prepare(kernel, grid, block, args, shared_bytes, undefined, buffers, cluster),
                meter=meter, approximation=step,
            ),
            order, witness=schedule == "witness",
        )  # fmt: skip
        prepared.collect()
        return report

    def launch_together(
        self,
        kernel: Kernel,
        grid: Any,
        block: Any,
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
            Whether each launch did what it does alone; if not, no array has changed.
        """
        return run_together(kernel, grid, block, args, shared_bytes, observers)

    def run(
        self,
        prepared: Launch,
        names: Sequence[str],
        budget: int = BUDGET,
        observers: Sequence[Observer] = (),
        debug: Debugger | None = None,
        max_waves: int | None = None,
        executor: Executor | None = None,
        parts: int | None = None,
        again: Callable[[], Launch] | None = None,
        order: Schedule | None = None,
        *,
        witness: bool = False,
    ) -> Report:
        """Run a launch whose memory is laid out.

        Args:
            prepared: the launch.
            names: the checks.
            budget: as in `launch`.
            observers: as in `launch`.
            debug: as in `launch`.
            max_waves: as in `launch`.
            executor: as in `launch`.
            parts: as in `launch`.
            again: gives the launch once more, as it is before anything ran; without it, what the launch overwrites
                is kept if a check may need a second run.
            order: the order of waves; None runs all together.
            witness: look for an order in which a race changes the outputs.
        """
        kernel = prepared.kernel
        check_quota(prepared)
        listening = checks_of(prepared, names)
        if again is None:
            before = Before(prepared.memory)
            if hooks(listening, Check.again):
                prepared.memory.before = before
            again = lambda: replace(prepared, memory=Earlier(before))  # noqa: E731
        counting = next((observer for observer in listening if isinstance(observer, Conflicts)), None)
        if debug is not None:
            observers = [*observers, debug]
        for start in hooks(observers, Observer.on_start):
            start(prepared)
        notes: list[str] = []
        if isinstance(order, Late) and (listening or observers):
            # Checks follow the usual order, in which they are valid; the outputs are those of the late one.
            outcome = Machine(again(), [*listening, *observers], budget, max_waves).run()
            late = Machine(prepared, (), budget, max_waves, order).run()
            outcome = late if late.stopped and not outcome.stopped else outcome
        elif executor is None:
            outcome = Machine(prepared, [*listening, *observers], budget, max_waves, order).run()
        else:
            from mfmasim.devices.spread import check_executor, spread

            check_executor(executor, parts, observers, listening)
            outcome, notes = spread(
                prepared, executor, listening, lambda: checks_of(prepared, names), budget,
                max_waves, parts,
            )  # fmt: skip
        for end in hooks(observers, Observer.on_end):
            end(prepared.memory)
        for check in listening:
            second = check.again()
            if second is not None:
                repeated = Machine(again(), [second], budget, max_waves).run()
                if repeated.stopped and not outcome.stopped:
                    notes.append(f"the second run of the check {check.name} ended early: {repeated.stopped}")
                check.take()
        findings = [finding for check in listening for finding in check.findings()]
        if witness and not outcome.stopped:
            findings, note = witnessed(prepared, listening, findings, again, budget, max_waves)
            notes.append(note)
        if outcome.stopped:
            findings.insert(0, ending(outcome, kernel))
        prepared.memory.before = None
        text, wrong = prepared.printed()
        if wrong:
            findings.append(Finding(PRINTF.check, PRINTF.severity, wrong, PRINTF.id, kernel=kernel.name))
        lines = text.removesuffix("\n").split("\n") if text else []
        findings, lines = _kept(findings, lines, prepared.meter.quota.rows, notes)
        metadata = kernel.info.metadata
        return Report(
            kernel=kernel.name,
            arch=kernel.arch.name,
            device=self.name,
            grid=prepared.grid,
            block=prepared.block,
            findings=findings,
            counts=outcome.instructions,
            fidelity=Fidelity(outcome.fidelity),
            waves=outcome.waves,
            lds={"bytes": prepared.lds_bytes, **(counting.record() if counting is not None else {})},
            registers={
                "vgpr": metadata.vgpr_count or 0,
                "agpr": metadata.agpr_count or 0,
                "sgpr": metadata.sgpr_count or 0,
            },
            printed=lines,
            notes=[*notes, *_workgroup_mode(kernel)],
            stopped=outcome.stopped,
            executed=outcome.executed,
            program=kernel,
        )


def _kept(
    findings: list[Finding], lines: list[str], most: int | None, notes: list[str]
) -> tuple[list[Finding], list[str]]:
    """The worst findings and the first printed lines, at most so many of each; a note says what is left out."""
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
