"""Recording captures on a device, and comparing simulator, device and reference."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from mfmasim.devices import SimDevice
from mfmasim.devices.isolated import IsolatedHip
from mfmasim.errors import MfmasimError, unknown
from mfmasim.lab.agreement.capture import Capture, Launched, read, require, write
from mfmasim.lab.agreement.judging import Differences, Piece, agreement, agrees, pieces
from mfmasim.lab.agreement.poisoned import Poisoned, run_recorded
from mfmasim.lab.agreement.recording import Plain, Replayer
from mfmasim.lab.agreement.writers import Writers
from mfmasim.observe import Finding
from mfmasim.verify.arguments import leaves
from mfmasim.verify.environment import environment, versions
from mfmasim.verify.files import families, load_file
from mfmasim.verify.runner import set_parameters, verify_case
from mfmasim.verify.sums import matrix_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from mfmasim.devices import Device, Report
    from mfmasim.verify.cases import Case
    from mfmasim.verify.result import Result


@dataclass
class ThreeWay:
    """Result of checking a capture."""

    path: Path
    about: dict[str, Any]
    simulator: Result
    """Simulator against reference."""
    device: Result
    """Device against reference."""
    differences: Differences = field(default_factory=Differences)
    """Simulator against device."""
    instructions: tuple[str, ...] = ()
    """Matrix instructions that computed the elements."""
    stores: dict[str, str] = field(default_factory=dict)
    """For each element of `Differences.first`, by launch and element, the instruction that stored it, and its line."""

    @property
    def agreement(self) -> str:
        """The disagreeing parties."""
        return agreement(not self.differences.mismatches, agrees(self.simulator), agrees(self.device))

    @property
    def word(self) -> str:
        """AGREE, DIFFER, or WRONG where outputs agree and the kernel has other errors."""
        together = not self.differences.mismatches and agrees(self.simulator) and agrees(self.device)
        return "AGREE" if self.ok else "WRONG" if together else "DIFFER"

    @property
    def ok(self) -> bool:
        """Whether all agree."""
        return not self.differences.mismatches and self.simulator.status == self.device.status == "pass"


def record(case: Case, arch: str, group: str, device: Device, folder: Path) -> tuple[Path, Result]:
    """Run a case on a device and write a capture, as `captured` gives it.

    Args:
        case: the case.
        arch: architecture.
        group: the target that finds the case again.
        device: an open device.
        folder: where captures are stored.

    Raises:
        MfmasimError: as `captured`; the capture cannot be written.
    """
    name, capture, result = captured(case, arch, group, device)
    write(folder / name, capture)
    return folder / name, result


def captured(case: Case, arch: str, group: str, device: Device) -> tuple[str, Capture, Result]:
    """Run a case on a device.

    Args:
        case: the case.
        arch: architecture.
        group: the target that finds the case again: a family or a case file.
        device: an open device.

    Returns:
        The name of the capture's file, the capture, and the comparison with the reference. On a GPU every launch is
        done three times (`Poisoned`): the result has a finding where they differ.

    Raises:
        MfmasimError: whatever `verify_case` raises; or a launch failed.
    """
    result, recorder = run_recorded(case, arch, group, device)
    if recorder.kernel is None:
        raise MfmasimError(
            f"{case.title}: nothing was launched on {arch}: {'; '.join(f.message for f in result.findings)}"
        )
    code = recorder.kernel.code
    where = environment(device)
    about = {
        "case": case.title,
        "group": group,
        "arch": arch,
        "parameters": {name: value for name, value in case.parameters.items() if isinstance(value, int | float | str)},
        "device": _device(device),
        "versions": {**_hip(device), **versions()},
        "environment": where,
        "code": {"sha256": code.sha256, "compiler": code.made_by or result.code.get("made_by", "")},
        "captured": datetime.now(UTC).isoformat(timespec="seconds"),
        "reference": list(result.compared_with),
        "status": result.status,
    }
    if isinstance(recorder, Poisoned):
        about["poison"] = recorder.summary
    # Titles are unique within a family only, and two GPUs are two devices.
    family = Path(group).stem if group.endswith(".py") else group
    serial = where["identity"].get("uuid_hash", "")  # two contributors do not overwrite each other
    parts = (family, case.title, arch, device.name, *([serial] if serial else []))
    name = f"{'.'.join(re.sub(r'[^A-Za-z0-9._=-]+', '_', part) for part in parts)}.npz"
    return name, Capture(about, code.object.data, recorder.launches), result


def _unsteady(about: dict[str, Any]) -> list[str]:
    """Differences of the three runs on a GPU in a capture; empty in a capture without this record."""
    found = about.get("poison")
    differ = found.get("differ") if isinstance(found, dict) else None
    return [str(text)[:300] for text in differ[:8]] if isinstance(differ, list) else []


def _device(device: Device) -> dict[str, Any]:
    if not isinstance(device, IsolatedHip):
        return {"name": device.name, "product": "the simulator", "target": "", "simulated": True}
    return {
        "name": device.name,
        "product": device.product,
        "target": device.target,
        "simulated": device.simulated,
        "clock_khz": device.clock_khz,
    }


def _hip(device: Device) -> dict[str, Any]:
    """Version of the runtime; HIP's driver version is that of the runtime, too (`mfmasim.verify.environment`)."""
    return {"runtime": device.versions()["runtime"]} if isinstance(device, IsolatedHip) else {}


