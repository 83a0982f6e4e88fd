"""Begins and ends sessions: what of Triton and PyTorch is replaced while one is active."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from mfmasim.architectures import DEFAULT
from mfmasim.architectures import arch as find_arch
from mfmasim.triton.session import Session, active
from mfmasim.triton.settings import Settings
from mfmasim.triton.versions import need

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mfmasim.triton.records import Recorder

_numbers: dict[str, int] = {}
"""Architectures in the order of their first session; Triton caches kernels by this number."""


def install(
    arch: str = DEFAULT,
    checks: str = "",
    *,
    schedule: str = "usual",
    autotune: str = "first",
    benchmarks: str = "first",
    memory: str = "auto",
    layouts: str = "off",
    recorder: Recorder | None = None,
) -> Session:
    """Run Triton's kernels on the simulator from now on, until `uninstall`.

    Args:
        arch: the architecture that Triton compiles for.
        checks: checks of every launch, as for `launch`; by default all, with `memory` ``process`` bounds.
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
    active.append(made)
    return made


def _enter(made: Session, undo: contextlib.ExitStack) -> None:
    """Put everything in place; what undoes it goes on the stack."""
    import torch
    from triton import knobs
    from triton.runtime.driver import driver

    from mfmasim.triton import autotuning, benchmarks, cuda, pytorch
    from mfmasim.triton.driver import Driver
    from mfmasim.triton.patches import Patches
    from mfmasim.triton.tensors import StandIn

    arch = find_arch(made.settings.arch)
    patches = undo.enter_context(Patches())
    for name, answer in cuda.answers(arch).items():
        patches.set(torch.cuda, name, answer)
    for owner, name, value in pytorch.replaced():
        patches.set(owner, name, value)
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
    if active:
        active.pop()._undo.close()  # noqa: SLF001


@contextlib.contextmanager
def session(arch: str = DEFAULT, checks: str = "", **options: Any) -> Iterator[Session]:
    """A session for the length of a ``with`` statement.

    Args:
        arch: the architecture that Triton compiles for.
        checks: checks of every launch; by default all.
        options: those of `install`.
    """
    made = install(arch, checks, **options)
    try:
        yield made
    finally:
        uninstall()
