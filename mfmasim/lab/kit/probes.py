"""The probes of the kit on an architecture, in order, with the function of each."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.architectures import arch as find_arch
from mfmasim.errors import MfmasimError
from mfmasim.formats import FORMATS
from mfmasim.lab.agreement.recording import Recorder
from mfmasim.lab.calibration import phase_probes
from mfmasim.lab.calibration.phase_fitting import doubtful
from mfmasim.lab.kit.cases import case_probes
from mfmasim.lab.kit.code import probe_code
from mfmasim.lab.kit.data import matrix_inputs, operation_inputs
from mfmasim.lab.kit.kernels import matrix_kernels, matrix_name, matrix_operations, operation_kernels

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mfmasim.devices import Device
    from mfmasim.lab.kit.kernels import ProbeKernel
    from mfmasim.matrix import MatrixInstruction

    Result = tuple[dict[str, Any], dict[str, NDArray[Any]]]
    """What a record says, and its arrays."""

PARTS = ("answers", "operations", "matrix", "lds", "crowded", "golden")
"""Parts of the kit, in the order in which they run."""
ITEMS = {True: 1024, False: 4096}
"""Work-items of an operation's probe; the first with --quick."""
AGAIN = 3
"""Number of further measurements of pairs of lanes that the clock does not decide."""
SIDE = 16
"""Rows and columns of the integer product."""


@dataclass(frozen=True)
class KitProbe:
    """One probe of the kit."""

    part: str
    name: str
    run: Callable[[Device], Result]

    @property
    def title(self) -> str:
        """Its name in the file."""
        return f"{self.part} {self.name}"


def kit_probes(arch: str, *, quick: bool, times: int, simulated: bool) -> tuple[KitProbe, ...]:
    """The probes of an architecture.

    Args:
        arch: its name.
        quick: fewer work-items, tiles and repetitions.
        times: repetitions of timed probes.
        simulated: whether time is simulated.
    """
    found = [KitProbe("answers", name, run) for name, run in _answers(arch).items()]
    for name, kernel in operation_kernels(arch).items():
        found.append(KitProbe("operations", name, _operation(arch, kernel, ITEMS[quick])))
    found += [
        KitProbe("matrix", matrix_name(op), _matrix(arch, op, chosen_part(op, quick=quick)))
        for op in matrix_operations(arch)
    ]
    for probe in phase_probes.chosen(arch):
        for part in ("lds", "crowded"):
            if part == "lds" or (probe.reads and not probe.all_lanes):
                run = _phases(arch, probe, times=times, simulated=simulated, crowded=part == "crowded")
                found.append(KitProbe(part, probe.name, run))
    found += [KitProbe("golden", name, run) for name, run in case_probes(arch, quick=quick).items()]
    order = {part: place for place, part in enumerate(PARTS)}
    return tuple(sorted(found, key=lambda probe: order[probe.part]))


def representative(arch: str) -> dict[str, str]:
    """The kernel whose tiles a model's parameters are fitted to, by model: 16 x 16, one block, A and B alike, f32."""
    return _representative(arch)


@cache
def _representative(arch: str) -> dict[str, str]:
    def rank(op: MatrixInstruction) -> tuple[bool, bool, bool, int, int]:
        return (op.a != op.b, op.blocks > 1, op.m != 16, -FORMATS[op.d].bits, -op.k)

    found: dict[str, str] = {}
    for op in sorted(matrix_operations(arch), key=rank):
        found.setdefault(op.model.name, matrix_name(op))
    return found


def chosen_part(op: MatrixInstruction, *, quick: bool) -> str:
    """The tiles of a matrix probe."""
    if representative(op.arch.name)[op.model.name] == matrix_name(op):
        return "all"
    return "exact" if quick and op.a != op.b else "few"


