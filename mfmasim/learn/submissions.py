"""Grading a folder of answers: whose each file is, which exercise it answers, and a row of the result."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from pathlib import Path

from mfmasim.errors import MfmasimError
from mfmasim.files import read_file
from mfmasim.learn.exercise import LARGEST, Exercise, exercise, exercises
from mfmasim.learn.grading import grade
from mfmasim.learn.wording import for_learner

COLUMNS = ("student", "exercise", "file", "state", "finding", "message")
"""Columns of the result. States: ``solved``, ``not yet``, and ``error`` for a file that cannot be graded, such as one
that does not compile; finding and message are those of the first finding."""
TABLE = ("file", "student", "exercise")
"""Columns of a teacher's table."""
BETWEEN = r"[-_. ]"
"""What separates a student's name from an exercise's in the name of a file."""


@dataclass(frozen=True)
class Submission:
    """One file of a student."""

    path: Path
    file: str
    """Its path in the folder."""
    student: str
    exercise: Exercise


def submissions(folder: Path, table: Path | None = None) -> list[Submission]:
    """The answers in a folder.

    Args:
        folder: with files ``STUDENT_EXERCISE.hip``, ``EXERCISE_STUDENT.hip`` or ``STUDENT/EXERCISE.hip``.
        table: a CSV file with the columns `TABLE`, which names the files that are graded instead.

    Returns:
        One for each file, in the order of the table, else by path. What a file says of itself does not count: the
        exercise is the one that its name or the table says.

    Raises:
        MfmasimError: no such folder, no file in it, a file whose name has no exercise, or a table with another form.
    """
    if not folder.is_dir():
        raise MfmasimError(f"{folder}: not a folder with answers")
    found = _named(folder) if table is None else _listed(folder, table)
    if not found:
        raise MfmasimError(f"{table or folder}: no answers; their names end with .hip")
    return found


def row_of(one: Submission, seed: str = "", compiler: str | None = None) -> list[str]:
    """Grade an answer.

    Args:
        one: the answer.
        seed: the teacher's text; inputs depend on it, on the student and on the code.
        compiler: as for `mfmasim.compile`.

    Returns:
        A row with `COLUMNS`.
    """
    start = [one.student, one.exercise.name, one.file]
    try:
        read_file(one.path, LARGEST)
        found = grade(one.exercise, one.path, compiler, seed=f"{seed}/{one.student}")
    except MfmasimError as error:
        return [*start, "error", "", " ".join(str(error).split())]
    if found.solved:
        return [*start, "solved", "", ""]
    first = [for_learner(finding) for finding in found.findings][:1]
    return [*start, "not yet", *([first[0].id, first[0].message] if first else ["", found.summary])]


def for_spreadsheet(row: list[str]) -> list[str]:
    """The cells of a row, none of which a spreadsheet takes for a formula: names and messages come from answers.

    >>> for_spreadsheet(["=1+1", "ann"])
    ["'=1+1", 'ann']
    """
    return [f"'{cell}" if cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell for cell in row]


def _named(folder: Path) -> list[Submission]:
    paths = sorted(path for path in folder.rglob("*.hip") if path.is_file())
    return [_by_name(folder, path) for path in paths]


def _by_name(folder: Path, path: Path) -> Submission:
    file = path.relative_to(folder).as_posix()
    for name in sorted((one.name for one in exercises()), key=len, reverse=True):
        match = re.fullmatch(rf"(?:(.+){BETWEEN})?{name}(?:{BETWEEN}(.+))?", path.stem)
        if match is None:
            continue
        student = match[1] or match[2] or (path.parent.name if path.parent != folder else "")
        return Submission(path, file, student, exercise(name))
    raise MfmasimError(
        f"{path}: its name has no exercise; expected STUDENT_EXERCISE.hip or STUDENT/EXERCISE.hip, or a table with "
        f"the columns {', '.join(TABLE)}"
    )


def _listed(folder: Path, table: Path) -> list[Submission]:
    try:
        reader = csv.DictReader(io.StringIO(read_file(table).decode("utf-8-sig"), newline=""))
        missing = [name for name in TABLE if name not in (reader.fieldnames or ())]
        rows = list(reader)
    except (UnicodeDecodeError, csv.Error):
        raise MfmasimError(f"{table}: not a CSV file in UTF-8") from None
    if missing:
        raise MfmasimError(f"{table}: no column {missing[0]!r}; expected {', '.join(TABLE)}")
    for number, row in enumerate(rows, 1):
        if empty := [name for name in TABLE if not row[name]]:
            raise MfmasimError(f"{table}: row {number} has no {empty[0]}")
    return [Submission(folder / row["file"], row["file"], row["student"], exercise(row["exercise"])) for row in rows]
