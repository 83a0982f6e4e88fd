"""Grading: a learner's kernel, compiled for each architecture and verified on inputs that its own text draws."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mfmasim import program
from mfmasim.fidelity import lowest
from mfmasim.learn.launches import LAUNCHES
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

__all__ = ["Grade", "grade"]

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
    def findings(self) -> list[Finding]:
        """Findings that count, those first that explain the others."""
        return [finding for _, finding in self.located]

    @property
    def solved(self) -> bool:
        """Whether every run is right and nothing was found that counts."""
        return not self.findings and all(result.status == "pass" for result in self.results)

    @property
    def summary(self) -> str:
        """In words: what was graded, and how far the arithmetic can be trusted."""
        elements = sum(result.outputs["elements"] for result in self.results)
        right = elements - sum(result.outputs["mismatches"] for result in self.results)
        slots = sum(result.mapping["slots_checked"] for result in self.results)
        proved = slots - sum(result.mapping["mismatches"] for result in self.results)
        parts = [f"on {', '.join(dict.fromkeys(result.arch for result in self.results))}"]
        parts.append(f"outputs {right:,}/{elements:,}")
        parts += [f"slots {proved:,}/{slots:,}"] * bool(slots)
        extra = sum(result.lds.get("extra_passes", 0) for result in self.results)
        parts += [f"{extra:,} extra passes"] * (extra > 0)
        trust = lowest([result.matrix_fidelity for result in self.results if result.matrix_fidelity], default="")
        parts += [f"matrix arithmetic: {trust}"] * bool(trust)
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


def _rank(finding: Finding) -> int:
    return CAUSES.index(finding.check) if finding.check in CAUSES else len(CAUSES) - 2


def grade(exercise: Exercise, path: Path, compiler: str | None = None) -> Grade:
    """Compile and grade a learner's file.

    Args:
        exercise: the exercise.
        path: the file.
        compiler: as for `mfmasim.compile`.

    Returns:
        The grade. Elements are followed in the first run on each architecture; a run that fails is the last one there,
        since others would repeat its findings.

    Raises:
        MfmasimError: the file does not compile, has no kernel of the exercise's name, or no compiler is installed.
    """
    return Grade(exercise, tuple(_results(exercise, path, compiler)))


def _results(exercise: Exercise, path: Path, compiler: str | None) -> Iterator[Result]:
    # Inputs follow from the file's text: the same file is graded alike, an answer written into it meets other inputs.
    seed = hashlib.sha256(path.read_bytes()).hexdigest()[:8]
    build = LAUNCHES[exercise.name]
    for arch in exercise.arch:
        code = program.compile(path, arch, compiler=compiler)
        for number, parameters in enumerate(exercise.runs):
            case = Case(
                f"{exercise.name}{_label(parameters)} {seed}", path, exercise.kernel, (arch,), build,
                _all(build, parameters), data=exercise.data, executes=exercise.executes,
                mapping={} if exercise.traced and number == 0 else None,
            )  # fmt: skip
            result = verify_case(
                case, arch, group="learn", kernel=code[exercise.kernel], budget=BUDGET, quota=Quota(seconds=SECONDS)
            )
            result.launch = None
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
