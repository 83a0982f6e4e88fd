"""A change of operations against the slow interpreter, as tests/machine compares all operations, but those of one file.

The tests that do it for every operation take minutes: a trial draws as many lines as they do, of the operations that
the changed file registers, and of those whose files import it.
"""

import ast
import random
from collections import defaultdict
from importlib import import_module

import numpy as np

from tests.mutation import ROOT

OPS = ROOT / "mfmasim" / "machine" / "ops"
JUDGED = {"gfx942": 2, "gfx1201": 1, "gfx950": 2, "gfx1151": 1, "gfx1151:64": 1, "gfx908": 2, "gfx1201:64": 1}
"""Architecture -> lines of each operation, as in the tests of all operations."""
FOLLOWED = ("gfx942", "gfx1201")
"""Architectures on which undefined bits are followed, too."""
MOST = 60
"""Operations compared of one file, at most."""
SECONDS = 150
"""CPU seconds of one trial; the fastest way to an answer comes first."""


def importers(name):
    """A module of operations, and those that import it, also by way of others."""
    uses = defaultdict(set)
    for path in OPS.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("mfmasim.machine.ops."):
                uses[node.module.rpartition(".")[2]].add(path.stem)
    found, new = [], [name]
    while new:
        found += new
        new = sorted(set().union(*(uses[one] for one in new)) - set(found))
    return found


def operations_of(name, registered):
    """Names of operations, those of the module first; of many, some of each module.

    Args:
        name: of a module of operations.
        registered: module -> operations that it registers.
    """
    groups = [sorted(registered.get(one, ())) for one in importers(name)]
    generator = random.Random(name)
    found = []
    for group in groups:
        room = MOST - len(found)
        found += group if len(group) <= room else sorted(generator.sample(group, max(room, 0)))
    return found


def differs(path, registered):
    """The first architecture on which an operation differs from its slow model, or follows undefined bits wrongly.

    Everything is imported anew before, with the change.

    Returns:
        What differs, or None; and how many lines were compared.
    """
    frame, harness, judge = (import_module(f"tests.machine.{name}") for name in ("frame", "harness", "judge"))
    cdna, rdna, definedness = (
        import_module(f"tests.machine.test_{name}") for name in ("ops_against_slow", "rdna_against_slow", "definedness")
    )
    lines = cdna.lines
    names = [name for name in operations_of(path.stem, registered) if not harness.is_matrix(name)]
    taken, compared = {form for form, line in lines.FORMS.items() if cdna.refusal(line) is None}, 0
    for arch, count in JUDGED.items():
        lines.taken = set(lines.FORMS) if arch in harness.RDNA else taken
        has = [name for name in names if name in harness.executable(arch) and rdna.reason(name, arch) is None]
        if not has:
            continue
        chosen, _ = cdna.probes(arch, random.Random(f"trial {arch}"), count, has)
        verdict = judge.judge(chosen, arch, frame.inputs(np.random.default_rng(20), arch))
        if verdict.differences or verdict.refused:
            return f"slow interpreter, {arch}", 1
        compared += verdict.compared
        if arch in FOLLOWED:
            lines.taken = set(lines.FORMS)
            if definedness.tallied(arch, 2, has, 2).missed:
                return f"undefined bits, {arch}", 1
    return None, compared
