"""Settings of a session, and their form in environment variables, which child processes inherit."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields

from mfmasim.architectures import DEFAULT
from mfmasim.architectures import arch as find_arch
from mfmasim.devices.options import chosen_checks
from mfmasim.errors import MfmasimError, unknown
from mfmasim.machine.execution.wave_orders import schedule as find_schedule

PREFIX = "MFMASIM_TRITON_"
RECORDS = PREFIX + "RECORDS"
"""Folder in which every process of a program records its launches."""
AUTOTUNE = ("first", "all")
"""Which configurations of an autotuned kernel are tried: the first that fits the device, or all."""
BENCHMARKS = ("first", "all", "none")
"""Which sizes of `triton.testing.perf_report` run."""
MEMORY = ("auto", "copy", "process")
"""Where a kernel's memory is: in buffers between guard pages, copied before and after the launch; or the tensors' own
memory. ``auto`` copies where a check is on."""
LAYOUTS = ("off", "on")
"""Whether the layouts of products are compared with the matrix instructions' rows, and bank conflicts are counted."""
CONFLICTS = "conflicts"


@dataclass(frozen=True)
class Settings:
    """How a session runs kernels."""

    arch: str = DEFAULT
    checks: str = ""
    """Checks of every launch; by default all, with the memory ``process`` those that it serves."""
    schedule: str = "usual"
    autotune: str = AUTOTUNE[0]
    benchmarks: str = BENCHMARKS[0]
    memory: str = MEMORY[0]
    layouts: str = LAYOUTS[0]

    def __post_init__(self) -> None:
        """Check every value.

        Raises:
            MfmasimError: names the value and what is allowed.
        """
        find_arch(self.arch)
        if not self.checks:
            object.__setattr__(self, "checks", "bounds" if self.memory == "process" else "all")
        checks = self.chosen
        order = None if self.schedule == "witness" else find_schedule(self.schedule)
        allowed = {"autotune": AUTOTUNE, "benchmarks": BENCHMARKS, "memory": MEMORY, "layouts": LAYOUTS}
        for name, values in allowed.items():
            if getattr(self, name) not in values:
                raise unknown(name, getattr(self, name), values)
        if self.memory == "process" and set(checks) - {"bounds"}:
            raise MfmasimError(f"memory 'process': only with the checks bounds or none, not {', '.join(checks)}")
        if self.memory == "process" and checks and order is not None:
            raise MfmasimError(
                f"memory 'process': the schedule {self.schedule!r} runs a checked launch twice; use memory 'copy'"
            )

    @property
    def chosen(self) -> list[str]:
        """Names of the checks of every launch."""
        names = list(chosen_checks(self.checks))
        return [*names, CONFLICTS] if self.layouts == "on" and CONFLICTS not in names else names

    @property
    def copies(self) -> bool:
        """Whether launches work on copies of the tensors, between guard pages."""
        return self.memory == "copy" or (self.memory == "auto" and bool(self.chosen))

    @property
    def options(self) -> dict[str, str]:
        """The settings by name, as `install` takes them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def environment(self) -> dict[str, str]:
        """The settings as environment variables."""
        return {PREFIX + name.upper(): value for name, value in self.options.items()}

    @classmethod
    def read(cls, environment: Mapping[str, str] | None = None) -> Settings:
        """Read the environment.

        Raises:
            MfmasimError: a variable has an invalid value.
        """
        found = os.environ if environment is None else environment
        names = {field.name: PREFIX + field.name.upper() for field in fields(cls)}
        return cls(**{name: found[variable] for name, variable in names.items() if found.get(variable)})
