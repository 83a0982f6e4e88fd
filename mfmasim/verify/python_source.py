"""Kernels in strings of Python files: ``submission.py::CUDA_SRC`` names the text where it is.

The file is read, never executed: the name's value is worked out from strings, numbers, ``+``, formatted strings and
other names of the same kind. The text goes into a source of its own, in which every line has the number and the file
that it has in the Python file, so that findings name them.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from mfmasim.errors import MfmasimError, unknown
from mfmasim.files import read_file, write_text
from mfmasim.resources import cache_folder

SEPARATOR = "::"
NAMES_OF_TORCH = "#include <mfmasim/torch_names.h>"
"""What a launcher in the text needs of PyTorch to be parsed: device code is compiled alone."""
OF_TORCH = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"](torch|ATen|c10|pybind11)/[^>"\n]*[>"]', re.MULTILINE)
HEADERS = {
    "cuda.h": "hip/hip_runtime.h",
    "cuda_runtime.h": "hip/hip_runtime.h",
    "cuda_runtime_api.h": "hip/hip_runtime.h",
    "cuda_fp16.h": "hip/hip_fp16.h",
    "cuda_bf16.h": "hip/hip_bf16.h",
    "cuda_fp8.h": "hip/hip_fp8.h",
    "cooperative_groups.h": "hip/hip_cooperative_groups.h",
}
"""CUDA's headers, and those of HIP."""
_INCLUDE = re.compile(r'(#[ \t]*include[ \t]*)[<"]([\w./]+)[>"]')
_NAMES = ((re.compile(r"\bcuda(?=[A-Z])"), "hip"), (re.compile(r"\b__nv_bfloat16(?=\b|2)"), "__hip_bfloat16"))

Line = tuple[int, str]
"""A line of the text, and where it is in the Python file."""


def is_python_text(source: str) -> bool:
    """Whether a source is a name of a Python file.

    >>> is_python_text("submission.py::CUDA_SRC"), is_python_text("gemm.hip")
    (True, False)
    """
    return source.partition(SEPARATOR)[0].endswith(".py") and SEPARATOR in source


def extracted(source: str, folder: Path) -> Path:
    """Write the text of a name in a Python file to a source file in the cache.

    Args:
        source: ``FILE.py::NAME``.
        folder: where the file's name starts.

    Returns:
        The source; its folder has a copy of the Python file.

    Raises:
        MfmasimError: no such file or name, or its value is not a text that can be worked out.
    """
    name, _, variable = source.partition(SEPARATOR)
    path = (folder / name).resolve()
    try:
        whole = read_file(path).decode("utf-8-sig")
        tree = ast.parse(whole)
    except (SyntaxError, ValueError) as error:
        raise MfmasimError(f"{path}: not a Python file: {error}") from None
    lines = Text(path, whole, tree).lines(variable)
    text = _numbered(lines, path.name)
    home = cache_folder() / "sources" / hashlib.sha256(f"{path}\n{variable}\n{text}\n{whole}".encode()).hexdigest()[:16]
    made = home / f"{path.stem}.{variable}.hip"
    if not made.exists():
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_text(home / path.name, whole)
        write_text(made, text)
    return made


def _numbered(lines: Sequence[Line], name: str) -> str:
    """A source whose lines have the numbers of the Python file, where that is possible."""
    first = lines[0][0]
    out = [NAMES_OF_TORCH, *[""] * max(first - 3, 0), f'#line {first} "{name}"']
    expected = first
    for number, text in lines:
        if number != expected:
            out.append(f'#line {number} "{name}"')
        out.append(text)
        expected = number + 1
    text = OF_TORCH.sub(NAMES_OF_TORCH, "\n".join(out) + "\n")
    text = _INCLUDE.sub(lambda found: f"{found[1]}<{HEADERS[found[2]]}>" if found[2] in HEADERS else found[0], text)
    for pattern, other in _NAMES:
        text = pattern.sub(other, text)
    return text