def _answers(arch: str) -> dict[str, Callable[[Device], Result]]:
    """Probes with known answers: a set-up that fails them would make every other result worthless."""
    code, wave = probe_code(arch), find_arch(arch).wave_sizes[0]

    def product(device: Device) -> Result:
        rng = np.random.default_rng(7)
        a, b = (rng.integers(0, 1 << 32, (SIDE, SIDE)).astype(np.uint32) for _ in range(2))
        n = SIDE * SIDE
        given, out = np.concatenate([a.reshape(-1), b.reshape(-1)]), np.zeros(n, np.uint32)
        report = device.launch(code["answer_product"], n // wave, wave, [given, out, np.uint32(n)])
        if not report.ok:
            raise MfmasimError(f"integer product: {report.findings[0].message}")
        if not np.array_equal(out.reshape(SIDE, SIDE), a @ b):
            wrong = int((out.reshape(SIDE, SIDE) != a @ b).sum())
            raise MfmasimError(f"integer product: {wrong} of {n} elements are wrong: the set-up does not compute")
        return {"elements": n}, {}

    def guard(device: Device) -> Result:
        given, out = np.zeros(wave, np.uint32), np.zeros(wave, np.uint32)
        report = device.launch(code["answer_guard"], 1, wave, [given, out, np.uint32(wave)])
        if not any(finding.id == "guard-overwritten" for finding in report.findings):
            raise MfmasimError("guard write: a write behind a buffer was not found: bounds are not watched")
        return {"found": report.findings[0].message}, {}

    return {"integer_product": product, "guard_write": guard}


def run_operation(
    device: Device, arch: str, kernel: ProbeKernel, n: int, checks: str = "all"
) -> tuple[NDArray[np.uint32], int]:
    """Launch an operation's probe.

    Args:
        device: the device.
        arch: architecture.
        kernel: the probe.
        n: work-items.
        checks: as for `launch`.

    Returns:
        The contents of `out`, and the CRC-32 of the inputs.

    Raises:
        MfmasimError: an error of a launch, or a finding.
    """
    wave = find_arch(arch).wave_sizes[0]
    given, out = operation_inputs(kernel, n, wave)
    crc = zlib.crc32(out.tobytes(), zlib.crc32(given.tobytes()))
    report = device.launch(probe_code(arch)[kernel.name], n // wave, wave, [given, out, np.uint32(n)], 0, checks)
    if not report.ok:
        raise MfmasimError(f"{kernel.covers}: {report.findings[0].message}")
    return out, crc


def _operation(arch: str, kernel: ProbeKernel, n: int) -> Callable[[Device], Result]:
    def run(device: Device) -> Result:
        out, crc = run_operation(device, arch, kernel, n)
        return {"items": n, "inputs": crc}, {"out": out}

    return run


def _matrix(arch: str, op: MatrixInstruction, part: str) -> Callable[[Device], Result]:
    kernel = matrix_kernels(arch)[matrix_name(op)]

    def run(device: Device) -> Result:
        given = matrix_inputs(op, kernel.name, part)
        n = given.tiles * op.wave
        out = np.full((kernel.results, n), 0xA5A5A5A5, np.uint32)
        crc = zlib.crc32(given.registers.tobytes())
        report = device.launch(
            probe_code(arch)[kernel.name], given.tiles, op.wave, [given.registers, out, np.uint32(n)]
        )
        if not report.ok:
            raise MfmasimError(f"{op.name}: {report.findings[0].message}")
        return {"tiles": part, "inputs": crc}, {"out": out}

    return run


def _phases(
    arch: str, probe: phase_probes.PhaseProbe, *, times: int, simulated: bool, crowded: bool
) -> Callable[[Device], Result]:
    def run(device: Device) -> Result:
        recorder = Recorder(device)
        code = phase_probes.compiled(arch)
        rounds = 1 if simulated else 4
        (about,) = phase_probes.measure(
            recorder, code, [probe], rounds=rounds, times=times, simulated=simulated, crowded=crowded, options={}
        )
        found = [
            _halves(launch.after[1].view(np.uint32).reshape(times, -1).astype(np.int64)) for launch in recorder.launches
        ]
        kernel = code[f"phases_{probe.name}"]
        patterns = phase_probes.pair_patterns(probe, kernel.wave, crowded=about["crowded"])
        alone = phase_probes.dynamic_lds(kernel, alone=not simulated, crowded=about["crowded"])
        for _ in range(AGAIN if times > 1 else 0):
            again = doubtful(found[0].reshape(2, 2, -1))
            if not len(again):
                break
            about["again"] = int(about.get("again", 0) + len(again))
            both = np.concatenate([again, again + found[0].shape[1] // 2])
            ticks = phase_probes.time_patterns(
                device, kernel, patterns[both], times=times, rounds=rounds, shared=alone, options={}
            )
            found[0][:, both] = np.minimum(found[0][:, both], _halves(ticks))
        return about, {name: part.astype(np.uint32) for name, part in zip(("pairs", "sweep"), found, strict=True)}

    return run


def _halves(ticks: NDArray[np.int64]) -> NDArray[np.int64]:
    """The fastest of the even and of the odd repetitions, (2, patterns): all that the fit reads."""
    halves = [ticks[start::2] for start in (0, 1)] if len(ticks) > 1 else [ticks]
    return np.stack([half.min(axis=0) for half in halves])
