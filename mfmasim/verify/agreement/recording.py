"""Devices that stand between `verify_case` and another one: one writes down what goes through, one plays it back."""

from __future__ import annotations

import json
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.devices import SimDevice
from mfmasim.errors import MfmasimError
from mfmasim.verify.agreement.capture import Launched, describe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mfmasim.devices import Device, Report
    from mfmasim.program import Kernel
    from mfmasim.verify.agreement.capture import Capture

__all__ = ["Plain", "Recorder", "Replayer"]


def _call(
    kernel: Kernel, grid: Any, block: Any, args: Sequence[Any], shared_bytes: int
) -> tuple[dict[str, Any], list[NDArray[Any]]]:
    """A call as JSON can hold it, and its buffers."""
    buffers: list[NDArray[Any]] = []
    described = describe(list(args), buffers)
    sizes = [list(size) if isinstance(size, tuple | list) else [size] for size in (grid, block)]
    call = {
        "kernel": kernel.name,
        "grid": [int(n) for n in sizes[0]],
        "block": [int(n) for n in sizes[1]],
        "shared_bytes": int(shared_bytes),
        "args": described,
        "buffers": len(buffers),
    }
    return call, buffers


def _bytes(buffers: Sequence[NDArray[Any]]) -> list[NDArray[np.uint8]]:
    return [np.frombuffer(buffer.tobytes(), np.uint8) for buffer in buffers]


def same(captured: Any, now: Any) -> bool:
    """Whether parts of two calls are the same: -0.0 is not 0.0, 1 is not 1.0, and a NaN is a NaN."""
    return json.dumps(captured) == json.dumps(now)


class Plain:
    """A device that is launched on and not looked into."""

    def __init__(self, device: Device, checks: str = "all") -> None:
        """Launch on `device`, with these checks."""
        self.device = device
        self.name = device.name
        self.checks = checks

    def launch(
        self, kernel: Kernel, grid: Any, block: Any, args: Sequence[Any], shared_bytes: int = 0, *_: Any, **options: Any
    ) -> Report:
        """Launch; see `mfmasim.devices.SimDevice.launch`."""
        return self.device.launch(kernel, grid, block, args, shared_bytes, self.checks, **options)


class Recorder(Plain):
    """Keeps every launch."""

    def __init__(self, device: Device, checks: str = "all") -> None:
        """Record what goes to `device`."""
        super().__init__(device, checks)
        self.launches: list[Launched] = []
        self.kernel: Kernel | None = None

    def launch(
        self, kernel: Kernel, grid: Any, block: Any, args: Sequence[Any], shared_bytes: int = 0, *_: Any, **options: Any
    ) -> Report:
        """Launch and keep what went in and came out."""
        call, buffers = _call(kernel, grid, block, args, shared_bytes)
        before = _bytes(buffers)
        report = super().launch(kernel, grid, block, args, shared_bytes, **options)
        call["milliseconds"] = report.milliseconds
        self.kernel = kernel
        self.launches.append(Launched(call, before, _bytes(buffers)))
        return report


class Replayer(Plain):
    """Gives back what a capture holds, and has the simulator do the same launch for comparison."""

    def __init__(self, capture: Capture, place: str) -> None:
        """Replay `capture`; `place` names it in messages."""
        super().__init__(SimDevice())
        self.name = str(capture.about["device"]["name"])
        self.simulated: list[list[NDArray[np.uint8]]] = []
        """What the simulator left in the buffers, by launch."""
        self.reports: list[Report] = []
        self._capture = capture
        self._place = place

    def launch(
        self, kernel: Kernel, grid: Any, block: Any, args: Sequence[Any], shared_bytes: int = 0, *_: Any, **options: Any
    ) -> Report:
        """Fill the buffers with what the device left in them.

        Raises:
            MfmasimError: the capture is stale: the case now has another kernel, or other inputs.
        """
        number = len(self.reports)
        if kernel.code.sha256 != self._capture.about["code"]["sha256"]:
            self._stale(f"the case's code object is {kernel.code.sha256[:12]}…, the captured one "
                        f"{self._capture.about['code']['sha256'][:12]}…")  # fmt: skip
        if number >= len(self._capture.launches):
            self._stale(f"the case makes launch {number + 1}, {len(self._capture.launches)} were captured")
        captured = self._capture.launches[number]
        call, buffers = _call(kernel, grid, block, args, shared_bytes)
        for key, value in call.items():
            if not same(captured.call[key], value):
                self._stale(f"launch {number + 1} has {key} {value}, captured was {captured.call[key]}")
        for place, (buffer, before) in enumerate(zip(_bytes(buffers), captured.before, strict=True)):
            if not np.array_equal(buffer, before):
                self._stale(f"launch {number + 1} has other contents in buffer {place} than were captured")
        report = super().launch(kernel, grid, block, args, shared_bytes, **options)
        self.simulated.append(_bytes(buffers))
        self.reports.append(report)
        for buffer, after in zip(buffers, captured.after, strict=True):
            buffer.reshape(-1).view(np.uint8)[:] = after
        told = copy(report)  # the device's, not the simulator's findings
        told.findings, told.device = [], self.name
        return told

    def _stale(self, why: str) -> None:
        raise MfmasimError(f"{self._place}: the capture is stale: {why}; record it anew")
