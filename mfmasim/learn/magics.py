"""Magics for Jupyter and IPython: ``%load_ext mfmasim``, then ``%%hip --arch gfx950`` before a kernel.

The cell is compiled and shown; with ``--exercise`` it is graded, with ``--args`` it runs on arrays of the notebook, and
outputs and findings are shown.
"""

from __future__ import annotations

import argparse
import re
import shlex
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim import program
from mfmasim.errors import MfmasimError, unknown
from mfmasim.learn.exercise import exercise
from mfmasim.learn.grading import grade
from mfmasim.learn.hints import hints_for

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["hip", "load"]


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line instead of the end of the process."""

    def error(self, message: str) -> Any:
        raise MfmasimError(f"%%hip: {message}")

    def exit(self, status: int = 0, message: str | None = None) -> Any:  # noqa: ARG002  (of argparse)
        raise MfmasimError((message or "").strip())


def parser() -> argparse.ArgumentParser:
    """The options of ``%%hip``."""
    made = _Parser(prog="%%hip", add_help=False)
    made.add_argument("--arch", help="architecture, such as gfx950")
    made.add_argument("--exercise", help="grade the cell as an answer to this exercise")
    made.add_argument("--kernel", help="the kernel that --args is for, where the cell has several")
    made.add_argument("--launch", default="1, 64", help="workgroups and work-items, such as '4, 256' or '(2, 2), 64'")
    made.add_argument("--args", nargs="*", help="arguments: names of arrays in the notebook, or numbers")
    made.add_argument("--shared", type=int, default=0, help="bytes of dynamic LDS")
    made.add_argument("--checks", default="all", help="checks of the launch")
    made.add_argument("--name", default="code", help="name that the notebook gets the program under")
    return made


def hip(line: str, cell: str, names: dict[str, Any]) -> list[Any]:
    """What ``%%hip`` does.

    Args:
        line: the options.
        cell: the source.
        names: the notebook's variables; the program is added under ``--name``, a launch's report as ``report``.

    Returns:
        What to show, in order: the kernel, the report of a launch, its findings; or a grade's text and first finding.

    Raises:
        MfmasimError: options, the source, or the arguments are wrong.
    """
    options = parser().parse_args(shlex.split(line))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{options.exercise or 'cell'}.hip"
        path.write_text(cell, encoding="utf-8")
        if options.exercise:
            return _graded(options.exercise, path)
        if options.arch is None:
            raise MfmasimError("%%hip: --arch is missing, such as --arch gfx950")
        code = program.compile(path, options.arch)
        names[options.name] = code
        if options.args is None:
            return [code[name] for name in code.kernels]
        kernel = _kernel(code, options.kernel)
        given = [_value(text, names) for text in options.args]
        report = kernel[_launch(options.launch)](*given, shared_bytes=options.shared, checks=options.checks)
    names["report"] = report
    outputs = [one for one in given if isinstance(one, np.ndarray)][-1:]
    return [report, *outputs]


def _graded(name: str, path: Path) -> list[Any]:
    asked = exercise(name)
    found = grade(asked, path)
    if found.solved:
        return [f"{name}: solved {found.summary}"]
    hint = hints_for(asked, found.topics[0])[0] if found.topics else ""
    return [f"{name}: not yet. {found.summary}", *found.findings[:1], *[f"Hint: {hint}"] * bool(hint)]


def _kernel(code: program.Code, name: str | None) -> program.Kernel:
    if name is None and len(code.kernels) == 1:
        return code[code.kernels[0]]
    if name not in code.kernels:
        raise unknown("kernel", name or "(none)", list(code.kernels), "in this cell; --kernel names one")
    return code[name]


def _launch(text: str) -> tuple[Any, Any]:
    """Workgroups and work-items of ``4, 256`` or ``(2, 2), 64``."""
    found = re.fullmatch(r"\s*(\(.*?\)|\d+)\s*,\s*(\(.*?\)|\d+)\s*", text)
    parts = [tuple(map(int, re.findall(r"\d+", part))) for part in found.groups()] if found else []
    if not parts or not all(parts):
        raise MfmasimError(f"--launch {text!r}: expected workgroups and work-items, such as '4, 256' or '(2, 2), 64'")
    grid, block = (part[0] if len(part) == 1 else part for part in parts)
    return grid, block


def _value(text: str, names: Mapping[str, Any]) -> Any:
    """A variable of the notebook, or a number: int32 without a point, float32 with one."""
    if text in names:
        return names[text]
    for kind, convert in ((int, np.int32), (float, np.float32)):
        try:
            return convert(kind(text))
        except ValueError:
            continue
        except OverflowError:
            break
    known = [name for name, value in names.items() if isinstance(value, np.ndarray)]
    raise unknown("argument", text, known, "among the arrays of the notebook, and not a number")


def load(shell: Any) -> None:
    """Register the magics with IPython; ``%load_ext mfmasim`` calls it."""
    from IPython.core.error import UsageError
    from IPython.display import display

    show: Any = display

    def magic(line: str, cell: str) -> None:
        try:
            shown = hip(line, cell, shell.user_ns)
        except MfmasimError as error:
            raise UsageError(str(error)) from None
        for one in shown:
            if isinstance(one, str):
                print(one)  # noqa: T201  (what the cell prints)
            else:
                show(one)

    shell.register_magic_function(magic, "cell", "hip")