class Text:
    """Values of the names at the top of a Python file."""

    def __init__(self, path: Path, whole: str, tree: ast.Module) -> None:
        """Record every assignment; the last one to a name counts."""
        self._path, self._source = path, whole.splitlines(keepends=True)
        self._values: dict[str, ast.expr] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                self._values[node.targets[0].id] = node.value
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
                self._values[node.target.id] = node.value
        self._within: list[str] = []

    def lines(self, name: str) -> list[Line]:
        """The lines of a text.

        Raises:
            MfmasimError: there is no such name, or its value is no text that can be worked out.
        """
        if name not in self._values:
            texts = [
                one for one, node in self._values.items() if isinstance(node, ast.Constant | ast.JoinedStr | ast.BinOp)
            ]
            raise unknown("name", name, texts, f"in {self._path.name}")
        pieces = self._pieces(self._values[name])
        out: list[Line] = []
        open_ = ""
        where = pieces[0][0] if pieces else 1
        for line, text in pieces:
            if not open_:
                where = line
            open_ += text
            if text.endswith("\n"):
                out.append((where, open_[:-1]))
                open_ = ""
        if open_:
            out.append((where, open_))
        if not any(text.strip() for _, text in out):
            raise MfmasimError(f"{self._path.name}: {name} is empty: nothing to compile")
        return out

    def _pieces(self, node: ast.expr) -> list[Line]:
        """Pieces of a text, each at most one line, with the lines of the file in which they begin.

        Raises:
            MfmasimError: the expression is of another kind.
        """
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return self._constant(node)
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
            return [(node.lineno, str(node.value))]
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return self._pieces(node.left) + self._pieces(node.right)
        if isinstance(node, ast.Name) and node.id in self._values and node.id not in self._within:
            self._within.append(node.id)
            try:
                return self._pieces(self._values[node.id])
            finally:
                self._within.pop()
        if isinstance(node, ast.JoinedStr):
            return self._formatted(node)
        shown = ast.unparse(node)
        shown = shown if len(shown) <= 40 else f"{shown[:40]}..."
        raise MfmasimError(
            f"{self._path.name}:{node.lineno}: {shown} is not worked out, as the file is not executed; strings, "
            "numbers, +, f-strings and names of such are"
        )

    def _constant(self, node: ast.Constant) -> list[Line]:
        """A string's lines: those of the file if the text is verbatim there, else counted from the first."""
        pieces = str(node.value).splitlines(keepends=True)
        written = self._source[node.lineno - 1 : node.end_lineno]
        out, line = [], node.lineno
        for piece in pieces:
            bare = piece.rstrip("\n")
            # The search for a line that escapes join or split begins at the line before it.
            ahead = [
                n
                for n in range(line, (node.end_lineno or line) + 1)
                if bare.strip() and bare in written[n - node.lineno]
            ]
            line = ahead[0] if ahead else line
            out.append((line, piece))
            line = min(line + 1, node.end_lineno or line)
        return out

    def _formatted(self, node: ast.JoinedStr) -> list[Line]:
        """A formatted string: its values belong to the line of their braces."""
        out: list[Line] = []
        line = node.lineno
        for part in node.values:
            inner = part.value if isinstance(part, ast.FormattedValue) else part
            if isinstance(part, ast.FormattedValue) and (part.format_spec is not None or part.conversion != -1):
                raise MfmasimError(f"{self._path.name}:{node.lineno}: formats in an f-string are not worked out")
            if isinstance(inner, ast.Constant) and isinstance(inner.value, str) and inner is part:
                for piece in inner.value.splitlines(keepends=True):
                    out.append((line, piece))
                    line += piece.endswith("\n")
            else:
                value = "".join(text for _, text in self._pieces(inner))
                out += [(line, piece) for piece in value.splitlines(keepends=True)]
        return out
