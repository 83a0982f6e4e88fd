"""Make docs/hazards.md from the rows of wait states: ``python -m docs.make_hazards``."""

from docs import DOCS
from mfmasim.architectures import arch
from mfmasim.isa.hazards import rows

PAGE = DOCS / "hazards.md"
ARCHITECTURES = ("gfx908", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1151", "gfx1201", "gfx1250")
"""One of each table of rows."""
HEAD = """\
# Wait states

Which pairs of instructions does software have to separate, by how much, and what is the evidence?

These are the rows of the check [hazards](checks.md#hazards), with the section of the manual or the function of LLVM's
GCNHazardRecognizer that requires them. *Needs* are wait states (`s_nop N` is N + 1), or instructions of the vector ALU
where the row says so; after a matrix instruction they depend on its passes, as `passes: states`. *LLVM* is the function
that inserts them. *Fewer* counts AMD's prebuilt kernel objects of the architecture that have fewer somewhere. *Finding*
is the severity of a pair without any wait state between. `docs/make_hazards.py` makes this page.
"""
UNITS = {"states": "", "vector": " vector", "trans": " vector, or 2 transcendental"}


def needs(row):
    """What a row requires."""
    if isinstance(row.needs, int):
        return f"{row.needs}{UNITS[row.clock]}"
    return ", ".join(f"{passes}: {states}" for passes, states in sorted(row.needs.items())) + UNITS[row.clock]


def severity(row):
    """The severity of a pair with nothing between."""
    most = row.needs if isinstance(row.needs, int) else max(row.needs.values())
    return row.judged(most, 0)[0]


def table(name):
    """The rows of an architecture."""
    found = rows(arch(name))
    yield f"## {name}\n\n{len(found)} rows.\n"
    yield "| first | then | needs | source | LLVM | fewer | finding |\n|---|---|---|---|---|---|---|"
    for row in found:
        then = f"{row.second} ({row.link})" if row.link else row.second
        shipped = f"{row.shipped.broken} of {row.shipped.objects}" if row.shipped.objects else "not counted"
        cells = (row.first, then, needs(row), row.source, row.llvm or "none", shipped, severity(row))
        yield f"| {' | '.join(cells)} |"


def page():
    """The page."""
    parts = [HEAD]
    for name in ARCHITECTURES:
        head, *lines = table(name)
        parts.append(head + "\n" + "\n".join(lines) + "\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page())
