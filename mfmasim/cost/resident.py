"""Recording the workgroups that one unit holds at a time."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mfmasim.cost.trace import Recorder
from mfmasim.devices.loops import Loop, loops_of, main_loop
from mfmasim.devices.occupancy import Occupancy, occupancy
from mfmasim.devices.report import Fidelity, Report
from mfmasim.devices.sim import SimDevice
from mfmasim.errors import MfmasimError
from mfmasim.machine.events import Observer
from mfmasim.machine.execution.run import BUDGET, Machine
from mfmasim.machine.launch.layout import prepare

if TYPE_CHECKING:
    from collections import Counter

    from mfmasim.cost.trace import Trace
    from mfmasim.kernels import Kernel
    from mfmasim.machine.events import AccessEvent, BlockEvent
    from mfmasim.machine.launch.argument_passing import Arguments
    from mfmasim.machine.launch.launch import Launch

MOST_WAVES = 64
"""Waves of four SIMDs at most: 16 each."""


@dataclass(frozen=True)
class Recorded:
    """The executed trace of one unit's workgroups."""

    kernel: Kernel
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    trace: Trace
    occupancy: Occupancy
    resident: int
    """Workgroups that were recorded: what fits, or all of a smaller grid."""
    loops: list[Loop]
    main: Loop | None
    operands: int = 0
    """Bytes of the buffers that the kernel reads or writes: what memory has to move once at least."""
    report: Report | None = None
    """Of the whole launch, where all of it was run."""

    @property
    def head(self) -> int | None:
        """Address of the main loop's first instruction."""
        return self.main.first if self.main is not None else None

    @property
    def workgroups(self) -> int:
        """Workgroups of the grid."""
        return math.prod(self.grid)


class Unit(SimDevice):
    """Runs only the workgroups that one unit holds at a time, and records them."""

    def __init__(self, most: int | None, units: int | None, *, whole: bool = False) -> None:
        """Record `most` workgroups at most, of a grid that so many units share; with `whole`, run the others too."""
        self.most, self.units, self.whole = most, units, whole
        self.recorded: Recorded | None = None

    def launch(
        self, kernel: Kernel, grid: object, block: object, args: Arguments, shared_bytes: int = 0, *_: Any, **__: Any
    ) -> Report:
        """Run and record the workgroups of one unit.

        Args:
            kernel: what to run.
            grid: workgroups in x, y, z.
            block: work-items of a workgroup.
            args: as `SimDevice.launch` takes them.
            shared_bytes: dynamic LDS.
            _: further options of a launch, without effect.
            __: likewise.

        Raises:
            MfmasimError: the launch is wrong, a workgroup does not fit, or it stops early.
        """
        if self.whole:
            observer = Resident(self.most, self.units)
            simulator = SimDevice()
            report = simulator.launch(kernel, grid, block, args, shared_bytes, "conflicts", observers=[observer])
            if report.stopped:
                raise MfmasimError(f"{kernel.title}: {report.stopped}")
            self.recorded = replace(observer.recorded(report.executed), report=report)
            return report
        launch = prepare(kernel, grid, block, args, shared_bytes)
        resident = Resident(self.most, self.units)
        resident.on_start(launch)
        per = launch.waves_per_workgroup
        machine = Machine(launch, [resident.recorder], BUDGET, per)
        for workgroup in resident.workgroups:
            resident.recorder.batch(workgroup * per)
            machine.run(workgroup, 1)
            if machine.outcome.stopped:
                raise MfmasimError(f"{kernel.title}: {machine.outcome.stopped}")
        self.recorded = resident.recorded(machine.outcome.executed)
        return Report(
            kernel.name,
            kernel.arch.name,
            "sim",
            launch.grid,
            launch.block,
            [],
            machine.outcome.instructions,
            Fidelity(machine.outcome.fidelity),
        )


class Resident(Observer):
    """Records the workgroups that one unit holds at a time, of a launch that runs all."""

    name = "cost"

    def __init__(self, most: int | None = None, units: int | None = None) -> None:
        """Record `most` workgroups at most, of a grid that so many units share."""
        self.most, self.units = most, units
        self.recorder: Recorder
        self.workgroups: range = range(0)
        """The recorded ones."""
        self._launch: Launch | None = None
        self._fits: Occupancy

    def on_start(self, launch: Launch) -> None:
        """Choose the workgroups; of several launches the first one is recorded.

        Raises:
            MfmasimError: a workgroup does not fit.
        """
        if self._launch is not None:
            self.recorder.end()
            return
        kernel = launch.kernel
        fits = occupancy(kernel, launch.work_items, launch.lds_bytes)
        if not fits.workgroups:
            raise MfmasimError(f"{kernel.title}: a workgroup does not fit ({', '.join(fits.limited_by)})")
        per = launch.waves_per_workgroup
        units = self.units or _units(kernel)
        count = max(1, min(fits.workgroups, -(-launch.workgroups // units), MOST_WAVES // per or 1))
        if self.most is not None:
            count = min(count, self.most)
        step = max(1, launch.workgroups // count)  # a unit's workgroups lie apart: all units receive one in turn
        step = min(step, units)
        self._launch, self._fits, self.workgroups = launch, fits, range(0, count * step, step)
        self.recorder = Recorder(kernel)
        for number, workgroup in enumerate(self.workgroups):
            self.recorder.begin(number, workgroup * per, per)

    def on_block(self, event: BlockEvent) -> None:
        """Pass a block on."""
        self.recorder.on_block(event)

    def on_access(self, event: AccessEvent) -> None:
        """Pass an access on."""
        self.recorder.on_access(event)

    def recorded(self, executed: Counter[int]) -> Recorded:
        """What was recorded.

        Args:
            executed: wave-instructions by address, which say what the main loop is.
        """
        launch = self._launch
        assert launch is not None
        loops = loops_of(launch.kernel, executed)
        operands = sum(region.size for region, _ in launch.buffers)
        return Recorded(
            launch.kernel,
            launch.grid,
            launch.block,
            self.recorder.trace,
            self._fits,
            len(self.workgroups),
            loops,
            main_loop(loops),
            operands,
        )


def _units(kernel: Kernel) -> int:
    """Units of the architecture's first product."""
    products = kernel.arch.rates.products
    return products[0].units if products else 1


def record_launch(
    kernel: Kernel,
    grid: object,
    block: object,
    args: Arguments,
    shared_bytes: int = 0,
    *,
    most: int | None = None,
    units: int | None = None,
    whole: bool = False,
) -> Recorded:
    """Record a launch with given arguments; buffers change as far as the recorded workgroups write to them.

    Args:
        kernel: what to run.
        grid: workgroups in x, y, z.
        block: work-items of a workgroup.
        args: as `SimDevice.launch` takes them.
        shared_bytes: dynamic LDS.
        most: workgroups to record at most; None takes all that fit.
        units: units that share the grid; None takes those of the architecture's first product.
        whole: run the whole launch and keep its report, with bank conflicts.

    Raises:
        MfmasimError: the launch is wrong, a workgroup does not fit, or it stops early.
    """
    unit = Unit(most, units, whole=whole)
    unit.launch(kernel, grid, block, args, shared_bytes)
    assert unit.recorded is not None
    return unit.recorded
