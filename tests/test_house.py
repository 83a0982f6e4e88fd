"""The house: no import against its arrows, no file that outgrew its concept, nothing of one machine in the tree."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "mfmasim"

# Room -> rooms it may import (DESIGN of the house; docs/house.md); the foundation is below.
ARROWS = {
    "architectures": set(),
    "formats": {"architectures"},
    "matrix": {"architectures", "formats", "figures"},  # objects draw themselves; figures know only data
    "lds": {"architectures", "figures"},  # objects draw themselves
    "grids": set(),
    "codeobject": {"architectures"},
    "isa": {"architectures"},
    "toolchain": set(),
    "program": {"architectures", "codeobject", "isa", "toolchain"},
    "machine": {"architectures", "formats", "matrix", "lds", "codeobject", "isa", "program"},
    "observe": {"machine.events", "lds", "isa"},
    "devices": {"machine", "codeobject", "observe", "program"},
    "hiprt": {"architectures", "codeobject", "devices", "machine", "matrix", "observe", "program", "toolchain"},
    "verify": {
        "architectures", "formats", "matrix", "lds", "codeobject", "isa", "toolchain", "program", "machine", "observe",
        "devices",
    },
    "figures": {"architectures", "formats"},
    "testing": {"architectures", "devices", "formats", "matrix", "program", "verify"},
    "cli": None,
    "golden": None,
}  # fmt: skip
FOUNDATION = {"archives", "errors", "fidelity", "resources"}
EVERYWHERE = 400


def imports(path):
    """Names of mfmasim modules that a file imports at run time."""
    tree = ast.parse(path.read_text())
    typing_only = {
        node
        for guard in ast.walk(tree)
        if isinstance(guard, ast.If) and ast.unparse(guard.test) == "TYPE_CHECKING"
        for node in ast.walk(guard)
    }
    for node in ast.walk(tree):
        if node in typing_only:
            continue
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "mfmasim":
            if node.module == "mfmasim":
                yield from (f"mfmasim.{alias.name}" for alias in node.names)
            else:
                yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "mfmasim")


def test_no_import_goes_against_the_arrows():
    checked = 0
    wrong = []
    for path in PACKAGE.rglob("*.py"):
        if "_bundled" in path.parts:
            continue
        room = path.relative_to(PACKAGE).with_suffix("").parts[0]
        allowed = ARROWS.get(room)
        if allowed is None:
            continue
        for name in imports(path):
            checked += 1
            parts = name.split(".")[1:]
            target = parts[0] if parts else ""
            if target in {room, "", *FOUNDATION} or target in allowed or ".".join(parts[:2]) in allowed:
                continue
            wrong.append(f"{path.relative_to(ROOT)} imports {name}")
    assert not wrong, wrong
    assert checked > 200


def test_every_room_has_its_arrows():
    rooms = {
        p.stem if p.suffix else p.name for p in PACKAGE.iterdir() if p.suffix == ".py" or (p / "__init__.py").exists()
    }
    assert rooms - {"__init__", "__main__", *FOUNDATION, "_bundled"} <= set(ARROWS)


def test_no_algorithm_asks_for_an_architecture_by_name():
    """What differs is a field of the architecture or a row of a table, so no comparison names one."""
    pattern = re.compile(r"""(==|!=|\bin)\s*[\(\{\[]?\s*["']gfx[0-9]""")
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in PACKAGE.rglob("*.py")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if pattern.search(line) and not line.lstrip().startswith("for ")
    ]
    assert not found, found


def test_files_stay_readable():
    long = {
        str(path.relative_to(ROOT)): count
        for folder in ("mfmasim", "golden", "hipkernels")
        for path in (ROOT / folder).rglob("*.py")
        if "tables" not in path.parts and (count := len(path.read_text().splitlines())) > EVERYWHERE
    }
    assert not long, f"more than {EVERYWHERE} lines: {long}"


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
