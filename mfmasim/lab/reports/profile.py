"""Profile of a kernel: instruction mix, main loop, conflicts by source line, resources, claims about it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mfmasim.architectures import arch as find_arch
from mfmasim.cost import Resident, bound_of
from mfmasim.devices import SimDevice
from mfmasim.devices.loops import Loop, loops_of, main_loop
from mfmasim.devices.occupancy import Occupancy, occupancy
from mfmasim.errors import MfmasimError
from mfmasim.lab.reports.claims import COSTS, Judged, judge
from mfmasim.lab.reports.traffic_page import element_sizes
from mfmasim.observe.tools.path import Path
from mfmasim.observe.tools.traffic import Traffic
from mfmasim.verify.orders import Turn, turns_of, usual_turn
from mfmasim.verify.runner import launched, set_parameters, verify_case

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mfmasim.cost import Bound
    from mfmasim.devices import Report
    from mfmasim.kernels import Kernel
    from mfmasim.machine.events import Observer
    from mfmasim.machine.launch.argument_passing import Arguments
    from mfmasim.verify.cases import Case
    from mfmasim.verify.result import Result


@dataclass(frozen=True)
class Access:
    """LDS accesses of one source line."""

    source: str
    instruction: str
    executions: int
    degree: int
    """The worst of any phase."""
    extra_passes: int


@dataclass
class Profile:
    """One case on one architecture."""

    result: Result
    report: Report
    loops: list[Loop]
    main: Loop | None
    occupancy: Occupancy
    accesses: list[Access]
    claims: list[Judged]
    traffic: Traffic
    turn: Turn | None = None
    """The most frequent turn of the main loop."""
    bound: Bound | None = None
    """Cycles that each pipe must spend on a turn of the main loop; None where they were not counted."""

    @property
    def remark(self) -> str:
        """Register copies in the main loop, in words; empty if it has none, or no matrix instructions."""
        if self.turn is None or not self.turn.copies or not self.turn.matrix:
            return ""
        return (
            f"an iteration of the main loop copies {self.turn.copies} vector registers for {self.turn.matrix} matrix "
            "instructions: the compiler moves operands or sums between registers"
        )

    @property
    def matrix_share(self) -> float:
        """Fraction of the wave-instructions that are matrix instructions."""
        return self.report.mix["MATRIX"] / max(1, sum(self.report.mix.values()))

    @property
    def ok(self) -> bool:
        """Whether the case passes and every claim is judged as it is known to be."""
        return self.result.status == "pass" and all(judged.as_known for judged in self.claims)

    def record(self) -> dict[str, Any]:
        """As a dictionary for JSON."""
        return {
            "group": self.result.group,
            "case": self.result.case,
            "kernel": self.report.kernel,
            "arch": self.report.arch,
            "status": self.result.status,
            "waves": self.report.waves,
            "fidelity": self.result.trust.record(),
            "counters": self.report.counters,
            "mix": dict(self.report.mix.most_common()),
            "matrix_share": self.matrix_share,
            "main_loop": None if self.main is None else self.main.record(),
            "loops": [loop.record() for loop in self.loops],
            "order": None if self.turn is None else self.turn.record(),
            "lds": {"bytes": self.report.lds.get("bytes", 0), "lines": [vars(access) for access in self.accesses]},
            "registers": self.report.registers,
            "occupancy": self.occupancy.record(),
            "claims": [judged.record() for judged in self.claims],
            "traffic": self.traffic.record(),
            "bound": None if self.bound is None else self.bound.record(),
        }


def profile_case(
    case: Case, arch: str, *, group: str = "", compiler: str | None = None, bounds: bool = False
) -> Profile:
    """Profile a case by one run, on its first class of inputs and without the mapping check.

    Args:
        case: the case.
        arch: one of its architectures.
        group: family or file, for the report.
        compiler: as for `mfmasim.compile`.
        bounds: whether to count the pipes' bounds as well; claims about bounds always need them.

    Raises:
        MfmasimError: the case cannot be run, is left out on this architecture, or stops early.
    """
    once = replace(case, mapping=None, data=case.data[:1])
    unit = Resident() if bounds or any(claim.what in COSTS for claim in case.claims) else None
    watch = _Watch(Traffic(element_sizes(set_parameters(once, arch=arch).make(), find_arch(arch))), Path(), unit)
    result = verify_case(once, arch, group=group, compiler=compiler, observers=watch.observers)
    report = result.launch
    if report is None or report.program is None:
        why = "; ".join(finding.message for finding in result.findings) or "the case was not run"
        raise MfmasimError(f"{case.title} on {arch}: {why}")
    found, quantities = _described(result, report, report.program, watch)
    found.claims = [judge(claim, report, found.main, quantities, case.source) for claim in case.claims]
    return found


def profile_launch(
    kernel: Kernel,
    grid: object,
    block: object,
    args: Arguments,
    shared_bytes: int = 0,
    *,
    undefined: Sequence[Any] = (),
) -> Profile:
    """Profile one launch of a kernel; the findings of the launch are its result.

    Args:
        kernel: the kernel.
        grid: workgroups in x, y, z.
        block: work-items of a workgroup in x, y, z.
        args: arguments.
        shared_bytes: dynamic LDS in bytes.
        undefined: arrays whose contents are undefined.

    Raises:
        MfmasimError: the launch is wrong, or stops early.
    """
    watch = _Watch(Traffic(), Path(), Resident())
    report = SimDevice().launch(kernel, grid, block, args, shared_bytes, undefined=undefined, observers=watch.observers)
    return _described(launched(report, kernel.title), report, kernel, watch)[0]


@dataclass(frozen=True)
class _Watch:
    """Observers of a launch that is described."""

    traffic: Traffic
    path: Path
    unit: Resident | None

    @property
    def observers(self) -> list[Observer]:
        """All of them."""
        return [self.traffic, self.path, *([] if self.unit is None else [self.unit])]


def _described(result: Result, report: Report, kernel: Kernel, watch: _Watch) -> tuple[Profile, dict[str, Any]]:
    """The profile of a launch, with the quantities of claims.

    Raises:
        MfmasimError: the launch stopped early.
    """
    if report.stopped:
        raise MfmasimError(f"{result.case} on {report.arch}: {report.stopped}")
    loops = loops_of(kernel, report.executed)
    main = main_loop(loops)
    resources = occupancy(kernel, math.prod(report.block), report.lds.get("bytes", 0))
    turn = None if main is None else usual_turn(turns_of(watch.path.instructions, main, kernel.arch))
    found = Profile(result, report, loops, main, resources, _accesses(report), [], watch.traffic, turn)
    quantities = {
        "waves per SIMD": resources.waves_per_simd,
        "workgroups": float(resources.workgroups),
        "LDS bytes": float(report.lds.get("bytes", 0)),
        "LDS degree": max((float(access.degree) for access in found.accesses), default=None),
        "VGPRs": float(kernel.info.descriptor.accum_offset or report.registers["vgpr"]),
        "AGPRs": float(report.registers["agpr"]),
        **({} if turn is None else turn.quantities()),
    }
    if watch.unit is not None:
        recorded = watch.unit.recorded(report.executed)
        found.bound = bound_of(recorded.trace, recorded.head)
        shares = {f"{pipe} share": part for pipe, part in found.bound.shares.items()}
        quantities |= {"bound cycles": found.bound.total, **shares}
    return found, quantities


def _accesses(report: Report) -> list[Access]:
    """Conflicts by source line and instruction, most extra passes first."""
    lines: dict[tuple[str, str], list[Any]] = {}
    for site in report.lds.get("sites", ()):
        where = site["source"] or f"{site['pc']:#x}"
        lines.setdefault((where, site["instruction"]), []).append(site)
    accesses = [
        Access(
            source,
            instruction,
            sum(site["executions"] for site in sites),
            max(max(site["degrees"], default=1) for site in sites),
            sum(site["extra_passes"] for site in sites),
        )
        for (source, instruction), sites in lines.items()
    ]
    return sorted(accesses, key=lambda access: (-access.extra_passes, access.source))
