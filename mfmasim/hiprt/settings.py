"""Settings of the simulated runtime in environment variables, which child processes inherit."""

from __future__ import annotations

import ast
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mfmasim.architectures import DEFAULT, Arch
from mfmasim.architectures import arch as find_arch
from mfmasim.devices.options import chosen_checks, not_run
from mfmasim.errors import MfmasimError, decimal, unknown
from mfmasim.hiprt.faults import Fault, parse
from mfmasim.lds import PhaseTable
from mfmasim.machine.execution import run, variations
from mfmasim.matrix import models
from mfmasim.matrix.models import Model
from mfmasim.observe.tools.lds_clock import LdsClock, read_tables

ARCH = "MFMASIM_HIPRT_ARCH"
"""Architectures of the devices, separated by commas: one device each. Default: one gfx942."""
MEMORY = "MFMASIM_HIPRT_MEMORY"
"""Memory of a device in MB. Default: 4096."""
BUDGET = "MFMASIM_HIPRT_BUDGET"
"""Instructions that a wave may execute before its launch ends with an error."""
CHECKS = "MFMASIM_HIPRT_CHECKS"
"""Checks of every launch, as for `launch`. Default: ``all``."""
STREAMS = "streams"
"""The check of this runtime itself, see `mfmasim.hiprt.order`; ``all`` includes it."""
FAULTS = "MFMASIM_HIPRT_FAULTS"
"""Faults to inject; see `mfmasim.hiprt.faults`."""
EXIT_CODE = "MFMASIM_HIPRT_EXIT_CODE"
"""Exit code of a compiled program that would end with 0 though there are findings. Default: 1; 0 leaves it."""
AFTER_FAULT = "MFMASIM_HIPRT_AFTER_FAULT"
"""Effect of an access outside every buffer: ``stop`` (default), the error of a memory fault; or ``continue``: within
the pages of the buffer before it, a load gives 0, a store is dropped, and the device goes on; the finding stays."""
AFTER_FAULTS = ("stop", "continue")
REPORT = "MFMASIM_HIPRT_REPORT"
"""File for a JSON summary of the run, written when the process ends."""
MODELS = "MFMASIM_HIPRT_MODELS"
"""Changed parameters of accumulation models: ``MODEL.PARAMETER=VALUE``, separated by commas."""
OPERATIONS = "MFMASIM_HIPRT_OPERATIONS"
"""Operations that differ in one parameter: ``OPERATION.PARAMETER=VALUE``, separated by commas. See
`mfmasim.machine.execution.variations`."""
PHASES = "MFMASIM_HIPRT_PHASES"
"""Clocks count LDS phases: ``ACCESS=LANES/BANKS`` for phases that differ from the tables, separated by semicolons;
``tables`` for none. See `mfmasim.observe.tools.lds_clock`."""
NOISE = "MFMASIM_HIPRT_NOISE"
"""With `PHASES`: largest random delay of a clock reading, in ticks."""
PACKAGE = "MFMASIM_HIPRT_PACKAGE"
"""Folder of this package, for programs whose environment does not have it."""


