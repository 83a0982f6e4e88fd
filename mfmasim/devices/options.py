"""Options of a launch on the simulator: checked once, then passed on as one object."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from mfmasim.errors import MfmasimError, unknown
from mfmasim.machine.binding.approximation import direction
from mfmasim.machine.execution.run import BUDGET
from mfmasim.machine.execution.wave_orders import schedule as schedule_of
from mfmasim.machine.launch.quota import Quota
from mfmasim.observe.registry import CHECKS
from mfmasim.observe.tools.debugger import Debugger

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from concurrent.futures import Executor

    from mfmasim.machine.events import Observer
    from mfmasim.machine.execution.wave_orders import Schedule

WITNESS = "witness"
"""The schedule that looks for an order in which a race shows."""


def chosen_checks(checks: str | Sequence[str] | None, also: Sequence[str] = ()) -> tuple[str, ...]:
    """Names of the checks that ``"all"``, ``"none"``, a list or a comma-separated string select.

    An option of a check follows its name and a colon: ``"all,hazards:manual"`` is all, one of them with an option.

    Args:
        checks: the selection.
        also: checks of the caller, which have no options and are not in the result.

    Raises:
        MfmasimError: a name is not a check, or an option not one of the check's.
    """
    if checks is None or checks == "none":
        return ()
    if checks == "all":
        return tuple(
            name if check.default else f"{name}:{check.part}"
            for name, check in CHECKS.items()
            if check.default or check.part
        )
    if not isinstance(checks, str | list | tuple):
        raise MfmasimError(f"checks {checks!r}: 'all', 'none' or names of checks are expected")
    names = tuple(part.strip() for part in checks.split(",")) if isinstance(checks, str) else tuple(checks)
    chosen: dict[str, str] = {}
    for name in names:
        if name == "all":
            every = {one.partition(":")[0]: one for one in chosen_checks("all")}
            chosen |= {one: each for one, each in every.items() if one not in chosen}
            continue
        check, colon, option = name.partition(":")
        if name == "none":
            raise MfmasimError(f"checks {', '.join(names)}: 'none' is not possible together with others")
        if check not in CHECKS and check not in also:
            raise unknown("check", name, [*CHECKS, *also, "all", "none"])
        if colon and (check in also or not CHECKS[check].options):
            raise MfmasimError(f"check {name!r}: {check} has no options")
        if colon and option not in CHECKS[check].options:
            raise unknown(f"option of the check {check}", option, list(CHECKS[check].options))
        if check not in also:
            chosen[check] = name
    return tuple(chosen.values())


def not_run(checks: str | Sequence[str] | None) -> tuple[str, ...]:
    """Checks of ``"all"`` that a selection does not have.

    Args:
        checks: what is selected.
    """
    chosen = {name.partition(":")[0] for name in chosen_checks(checks)}
    return tuple(name for name in chosen_checks("all") if name.partition(":")[0] not in chosen)


def said_of(ran: Sequence[str], left: Sequence[str]) -> str:
    """The checks that did not run, in words; empty if all ran.

    Args:
        ran: names of the checks that ran.
        left: names of those that did not.
    """
    return f"checks that ran: {', '.join(ran) or 'none'}; not run: {', '.join(left)}" if left else ""


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of a launch on the simulator.

    Raises:
        MfmasimError: an impossible value, or an impossible combination.
    """

    checks: str | Sequence[str] | None = "all"
    """``"all"``, ``"none"``, or names of checks, each with an option or without, as ``"hazards:manual"``."""
    budget: int = BUDGET
    """Instructions a wave may execute; then the launch is stopped, and a finding names the place."""
    observers: Sequence[Observer] = ()
    """Further observers (`mfmasim.machine.events.Observer`)."""
    debug: Debugger | None = None
    """Breakpoints; None costs nothing."""
    max_waves: int | None = None
    """Waves in flight at most (a workgroup always runs as a whole); None takes 2,048. Their registers, LDS and scratch
    never exceed 256 MB. It changes memory and speed, not the result."""
    executor: Executor | None = None
    """A ``concurrent.futures.Executor`` that runs parts of the grid. The result is that of a launch without one; where
    workgroups of several parts share memory that they write, the launch runs in this process, and `Report.notes` says
    so. Checks that need the whole launch, and observers, are refused."""
    parts: int | None = None
    """How many parts the executor is given; None takes two for each processor of this machine."""
    schedule: str = "usual"
    """Order in which waves run, where the hardware guarantees none: ``forward`` and ``reversed`` (each as far as it
    can), ``random:SEED``, ``first:WAVE``, ``last:WAVE``; ``usual`` is all together; ``late`` delivers loads at the last
    moment that the wait counters allow. Findings are the same in each. ``witness`` looks for an order in which a race
    changes the outputs, says so in the finding, and leaves these outputs in the buffers."""
    quota: Quota | None = None
    """Instructions, seconds, bytes and rows that the launch may take; None is `Quota()`. Beyond it the launch is
    refused, or stopped with a finding."""
    lds: Mapping[str, Any] | None = None
    """Variables of the LDS that neither debug information nor a source has, such as parts of dynamic LDS, for findings
    and the check `variables`, by name: see `mfmasim.machine.launch.lds_shapes.declared_lds`."""
    approximations: str = "nearest"
    """Which result reciprocals, roots, exponentials and other approximate operations give: ``nearest``, or the one that
    is ``above`` or ``below`` it in magnitude by the manual's error bound."""

    @classmethod
    def of(cls, keywords: Mapping[str, Any]) -> Options:
        """The options from the keywords of a launch.

        Raises:
            MfmasimError: as for the class; or a keyword is no option.
        """
        names = [field.name for field in fields(cls)]
        for name in keywords:
            if name not in names:
                raise unknown("option of a launch", name, names)
        return cls(**keywords)

    def __post_init__(self) -> None:
        """Check the values."""
        names = self.names
        if not isinstance(self.budget, int) or self.budget < 1:
            raise MfmasimError(f"budget {self.budget!r}: a positive number of instructions is expected")
        waves = self.max_waves
        if waves is not None and (not isinstance(waves, int) or isinstance(waves, bool) or waves < 1):
            raise MfmasimError(f"max_waves {waves!r}: a positive number of waves is expected")
        if not isinstance(self.observers, list | tuple):
            raise MfmasimError(f"observers {self.observers!r}: a list of observers is expected")
        if self.debug is not None and not isinstance(self.debug, Debugger):
            raise MfmasimError(f"debug {self.debug!r}: a mfmasim.Debugger() is expected")
        if self.parts is not None and self.executor is None:
            raise MfmasimError(f"parts {self.parts!r}: parts need an executor")
        self.order()
        if self.executor is not None and self.schedule != "usual":
            raise MfmasimError(f"schedule {self.schedule!r}: an order of all waves; run without an executor")
        if self.schedule == WITNESS and "races" not in names:
            raise MfmasimError("schedule 'witness' replays what the check 'races' finds; turn that check on")
        if self.quota is not None and not isinstance(self.quota, Quota):
            raise MfmasimError(f"quota {self.quota!r}: a mfmasim.Quota(...) is expected")
        direction(self.approximations)

    @property
    def names(self) -> tuple[str, ...]:
        """The checks by their names."""
        return chosen_checks(self.checks)

    @property
    def listeners(self) -> list[Observer]:
        """Observers of the launch besides the checks."""
        return [*self.observers, *([] if self.debug is None else [self.debug])]

    def order(self) -> Schedule | None:
        """A new schedule for each run; None runs all waves together."""
        return None if self.schedule == WITNESS else schedule_of(self.schedule)
