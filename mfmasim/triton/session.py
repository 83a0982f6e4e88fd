"""A session: while it is active, Triton's kernels run on the simulator and PyTorch's tensors of ``cuda`` on the CPU."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mfmasim.debug.attached import device
from mfmasim.devices import Options
from mfmasim.errors import MfmasimError

if TYPE_CHECKING:
    from mfmasim.devices import Report
    from mfmasim.triton.calls import Call
    from mfmasim.triton.records import Recorder
    from mfmasim.triton.settings import Settings


class StoppedError(MfmasimError, RuntimeError):
    """A launch ended early: the kernel trapped, left its code, or did not end."""


@dataclass(frozen=True)
class Measured:
    """One call of `do_bench`."""

    kernels: tuple[str, ...]
    instructions: int
    """Wave-instructions of these kernels."""
    cpu_milliseconds: float
    """Time of the simulation on this machine."""


@dataclass
class Session:
    """What ran in a session."""

    settings: Settings
    reports: list[Report] = field(default_factory=list)
    """One for each launch."""
    benchmarks: list[Measured] = field(default_factory=list)
    """One for each `do_bench`."""
    compiled: int = 0
    """Kernels that Triton compiled; those in its cache do not count."""
    compile_seconds: float = 0.0
    simulate_seconds: float = 0.0
    kernels: list[tuple[str, bytes]] = field(default_factory=list, repr=False)
    """Each kernel in Triton's GPU dialect, and its code object, if layouts are asked for."""
    recorder: Recorder | None = field(default=None, repr=False)
    _undo: contextlib.ExitStack = field(default_factory=contextlib.ExitStack, repr=False)

    @property
    def findings(self) -> list[Any]:
        """The findings of all launches."""
        return [finding for report in self.reports for finding in report.findings]

    def launch(self, call: Call) -> Report:
        """Run a kernel.

        Raises:
            MfmasimError: the device would not take the launch, or the simulator cannot execute it.
            StoppedError: it ended early.
        """
        from mfmasim.triton.copies import copied
        from mfmasim.triton.process import shared

        begin = time.perf_counter()
        settings = self.settings
        placed = copied(call) if settings.copies else shared(call)
        waves = placed.launch.waves if call.cooperative else None
        options = Options(checks=settings.chosen, max_waves=waves, schedule=settings.schedule)
        report = device().run(placed.launch, options, (lambda: copied(call).launch) if settings.copies else None)
        placed.collect()
        seconds = time.perf_counter() - begin
        self.simulate_seconds += seconds
        self.reports.append(report)
        for line in report.printed:
            print(line, flush=True)
        if self.recorder is not None:
            self.recorder.launch(report, seconds)
        if report.stopped:
            raise StoppedError(f"{report.kernel}: {report.stopped}")
        return report

    def compiled_one(self, *, times: Any, cache_hit: bool, metadata_group: Any, **others: Any) -> None:
        """Count a kernel that Triton compiled, and keep it if its layouts are asked for.

        Args:
            times: of the compiler's stages, in microseconds.
            cache_hit: whether the kernel was in Triton's cache.
            metadata_group: files of the kernel in Triton's cache, by name.
            others: further arguments that Triton passes to a listener.
        """
        del others
        if not cache_hit:
            seconds = times.total / 1e6
            self.compiled += 1
            self.compile_seconds += seconds
            if self.recorder is not None:
                self.recorder.compiled(seconds)
        files = {Path(name).suffix: Path(path) for name, path in metadata_group.items()}
        if self.settings.layouts == "on" and {".ttgir", ".hsaco"} <= files.keys():
            kernel = files[".ttgir"].read_text(), files[".hsaco"].read_bytes()
            self.kernels.append(kernel)
            if self.recorder is not None:
                self.recorder.kernel(*kernel)

    def layouts(self) -> list[dict[str, Any]]:
        """Records of products and LDS tensors of each kernel, compared with the matrix instructions' rows.

        Raises:
            MfmasimError: the session was begun without ``layouts="on"``.
        """
        from mfmasim.triton.layouts.report import records

        if self.settings.layouts != "on":
            raise MfmasimError('layouts: begin the session with layouts="on"')
        return records(self.kernels)


active: list[Session] = []
"""Sessions that were begun and not ended; kernels run in the last."""


def current() -> Session:
    """The session that is active.

    Raises:
        MfmasimError: none is.
    """
    if not active:
        raise MfmasimError("no session is active: mfmasim.triton.install(arch=...) or mfmasim.triton.session(arch=...)")
    return active[-1]
