"""Recording captures on a device, and comparing simulator, device and reference with each other."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from importlib import metadata
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.devices import SimDevice
from mfmasim.devices.hip import HipDevice
from mfmasim.errors import MfmasimError
from mfmasim.isa import MATRIX
from mfmasim.verify.arrays import Array
from mfmasim.verify.capture import Capture, read, write
from mfmasim.verify.compare import bit_exact
from mfmasim.verify.files import find
from mfmasim.verify.plain import compare_array
from mfmasim.verify.recording import Plain, Recorder, Replayer
from mfmasim.verify.roles import Tensor, codes_of, format_of
from mfmasim.verify.runner import informed, verify_case

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from mfmasim.devices import Device, Report
    from mfmasim.formats import Format
    from mfmasim.verify.cases import Case
    from mfmasim.verify.compare import Comparison
    from mfmasim.verify.result import Result

__all__ = ["Difference", "ThreeWay", "check", "record"]

PACKAGES = ("mfmasim", "numpy", "hip-python")
AGREEMENT = {
    (True, True, True): "simulator, device and reference agree",
    (True, False, False): "simulator and device agree, the reference differs from both",
    (False, True, False): "simulator and reference agree, the device differs from both",
    (False, False, True): "device and reference agree, the simulator differs from both",
    (False, True, True): "simulator and device both agree with the reference, within its bound, and differ in bits",
    (False, False, False): "simulator, device and reference all differ",
}
"""Whether simulator and device, simulator and reference, device and reference agree."""


@dataclass(frozen=True)
class Difference:
    """One element in which simulator and device differ."""

    launch: int
    element: str
    simulator: str
    device: str
    ulp: int


@dataclass
class ThreeWay:
    """What a check found."""

    path: Path
    about: dict[str, Any]
    simulator: Result
    """Simulator against reference."""
    device: Result
    """Device against reference."""
    elements: int = 0
    mismatches: int = 0
    max_ulp: int = 0
    differences: list[Difference] = field(default_factory=list)
    """Simulator against device: the first few elements."""
    instructions: tuple[str, ...] = ()
    """Matrix instructions that made the elements."""

    @property
    def agreement(self) -> str:
        """Who disagrees with whom."""
        with_reference = self.simulator.status == "pass", self.device.status == "pass"
        return AGREEMENT.get((not self.mismatches, *with_reference), "simulator and device agree in bits alone")

    @property
    def ok(self) -> bool:
        """Whether all agree."""
        return not self.mismatches and self.simulator.status == self.device.status == "pass"


def record(case: Case, arch: str, group: str, device: Device, folder: Path) -> tuple[Path, Result]:
    """Run a case on a device and keep what it gave back.

    Args:
        case: the case.
        arch: architecture.
        group: the target that the case is found by again: a family or a case file.
        device: an open device.
        folder: where captures are kept.

    Returns:
        The capture's path, and the comparison with the reference. Nothing is written when a launch fails.

    Raises:
        MfmasimError: whatever `verify_case` raises; the capture cannot be written.
    """
    recorder = Recorder(device)
    result = verify_case(case, arch, group=group, device=recorder)
    if recorder.kernel is None:
        raise MfmasimError(
            f"{case.title}: nothing was launched on {arch}: {'; '.join(f.message for f in result.findings)}"
        )
    code = recorder.kernel.code
    about = {
        "case": case.title,
        "group": group,
        "arch": arch,
        "parameters": {name: value for name, value in case.parameters.items() if isinstance(value, int | float | str)},
        "device": _device(device),
        "versions": _versions(device),
        "code": {"sha256": code.sha256, "compiler": code.made_by or result.code.get("made_by", "")},
        "captured": datetime.now(UTC).isoformat(timespec="seconds"),
        "reference": list(result.compared_with),
        "status": result.status,
    }
    path = folder / f"{re.sub(r'[^A-Za-z0-9._=-]+', '_', case.title)}.{arch}.{device.name.partition(':')[0]}.npz"
    write(path, Capture(about, code.object.data, recorder.launches))
    return path, result


def _device(device: Device) -> dict[str, Any]:
    if not isinstance(device, HipDevice):
        return {"name": device.name, "product": "the simulator", "target": "", "simulated": True}
    return {
        "name": device.name,
        "product": device.product,
        "target": device.target,
        "simulated": device.simulated,
        "clock_khz": device.clock_khz,
    }


def _versions(device: Device) -> dict[str, Any]:
    found: dict[str, Any] = device.versions() if isinstance(device, HipDevice) else {}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = None
    return found


def check(path: Path, most: int = 10) -> ThreeWay:
    """Compare a capture with the simulator and with the reference.

    Args:
        path: the capture.
        most: differing elements to keep.

    Returns:
        The three comparisons.

    Raises:
        MfmasimError: the capture is damaged or stale, or its case is gone; the message says why.
    """
    capture = read(path)
    case, arch = _case(path, capture), capture.about["arch"]
    replayer = Replayer(capture, str(path))
    device = verify_case(case, arch, group=capture.about["group"], device=replayer)
    if len(replayer.reports) != len(capture.launches):
        raise MfmasimError(
            f"{path}: the capture is stale: {len(capture.launches)} launches were captured, the case makes "
            f"{len(replayer.reports)}; record it anew"
        )
    simulator = verify_case(case, arch, group=capture.about["group"], device=Plain(SimDevice()))
    found = ThreeWay(path, capture.about, simulator, device, instructions=_instructions(replayer.reports))
    for number, simulated in enumerate(replayer.simulated):
        for piece in _pieces(case, replayer.reports[number], number, capture, simulated):
            _compare(found, number, piece, most)
    return found


def _case(path: Path, capture: Capture) -> Case:
    group, title, arch = (capture.about[key] for key in ("group", "case", "arch"))
    try:
        every = [case for _, cases in find(group) for case in cases]
    except MfmasimError as error:
        raise MfmasimError(f"{path}: the capture is stale: {error}") from None
    found = next((case for case in every if case.title == title and arch in case.arch), None)
    if found is None:
        raise MfmasimError(f"{path}: the capture is stale: {group} has no case {title} for {arch}")
    return found


@dataclass(frozen=True)
class _Piece:
    """An output of both, shaped as the case has it."""

    name: str
    sides: tuple[NDArray[Any], NDArray[Any]]
    """The simulator's and the device's."""
    compare: Callable[[Any, Any], Comparison]
    words: Callable[[Any], str]


def _pieces(
    case: Case, report: Report, launch: int, capture: Capture, simulated: list[NDArray[np.uint8]]
) -> list[_Piece]:
    """The outputs of a launch."""
    kernel = report.program
    if kernel is None:  # every launch of the simulator has one
        return []
    built = informed(case, arch=kernel.arch.name, wave=kernel.wave).make()
    described = capture.launches[launch].call["args"]
    pieces = []
    for arg, told in zip(built["args"], described, strict=True):
        if not (isinstance(told, dict) and "buffer" in told):
            continue
        sides = simulated[told["buffer"]], capture.launches[launch].after[told["buffer"]]
        if isinstance(arg, Tensor) and arg.role == "C":
            fmt = format_of(arg, kernel.arch)
            ours, theirs = (np.ascontiguousarray(codes_of(arg, side, kernel.arch)) for side in sides)
            pieces.append(_Piece(arg.role, (ours, theirs), partial(bit_exact, fmt=fmt), partial(_words, fmt)))
        elif isinstance(arg, Array) and arg.writes:
            ours, theirs = (side.view(arg.dtype).reshape(arg.shape) for side in sides)
            exact = replace(arg, ulp=0)
            name = f"argument {len(pieces)}"
            pieces.append(_Piece(name, (ours, theirs), partial(compare_array, exact), str))
    return pieces


def _words(fmt: Format, code: Any) -> str:
    return f"{int(code):#0{2 * code.dtype.itemsize + 2}x} ({float(fmt.decode(code)):.9g})"


def _compare(found: ThreeWay, launch: int, piece: _Piece, most: int) -> None:
    ours, theirs = piece.sides
    comparison = piece.compare(theirs, ours)
    found.elements += ours.size
    found.mismatches += comparison.mismatches
    found.max_ulp = max(found.max_ulp, comparison.max_ulp)
    for place in np.argwhere(comparison.wrong)[: max(most - len(found.differences), 0)]:
        index = tuple(int(i) for i in place)
        one = piece.compare(theirs[index][None], ours[index][None])
        texts = [piece.words(side[index]) for side in piece.sides]
        element = f"{piece.name}[{', '.join(map(str, index))}]"
        found.differences.append(Difference(launch, element, texts[0], texts[1], one.max_ulp))


def _instructions(reports: list[Report]) -> tuple[str, ...]:
    return tuple(sorted({name for report in reports for name in report.counts if name.startswith(MATRIX)}))
