"""Launches on a GPU that run three times, each time with other contents of all memory that the kernel has not written.

A kernel that reads memory it has not written computes other results each time, on hardware by accident and here by
intent. The host can set outputs before the launch and guard zones, and, by a kernel that runs before, the
LDS and most vector registers. Other processes' kernels and the scheduler may come between, so that three equal runs are
no proof.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.devices import Device, Report
from mfmasim.devices.isolated import IsolatedHip
from mfmasim.kernels import Code, Kernel
from mfmasim.lab.agreement.recording import Call, Recorder
from mfmasim.observe import Finding
from mfmasim.resources import folder
from mfmasim.verify.arguments import POISON
from mfmasim.verify.cases import Case
from mfmasim.verify.prebuilt import code_for
from mfmasim.verify.result import Result
from mfmasim.verify.runner import verify_case

POISONS = (0x3C, 0xC3)
"""Bytes of the second and the third run; the first has `POISON`. As f32, f16 and FP8 they are numbers of two sizes."""
WORKGROUPS = 2048
"""Workgroups of the kernel that fills LDS and registers: more than the compute units of any GPU."""


def run_recorded(case: Case, arch: str, group: str, device: Device) -> tuple[Result, Recorder]:
    """Verify a case on a device, and record its launches; on a GPU each is done three times.

    Args:
        case: the case.
        arch: architecture.
        group: family or file, for the report.
        device: an open device.

    Returns:
        The comparison with the reference, with a finding for each launch whose runs differ; and the launches.

    Raises:
        MfmasimError: whatever `verify_case` raises.
    """
    recorder = Poisoned(device) if isinstance(device, IsolatedHip) else Recorder(device)
    result = verify_case(case, arch, group=group, device=recorder)
    if isinstance(recorder, Poisoned):
        result.findings += [Finding("outputs", "error", text, "outputs-unsteady") for text in recorder.differing]
        result.settle()
    return result, recorder


class Poisoned(Recorder):
    """Records every launch, and repeats it with other undefined contents."""

    def __init__(self, device: IsolatedHip) -> None:
        """Record launches on a GPU."""
        super().__init__(device)
        self.gpu = device
        self.differing: list[str] = []
        """Launches and buffers in which the runs differ, in words."""

    @property
    def summary(self) -> dict[str, Any]:
        """The summary for a capture: number of runs, the poisons, and the differences."""
        return {"runs": 1 + len(POISONS), "bytes": [POISON, *POISONS], "differ": self.differing}

    def forward(self, call: Call) -> Report:
        """Launch and record; then launch again, on copies of the buffers."""
        first = _arrays(call)
        before = [array.copy() for array in first]
        outputs = [array.flags.writeable and _is_poison(array) for array in first]
        report = super().forward(call)
        if not report.ok:
            return report
        for poison in POISONS:
            self._fill(call.kernel, poison)
            copies = [was.copy() for was in before]
            for copy, array, output in zip(copies, first, outputs, strict=True):
                if output:
                    copy.reshape(-1).view(np.uint8)[:] = poison
                copy.flags.writeable = array.flags.writeable
            given = {id(array): copy for array, copy in zip(first, copies, strict=True)}
            again = replace(
                call, args=_with(call.args, given), options={**_with(call.options, given), "poison": poison}
            )
            super(Recorder, self).forward(again)
            for number, (array, copy, output) in enumerate(zip(first, copies, outputs, strict=True)):
                wrong = _differing(array, copy, poison if output else None)
                if wrong:
                    self.differing.append(
                        f"launch {len(self.launches)}, buffer {number}: {wrong} of {array.nbytes} bytes are others "
                        f"when what is undefined holds {poison:#04x}, not {POISON:#04x}"
                    )
        return report

    def _fill(self, kernel: Kernel, poison: int) -> None:
        """Leave the poison in the LDS and the vector registers."""
        filler = _filler(kernel.arch.name)["fill"]
        size = kernel.arch.lds_bytes
        word = np.uint32(int.from_bytes(bytes([poison]) * 4, "little"))
        workgroups = 1 if self.gpu.simulated else WORKGROUPS
        self.gpu.launch(filler, workgroups, 256, [word, np.uint32(size // 4)], size)


def _filler(arch: str) -> Code:
    return code_for(folder("hipkernels") / "conformance" / "calibrate" / "fill.hip", arch)


def _arrays(call: Call) -> list[NDArray[Any]]:
    """The buffers among the arguments, each once, in order."""
    return call.record()[1]


def _is_poison(array: NDArray[Any]) -> bool:
    return bool((array.reshape(-1).view(np.uint8) == POISON).all())


def _differing(first: NDArray[Any], again: NDArray[Any], poison: int | None) -> int:
    """Bytes that differ between two runs, without those of an output that neither has written."""
    one, two = (array.reshape(-1).view(np.uint8) for array in (first, again))
    differ = one != two
    if poison is not None:
        differ &= (one != POISON) | (two != poison)
    return int(differ.sum())


def _with(args: object, given: Mapping[int, NDArray[Any]]) -> Any:
    """Arguments with other arrays in place of their own."""
    if isinstance(args, dict):
        return {key: _with(one, given) for key, one in args.items()}
    if isinstance(args, list | tuple):
        return type(args)(_with(one, given) for one in args)
    return given.get(id(args), args) if isinstance(args, np.ndarray) else args