def check(path: Path, most: int = 10, case_files: Sequence[Path] = ()) -> ThreeWay:
    """Compare a capture with the simulator and with the reference.

    Args:
        path: the capture.
        most: differing elements to keep.
        case_files: case files that may be executed; a capture that names another one is rejected, since a case file
            is a Python program and a capture is data. The package's own families are always allowed.

    Returns:
        The three comparisons.

    Raises:
        MfmasimError: the capture is damaged or stale, or its case is gone; the message says why.
    """
    capture = read(path)
    case, arch = _case(path, capture, case_files), capture.about["arch"]
    replayer = Replayer(capture, str(path))
    writers = Writers()
    device = verify_case(case, arch, group=capture.about["group"], device=replayer, observers=[writers])
    if len(replayer.reports) != len(capture.launches):
        raise MfmasimError(
            f"{path}: the capture is stale: {len(capture.launches)} launches were recorded, the case does "
            f"{len(replayer.reports)}; record it again"
        )
    device.findings += [Finding("outputs", "error", text, "outputs-unsteady") for text in _unsteady(capture.about)]
    device.settle()
    simulator = verify_case(case, arch, group=capture.about["group"], device=Plain(SimDevice()))
    found = ThreeWay(path, capture.about, simulator, device, instructions=matrix_instructions(replayer.reports))
    for number, (report, simulated) in enumerate(zip(replayer.reports, replayer.simulated, strict=True)):
        for piece in _pieces(case, report, capture.launches[number], simulated):
            found.differences.add(number, piece, most)
    for row in found.differences.first:
        stored = writers.of(row.launch, row.argument, row.byte)
        kernel = replayer.reports[row.launch].program
        if stored is not None and kernel is not None:
            found.stores[f"{row.launch} {row.element}"] = f"{stored.name} ({kernel.line_at(stored.pc)})"
    return found


_LONGEST_NAME = 400


def _case(path: Path, capture: Capture, case_files: Sequence[Path]) -> Case:
    try:
        require(capture.about, {"group": (str,), "case": (str,)}, "about")
        for key in ("group", "case", "arch"):
            if len(capture.about[key]) > _LONGEST_NAME:
                raise ValueError(f"{key!r} of about has more than {_LONGEST_NAME} characters")  # noqa: TRY301
    except ValueError as error:
        raise MfmasimError(f"{path}: not a capture of a case: {error}") from None
    group, title, arch = (capture.about[key] for key in ("group", "case", "arch"))
    known = families()
    if group.endswith(".py"):
        # Only the name counts: a capture may come from another machine with another path of the file.
        file = next((file for file in case_files if file.name == PurePath(group).name), None)
        if file is None:
            raise MfmasimError(
                f"{path}: the capture names the case file {group!r}, which is a program and is not run because data "
                "names it; if you trust it, add --case-file FILE"
            )
    elif group not in known:
        raise MfmasimError(f"{path}: the capture is stale: {unknown('family', group, known)}")
    else:
        file = known[group]
    every = load_file(file)
    found = next((case for case in every if case.title == title and arch in case.arch), None)
    if found is None:
        raise MfmasimError(f"{path}: the capture is stale: {group} has no case {title} for {arch}")
    return found


def _pieces(case: Case, report: Report, launched: Launched, simulated: list[NDArray[np.uint8]]) -> list[Piece]:
    """The outputs of a launch."""
    kernel = report.program
    if kernel is None:  # every launch of the simulator has one
        return []
    launch = set_parameters(case, arch=kernel.arch.name, wave=kernel.wave).make()
    recorded = leaves(launched.call["args"])
    buffers = {place: arg["buffer"] for place, arg in recorded if isinstance(arg, dict) and "buffer" in arg}
    memory = {place: (simulated[number], launched.after[number]) for place, number in buffers.items()}
    return pieces(launch, kernel.arch, memory)


def matrix_instructions(reports: Sequence[Report]) -> tuple[str, ...]:
    """Names of the matrix instructions that launches executed."""
    executed = [matrix_names(report.program) & set(report.counts) for report in reports if report.program is not None]
    return tuple(sorted(set().union(*executed)))
