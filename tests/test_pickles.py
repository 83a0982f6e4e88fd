"""What could execute data is used in the places that SECURITY.md names, and nowhere else."""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("mfmasim", "hipkernels", "golden")
PICKLES = {"mfmasim/clusters/remote.py"}
"""Files that read pickles."""
MODULES = {
    "pickle",
    "_pickle",
    "cPickle",
    "cloudpickle",
    "dill",
    "marshal",
    "shelve",
    "joblib",
    "jsonpickle",
    "copyreg",
}
PROGRAMS = {
    "mfmasim/verify/files.py",
    "mfmasim/lab/mutation/mutants.py",
    "mfmasim/lab/reports/statements.py",
}  # fmt: skip
"""Files that execute the Python files that a command names."""
CONDITIONS = {"mfmasim/prove/contract.py", "mfmasim/prove/alternatives.py", "mfmasim/verify/contract.py"}
"""Files that evaluate conditions of cases, which are programs themselves; only names, numbers and comparisons."""


def files():
    for name in FOLDERS:
        for path in sorted((ROOT / name).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), ast.parse(path.read_text())


def called(node):
    """Dotted name of what a call calls."""
    return ast.unparse(node.func) if isinstance(node, ast.Call) else ""


def test_pickles_are_read_in_the_named_places_alone():
    found = set()
    for name, tree in files():
        for node in ast.walk(tree):
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if {one.partition(".")[0] for one in names} & MODULES:
                found.add(name)
    assert found == PICKLES
    text = (ROOT / "SECURITY.md").read_text()
    assert all(f"`{name}`" in text for name in PICKLES)


def test_arrays_and_texts_are_read_without_executing_them():
    looked = 0
    for name, tree in files():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            looked += 1
            what, given = called(node), {word.arg: ast.unparse(word.value) for word in node.keywords}
            assert given.get("allow_pickle", "False") == "False", name
            assert what != "torch.load" or given.get("weights_only") == "True", name
            if what == "np.load":
                assert given.get("allow_pickle") == "False", (name, node.lineno)
            if what in ("yaml.load", "yaml.unsafe_load", "yaml.full_load"):
                assert name == "mfmasim/codeobject/version2.py"
    assert looked > 10_000


def test_programs_are_executed_in_the_named_places_alone():
    found, judged = set(), set()
    for name, tree in files():
        for node in ast.walk(tree):
            if called(node).startswith("runpy."):
                found.add(name)
            if called(node) in ("eval", "exec"):
                judged.add(name)
    assert found == PROGRAMS
    assert judged <= CONDITIONS
