"""Exercises as they are stored: one folder each, with its row in ``exercise.toml``."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from mfmasim.errors import MfmasimError, unknown
from mfmasim.files import read_file

FOLDER = Path(__file__).parent / "exercises"
MARK = re.compile(r"exercise: (\w+)")
"""What the first lines of a file name its exercise with."""
COUNTING = ("mapping-not-followed",)
"""Ids that count as wrong: an instruction whose results do not reach the output proves nothing."""
LARGEST = 1 << 20
"""Bytes of a learner's file at most."""


@dataclass(frozen=True)
class Wrong:
    """A typical wrong answer: the solution with some text replaced."""

    about: str
    """The misunderstanding."""
    finds: str
    """Id of the finding that shows it."""
    edits: tuple[tuple[str, str], ...]
    """Texts of the solution, and what replaces each."""


@dataclass(frozen=True)
class Exercise:
    """One exercise."""

    folder: Path
    name: str
    number: int
    """Its place in the course, from 1."""
    title: str
    minutes: int
    """Time that it takes."""
    arch: tuple[str, ...]
    """Architectures that the kernel is compiled for and graded on."""
    kernel: str
    start: str
    """Id of the finding that the unsolved file has."""
    runs: tuple[Mapping[str, Any], ...] = ({},)
    """Parameters of the launches that are graded: sizes, formats."""
    data: tuple[str, ...] = ("integers", "normal")
    """Data classes of matrices."""
    executes: tuple[str, ...] = ()
    """Patterns of instructions that have to be executed, and that outputs need: what the exercise is about."""
    lines: Mapping[str, str] = field(default_factory=dict)
    """For some of these patterns a text of the source line, where compilers issue the same instruction."""
    counts: tuple[str, ...] = ()
    """Ids of findings below the severity error that count as wrong here, such as bank conflicts."""
    accepts: tuple[str, ...] = ()
    """Ids that count in other exercises (`COUNTING`), but not here."""
    traced: bool = True
    """Whether elements are followed through the kernel."""
    hints: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Hints by the topic that they explain: an id, or an id and a pattern (`hints.topics`); under ``start``, those for
    a file without a finding yet."""
    wrong: tuple[Wrong, ...] = ()

    def counting(self, finding: str) -> bool:
        """Whether a finding with this id counts as wrong although its severity is below error."""
        return finding in self.counts or (finding in COUNTING and finding not in self.accepts)

    @property
    def file(self) -> str:
        """Name of the file that a learner edits."""
        return f"{self.name}.hip"

    @property
    def text(self) -> str:
        """The text, in Markdown."""
        return (self.folder / "text.md").read_text(encoding="utf-8")

    @property
    def unsolved(self) -> str:
        """The file that a learner starts from."""
        return (self.folder / "start.hip").read_text(encoding="utf-8")

    @property
    def solution(self) -> str:
        """One solution."""
        return (self.folder / "solution.hip").read_text(encoding="utf-8")


@cache
def exercises() -> tuple[Exercise, ...]:
    """All exercises, in the order of the course."""
    folders = sorted(path.parent for path in FOLDER.glob("*/exercise.toml"))
    return tuple(_read(folder, number) for number, folder in enumerate(folders, 1))


def exercise(name: str) -> Exercise:
    """The exercise with a name.

    Raises:
        MfmasimError: none has it; the message names the nearest.
    """
    found = {one.name: one for one in exercises()}
    if name not in found:
        raise unknown("exercise", name, found)
    return found[name]


def exercise_of_file(path: Path) -> Exercise:
    """The exercise that a file answers: the one that its first lines name, or else the one of its file name.

    Raises:
        MfmasimError: the file cannot be read, or belongs to no exercise.
    """
    if path.is_dir():
        raise MfmasimError(f"{path}: a folder, not the file of an exercise")
    try:
        path.stat()
        head = read_file(path, LARGEST).decode()[:2000]
    except UnicodeDecodeError:
        raise MfmasimError(f"{path}: not a text in UTF-8, so not the file of an exercise") from None
    except FileNotFoundError:
        names = {one.name for one in exercises()}
        start = f"; mfmasim learn start {path.stem} writes it" if path.stem in names else ""
        raise MfmasimError(f"{path}: no such file{start}") from None
    except OSError as error:
        raise MfmasimError(f"{path}: cannot be read: {error.strerror or error}") from None
    mark = MARK.search(head)
    if mark is None and path.stem not in {one.name for one in exercises()}:
        raise MfmasimError(
            f"{path}: belongs to no exercise: neither its name nor a line '// exercise: NAME' at its top says which; "
            f"mfmasim learn list shows the names"
        )
    return exercise(mark[1] if mark else path.stem)


def _read(folder: Path, number: int) -> Exercise:
    row = tomllib.loads((folder / "exercise.toml").read_text(encoding="utf-8"))
    hints = {name: (text,) if isinstance(text, str) else tuple(text) for name, text in row.pop("hints", {}).items()}
    wrong = tuple(
        Wrong(one["about"], one["finds"], tuple((old, new) for old, new in one["edits"]))
        for one in row.pop("wrong", [])
    )
    lists = {name: tuple(value) for name, value in row.items() if isinstance(value, list)}
    return Exercise(folder, folder.name.partition("_")[2], number, **(row | lists), hints=hints, wrong=wrong)