@dataclass(frozen=True)
class Settings:
    """The settings of one process."""

    archs: tuple[Arch, ...]
    memory: int = 4096 << 20
    """Bytes of a device."""
    checks: str = "all"
    streams: bool = False
    """Whether order between streams is followed: the check `STREAMS`."""
    faults: tuple[Fault, ...] = ()
    report: str = ""
    models: tuple[Model, ...] = ()
    """Accumulation models that replace the rows with their names."""
    operations: tuple[tuple[str, str, Any], ...] = ()
    """Operation, parameter and value of each difference from the rows."""
    phases: str = ""
    """LDS phases that clocks count, as in `PHASES`; empty: clocks ignore the LDS."""
    noise: int = 0
    exit_code: int = 1
    budget: int = run.BUDGET
    """Instructions of a wave."""
    goes_on: bool = False
    """Whether the device goes on after an access outside a buffer, within its pages: `AFTER_FAULT`."""

    @property
    def judged(self) -> tuple[list[str], list[str]]:
        """Checks of every launch, and the additional checks of ``all``."""
        ran, left = list(chosen_checks(self.checks)), list(not_run(self.checks))
        (ran if self.streams else left).append(STREAMS)
        return ran, left

    def clock(self, arch: Arch, seed: int) -> LdsClock | None:
        """LDS clocks of a launch."""
        if not self.phases:
            return None
        return LdsClock(arch.name, _tables(self.phases, arch), noise=self.noise, seed=seed)

    @classmethod
    def read(cls, environment: Mapping[str, str] | None = None) -> Settings:
        """Read the environment.

        Raises:
            MfmasimError: a variable has an invalid value; the message names it.
        """
        found = os.environ if environment is None else environment
        memory = found.get(MEMORY, "4096")
        if decimal(memory, 1 << 20) < 1:
            raise MfmasimError(f"{MEMORY}={memory}: a number of MB is expected, from 1 to {1 << 20}")
        devices = [name.strip() for name in found.get(ARCH, DEFAULT).split(",") if name.strip()]
        try:
            archs = tuple(find_arch(name) for name in devices)
        except MfmasimError as error:
            raise MfmasimError(f"{ARCH}: {error}") from None
        given = found.get(CHECKS, "all")
        names = [name.strip() for name in given.split(",")]
        streams = "all" in names or STREAMS in names
        checks = ",".join(name for name in names if name != STREAMS) or "none"
        try:
            chosen_checks(checks if checks == "none" else names, (STREAMS,))
        except MfmasimError as error:
            raise MfmasimError(f"{CHECKS}: {error}") from None
        try:
            faults = tuple(parse(found.get(FAULTS, "")))
        except MfmasimError as error:
            raise MfmasimError(f"{FAULTS}: {error}") from None
        try:
            changed = changed_models(found.get(MODELS, ""))
        except MfmasimError as error:
            raise MfmasimError(f"{MODELS}: {error}") from None
        try:
            varied = tuple(variations.read(one) for one in found.get(OPERATIONS, "").split(",") if one.strip())
        except MfmasimError as error:
            raise MfmasimError(f"{OPERATIONS}: {error}") from None
        phases, noise = found.get(PHASES, ""), found.get(NOISE, "0")
        try:
            for one in archs if phases else ():
                _tables(phases, one)
        except MfmasimError as error:
            raise MfmasimError(f"{PHASES}: {error}") from None
        if decimal(noise, 1 << 20) < 0:
            raise MfmasimError(f"{NOISE}={noise}: a number of ticks is expected, from 0 to {1 << 20}")
        code = found.get(EXIT_CODE, "1")
        if decimal(code, 255) < 0:
            raise MfmasimError(f"{EXIT_CODE}={code}: an exit code is expected, from 0 to 255")
        budget = found.get(BUDGET, str(run.BUDGET))
        if decimal(budget, 1 << 48) < 1:
            raise MfmasimError(f"{BUDGET}={budget}: a number of instructions is expected, from 1 to {1 << 48}")
        after = found.get(AFTER_FAULT) or AFTER_FAULTS[0]
        if after not in AFTER_FAULTS:
            raise unknown(AFTER_FAULT, after, AFTER_FAULTS)
        report = str(Path(found[REPORT]).absolute()) if found.get(REPORT) else ""  # programs change their folder
        if report and not os.access(Path(report).parent, os.W_OK):
            raise MfmasimError(f"{REPORT}={report}: {Path(report).parent} is not a folder in which files can be made")
        sizes, ends = int(memory) << 20, (int(noise), int(code), int(budget))
        return cls(
            archs, sizes, checks, streams, faults, report, changed, varied, phases, *ends, after == AFTER_FAULTS[1]
        )


def _tables(phases: str, arch: Arch) -> dict[str, PhaseTable]:
    """Changed phases and banks on an architecture, valid for its wave sizes."""
    tables = read_tables("" if phases.strip() == "tables" else phases, arch.name)
    for table in tables.values():
        table.sets(arch.wave_sizes[0])
    return tables


def changed_models(text: str) -> tuple[Model, ...]:
    """Read ``MODEL.PARAMETER=VALUE``, separated by commas.

    Raises:
        MfmasimError: the model or parameter does not exist, or the value has the wrong type.
    """
    changed: dict[str, Model] = {}
    for entry in (part.strip() for part in text.split(",") if part.strip()):
        where, equals, value = entry.partition("=")
        name, _, parameter = where.partition(".")
        if not equals:
            raise MfmasimError(f"{entry!r}: MODEL.PARAMETER=VALUE is expected, such as cdna4_fp8.group=8")
        if name not in models.MODELS:
            raise unknown("model", name, models.MODELS)
        row = changed.get(name, models.MODELS[name])
        known = models.PARAMETERS[row.algorithm] | {"group", "nan_factor", "nan_invalid"}
        if parameter not in known:
            raise unknown("parameter", parameter, sorted(known), f"of model {name}")
        try:
            meant = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            meant = value
        allowed = (int, type(None)) if isinstance(getattr(row, parameter), int | None) else (str,)
        if not isinstance(meant, allowed):
            raise MfmasimError(
                f"{entry!r}: not a valid value of {parameter}, which is {getattr(row, parameter)!r} by default"
            )
        change: dict[str, Any] = {parameter: meant}
        changed[name] = replace(row, **change)
    return tuple(changed.values())
