"""The architecture: imports as docs/architecture.md allows, no path of a machine."""

import ast
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "mfmasim"

DOCUMENT = (ROOT / "docs" / "architecture.md").read_text()


def allowed_imports():
    """The table of packages in docs/architecture.md: package -> modules it may import, None for everything."""
    rows = re.findall(r"^\| `(.+?)` \|.*\| (.+?) \|$", DOCUMENT, re.MULTILINE)
    return {
        package: None if allowed == "everything" else set(re.findall(r"`([\w.]+)`", allowed))
        for package, allowed in rows
    }


ALLOWED = allowed_imports()
ROOMS = re.findall(r"^\| `(machine\.\w+)` \|", DOCUMENT, re.MULTILINE)
FOUNDATION = set(re.findall(r"`(\w+)`", re.search(r"may also import ([^.]*)\.", DOCUMENT)[1]))


def package_of(path):
    """Name of the package of a file, as the table spells it."""
    if path.is_relative_to(PACKAGE):
        return path.relative_to(PACKAGE).with_suffix("").parts[0]
    return f"../{path.relative_to(ROOT).parts[0]}"


def imports(path):
    """Names of mfmasim modules that a file imports: at the top, within functions, or for types alone."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "mfmasim":
            if node.module == "mfmasim":
                yield from (f"mfmasim.{alias.name}" for alias in node.names)
            else:
                yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "mfmasim")


def test_packages_import_only_what_the_document_allows():
    checked = 0
    wrong = []
    for path in [*PACKAGE.rglob("*.py"), *(ROOT / "golden").rglob("*.py")]:
        if "_bundled" in path.parts:
            continue
        package = package_of(path)
        allowed = ALLOWED.get(package)
        if allowed is None or package in FOUNDATION:
            continue
        for name in imports(path):
            checked += 1
            parts = name.split(".")[1:]
            target = parts[0] if parts else ""
            if package != "../golden" and target in {package, "", *FOUNDATION}:
                continue
            if target not in allowed and ".".join(parts[:2]) not in allowed:
                wrong.append(f"{path.relative_to(ROOT)} imports {name}")
    assert not wrong, wrong
    assert checked > 200


def test_document_lists_every_package():
    packages = {package_of(path) for path in PACKAGE.rglob("*.py") if "_bundled" not in path.parts}
    listed = {package for package in ALLOWED if not package.startswith("../")}
    assert packages - {"__init__", "__main__", *FOUNDATION} == listed
    assert {package for values in ALLOWED.values() for package in values or ()} <= {*listed, *ROOMS}
    assert {"errors", "resources"} <= FOUNDATION


def test_packages_are_in_one_order():
    """What the table allows has no circle: a package can be put below everything that imports it."""
    graph = {package: {name.split(".")[0] for name in below} for package, below in ALLOWED.items() if below}
    order = tuple(TopologicalSorter(graph).static_order())  # raises CycleError
    assert set(graph) <= set(order)


TOOLS = set(re.findall(r"`(\w+)`", re.search(r"\*\*Tools\*\* [^:]*: (.*?)\. No package", DOCUMENT, re.DOTALL)[1]))


def test_the_core_imports_no_tool():
    """What the table allows a package of the core, and what `import mfmasim.verify` and a device load."""
    core = {package for package in ALLOWED if package not in TOOLS and not package.startswith("../")}
    assert {"machine", "observe", "verify", "devices"} <= core
    assert not TOOLS - ALLOWED.keys()
    assert all(ALLOWED[package] is not None for package in core)
    assert not {(package, name) for package in core for name in ALLOWED[package] & TOOLS}
    code = (
        "import sys, mfmasim, mfmasim.verify; mfmasim.device('sim');"
        "print(*{name.split('.')[1] for name in sys.modules if name.startswith('mfmasim.')})"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "machine" in loaded
    assert not TOOLS & set(loaded)


def test_rooms_of_the_machine_are_in_one_order():
    files = list((PACKAGE / "machine").rglob("*.py"))
    order = {room: number for number, room in enumerate(ROOMS)}
    assert {f"machine.{path.name}" for path in (PACKAGE / "machine").iterdir() if path.name[0] != "_"} == set(ROOMS)
    found = [
        (path.relative_to(PACKAGE), ".".join(path.relative_to(PACKAGE).parts[:2]), ".".join(name.split(".")[1:3]))
        for path in files
        for name in imports(path)
    ]
    wrong = [f"{path} imports {there}" for path, here, there in found if order.get(there, -1) > order.get(here, 99)]
    assert not wrong, wrong
    assert sum(here != there and there in order for _, here, there in found) > 200


CIRCLES = {"machine.events": {"", "interface", "notify", "outcome", "stepping"}, "machine.state": {"barriers", "waves"}}
"""Files that import each other, in part for types alone. None is added; one that is resolved leaves the list."""


def circles(graph):
    """Strongly connected components of several nodes."""
    below = {node: set() for node in graph}
    for node in graph:
        stack = [node]
        while stack:
            for other in graph[stack.pop()] - below[node]:
                below[node].add(other)
                stack.append(other)
    return {frozenset({node, *(other for other in below[node] if node in below[other])}) for node in graph} - {
        frozenset({node}) for node in graph
    }


def test_files_do_not_import_each_other():
    paths = {path for path in PACKAGE.rglob("*.py") if "_bundled" not in path.parts}
    modules = {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in paths}
    graph = {}
    for name, path in modules.items():
        nodes = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
        found = {(node.module, alias.name) for node in nodes if not node.level for alias in node.names}
        inner = {f"{module}.{what}" if f"{module}.{what}" in modules else module for module, what in found}
        graph[name] = (inner & modules.keys()) - {name}
    known = {frozenset(f"mfmasim.{package}.{name}".rstrip(".") for name in names) for package, names in CIRCLES.items()}
    assert sum(map(len, graph.values())) > 2000
    assert circles(graph) == known
    a, b, c = "abc"
    assert circles({a: {b}, b: {a}, c: {a}}) == {frozenset("ab")}


def test_only_tests_import_the_slow_models():
    """Slow models judge the package from outside; tests import each other by full names, from the repository's root."""
    home = re.compile(r"\s*(from|import) tests\b")
    bare = re.compile(r"\s*(from|import) (\w+)( import .*)?")
    wrong = []
    for folder in ("mfmasim", "hipkernels", "golden", "tests"):
        for path in (ROOT / folder).rglob("*.py"):
            beside = {one.stem for one in path.parent.glob("*.py")} | {"oracles"}
            for line in path.read_text().splitlines():
                found = bare.fullmatch(line)
                if home.match(line) if folder != "tests" else found and found[2] in beside:
                    wrong.append(f"{path.relative_to(ROOT)}: {line.strip()}")
    assert not wrong, wrong


