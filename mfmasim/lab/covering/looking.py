"""A look at a case at other parameters: the kernel's paths there, without checks and without a comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mfmasim.architectures import arch as find_arch
from mfmasim.devices import SimDevice
from mfmasim.devices.ways import Seen, Ways
from mfmasim.errors import MfmasimError
from mfmasim.machine.launch.quota import Quota
from mfmasim.verify.memory import memory_of
from mfmasim.verify.runner import set_parameters

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mfmasim.kernels import Kernel
    from mfmasim.verify.cases import Case


@dataclass(frozen=True)
class Look:
    """Paths of a launch at some parameters."""

    parameters: Mapping[str, Any]
    """Those that differ from the case's own."""
    seen: Seen
    steps: int
    """Its cost (`mfmasim.devices.ways.Ways.steps`)."""
    whole: bool
    """Whether the launch ran to its end."""


def other_code(case: Case, kernel: Kernel) -> bool:
    """Whether a case with changed parameters has another kernel, whose loops and branches are others."""
    if case.kernel_name() not in (kernel.name, kernel.title):
        return True
    return case.maker is not None and case.compiled(kernel.arch.name).code.sha256 != kernel.code.sha256


def look(case: Case, kernel: Kernel, parameters: Mapping[str, Any], most: int, ways: Ways | None = None) -> Look | None:
    """Launch a case once, without checks.

    Args:
        case: the case.
        kernel: its kernel.
        parameters: those that differ from the case's own.
        most: most wave-instructions of the launch.
        ways: records the paths.

    Returns:
        The paths; None if the case has no such launch.
    """
    arch = find_arch(kernel.arch.name)
    ways = Ways() if ways is None else ways
    try:
        changed = set_parameters(case.with_parameters(parameters), arch=arch.name, wave=kernel.wave)
        if other_code(changed, kernel):
            return None
        launch = changed.make()
        memory = memory_of(changed, launch, arch)
        options = {"checks": "none", "observers": [ways], "quota": Quota(instructions=most)}
        report = launch.run(SimDevice(), kernel, memory, options)
    except MfmasimError:
        return None
    return Look(parameters, ways.seen, ways.steps, not report.stopped)
