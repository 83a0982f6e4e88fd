"""A session: while it is active, Triton's kernels run on the simulator and PyTorch's tensors of ``cuda`` on the CPU."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mfmasim.architectures import DEFAULT
from mfmasim.architectures import arch as find_arch
from mfmasim.devices import Options, SimDevice
from mfmasim.errors import MfmasimError
from mfmasim.triton.settings import Settings
from mfmasim.triton.versions import need

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mfmasim.devices import Report
    from mfmasim.triton.benchmarks import Measured
    from mfmasim.triton.calls import Call
    from mfmasim.triton.records import Recorder


class StoppedError(MfmasimError, RuntimeError):
    """A launch ended early: the kernel trapped, left its code, or did not end."""


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
        report = SimDevice().run(placed.launch, options, (lambda: copied(call).launch) if settings.copies else None)
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


_active: list[Session] = []
_numbers: dict[str, int] = {}
"""Architectures in the order of their first session; Triton caches kernels by this number."""


def current() -> Session:
    """The session that is active.

    Raises:
        MfmasimError: none is.
    """
    if not _active:
        raise MfmasimError("no session is active: mfmasim.triton.install(arch=...) or mfmasim.triton.session(arch=...)")
    return _active[-1]


def install(
    arch: str = DEFAULT, checks: str = "bounds", *, schedule: str = "usual", autotune: str = "first",
    benchmarks: str = "first", memory: str = "auto", layouts: str = "off", recorder: Recorder | None = None,
) -> Session:  # fmt: skip
    """Run Triton's kernels on the simulator from now on, until `uninstall`.

    Args:
        arch: the architecture that Triton compiles for.
        checks: checks of every launch, as for `launch`.
        schedule: order of waves, as for `launch`.
        autotune: which configurations of autotuned kernels are tried: ``first``, the first that fits the device, or
            ``all``.
        benchmarks: which sizes of `triton.testing.perf_report` run: ``first``, ``all`` or ``none``.
        memory: ``copy`` (copies of tensors between guard pages), ``process`` (the tensors themselves, for the checks
            bounds and none), or ``auto``: copies where a check is on.
        layouts: ``on``: compare the layouts of each kernel's products with the matrix instructions' rows, and count
            bank conflicts.
        recorder: receives every launch.

    Returns:
        The session; `reports` has a report for each launch.

    Raises:
        MfmasimError: Triton or PyTorch is not installed, or a setting is invalid.
    """
    settings = Settings(find_arch(arch).name, checks, schedule, autotune, benchmarks, memory, layouts)
    need()
    made = Session(settings, recorder=recorder)
    with contextlib.ExitStack() as undo:
        _enter(made, undo)
        made._undo = undo.pop_all()  # noqa: SLF001
    _active.append(made)
    return made


def _enter(made: Session, undo: contextlib.ExitStack) -> None:
    """Put everything in place; what undoes it goes on the stack."""
    import torch
    from triton import knobs
    from triton.runtime.driver import driver

    from mfmasim.triton import autotuning, benchmarks, cuda
    from mfmasim.triton.driver import Driver
    from mfmasim.triton.patches import Patches
    from mfmasim.triton.tensors import StandIn

    arch = find_arch(made.settings.arch)
    patches = undo.enter_context(Patches())
    for name, answer in cuda.answers(arch).items():
        patches.set(torch.cuda, name, answer)
    patches.set(torch.version, "hip", cuda.HIP_VERSION)
    bench = benchmarks.patch(made, patches)
    autotuning.patch(made.settings.autotune, patches)
    own = Driver(arch, _numbers.setdefault(arch.name, len(_numbers)), bench)
    patches.set(driver, "_active", own)
    patches.set(driver, "_default", own)
    if knobs.compilation.listener is None:
        knobs.compilation.listener = made.compiled_one
        undo.callback(lambda: setattr(knobs.compilation, "listener", None))
    if not any(isinstance(mode, StandIn) for mode in torch.overrides._get_current_function_mode_stack()):  # noqa: SLF001
        undo.enter_context(StandIn())


def uninstall() -> None:
    """End the session of the last `install`; without one, nothing happens."""
    if _active:
        _active.pop()._undo.close()  # noqa: SLF001


@contextlib.contextmanager
def session(arch: str = DEFAULT, checks: str = "bounds", **options: Any) -> Iterator[Session]:
    """A session for the length of a ``with`` statement.

    Args:
        arch: the architecture that Triton compiles for.
        checks: checks of every launch.
        options: those of `install`.
    """
    made = install(arch, checks, **options)
    try:
        yield made
    finally:
        uninstall()
