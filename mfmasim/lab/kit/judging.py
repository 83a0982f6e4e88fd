"""Verdicts of a kit file on every assumed row: settled, undecided or contradicted, and the change to make."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.devices import SimDevice
from mfmasim.lab.calibration.phase_fitting import fit_phases
from mfmasim.lab.calibration.phase_probes import PHASE_PROBES, UNROLLED, PhaseProbe, Timed, pair_patterns
from mfmasim.lab.calibration.phase_probes import sweep_patterns as sweep_of
from mfmasim.lab.kit.assumed import AssumedRow, assumed_rows, opcode_rows
from mfmasim.lab.kit.cases import judge_case
from mfmasim.lab.kit.code import probe_code
from mfmasim.lab.kit.kernels import matrix_operations, operation_kernels
from mfmasim.lab.kit.matrix_judging import judge_layout, judge_model
from mfmasim.lab.kit.probes import run_operation
from mfmasim.lab.kit.verdict import Verdict, missing
from mfmasim.machine.execution import variations
from mfmasim.machine.execution.basic_block import BOUND

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mfmasim.lab.calibration.phase_fitting import PhaseFit
    from mfmasim.lab.kit.kernels import ProbeKernel
    from mfmasim.lab.kit.records import KitFile, Record
    from mfmasim.machine.execution.variations import Variation
    from mfmasim.matrix import MatrixInstruction


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
    """The recorded ticks; None if they belong to other patterns than this version's."""
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
        probe,
        arch,
        wave,
        about["rounds"] * UNROLLED,
        pairs.astype(np.int64).reshape(len(pairs), 2, -1),
        tuple((first, second) for first, second in swept),
        sweep.astype(np.int64).reshape(len(sweep), len(swept), -1),
        str(device.get("product", "")),
        bool(device.get("simulated", True)),
    )


SHOWN = 3


def judge_operation(simulator: SimDevice, arch: str, kernel: ProbeKernel, record: Record | None) -> Verdict:
    """Compare every result with the simulator's; if they differ, search for a variation that explains the results.

    Args:
        simulator: runs the probe again.
        arch: architecture.
        kernel: the probe.
        record: the device's results.
    """
    none = missing(record)
    if none is not None or record is None:
        return none or Verdict("undecided", "its probe was not run")
    items, theirs = record.about.get("items"), record.arrays.get("out")
    if type(items) is not int or items % 64 or not 0 < items <= 1 << 16 or theirs is None:
        return Verdict("undecided", "its probe was recorded by another version of mfmasim")
    ours, crc = run_operation(simulator, arch, kernel, items, "none")
    if crc != record.about.get("inputs") or ours.shape != theirs.shape:
        return Verdict("undecided", "its probe was recorded by another version of mfmasim, with other inputs")
    wrong = np.flatnonzero((ours != theirs).any(axis=0))
    if not len(wrong):
        return Verdict("settled", f"{items:,} results are equal")
    why = f"{len(wrong):,} of {items:,} results differ"
    for one in variations.of(kernel.covers):
        if np.array_equal(_varied(simulator, arch, kernel, items, one), theirs):
            return Verdict("contradicted", f"{why}; {one.about} explains all", {one.parameter: [one.row, one.value]})
    first = "; ".join(_sample(ours, theirs, int(place)) for place in wrong[:SHOWN])
    return Verdict("contradicted", f"{why}, such as {first}", {"result": ["the row's", "the device's"]})


def _varied(simulator: SimDevice, arch: str, kernel: ProbeKernel, items: int, one: Variation) -> NDArray[np.uint32]:
    """The results of the operation with a variation; a launch binds a kernel's operations once for the next."""
    found = probe_code(arch)[kernel.name]
    with BOUND.afresh(found), variations.applied(kernel.covers, one.parameter, one.value):
        return run_operation(simulator, arch, kernel, items, "none")[0]


def _sample(ours: NDArray[Any], theirs: NDArray[Any], place: int) -> str:
    """One item: results of the simulator and the device."""
    words = [" ".join(f"{int(word):08x}" for word in array[:, place]) for array in (ours, theirs)]
    return f"item {place}: simulator {words[0]}, device {words[1]}"


UNPROBED = {
    "clock": "not probed: its result is a time",
    "cache": "not probed: it has no visible result",
    "message": "not probed: its result is a message of the system",
}
LAYOUTS = "mfmasim/matrix/rows/{}.py"
"""File with the layouts of a family."""
PERMUTES = "golden isa/lanes lane_permutes_halves"
"""The probe of DS permutes in waves of 64, where the halves are independent."""
OTHERWISE = "not probed: no probe of the kit executes it"


@dataclass(frozen=True)
class Judgement:
    """A row and its verdict."""

    row: AssumedRow
    verdict: Verdict


def judge(kit: KitFile) -> list[Judgement]:
    """Judge every row of `judgements`."""
    return [one() for one in judgements(kit)]


def judgements(kit: KitFile) -> list[Callable[[], Judgement]]:
    """Every assumed row of the kit file's architecture, the layouts of its matrix instructions, and its cases.

    Args:
        kit: the file.

    Returns:
        For each of them the function that judges it.

    Raises:
        MfmasimError: mfmasim does not know the architecture.
    """
    arch = kit.about["arch"]
    layout = functools.cache(lambda op: judge_layout(op, kit))
    judged = functools.partial(_judged, arch, SimDevice(), kit, layout)
    return [
        *(functools.partial(judged, row) for row in assumed_rows(arch)),
        *(functools.partial(_judged_layout, op, layout) for op in matrix_operations(arch)),
        *(functools.partial(_judged_case, one) for one in kit.records.values() if one.probe.startswith("golden ")),
    ]


def _judged(
    arch: str, simulator: SimDevice, kit: KitFile, layout: Callable[[MatrixInstruction], Verdict], row: AssumedRow
) -> Judgement:
    if row.kind == "model":
        ops = [op for op in matrix_operations(arch) if op.model.name == row.name]
        verdict = judge_model(ops, kit, {op: layout(op) for op in ops})
    elif row.kind == "phase":
        verdict = judge_phase(arch, row.name, kit)
    elif row.kind == "reach":
        verdict = judge_case(kit.records.get(PERMUTES))
    elif row.name in operation_kernels(arch):
        record = kit.records.get(f"operations {row.name}")
        verdict = judge_operation(simulator, arch, operation_kernels(arch)[row.name], record)
    else:
        opcode = opcode_rows(arch)[row.name][1].opcode
        verdict = Verdict("undecided", UNPROBED.get(opcode.kind or opcode.access, OTHERWISE))
    return Judgement(row, verdict)


def _judged_layout(op: MatrixInstruction, layout: Callable[[MatrixInstruction], Verdict]) -> Judgement:
    pair = f" {op.a} {op.b}" if op.row.a == "f8f6f4" else ""
    row = AssumedRow("layout", f"{op.name}{pair}", LAYOUTS.format(op.arch.family.lower()), op.layout_source)
    return Judgement(row, layout(op))


def _judged_case(record: Record) -> Judgement:
    name = record.probe.removeprefix("golden ")
    row = AssumedRow("golden", name, f"hipkernels/{name.partition(' ')[0]}", "golden data and exact references")
    return Judgement(row, judge_case(record))
