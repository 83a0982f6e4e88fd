"""How many operations the machine executes, as the README says."""

import re

import mfmasim.machine.ops  # noqa: F401  (fills OPERATIONS)
from mfmasim.isa.family import family
from mfmasim.machine.registry import OPERATIONS
from mfmasim.resources import folder

ARCHITECTURES = ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1151", "gfx1201")


def test_the_readme_counts_what_the_tables_hold():
    text = " ".join((folder("hipkernels").parent / "README.md").read_text().replace(",", "").split())
    told = text[text.index("The machine executes") : text.index("Tests compare them")]
    for arch in ARCHITECTURES:
        names = {row.name for rows in family(arch).rows.values() for row in rows.values()}
        done = len(names & OPERATIONS.keys())
        spellings = (
            f"{done} of the {len(names)} operations in {arch}'s",
            f"{done} of {arch}'s {len(names)}",
            f"{done} of {len(names)} on {arch}",
        )
        assert any(re.search(rf"\b{spelling}\b", told) for spelling in spellings), f"{arch}: {done} of {len(names)}"
