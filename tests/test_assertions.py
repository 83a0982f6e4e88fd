"""Every test asserts something, whatever the data: an assertion in a loop over nothing never runs.

A test asserts by ``assert``, ``raise AssertionError``, pytest.raises, pytest.warns or pytest.fail, by NumPy's
``assert_...``, or by a function of the tests that does. It is *vacuous* if each of its assertions lies in a loop, or in
an ``all(...)``, over something that may be empty. Never empty are literals with elements, names that are bound to such,
ranges of constants, and what keeps the length of these (`sorted`, ``.items()``, ...); for anything else the test
asserts how much there is, which is an assertion outside the loop.

``python -m tests.test_assertions`` prints the tests in question.
"""

import ast
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
KEEPS_LENGTH = {
    "sorted", "enumerate", "list", "tuple", "set", "frozenset", "reversed", "zip", "product", "dict", "items", "values",
    "keys", "copy", "map", "array", "asarray", "Counter", "permutations",
}  # fmt: skip
ASSERTS = {"raises", "warns", "fail", "run_state_machine_as_test"}


# --- Names -------------------------------------------------------------------------------------------------------


class Module:
    """A module of the tests: its functions, what its names are bound to, and which come from other modules."""

    def __init__(self, path):
        self.functions, self.values, self.imported, self.tests = {}, {}, {}, {}
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            for part in node.body if isinstance(node, ast.ClassDef) else [node]:
                self.bind(part, inside=part is not node)

    def bind(self, node, *, inside):
        """Take what a statement of the module, or of a class in it, defines."""
        if isinstance(node, ast.FunctionDef):
            self.functions[node.name] = node
            if node.name.startswith("test_"):
                self.tests[node.name] = node
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and not inside:
            self.values[node.targets[0].id] = node.value
        elif isinstance(node, ast.ImportFrom):
            self.imported |= {alias.asname or alias.name: (node.module, alias.name) for alias in node.names}

    def bound(self, name):
        """The module that defines a name, and the name there; of a module that is imported, no name. None: unknown."""
        if name not in self.imported:
            return self, name
        folder, there = self.imported[name]
        if found := module(folder):
            return found.bound(there)
        found = module(f"{folder}.{there}")
        return (found, "") if found else None

    def lookup(self, node, kind):
        """What a name, or the attribute of a module, means: its entry in one `kind` of dictionaries, and the module."""
        if isinstance(node, ast.Name):
            found = self.bound(node.id)
            return found and (getattr(found[0], kind).get(found[1]), found[0])
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found = self.bound(node.value.id)
            if found and not found[1]:
                return getattr(found[0], kind).get(node.attr), found[0]
            if kind == "functions":  # a method of a class beside the test
                return self.functions.get(node.attr), self
        return None


@cache
def module(name):
    """The module of the tests with a full name; None if it is another's."""
    path = ROOT / f"{name.replace('.', '/')}.py"
    return Module(path) if name.startswith("tests.") and path.is_file() else None


# --- What is never empty -----------------------------------------------------------------------------------------


def filled(node, where, local):
    """Whether the text of an expression shows that it has elements. `local`: values of the names of the function."""
    match node:
        case ast.Constant(value=str() | bytes() as text):
            return bool(text)
        case ast.List() | ast.Tuple() | ast.Set():
            return any(not isinstance(part, ast.Starred) or filled(part.value, where, local) for part in node.elts)
        case ast.Dict():
            return any(key or filled(value, where, local) for key, value in zip(node.keys, node.values, strict=True))
        case ast.BinOp(op=ast.Add() | ast.BitOr()):
            return filled(node.left, where, local) or filled(node.right, where, local)
        case ast.BinOp(op=ast.Mult()):
            return filled(node.left, where, local) or filled(node.right, where, local)
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return all(filled(part.iter, where, local) and not part.ifs for part in node.generators)
        case ast.Name(id=name) if name in local:
            rest = {other: values for other, values in local.items() if other != name}
            return all(filled(value, where, rest) for value in local[name])
        case ast.Name() | ast.Attribute():
            value, there = where.lookup(node, "values") or (None, where)
            return value is not None and filled(value, there, {})
        case ast.IfExp():
            return filled(node.body, where, local) and filled(node.orelse, where, local)
        case ast.Call(func=ast.Name(id="zip"), keywords=[ast.keyword(arg="strict", value=ast.Constant(value=True))]):
            return any(filled(part, where, local) for part in node.args)  # of unequal lengths it raises
        case ast.Call(func=ast.Attribute(attr="ndindex"), args=args):
            return all((constant(part) or 0) > 0 for part in args)
        case ast.Call(func=ast.Name(id="range"), args=args):
            numbers = [constant(part) for part in args]
            return None not in numbers and len(range(*numbers)) > 0
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in KEEPS_LENGTH:
            method = isinstance(node.func, ast.Attribute) and not node.args
            over = [node.func.value] if method else node.args[1:] if name == "map" else node.args
            counted = over[:1] if name in ("sorted", "enumerate", "array", "asarray", "permutations") else over
            return bool(counted) and all(filled(part, where, local) for part in counted)
    return False


