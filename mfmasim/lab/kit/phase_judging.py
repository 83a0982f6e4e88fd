"""LDS phases against the ticks of the kit's probes, plain and crowded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfmasim.lab.calibration.phase_fitting import fit_phases
from mfmasim.lab.calibration.phase_probes import PHASE_PROBES, UNROLLED, PhaseProbe, Timed, pair_patterns
from mfmasim.lab.calibration.phase_probes import sweep_patterns as sweep_of
from mfmasim.lab.kit.verdict import Verdict, missing

if TYPE_CHECKING:
    from mfmasim.lab.calibration.phase_fitting import PhaseFit
    from mfmasim.lab.kit.records import KitFile, Record


def judge_phase(arch: str, row: str, kit: KitFile) -> Verdict:
    """One row of the phase tables.

    Args:
        arch: architecture.
        row: the access, such as ``read b32``.
        kit: the results.
    """
    probe = next((one for one in PHASE_PROBES if one.row == row), None)
    if probe is None:
        return Verdict("undecided", "not probed: no probe of the kit executes it")
    reasons = []
    for part in ("lds", "crowded"):
        record = kit.records.get(f"{part} {probe.name}")
        none = missing(record)
        if none is not None or record is None:
            if part == "lds":
                reasons.append(none.why if none else "its probe was not run")
            continue
        timed = _timed(arch, probe, record, kit)
        if timed is None:
            reasons.append("its probe was recorded by another version of mfmasim")
            continue
        found = fit_phases(timed)
        if found.decided:
            return _verdict(found)
        reasons += [f"{part}: {why}" if part == "crowded" else why for why in found.undecided]
    return Verdict("undecided", "; ".join(dict.fromkeys(reasons)))


def _verdict(found: PhaseFit) -> Verdict:
    sets = f"{len(found.phases or ())} phases on {found.banks} banks"
    if found.fits:
        return Verdict("settled", f"measured {sets}, a conflict costs {found.cost:.2f} ticks an access")
    row, lanes = found.row, found.lanes if isinstance(found.lanes, str) else "lanes of its own"
    parameters: dict[str, list[object]] = {}
    if found.banks != row.banks:
        parameters["banks"] = [row.banks, found.banks]
    if not found.is_table(found.table()) or lanes != row.lanes:
        parameters["lanes"] = [str(row.lanes), lanes]
    also = f"; its alternative fits: {found.alternative}" if found.alternative else ""
    return Verdict("contradicted", f"measured {lanes}: {sets}{also}", parameters, " ".join(found.lines()))


def _timed(arch: str, probe: PhaseProbe, record: Record, kit: KitFile) -> Timed | None:
    """The recorded ticks; None where they are not of this version's patterns."""
    about, pairs, sweep = record.about, record.arrays.get("pairs"), record.arrays.get("sweep")
    wave, swept, crowd = about.get("wave"), about.get("swept"), about.get("crowded")
    if wave not in (32, 64) or pairs is None or sweep is None or not isinstance(about.get("rounds"), int):
        return None
    if not isinstance(swept, list) or not all(
        isinstance(two, list) and len(two) == 2 and all(type(lane) is int and 0 <= lane < wave for lane in two)
        for two in swept
    ):
        return None
    count = len(pair_patterns(probe, wave, crowded=bool(crowd)))
    distances = len(sweep_of(probe, wave, swept, crowded=bool(crowd)))
    if pairs.ndim != 2 or pairs.shape[1] != count or sweep.ndim != 2 or sweep.shape[1] != distances:
        return None
    device = kit.about["device"]
    return Timed(
        probe, arch, wave, about["rounds"] * UNROLLED,
        pairs.astype(np.int64).reshape(len(pairs), 2, -1), tuple((first, second) for first, second in swept),
        sweep.astype(np.int64).reshape(len(sweep), len(swept), -1),
        str(device.get("product", "")), bool(device.get("simulated", True)),
    )  # fmt: skip
