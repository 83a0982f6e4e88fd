"""How many operations the machine executes, as docs/fidelity.md says."""

import re

import mfmasim.machine.ops  # noqa: F401  (fills OPERATIONS)
from mfmasim.architectures import ARCHITECTURES
from mfmasim.isa.family import family
from mfmasim.machine.opcodes.registry import OPERATIONS
from mfmasim.resources import folder


def test_the_page_counts_what_the_tables_hold():
    text = " ".join((folder("hipkernels").parent / "docs" / "fidelity.md").read_text().replace(",", "").split())
    found = re.search(
        r"(\d+) to (\d+) operations in its opcode table\. The machine executes all but fewer than (\d+)", text
    )
    fewest, most, excepted = (int(number) for number in found.groups())
    names = {arch: {row.name for rows in family(arch).rows.values() for row in rows.values()} for arch in ARCHITECTURES}
    assert (min(map(len, names.values())), max(map(len, names.values()))) == (fewest, most)
    assert max(len(of - OPERATIONS.keys()) for of in names.values()) == excepted - 1
