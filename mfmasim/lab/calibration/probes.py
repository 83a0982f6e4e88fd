"""Probes: matrices that distinguish accumulation models, run through one matrix instruction of a device.

Inputs and outputs are recorded as a capture, so that models can be fitted on a machine without the device.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.architectures import ARCHITECTURES
from mfmasim.devices import Device, SimDevice
from mfmasim.errors import MfmasimError, unknown
from mfmasim.lab.agreement.capture import Capture
from mfmasim.lab.agreement.recording import Recorder
from mfmasim.lab.calibration import phase_probes
from mfmasim.lab.calibration.phase_probes import PhaseProbe
from mfmasim.lab.calibration.probe_data import TILES, registers
from mfmasim.matrix import MatrixInstruction
from mfmasim.matrix import instruction as find_instruction
from mfmasim.observe.tools.lds_clock import LdsClock
from mfmasim.verify.environment import environment


@dataclass(frozen=True)
class Probe:
    """One instruction to probe."""

    name: str
    """Name; its kernel in hipkernels/conformance/calibrate/probe.hip is ``probe_`` and the name."""
    instruction: str
    archs: tuple[str, ...]
    ab: str = ""
    """Format of A and B, if the instruction has several."""

    def find(self, arch: str) -> MatrixInstruction:
        """The instruction on an architecture."""
        return find_instruction(arch, self.instruction, a=self.ab or None, b=self.ab or None)


_CDNA3, _CDNA4 = (tuple(a.name for a in ARCHITECTURES.values() if a.family == f) for f in ("CDNA3", "CDNA4"))
_BOTH = _CDNA3 + _CDNA4
_F8F6F4 = "v_mfma_f32_16x16x128_f8f6f4"

PROBES = (
    Probe("f16_k16", "v_mfma_f32_16x16x16_f16", _BOTH),
    Probe("f16_k32", "v_mfma_f32_16x16x32_f16", _CDNA4),
    Probe("bf16_k16", "v_mfma_f32_16x16x16_bf16", _BOTH),
    Probe("bf16_k32", "v_mfma_f32_16x16x32_bf16", _CDNA4),
    Probe("f32", "v_mfma_f32_16x16x4_f32", _BOTH),
    Probe("xf32", "v_mfma_f32_16x16x8_xf32", _CDNA3),
    Probe("fp8", "v_mfma_f32_16x16x32_fp8_fp8", _BOTH),
    Probe("bf8", "v_mfma_f32_16x16x32_bf8_bf8", _BOTH),
    Probe("f8f6f4_fp8", _F8F6F4, _CDNA4, "e4m3fn"),
    Probe("f8f6f4_bf8", _F8F6F4, _CDNA4, "e5m2"),
    Probe("f8f6f4_fp6", _F8F6F4, _CDNA4, "e2m3fn"),
    Probe("f8f6f4_bf6", _F8F6F4, _CDNA4, "e3m2fn"),
    Probe("f8f6f4_fp4", _F8F6F4, _CDNA4, "e2m1fn"),
    Probe("scaled_fp8", "v_mfma_scale_f32_16x16x128_f8f6f4", _CDNA4, "e4m3fn"),
    Probe("scaled_fp4", "v_mfma_scale_f32_16x16x128_f8f6f4", _CDNA4, "e2m1fn"),
)
"""Instructions whose rounding is an open question, and some with known rounding that confirm the architecture."""


@dataclass(frozen=True)
class Observed:
    """A device's results of a probe: codes, tiles first."""

    probe: Probe
    op: MatrixInstruction
    a: NDArray[Any]
    b: NDArray[Any]
    c: NDArray[np.uint32]
    d: NDArray[np.uint32]
    scale_a: NDArray[np.uint8] | None = None
    scale_b: NDArray[np.uint8] | None = None
    index: NDArray[np.uint8] | None = None
    """Positions of the kept elements of a sparse A."""