def constant(node):
    """The integer that an expression of constants is, else None."""
    try:
        found = ast.literal_eval(node)
    except (ValueError, SyntaxError):
        return None
    return found if isinstance(found, int) else None


@cache
def names_in(function):
    """Values that a function assigns to each of its names; a name that it binds otherwise has the value None."""
    arguments = function.args
    found = {part.arg: [None] for part in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            found.setdefault(node.targets[0].id, []).append(node.value)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.setdefault(node.id, [])
    return {name: values or [None] for name, values in found.items()}


# --- Assertions --------------------------------------------------------------------------------------------------


def assertions(function, where, seen=()):
    """For each assertion of a function: whether it is reached however much data there is."""
    local = names_in(function)

    def inside(node, sure):
        match node:
            case ast.Assert():
                yield sure and reaches(node.test)
            case ast.Raise(exc=ast.Call(func=ast.Name(id="AssertionError"))):
                yield sure
            case ast.Call():
                yield from (sure and reached for reached in by_call(node))
        if isinstance(node, ast.For):
            yield from inside(node.iter, sure)
            sure = sure and filled(node.iter, where, local)
            for part in node.body:
                yield from inside(part, sure)
            return
        if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            yield from inside(node.generators[0].iter, sure)
            sure = sure and filled(node, where, local)
        sure = sure and not (isinstance(node, ast.While) and constant(node.test) != 1)
        for part in ast.iter_child_nodes(node):
            yield from inside(part, sure)

    def reaches(test):
        """Whether a condition can fail: ``all`` of nothing cannot."""
        match test:
            case ast.Call(func=ast.Name(id="all"), args=[ast.GeneratorExp() | ast.ListComp() as over]):
                return all(filled(part.iter, where, local) for part in over.generators)
            case ast.BoolOp(op=ast.And()):
                return any(map(reaches, test.values))
        return True

    def by_call(call):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if name in ASSERTS or name.startswith("assert_"):
            yield True
            return
        helper, there = where.lookup(call.func, "functions") or (None, where)
        if helper is not None and helper not in seen:
            yield from assertions(helper, there, (*seen, helper))

    for statement in function.body:
        yield from inside(statement, True)


def doubtful(modules):
    """Tests without an assertion, and vacuous tests, as ``module::name``.

    Args:
        modules: the modules by name.
    """
    silent, vacuous = [], []
    for path, found in modules.items():
        for name, function in found.tests.items():
            reached = list(assertions(function, found))
            if not any(reached):
                (vacuous if reached else silent).append(f"{path}::{name}")
    return silent, vacuous


def everything():
    """The modules of all tests."""
    paths = sorted(path.relative_to(ROOT) for path in (ROOT / "tests").rglob("test_*.py"))
    return {path.as_posix(): module(".".join(path.with_suffix("").parts)) for path in paths}


def test_every_test_asserts_something_whatever_the_data():
    modules = everything()
    assert sum(len(found.tests) for found in modules.values()) >= 1500
    silent, vacuous = doubtful(modules)
    assert silent == []
    assert vacuous == []


REACHED = """
for one in [1, 2]: assert one
for one in FULL: assert one
for a, b in zip(data, (1, 2), strict=True): assert a == b
for _ in range(3): assert helper(data)
assert all(one for one in sorted(FULL))
with pytest.raises(ValueError): data()
assert [one for one in data if one] == []
assert len(data); assert all(data)
asserting(data)
np.testing.assert_array_equal(data, 1)
while True: assert data
"""
VACUOUS = """
for one in data: assert one
for one in []: assert one
for a, b in zip(data, (1, 2)): assert a == b
for one in [part for part in FULL if part]: assert one
for _ in range(len(data)): assert _
for one in FULL: [asserting(part) for part in data]
assert all(one for one in data)
looping(data)
while data: assert data.pop()
"""
SILENT = """
data
helper(data)
print(FULL)
"""


@pytest.mark.parametrize(
    ("line", "silent", "vacuous"),
    [(line, 0, 0) for line in REACHED.strip().splitlines()]
    + [(line, 0, 1) for line in VACUOUS.strip().splitlines()]
    + [(line, 1, 0) for line in SILENT.strip().splitlines()],
)
def test_what_the_text_of_a_test_shows(tmp_path, line, silent, vacuous):
    path = tmp_path / "test_it.py"
    path.write_text(
        "FULL = {1: 2}\n"
        "def asserting(data):\n    assert data\n"
        "def looping(data):\n    for one in data:\n        assert one\n"
        "def helper(data):\n    return data\n"
        f"def test_it(data):\n    {line}\n"
    )
    assert tuple(map(len, doubtful({"test_it": Module(path)}))) == (silent, vacuous)


if __name__ == "__main__":
    for kind, names in zip(("no assertion", "assertions only in loops"), doubtful(everything()), strict=True):
        print(f"{kind}: {len(names)}", *names, sep="\n    ")
