"""Mutants: cosmic-ray's operators applied to places of our files, drawn by a seed, each place alike."""

import ast
import random
from collections import defaultdict
from dataclasses import dataclass
from functools import cache, cached_property

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.provider import OperatorProvider

from tests.mutation import ROOT

NEEDS_ARGUMENTS = {"VariableReplacer", "VariableInserter"}
"""Operators that name a variable of the mutated program: none is general."""

UNCHANGED = {"name", "newline", "string", "endmarker", "fstring_string", "fstring_start", "fstring_end"}
"""Kinds of tokens that no other operator changes."""


@dataclass(frozen=True)
class Mutant:
    """One change of one file: the operator, its occurrence in the file, and where it is."""

    package: str
    path: str
    operator: str
    occurrence: int
    line: int
    end: int

    @cached_property
    def source(self):
        """The whole file with the change."""
        return mutate_code((ROOT / self.path).read_text(), OperatorProvider()[self.operator](), self.occurrence)

    @cached_property
    def change(self):
        """The changed lines before and after, without indentation."""
        before, after = (ROOT / self.path).read_text().splitlines(), self.source.splitlines()
        tail = len(before) - self.end
        changed = before[self.line - 1 : self.end], after[self.line - 1 : len(after) - tail]
        return tuple(" ".join(line.strip() for line in lines) for lines in changed)


class OnlyRunning(ast.NodeTransformer):
    """Removes annotations and imports for type checkers, which have no effect at run time."""

    def visit_FunctionDef(self, node):
        node.returns = None
        return self.generic_visit(node)

    def visit_arg(self, node):
        node.annotation = None
        return node

    def visit_AnnAssign(self, node):
        node.annotation = ast.Constant(None)
        return self.generic_visit(node)

    def visit_If(self, node):
        return None if "TYPE_CHECKING" in ast.unparse(node.test) else self.generic_visit(node)


def meaning(text):
    """What of a source runs, or None if it does not compile."""
    try:
        compile(text, "mutant", "exec")
    except SyntaxError:
        return None
    return ast.dump(OnlyRunning().visit(ast.parse(text)))


original_meaning = cache(meaning)


def places(text):
    """Place (start, end) -> operators that can change it, as (name, occurrence) pairs."""
    found = defaultdict(list)
    nodes = [node for node in ast_nodes(get_ast(text)) if node.type not in UNCHANGED]
    provider = OperatorProvider()
    for name in provider:
        if name in NEEDS_ARGUMENTS:
            continue
        operator, count = provider[name](), 0
        for node in nodes:
            for start, end in operator.mutation_positions(node):
                found[start, end].append((name, count))
                count += 1
    return found


def draw(package, number, seed):
    """Mutants of a package, drawn without repetition: a place first, each alike, then one of its operators.

    Changes that do not compile or that have no effect at run time (annotations) are drawn again.

    Args:
        package: Folder under `mfmasim`.
        number: How many mutants.
        seed: Any integer; the same seed gives the same mutants of the same files.
    """
    generator = random.Random(f"{seed} {package}")
    texts = {path: path.read_text() for path in sorted((ROOT / "mfmasim" / package).rglob("*.py"))}
    candidates = [(path, place, names) for path, text in texts.items() for place, names in places(text).items()]
    generator.shuffle(candidates)
    chosen = []
    for path, (start, end), names in candidates:
        if len(chosen) == number:
            break
        operator, occurrence = generator.choice(names)
        mutant = Mutant(package, str(path.relative_to(ROOT)), operator, occurrence, start[0], end[0])
        mutated = meaning(mutant.source)
        if mutated is not None and mutated != original_meaning(texts[path]):
            chosen.append(mutant)
    return chosen
