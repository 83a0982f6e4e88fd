"""Case files: finding and reading them."""

from __future__ import annotations

import difflib
import runpy
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from mfmasim.errors import MfmasimError, one_line, unknown
from mfmasim.files import is_object, is_source
from mfmasim.resources import folder
from mfmasim.verify.cases import CASE_FILE, collecting, line_in
from mfmasim.verify.texts import PREFIX, source
from mfmasim.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mfmasim.verify.cases import Case
    from mfmasim.verify.result import Result

CONFORMANCE = "conformance"
"""Folder of the families that test the machine, beside those that are products."""
IN_SOURCES = ("hazards", "isa", "lds", "races", "tensor", "uninit")
"""Families of that folder, which a checkout and the source distribution have, and the wheel has not."""
WRONG = ("zoo",)
"""Families of kernels that are wrong on purpose: no trial draws from them, and no GPU's owner is asked to run them."""


@contextmanager
def neighbours(path: Path) -> Iterator[None]:
    """Let a case file import modules that lie beside it, as a script may; another file's `reference.py` is another.

    Families that travel with the package import by full names: ``from hipkernels.cast import plan``.
    """
    root = folder("hipkernels")
    inside = root in path.parents
    names = {root.name} if inside else {file.stem for file in path.parent.glob("*.py")} - sys.stdlib_module_names

    def loaded() -> list[str]:
        return [name for name in sys.modules if name.partition(".")[0] in names]

    hidden = {name: sys.modules.pop(name) for name in loaded()}
    before = sys.path[:]
    sys.path.insert(0, str(root.parent if inside else path.parent))
    try:
        yield
    finally:
        sys.path[:] = before
        for name in loaded():
            del sys.modules[name]
        sys.modules.update(hidden)


def load_file(path: Path) -> list[Case]:
    """Read a case file. It may import modules from its own folder.

    Raises:
        MfmasimError: the file is missing, is not Python, fails, or declares no case.
    """
    path = path.absolute()
    name = visible(str(path))
    if not path.is_file():
        if path.is_dir():
            raise MfmasimError(f"{name}: a folder, not a case file")
        if path.is_symlink() or path.exists():
            raise MfmasimError(f"{name}: {'not a regular file' if path.exists() else 'a link that leads to no file'}")
        near = difflib.get_close_matches(path.name, [one.name for one in path.parent.glob("*.py")], n=1)
        raise MfmasimError(f"{name}: no such case file" + (f"; did you mean {near[0]!r}?" if near else ""))
    if path.suffix != ".py":
        alone = "; without one: mfmasim inspect, run, report or cost" if is_source(path) or is_object(path) else ""
        raise MfmasimError(f"{name}: a case file is Python (.py) and declares what the kernel's arguments are{alone}")
    own = folder("hipkernels") not in path.parents  # the package's families gather the cases of their modules
    with collecting(path, own=own) as found, neighbours(path):
        try:
            runpy.run_path(str(path), run_name=CASE_FILE)
        except MfmasimError:
            raise
        except SystemExit as error:
            raise MfmasimError(f"{name}: the case file ends the program (exit {error.code})") from None
        except Exception as error:  # a user's file may fail in any way; say where
            line = line_in(error, path)
            raise MfmasimError(f"{name}{line}: {one_line(error)}{_program(path)}") from error
    if not found:
        raise MfmasimError(f"{name}: no case is declared (use @case from mfmasim.verify)")
    return found


def _program(path: Path) -> str:
    """Advice for a program that was given in place of a case file."""
    text = path.read_text(errors="replace")
    if "case(" in text or "triton" not in text:
        return ""
    return f"; it declares no case: run a program by mfmasim triton --arch ARCH -- python {path.name}"


def families() -> dict[str, Path]:
    """Case files of the kernel families that travel with the package, by family, such as ``intro`` or ``isa/maths``.

    Folders in `hipkernels/conformance` are families, too: their names omit that folder.
    """
    root = folder("hipkernels")
    paths = {path.parent.relative_to(root).as_posix(): path for path in root.rglob("cases.py")}
    return dict(sorted((name.removeprefix(f"{CONFORMANCE}/"), path) for name, path in paths.items()))


def table_of(family: str) -> Callable[[Sequence[Result]], tuple[Sequence[str], list[list[str]], str, bool]] | None:
    """The function of a family's ``table.py`` that makes a table of its results; None without this file.

    The function gives columns, rows, a last line, and whether the results are as they should be: of a family of
    `WRONG` some have to fail.
    """
    path = families()[family].with_name("table.py") if family in families() else None
    if path is None or not path.is_file():
        return None
    with neighbours(path):
        found = runpy.run_path(str(path), run_name="mfmasim_table")
    return found["table"]  # type: ignore[no-any-return]


def find(target: str) -> list[tuple[str, list[Case]]]:
    """Cases of a target: a family, a folder of families, ``all``, a published text (``text:004``), or a case file.

    Returns:
        Name and cases of each group.

    Raises:
        MfmasimError: the target does not exist.
    """
    known = families()
    if target.startswith(PREFIX):
        return [(name, load_file(known[name])) for name in source(target).families]
    inside = [name for name in known if target in ("all", name) or name.startswith(f"{target}/")]
    if inside:
        return [(name, load_file(known[name])) for name in inside]
    absent = target.partition("/")[0] in IN_SOURCES and "races" not in known
    if target.endswith(".py") or ("/" in target and not absent) or Path(target).exists():
        return [(Path(target).stem, load_file(Path(target)))]
    folders = {name.partition("/")[0] for name in known if "/" in name}
    if absent:
        raise MfmasimError(
            f"{target}: a family that tests the machine itself, which the source distribution and a checkout have: "
            "pip download --no-deps --no-binary mfmasim mfmasim, or git clone"
        )
    raise unknown("target", target, [*sorted({*known, *folders}), "all"], "(a family, 'all' or a case file)")
