"""Grading: a learner's kernel, compiled for each architecture and verified on inputs that its own code draws."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mfmasim import program
from mfmasim.learn.hints import topics
from mfmasim.learn.launches import LAUNCHES
from mfmasim.learn.needed import unneeded
from mfmasim.machine.launch.quota import Quota
from mfmasim.verify.cases import Case
from mfmasim.verify.runner import verify_case

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path
    from typing import Any

    from mfmasim.learn.exercise import Exercise
    from mfmasim.observe import Finding
    from mfmasim.verify.result import Result

BUDGET = 20_000
"""Instructions that a wave may execute; solutions need some hundreds."""
SECONDS = 20.0
"""Time that one launch may take."""
CAUSES = (
    "executes",
    "waits",
    "races",
    "barrier",
    "bounds",
    "mapping",
    "hazards",
    "uninitialised",
    "conflicts",
    "outputs",
)
"""Checks in the order in which their findings help: what explains the others comes first."""


@dataclass(frozen=True)
class Grade:
    """What grading a file found."""

    exercise: Exercise
    results: tuple[Result, ...]
    """One for each architecture and run."""

    @property
    def located(self) -> list[tuple[str, Finding]]:
        """Findings that count, each with its architecture, those first that explain the others."""
        found = [(result.arch, one) for result in self.results for one in result.findings if self._matters(one)]
        return sorted(found, key=lambda pair: _rank(pair[1]))

    @property
    def topics(self) -> list[str]:
        """What hints are about, for each of `located`."""
        return topics(self.exercise, self.located)

    @property
    def findings(self) -> list[Finding]:
        """Findings that count, those first that explain the others."""
        return [finding for _, finding in self.located]

    @property
    def solved(self) -> bool:
        """Whether every run is right and nothing was found that counts."""
        return not self.findings and all(result.status == "pass" for result in self.results)

    @property
    def summary(self) -> str:
        """In words: what was graded."""
        elements = sum(result.outputs["elements"] for result in self.results)
        right = elements - sum(result.outputs["mismatches"] for result in self.results)
        slots = sum(result.mapping["slots_checked"] for result in self.results)
        proved = slots - sum(result.mapping["mismatches"] for result in self.results)
        parts = [f"on {', '.join(dict.fromkeys(result.arch for result in self.results))}"]
        parts.append(f"outputs {right:,}/{elements:,}")
        parts += [f"slots {proved:,}/{slots:,}"] * bool(slots)
        extra = sum(result.lds.get("extra_passes", 0) for result in self.results)
        parts += [f"{extra:,} extra passes"] * (extra > 0)
        return ", ".join(parts)

    def _matters(self, finding: Finding) -> bool:
        return finding.severity == "error" or self.exercise.counting(finding.id)

    def record(self) -> dict[str, Any]:
        """As a dictionary for JSON."""
        return {
            "name": self.exercise.name,
            "solved": self.solved,
            "findings": [finding.record() for finding in self.findings],
            "results": [result.record() for result in self.results],
        }


def _rank(finding: Finding) -> tuple[int, bool]:
    """Findings of one check: what is missing follows from what went elsewhere, so it comes last."""
    check = CAUSES.index(finding.check) if finding.check in CAUSES else len(CAUSES) - 2
    return check, finding.id == "mapping-no-result"


def grade(exercise: Exercise, path: Path, compiler: str | None = None, *, seed: str = "") -> Grade:
    """Compile and grade a learner's file.

    Args:
        exercise: the exercise.
        path: the file.
        compiler: as for `mfmasim.compile`.
        seed: inputs depend on it as well, such as the name of a student.

    Returns:
        The grade. Elements are followed in the first run on each architecture; a run that fails is the last one there,
        since others would repeat its findings.

    Raises:
        MfmasimError: the file does not compile, has no kernel of the exercise's name, or no compiler is installed.
    """
    return Grade(exercise, tuple(_results(exercise, path, compiler, seed)))


def _results(exercise: Exercise, path: Path, compiler: str | None, seed: str) -> Iterator[Result]:
    build = LAUNCHES[exercise.name]
    for arch in exercise.arch:
        code = program.compile(path, arch, compiler=compiler)
        # Inputs follow from the compiled code, so from the file and all that it includes: the same answer gets the same
        # grade, and results that are written into it, or into a header, meet other inputs.
        drawn = hashlib.sha256(f"{code.sha256} {seed}".encode()).hexdigest()[:8]
        for number, parameters in enumerate(exercise.runs):
            case = Case(
                f"{exercise.name}{_label(parameters)} {drawn}",
                path,
                exercise.kernel,
                (arch,),
                build,
                _all(build, parameters),
                data=exercise.data,
                executes=exercise.executes,
                mapping={} if exercise.traced and number == 0 else None,
            )
            kernel, quota = code[exercise.kernel], Quota(seconds=SECONDS)
            result = verify_case(case, arch, group="learn", kernel=kernel, budget=BUDGET, quota=quota)
            result.launch = None
            if number == 0 and result.status == "pass":
                result.findings += unneeded(case, arch, kernel, exercise.lines, budget=BUDGET, quota=quota)
                result.settle()
            yield result
            if result.status != "pass" or any(exercise.counting(one.id) for one in result.findings):
                break


def _all(build: Any, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The defaults of a launch function, with a run's parameters."""
    names = build.__code__.co_varnames[: build.__code__.co_argcount]
    defaults = dict(zip(names, build.__defaults__ or (), strict=True))
    return defaults | dict(parameters)


def _label(parameters: Mapping[str, Any]) -> str:
    return f"[{','.join(f'{name}={value}' for name, value in parameters.items())}]" if parameters else ""
