"""Running the kit: one probe after the other, each result on disk before the next begins."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mfmasim.devices.isolated import IsolatedHip
from mfmasim.errors import MfmasimError, unknown
from mfmasim.lab.kit.assumed import assumed_rows
from mfmasim.lab.kit.code import probe_code
from mfmasim.lab.kit.probes import PARTS, KitProbe, kit_probes
from mfmasim.lab.kit.records import SCHEMA, KitFile, Record, append, read
from mfmasim.verify.environment import environment

TIMES = {True: 5, False: 50}
"""Repetitions of timed probes on a GPU; the first with --quick."""
SIMULATED_TIMES = {True: 1, False: 2}
"""Repetitions with simulated time."""


@dataclass
class Ran:
    """Numbers of probes of a run."""

    done: int = 0
    failed: int = 0
    kept: int = 0
    """Results that the file had before."""


def run_kit(
    device: IsolatedHip,
    path: Path,
    *,
    quick: bool = False,
    only: Sequence[str] = (),
    doctor: Mapping[str, Any] | None = None,
    say: Callable[[str], None] = print,
) -> Ran:
    """Run the probes of a device's architecture, and append their results to a file.

    Args:
        device: a GPU.
        path: the kit file. One of the same device and options is continued: only what it lacks, or failed, is run.
        quick: fewer work-items, tiles and repetitions.
        only: parts to run; none is all. Known answers always run.
        doctor: results of ``mfmasim doctor``, for the first line.
        say: receives a line for each part and each failure.

    Returns:
        Numbers of probes.

    Raises:
        MfmasimError: an unknown part; a file of another device; or a known answer is wrong, which stops the run.
    """
    for part in only:
        if part not in PARTS:
            raise unknown("part", part, PARTS, "of the kit")
    arch = device.arch
    assumed_rows(arch)  # refuses an architecture that mfmasim does not know
    about = {**_about(device, quick=quick), "doctor": dict(doctor or {})}
    before = _continued(path, about)
    if before is None:
        append(path, about)
    have = before.records if before is not None else {}
    times = (SIMULATED_TIMES if device.simulated else TIMES)[quick]
    probes = kit_probes(arch, quick=quick, times=times, simulated=device.simulated)
    ran, shown = Ran(), ""
    for probe in probes:
        if only and probe.part not in (*only, "answers"):
            continue
        if probe.title in have and have[probe.title].status == "done" and probe.part != "answers":
            ran.kept += 1
            continue
        if probe.part != shown:
            shown = probe.part
            say(f"{shown}: {sum(one.part == shown for one in probes)} probes")
        record = _ran(device, probe)
        append(path, record)
        if record.status == "done":
            ran.done += 1
            continue
        ran.failed += 1
        say(f"  {probe.title} failed: {record.about['error']}")
        if probe.part == "answers":
            raise MfmasimError(f"{probe.title}: {record.about['error']}; nothing else was measured")
    return ran


def _ran(device: IsolatedHip, probe: KitProbe) -> Record:
    """Run one probe; a failure is a result."""
    start = time.monotonic()
    try:
        said, arrays = probe.run(device)
    except MfmasimError as error:
        return Record(probe.title, "failed", {"error": " ".join(str(error).split())[:400]})
    return Record(probe.title, "done", {**said, "seconds": round(time.monotonic() - start, 3)}, arrays)


def _about(device: IsolatedHip, *, quick: bool) -> dict[str, Any]:
    return {
        "kit": SCHEMA,
        "arch": device.arch,
        "quick": quick,
        "device": {"product": device.product, "target": device.target, "simulated": device.simulated},
        "code": probe_code(device.arch).sha256,
        "environment": environment(device),
    }


def _continued(path: Path, about: dict[str, Any]) -> KitFile | None:
    """The file if it can be continued; None if there is none.

    Raises:
        MfmasimError: the file belongs to another device or other options.
    """
    if not path.exists() or not path.stat().st_size:
        return None
    found = read(path)
    for key, what in (("arch", "architecture"), ("device", "device"), ("quick", "--quick"), ("code", "probe code")):
        if found.about.get(key) != about[key]:
            raise MfmasimError(
                f"{path}: holds results with another {what}, {found.about.get(key)!r:.120}, not {about[key]!r:.120}; "
                "choose another --out"
            )
    return found
