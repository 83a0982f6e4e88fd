"""``mfmasim learn``: exercises with real kernels, which the checker grades."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from mfmasim.cli.output import add_formats, table, wanted_format
from mfmasim.files import write_file

if TYPE_CHECKING:
    import argparse

    from mfmasim.learn import Exercise, Grade
    from mfmasim.learn.progress import Progress

MOST = 3
"""Kinds of findings that `check` prints."""


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the verb."""
    parser = subparsers.add_parser(
        "learn",
        help="learn fragments, LDS and waits by exercises that the checker grades",
        description="A course of short HIP kernels, each with a gap or a mistake. Start one, fix the file, check it. "
        "Progress is kept in the current folder.",
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True, parser_class=type(parser))
    add_formats(actions.add_parser("list", help="the exercises, and which of them are solved"))
    start = actions.add_parser("start", help="write the file of an exercise into the current folder")
    start.add_argument("name", nargs="?", metavar="NAME", help="exercise (default: the first that is not solved)")
    start.add_argument("--force", action="store_true", help="overwrite a file that exists")
    show = actions.add_parser("show", help="print the text of an exercise")
    show.add_argument("name", metavar="NAME", help="exercise")
    check = actions.add_parser("check", help="grade a file: exit code 0 if it is solved, 1 if not")
    check.add_argument("file", metavar="FILE", help="the file, or the name of its exercise")
    check.add_argument("--compiler", help="a compiler, or ziglang (default: the first one found)")
    check.add_argument("--json", action="store_true", help="write grade and findings as JSON")
    marks = actions.add_parser("grade", help="grade a folder of answers: exit code 0 if all are solved, 1 if not")
    marks.add_argument("folder", type=Path, metavar="FOLDER", help="files STUDENT_EXERCISE.hip or STUDENT/EXERCISE.hip")
    marks.add_argument("--table", type=Path, help="CSV with file, student, exercise, instead of the files' names")
    marks.add_argument("--seed", default="", help="a text that inputs depend on, beside the student and the code")
    marks.add_argument("--compiler", help="a compiler, or ziglang (default: the first one found)")
    marks.add_argument("--csv", action="store_true", help="the same as --format csv")
    add_formats(marks)
    hint = actions.add_parser("hint", help="the next hint about what the last check found")
    hint.add_argument("name", metavar="NAME", help="exercise, or its file")
    solution = actions.add_parser("solution", help="print a solution, after a question")
    solution.add_argument("name", metavar="NAME", help="exercise")
    solution.add_argument("--yes", action="store_true", help="do not ask")
    actions.add_parser("skill", help="print how an agent proves a kernel, step by step")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Execute the action; exit code 0, 1 or 2."""
    from mfmasim.learn.progress import Progress

    actions = {
        "list": _list,
        "start": _start,
        "show": _show,
        "check": _check,
        "grade": _grade,
        "hint": _hint,
        "solution": _solution,
        "skill": _skill,
    }
    return actions[args.action](args, Progress(Path.cwd()))


def _skill(_: argparse.Namespace, __: Progress) -> int:
    from mfmasim import learn

    print((Path(learn.__file__).parent / "skill.md").read_text(), end="")
    return 0


def _list(args: argparse.Namespace, progress: Progress) -> int:
    from mfmasim.learn import exercises

    columns = ("number", "name", "title", "minutes", "state")
    rows = [[one.number, one.name, one.title, one.minutes, progress.state(one.name)] for one in exercises()]
    form = wanted_format(args)
    print(table(columns, rows, form, "Exercises"), end="")
    if form == "terminal":
        solved = sum(row[-1] == "solved" for row in rows)
        print(f"{solved} of {len(rows)} solved; mfmasim learn start NAME begins one, without NAME the next")
    return 0


def _start(args: argparse.Namespace, progress: Progress) -> int:
    from mfmasim.errors import MfmasimError
    from mfmasim.learn import exercise, exercises

    if args.name:
        one = exercise(args.name)
    else:
        open_ones = [one for one in exercises() if progress.state(one.name) != "solved"]
        if not open_ones:
            print("every exercise is solved")
            return 0
        one = open_ones[0]
    path = Path(one.file)
    if path.exists() and not args.force:
        raise MfmasimError(f"{path} exists and is not overwritten; --force overwrites it")
    write_file(path, one.unsolved.encode())
    progress.started(one.name)
    _text(one)
    print(f"\nWritten: {path}. Next: edit it, then mfmasim learn check {path}")
    _say_compiler()
    return 0


def _show(args: argparse.Namespace, progress: Progress) -> int:  # noqa: ARG001 - as the others
    from mfmasim.learn import exercise

    _text(exercise(args.name))
    return 0


def _check(args: argparse.Namespace, progress: Progress) -> int:
    from mfmasim.learn import exercise, exercise_of_file, grade

    path = Path(args.file)
    if not path.exists() and path.suffix == "" and path.name == args.file:
        path = Path(exercise(args.file).file)
    one = exercise_of_file(path)
    found = grade(one, path, args.compiler)
    progress.checked(one.name, found.topics, solved=found.solved)
    if args.json:
        print(json.dumps(found.record(), indent=1))
    else:
        _report(found, progress)
    return 0 if found.solved else 1


def _grade(args: argparse.Namespace, progress: Progress) -> int:  # noqa: ARG001 - as the others
    from mfmasim.learn.submissions import COLUMNS, for_spreadsheet, row_of, submissions
    from mfmasim.toolchain import find_compiler

    if args.compiler is None:
        find_compiler()  # said once, and not of every answer
    rows = [row_of(one, args.seed, args.compiler) for one in submissions(args.folder, args.table)]
    form = "csv" if args.csv else wanted_format(args)
    print(table(COLUMNS, [for_spreadsheet(row) for row in rows] if form == "csv" else rows, form, "Answers"), end="")
    return 0 if all(row[COLUMNS.index("state")] == "solved" for row in rows) else 1


def _report(found: Grade, progress: Progress) -> None:
    """Print a grade: the passed cases, or the findings that explain most, and a hint."""
    from mfmasim.learn import exercises
    from mfmasim.learn.hints import hints_for
    from mfmasim.learn.wording import for_learner

    one = found.exercise
    if found.solved:
        print(f"SOLVED  {one.name}: {found.summary}")
        following = [other.name for other in exercises() if progress.state(other.name) != "solved"]
        print(f"Next: mfmasim learn start {following[0]}" if following else "Every exercise is solved.")
        return
    print(f"NOT YET  {one.name}: {found.summary}")
    shown: set[str] = set()
    for arch, finding in found.located:
        if finding.id in shown or len(shown) == MOST:
            continue
        shown.add(finding.id)
        print(*([f"on {arch}:"] if len(one.arch) > 1 else []), *for_learner(finding).lines(), sep="\n")
    print(f"\nHint: {hints_for(one, found.topics[0])[0]}")
    print(f"More: mfmasim learn hint {one.name}; mfmasim explain {found.findings[0].id}")


def _hint(args: argparse.Namespace, progress: Progress) -> int:
    from mfmasim.learn import exercise, exercise_of_file
    from mfmasim.learn.hints import hints_for

    path = Path(args.name)
    one = exercise_of_file(path) if path.suffix else exercise(args.name)
    topic = progress.finding(one.name)
    finding = topic.partition("/")[0]
    if progress.state(one.name) == "solved" and not finding:
        print(f"{one.name} is solved")
        return 0
    hints = hints_for(one, topic)
    number = progress.hinted(one.name, len(hints))
    about = f" about {finding}" if finding else ""
    print(f"Hint {number} of {len(hints)}{about}: {hints[number - 1]}")
    if not finding:
        print(f"mfmasim learn check {one.file} finds what hints can be about.")
    return 0


def _solution(args: argparse.Namespace, progress: Progress) -> int:
    from mfmasim.errors import MfmasimError
    from mfmasim.learn import exercise

    one = exercise(args.name)
    if not args.yes and progress.state(one.name) != "solved":
        print(f"Show the solution of {one.name}? [y/N] ", end="", file=sys.stderr, flush=True)
        answer = sys.stdin.readline()
        if not answer:
            print(file=sys.stderr)
            raise MfmasimError(
                f"no answer, so the solution of {one.name} is not shown; --yes shows it without a question"
            )
        if answer.strip().lower() not in ("y", "yes"):
            print("not shown", file=sys.stderr)
            return 0
    print(one.solution, end="")
    return 0


def _text(one: Exercise) -> None:
    """Print the text of an exercise: formatted on a terminal, unchanged elsewhere."""
    if not sys.stdout.isatty():
        print(one.text, end="")
        return
    from rich.markdown import Markdown

    from mfmasim.visible import console

    console().print(Markdown(one.text))


def _say_compiler() -> None:
    """Report early that checking needs a compiler, if there is none."""
    from mfmasim.errors import MfmasimError
    from mfmasim.toolchain import find_compiler

    try:
        find_compiler()
    except MfmasimError:
        print("note: no HIP compiler is installed; checking needs one: pip install ziglang", file=sys.stderr)
