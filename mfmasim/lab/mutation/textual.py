"""Mutants of a kernel's source: one place changed at a time, by patterns that HIP kernels share.

Only functions that the case executes are changed.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mfmasim import program
from mfmasim.devices.ways import Ways
from mfmasim.errors import MfmasimError
from mfmasim.files import is_source
from mfmasim.kernels import Kernel
from mfmasim.lab.mutation.binary import InFlight
from mfmasim.lab.mutation.covered import Sizes
from mfmasim.lab.mutation.outcome import Outcome, same_bytes, within_tolerance
from mfmasim.observe.tools.behaviour import Behaviour
from mfmasim.verify.cases import Case
from mfmasim.verify.result import Result
from mfmasim.verify.runner import verify_case

BARRIER = r"(?:__syncthreads\(\)|__builtin_amdgcn_s_barrier\(\))\s*;"
WAIT = r'(?:__builtin_amdgcn_s_waitcnt\([^;]*\)|asm volatile\("s_waitcnt[^;]*\))\s*;'
FIRST_WAVE = "threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z) < warpSize"
LOOP = r"(for\s*\([^;]*;\s*(\w+)\s*<\s*)([^;]+)(;\s*(?:\2\s*\+=\s*([^)]+)|\+\+\2\s*|\2\s*\+\+\s*)\))"


@dataclass(frozen=True)
class Pattern:
    """A pattern and its replacement."""

    kind: str
    about: str
    looks: str
    becomes: Callable[[re.Match[str]], str]


PATTERNS = (
    Pattern("barrier removed", "a barrier is forgotten", BARRIER, lambda m: ";"),  # noqa: ARG005
    Pattern("barrier doubled", "harmless where every wave passes it", BARRIER, lambda m: f"{m[0]} {m[0]}"),
    Pattern("barrier of the first wave", "one wave passes it, others do not", BARRIER,
            lambda m: f"if ({FIRST_WAVE}) {m[0]}"),
    Pattern("wait removed", "a wait is forgotten", WAIT, lambda m: ";"),  # noqa: ARG005
    Pattern("last step dropped", "the loop ends a step early", LOOP,
            lambda m: f"{m[1]}({m[3]}) - ({m[5] or 1}){m[4]}"),
    Pattern("exclusive-or dropped", "a swizzle on one side only", r"\s\^\s(?!=)", lambda m: " + 0 * "),  # noqa: ARG005
    Pattern("guard off by one", "one element more than there is", r"(if\s*\([^;{}]*?\w)\s<\s(?=\w)",
            lambda m: f"{m[1]} <= "),
)  # fmt: skip
ORDER = ("barrier removed", "barrier of the first wave", "wait removed")
"""Kinds that leave the values as the simulator delivers them."""
SOURCE_KINDS = tuple(pattern.kind for pattern in PATTERNS)


@dataclass(frozen=True)
class SourceMutant:
    """One changed place."""

    kind: str
    line: int
    """Counted from 1."""
    before: str
    after: str
    text: str
    """The whole changed source."""
    file: str = ""

    @property
    def place(self) -> str:
        """File and line."""
        return f"{self.file}:{self.line}"

    @property
    def change(self) -> str:
        """The text before and after the change."""
        return f"{self.before} becomes {self.after}"


def mutants_of_text(text: str, lines: Collection[int] | None = None, file: str = "") -> list[SourceMutant]:
    """Mutants of a source, in the order of its lines.

    Args:
        text: HIP source.
        lines: only places on these lines, counted from 1; None takes all. Comments are left alone.
        file: its name, for the places.
    """
    blank = re.sub(r"//[^\n]*|/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.DOTALL)
    found = []
    for pattern in PATTERNS:
        for match in re.finditer(pattern.looks, blank):
            line = blank.count("\n", 0, match.start() + len(match[0]) - len(match[0].lstrip())) + 1
            if lines is not None and line not in lines:
                continue
            after = pattern.becomes(match)
            changed = text[: match.start()] + after + text[match.end() :]
            found.append(SourceMutant(pattern.kind, line, match[0].strip(), after.strip(), changed, file))
    return sorted(found, key=lambda mutant: (mutant.line, SOURCE_KINDS.index(mutant.kind)))


def run_source(
    case: Case,
    arch: str,
    limit: int | None = None,
    kinds: Sequence[str] = (),
    compiler: str | None = None,
    *,
    covers: bool = True,
) -> Iterator[Outcome]:
    """Compile and verify the mutants of a case's source, with all checks.

    Args:
        case: the case.
        arch: architecture.
        limit: at most so many, spread evenly.
        kinds: only these kinds.
        compiler: as for `mfmasim.compile`.
        covers: also at the sizes at which loops turn three times (`mfmasim.lab.covering`).

    Returns:
        Verdicts, one by one.

    Raises:
        MfmasimError: the case has no source, or the unchanged kernel fails.
    """
    if not is_source(case.source):
        raise MfmasimError(f"{case.source}: mutants of the source need a HIP source")
    if arch in case.skip:
        return
    kernel = case.compiled(arch, compiler)
    before, flown, ways = Behaviour(), InFlight(kernel), Ways()
    right = verify_case(case, arch, kernel=kernel, observers=[before, flown, ways])
    if right.status != "pass":
        raise MfmasimError(f"{case.title} on {arch}: the unchanged kernel fails: {right.findings[0].message}")
    sizes = Sizes(case, kernel, ways, covers=covers)
    budget = 2 * sum(right.executed.values()) + 1000
    name, text = case.source.name, case.source.read_text()
    places = {kernel.source_at(pc).rpartition(":") for pc in before.executed}
    lines = _functions(text, {int(line) for file, _, line in places if Path(file).name == name})
    chosen = [m for m in mutants_of_text(text, lines, name) if not kinds or m.kind in kinds]
    if limit is not None and limit < len(chosen):
        chosen = [chosen[number * len(chosen) // limit] for number in range(limit)]
    for mutant in chosen:
        after = Behaviour()
        changed = _compiled(mutant, case, arch, compiler)
        if changed is None:
            yield Outcome(mutant, case.title, arch, ("compiler",), trust=right.trust)
            continue
        caught, result = _caught(case, arch, changed, budget, after)
        at = ""
        if not caught and not _equivalent(mutant, kernel, changed, one_wave=not flown.last_wave):
            caught, at = sizes.caught(changed)
        equivalent = "" if caught else _equivalent(mutant, kernel, changed, one_wave=not flown.last_wave)
        same = ""
        if not caught and not equivalent and mutant.kind not in ORDER and after.digest == before.digest:
            same = same_bytes(right, result)
        note = ""
        if not caught and mutant.kind in ORDER:
            note = sizes.unseen or "what it orders is ordered otherwise, or not checked"
        if not (caught or equivalent or same or note):
            note = within_tolerance(result) or sizes.unseen
        yield Outcome(mutant, case.title, arch, caught, equivalent, note, same, right.trust, at)


def _functions(text: str, executed: set[int]) -> set[int]:
    """Lines of the functions that hold executed lines; an unrolled loop has no separate lines.

    A function ends where a line begins with a closing brace.
    """
    out: set[int] = set()
    body: set[int] = set()
    for number, line in enumerate(text.split("\n"), 1):
        body.add(number)
        if line.startswith("}"):
            out |= body if body & executed else set()
            body = set()
    return out | (body if body & executed else set())


def _equivalent(mutant: SourceMutant, kernel: Kernel, changed: Kernel, *, one_wave: bool) -> str:
    """Why no check can report a mutant that none reported."""
    if [ins.text for ins in kernel.decodable] == [ins.text for ins in changed.decodable]:
        return "it compiles to the same instructions"
    if "barrier" in mutant.kind and one_wave:
        return "a workgroup has one wave"
    return "every wave passes both" if mutant.kind == "barrier doubled" else ""


def _compiled(mutant: SourceMutant, case: Case, arch: str, compiler: str | None) -> Kernel | None:
    """The mutant's kernel, if it is a program."""
    with tempfile.TemporaryDirectory(prefix="mfmasim-") as folder:
        source = Path(folder) / case.source.name
        source.write_text(mutant.text)
        try:
            flags = (*case.flags, f"-I{case.source.parent}")
            return program.compile(source, arch, compiler=compiler, flags=flags)[case.kernel_name()]
        except MfmasimError:
            return None


def _caught(
    case: Case, arch: str, kernel: Kernel, budget: int, after: Behaviour
) -> tuple[tuple[str, ...], Result | None]:
    try:
        result = verify_case(case, arch, kernel=kernel, budget=budget, observers=[after])
    except MfmasimError:
        return ("refused",), None
    return tuple(sorted({f.check for f in result.findings if f.severity == "error"})), result
