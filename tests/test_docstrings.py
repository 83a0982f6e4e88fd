"""Docstrings of the public interface.

A public function, or public method, of `mfmasim` with three or more parameters describes each of them under ``Args:``
(Google style: ``name: meaning, shape, unit``). `self` and `cls` do not count; ``*args`` and ``**kwargs`` do, by their
bare names. Parameters may share an entry: ``a, b: the factors``.

Exempt: names that begin with an underscore (`__init__` too) and the members of such classes; nested functions;
``@overload`` and ``@override`` (documented by the base class); operations under ``machine/ops``, documented by the ISA
manual; calls under ``hiprt/calls``, documented by HIP.

``python tests/test_docstrings.py [PACKAGE...]`` prints what is missing.
"""

import ast
import re
import sys
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "mfmasim"
EXEMPT = ("machine/ops/", "hiprt/calls/", "_bundled/")


def public_functions(body):
    """Public functions and methods of a module's or a class's body."""
    for node in body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from public_functions(node.body)
        elif isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and not inherited(node):
            yield node


def inherited(function):
    """Whether another definition carries the docstring."""
    return bool({"overload", "override"} & {ast.unparse(decorator) for decorator in function.decorator_list})


def parameters(function):
    """Names of a function's parameters besides `self` and `cls`."""
    found = function.args
    named = [*found.posonlyargs, *found.args, found.vararg, *found.kwonlyargs, found.kwarg]
    return [argument.arg for argument in named if argument and argument.arg not in ("self", "cls")]


def documented(function):
    """Names under `Args:` of a docstring."""
    lines = (ast.get_docstring(function) or "").partition("\nArgs:\n")[2].splitlines()
    names = set()
    for line in lines:
        if line and not line.startswith(" "):
            break
        if entry := re.match(r"    (\*{0,2}\w+(?:, \*{0,2}\w+)*):", line):
            names |= {name.strip("*") for name in entry[1].split(", ")}
    return names


def missing():
    """Package -> places of public functions with parameters that `Args:` does not name."""
    found = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        relative = path.relative_to(PACKAGE)
        if relative.as_posix().startswith(EXEMPT):
            continue
        for function in public_functions(ast.parse(path.read_text()).body):
            wanted = parameters(function)
            if len(wanted) >= 3 and (lacking := [name for name in wanted if name not in documented(function)]):
                place = f"mfmasim/{relative}:{function.lineno}: {function.name}: {', '.join(lacking)}"
                found[relative.with_suffix("").parts[0]].append(place)
    return found


def test_public_functions_describe_their_parameters():
    wrong = [place for places in missing().values() for place in places]
    assert not wrong, "\n".join(wrong)


if __name__ == "__main__":
    for package, places in missing().items():
        if package in (sys.argv[1:] or missing()):
            print(*places, f"{package}: {len(places)}", sep="\n")