def test_an_architecture_is_one_place():
    """Its file, the generated opcode tables and its operations: no other code has its name, alone or in a list."""
    own = [PACKAGE / "architectures", PACKAGE / "isa" / "tables"]
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {node.value}"
        for path in PACKAGE.rglob("*.py")
        if not any(path.is_relative_to(folder) for folder in own)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and re.fullmatch(r"(gfx[0-9a-f]+[\s,:;|/]*)+", str(node.value))
    ]
    assert not found, found


def test_import_is_light():
    """`import mfmasim` and the command line's parser load neither NumPy nor an extra."""
    code = (
        "import sys, mfmasim, mfmasim.cli; mfmasim.cli.build();"
        "heavy = {'numpy', 'rich', 'hypothesis', 'hip', 'ziglang', 'pytest', 'ml_dtypes'} & set(sys.modules);"
        "sys.exit(', '.join(sorted(heavy)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_no_narrow_cast_from_float64():
    """`float64.astype(float8)` rounds twice (ml_dtypes); every encode is ours."""
    pattern = re.compile(r"astype\([^)]*(float8_|float6_|float4_|bfloat16|ml_dtypes)")
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in PACKAGE.rglob("*.py")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if pattern.search(line)
    ]
    assert not found, found


@pytest.mark.parametrize("word", ["root", "tmp", "home"])
def test_no_path_of_a_machine(word):
    folder = f"/{word}/"
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    found = []
    for name in listed.stdout.split():
        path = ROOT / name
        if path.suffix in (".npz", ".hsaco") or not path.is_file():
            continue
        text = path.read_text(errors="ignore")
        found += [name] if folder in text else []
    assert not found, found


def test_no_text_of_an_error_is_read():
    """What an error means is its class; rewording a message changes nothing else."""
    found = []
    for path in sorted((ROOT / "mfmasim").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for handler in (node for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler) and node.name):
            for node in ast.walk(handler):
                parts = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                    searched = ast.unparse(node.func.value) == "re"
                    asked = node.func.attr in ("startswith", "endswith", "find", "index", "count")
                    parts = node.args if searched else [node.func.value] if asked else []
                read = [part for part in parts if f"str({handler.name})" in ast.unparse(part)]
                found += [f"{path.relative_to(ROOT)}:{node.lineno}" for _ in read]
    assert not found


def test_the_formatter_is_off_for_tables_alone():
    """Rows of a table, a value of a module or of a class, may be aligned by hand; code is formatted."""
    wrong, tables = [], 0
    for folder in ("mfmasim", "hipkernels", "golden", "tests", "docs"):
        for path in (ROOT / folder).rglob("*.py"):
            text = path.read_text()
            if (off := "  # fmt:" + " skip\n") not in text:
                continue
            bodies = [node.body for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Module | ast.ClassDef)]
            ends = {each.end_lineno for body in bodies for each in body if isinstance(each, ast.Assign | ast.AnnAssign)}
            lines = [number for number, line in enumerate(text.splitlines(True), 1) if line.endswith(off)]
            tables += len(lines)
            wrong += [f"{path.relative_to(ROOT)}:{number}" for number in lines if number not in ends]
    assert not wrong, wrong
    assert tables > 100