def observe(
    device: Device,
    arch: str,
    only: Sequence[str] = (),
    times: int | None = None,
    clock: LdsClock | None = None,
    *,
    crowded: bool = False,
) -> Capture:
    """Run probes of an architecture.

    Args:
        device: the device.
        arch: the device's architecture.
        only: names of probes; none is all.
        times: repetitions of timed probes; None means 5 on a GPU, and 1 with simulated time.
        clock: LDS model of the simulator's clock; None takes the phase tables.
        crowded: time LDS reads of all lanes instead of two.

    Returns:
        The capture.

    Raises:
        MfmasimError: the architecture has no such probes; or an error of the compiler or of a launch.
    """
    probes: dict[str, Probe | PhaseProbe] = {probe.name: probe for probe in PROBES if arch in probe.archs}
    probes.update({probe.name: probe for probe in phase_probes.chosen(arch)})
    for name in only:
        if name not in probes:
            raise unknown("probe", name, probes, f"for {arch}")
    taken = [probe for name, probe in probes.items() if not only or name in only]
    rounding = [probe for probe in taken if isinstance(probe, Probe)]
    phases = [probe for probe in taken if isinstance(probe, PhaseProbe)]
    code = phase_probes.compiled(arch)
    in_simulator = isinstance(device, SimDevice)
    recorder = Recorder(device, "bounds" if in_simulator else "all")
    for probe in rounding:
        args = [np.ascontiguousarray(array).view(np.uint32) for array in registers(probe.find(arch), probe.name)]
        report = recorder.launch(code[f"probe_{probe.name}"], TILES, 64, [*args, np.zeros((TILES, 4, 64), np.uint32)])
        if not report.ok:
            raise MfmasimError(f"probe {probe.name}: {report.findings[0].message}")
    simulated = in_simulator or bool(getattr(device, "simulated", False))
    timed = phase_probes.measure(
        recorder,
        code,
        phases,
        rounds=1 if simulated else 4,
        times=times or (1 if simulated else 5),
        simulated=simulated,
        crowded=crowded,
        options={"observers": [clock or LdsClock(arch)]} if in_simulator else {},
    )
    product = getattr(device, "product", "the simulator")
    about = {
        "probes": [probe.name for probe in rounding],
        "tiles": TILES,
        "phases": timed,
        "arch": arch,
        "device": {"name": device.name, "product": product, "simulated": simulated},
        "code": {"sha256": code.sha256, "compiler": code.made_by},
        "captured": datetime.now(UTC).isoformat(timespec="seconds"),
        "environment": environment(device),
    }
    return Capture(about, code.object.data, recorder.launches)


def observed(capture: Capture) -> Iterator[Observed]:
    """The results in a capture of `observe`, by probe.

    Raises:
        MfmasimError: the capture is not one of `observe`.
    """
    arch = capture.about["arch"]
    by_name = {probe.name: probe for probe in PROBES}
    if capture.about.get("probes") and capture.about.get("tiles") != TILES:
        raise MfmasimError("the capture has probes of another version: record it again")
    for name, launch in zip(capture.about.get("probes", ()), capture.launches, strict=False):
        if name not in by_name:
            raise MfmasimError(f"the capture has a probe {name!r} unknown to this version")
        probe = by_name[name]
        op = probe.find(arch)
        a, b, sa, sb, c, _ = (raw.view(np.uint32).reshape(-1, raw.size // TILES // 256, 64) for raw in launch.before)
        d = launch.after[5].view(np.uint32).reshape(-1, 4, 64)
        scales: dict[str, Any] = {}
        if op.scale_A is not None and op.scale_B is not None:
            scales = {"scale_a": op.scale_A.unpack(sa), "scale_b": op.scale_B.unpack(sb)}
        yield Observed(probe, op, op.A.unpack(a), op.B.unpack(b), op.C.unpack(c), op.D.unpack(d), **scales)
    if not capture.about.get("probes") and not capture.about.get("phases"):
        raise MfmasimError("this is not a capture of probes: mfmasim gpu calibrate --record records one")
