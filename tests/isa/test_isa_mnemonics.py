"""What an opcode is, its record says; a mnemonic's text is read in `mfmasim.isa.opcode` and by the printer alone."""

import ast
import itertools
import re
from functools import cache
from pathlib import Path

from mfmasim.architectures import ARCHITECTURES
from mfmasim.isa.dialects import DIALECTS
from mfmasim.isa.family import family

ROOT = Path(__file__).parents[2]
SOURCES = sorted(path for path in (ROOT / "mfmasim").rglob("*.py") if "_bundled" not in path.parts)

# Where the text of mnemonics is read, and rows, registrations and tables that have mnemonics as their keys.
READERS = (
    "mfmasim/isa/opcode.py",
    "mfmasim/isa/printer.py",
    "mfmasim/isa/immediates.py",
    "mfmasim/prove/",  # an abstract operation for each mnemonic; so do those that follow what values mean
    *(f"mfmasim/observe/{name}.py" for name in ("atomic_order", "rounded_sums", "value_flows", "wrapped_offsets")),
    *("mfmasim/observe/fragments/dot_signs.py", "mfmasim/machine/ops/lane_sources.py"),
)
KEYED = (
    "mfmasim/machine/ops/", "mfmasim/machine/opcodes/refusal.py", "mfmasim/matrix/rows/",
    "mfmasim/lds/instructions.py", "mfmasim/lds/tables.py", "mfmasim/formats/conversions/",
    "mfmasim/lab/calibration/probes.py", "mfmasim/lab/calibration/phase_probes.py",
    "mfmasim/lab/kit/kernels.py", "mfmasim/architectures/generic.py", "mfmasim/architectures/processors.py",
    "mfmasim/cli/matrix_arguments.py",  # reads the words of a command, not an instruction
    "mfmasim/lab/mutation/operators.py",
)  # fmt: skip

INSTRUCTIONS = {
    "ins", "instruction", "opcode", "first", "second", "last", "half", "part", "flight", "prior", "consumer",
}  # fmt: skip
LISTS = {"instructions", "decodable", "reachable", "open_", "body", "halves"}
METHODS = {
    "startswith", "endswith", "removeprefix", "removesuffix", "split", "rsplit", "partition", "rpartition", "replace",
    "find", "index",
}  # fmt: skip
MATCHES = {"match", "search", "fullmatch", "findall"}
START = re.compile(r"(v|s|ds|buffer|tbuffer|global|flat|scratch|image)_")
PATTERN = re.compile(r"[(|\[*+?\\]")


@cache
def mnemonics():
    """Every mnemonic of every architecture's tables."""
    archs = [arch for arch in ARCHITECTURES.values() if arch.encoding in DIALECTS]
    return {row.name for arch in archs for rows in family(arch).rows.values() for row in rows.values()}


@cache
def begins_mnemonics(text):
    """Whether a text consists of mnemonics, beginnings of some, or regular expressions of such."""
    return all(
        START.match(word) and (PATTERN.search(word) or any(name.startswith(word) for name in mnemonics()))
        for word in text.replace("^", "").split() or ["-"]
    )


def instructions_of(tree):
    """Names that the module gives to instructions."""
    found = set(INSTRUCTIONS)
    for node in ast.walk(tree):
        if isinstance(node, (ast.For, ast.comprehension)) and isinstance(node.target, ast.Name):
            source = node.iter
            if (isinstance(source, ast.Attribute) and source.attr in LISTS) or (
                isinstance(source, ast.Name) and source.id in LISTS
            ):
                found.add(node.target.id)
    return found


class Questions(ast.NodeVisitor):
    """Lines of a module that ask the text of a mnemonic."""

    def __init__(self, tree):
        self.instructions = instructions_of(tree)
        self.lines = set()
        self.texts = set()
        self.visit(tree)

    def visit_FunctionDef(self, node):
        before, self.texts = self.texts, set(self.texts)
        self.generic_visit(node)
        self.texts = before

    def visit_Assign(self, node):
        if self.is_mnemonic(node.value):
            self.texts |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        self.generic_visit(node)

    def is_mnemonic(self, node):
        if isinstance(node, ast.Name):
            return node.id in self.texts
        if not isinstance(node, ast.Attribute) or node.attr != "name":
            return False
        owner = node.value
        return (isinstance(owner, ast.Name) and owner.id in self.instructions) or (
            isinstance(owner, ast.Attribute) and owner.attr in INSTRUCTIONS
        )

    def visit_Call(self, node):
        called = node.func
        if isinstance(called, ast.Attribute):
            asked = called.attr in METHODS and self.is_mnemonic(called.value)
            matched = called.attr in MATCHES and any(map(self.is_mnemonic, node.args))
            if asked or matched:
                self.lines.add(node.lineno)
        self.generic_visit(node)

    def visit_Subscript(self, node):
        if self.is_mnemonic(node.value):
            self.lines.add(node.lineno)
        self.generic_visit(node)

    def visit_Compare(self, node):
        sides = [node.left, *node.comparators]
        for (left, right), operator in zip(itertools.pairwise(sides), node.ops, strict=True):
            inside = isinstance(operator, (ast.In, ast.NotIn))
            if self.is_mnemonic(right) and (not inside or not isinstance(left, ast.Attribute)) and self.fixed(left):
                self.lines.add(node.lineno)
            if self.is_mnemonic(left) and self.fixed(right):
                self.lines.add(node.lineno)
        self.generic_visit(node)

    @staticmethod
    def fixed(node):
        """Whether it is a constant: a text, some texts, or a name in capitals."""
        if isinstance(node, (ast.Tuple, ast.Set, ast.List)):
            return True
        return isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and node.id.lstrip("_").isupper())


def docstrings(tree):
    """Nodes of texts that stand alone: docstrings."""
    return {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}


def spoken(tree):
    """Texts inside of messages."""
    raising = (node for node in ast.walk(tree) if isinstance(node, (ast.Raise, ast.JoinedStr)))
    return {id(inner) for node in raising for inner in ast.walk(node)}


def written(tree):
    """Lines of texts that are mnemonics, or how some begin."""
    silent = docstrings(tree) | spoken(tree)
    return {
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in silent
        and begins_mnemonics(node.value)
    }


@cache
def questions(path):
    """Lines of a file that ask a mnemonic's text, or hold mnemonics that are no keys."""
    name, tree = str(path.relative_to(ROOT)), ast.parse(path.read_text())
    if name.startswith(READERS):
        return []
    return sorted(Questions(tree).lines | (set() if name.startswith(KEYED) else written(tree)))


def test_only_the_record_and_the_printer_read_a_mnemonic():
    found = {str(path.relative_to(ROOT)): lines for path in SOURCES if (lines := questions(path))}
    assert not found


if __name__ == "__main__":
    print("\n".join(f"{path.relative_to(ROOT)}:{line}" for path in SOURCES for line in questions(path)))
