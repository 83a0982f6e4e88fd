"""Devices that wrap another one: one records its launches, one replays a capture."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.devices import Device, Report, SimDevice
from mfmasim.errors import MfmasimError
from mfmasim.kernels import Kernel
from mfmasim.lab.agreement.capture import Capture, Launched, describe


@dataclass(frozen=True)
class Call:
    """The arguments of one launch."""

    kernel: Kernel
    grid: int | Sequence[int]
    block: int | Sequence[int]
    args: Sequence[Any]
    shared_bytes: int
    options: Mapping[str, Any]
    """Further arguments of `SimDevice.launch`."""

    def record(self) -> tuple[dict[str, Any], list[NDArray[Any]]]:
        """The call as JSON values, and its buffers."""
        buffers: list[NDArray[Any]] = []
        described = describe(list(self.args), buffers)
        grid, block = ([size] if isinstance(size, int) else list(size) for size in (self.grid, self.block))
        call = {
            "kernel": self.kernel.name,
            "grid": [int(n) for n in grid],
            "block": [int(n) for n in block],
            "shared_bytes": int(self.shared_bytes),
            "args": described,
            "buffers": len(buffers),
        }
        return call, buffers


def _bytes(buffers: Sequence[NDArray[Any]]) -> list[NDArray[np.uint8]]:
    return [np.frombuffer(buffer.tobytes(), np.uint8) for buffer in buffers]


def same(recorded: object, now: object) -> bool:
    """Whether parts of two calls are the same: -0.0 is not 0.0, 1 is not 1.0, and a NaN is a NaN."""
    return json.dumps(recorded) == json.dumps(now)


class Plain:
    """A device for launches only, without observers."""

    def __init__(self, device: Device, checks: str = "all") -> None:
        """Launch on `device`, with these checks."""
        self.device = device
        self.name = device.name
        self.checks = checks

    def launch(
        self,
        kernel: Kernel,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        args: Sequence[Any],
        shared_bytes: int = 0,
        checks: object = None,
        **options: Any,
    ) -> Report:
        """Launch; see `mfmasim.devices.SimDevice.launch`.

        Args:
            kernel: the kernel.
            grid: workgroups in x, y, z.
            block: work-items of a workgroup in x, y, z.
            args: one entry per argument.
            shared_bytes: dynamic LDS in bytes.
            checks: not used; this device's own checks replace them.
            options: passed on.
        """
        del checks
        return self.forward(Call(kernel, grid, block, args, shared_bytes, options))

    def forward(self, call: Call) -> Report:
        """Launch on the wrapped device."""
        return self.device.launch(
            call.kernel, call.grid, call.block, call.args, call.shared_bytes, self.checks, **call.options
        )


class Recorder(Plain):
    """Keeps every launch."""

    def __init__(self, device: Device, checks: str = "all") -> None:
        """Record launches on `device`."""
        super().__init__(device, checks)
        self.launches: list[Launched] = []
        self.kernel: Kernel | None = None

    def forward(self, call: Call) -> Report:
        """Launch and record inputs and outputs."""
        described, buffers = call.record()
        before = _bytes(buffers)
        report = super().forward(call)
        described["milliseconds"] = report.milliseconds
        self.kernel = call.kernel
        self.launches.append(Launched(described, before, _bytes(buffers)))
        return report


class Replayer(Plain):
    """Returns the recorded outputs, and runs the same launch on the simulator for comparison."""

    def __init__(self, capture: Capture, place: str) -> None:
        """Replay `capture`; `place` names it in messages."""
        super().__init__(SimDevice())
        self.name = str(capture.about["device"]["name"])
        self.simulated: list[list[NDArray[np.uint8]]] = []
        """Contents of the buffers after the simulator's launch, by launch."""
        self.reports: list[Report] = []
        self._capture = capture
        self._place = place

    def forward(self, call: Call) -> Report:
        """Fill the buffers with their contents after the device's launch.

        Raises:
            MfmasimError: the capture is stale: the case now has another kernel, or other inputs.
        """
        number = len(self.reports)
        if call.kernel.code.sha256 != self._capture.about["code"]["sha256"]:
            self._stale(
                f"the case's code object is {call.kernel.code.sha256[:12]}…, the capture's "
                f"{self._capture.about['code']['sha256'][:12]}…"
            )
        if number >= len(self._capture.launches):
            self._stale(f"the case does launch {number + 1}, {len(self._capture.launches)} were recorded")
        recorded = self._capture.launches[number]
        described, buffers = call.record()
        for key, value in described.items():
            if not same(recorded.call[key], value):
                self._stale(f"launch {number + 1} has {key} {value}, {recorded.call[key]} was recorded")
        for place, (buffer, before) in enumerate(zip(_bytes(buffers), recorded.before, strict=True)):
            if not np.array_equal(buffer, before):
                self._stale(f"launch {number + 1} has other contents in buffer {place} than were recorded")
        report = super().forward(call)
        self.simulated.append(_bytes(buffers))
        self.reports.append(report)
        for buffer, after in zip(buffers, recorded.after, strict=True):
            buffer.reshape(-1).view(np.uint8)[:] = after
        replayed = copy(report)  # the device's findings, not the simulator's
        replayed.findings, replayed.device = [], self.name
        return replayed

    def _stale(self, why: str) -> None:
        raise MfmasimError(f"{self._place}: the capture is stale: {why}; record it again")
