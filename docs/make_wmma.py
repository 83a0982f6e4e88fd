"""Make docs/wmma.md: ``python docs/make_wmma.py``. Every command on the page is run, every statement judged."""

import contextlib
import io
import re
from collections import Counter
from pathlib import Path

from mfmasim.cli import main
from mfmasim.verify.reports.statements import text_of, weigh

PAGE = Path(__file__).resolve().parent / "wmma.md"
HEAD = """\
# wmma_ops under the microscope

wmma_ops is a public library of GEMM kernels for gfx1151 (RDNA3.5, WMMA in f16) whose README explains how they came to
be and what each step gained. It is a good text to learn from, and a good test of a tool: among much that is right there
are a load that transposes A, a swizzle that removes no conflict, a ridge point that is half of what it should be, and
maps of tiles that leave tiles out. Here every statement of it is held to what mfmasim finds. The kernels in
`hipkernels/wmma` were written for this after the text's description ([docs/gemm.md](gemm.md) lists them); none of the
text's code is here.

```
$ mfmasim report wmma --claims
...
{count}
```

A statement is **confirmed** or **refuted** by executing a kernel, by the tables of instructions and layouts, or by
computing it again; **undecided** is what only the GPU or the text's own binaries could tell, times above all. The page
is made by `docs/make_wmma.py`, which runs every command, and a test compares it: `...` stands for lines left out.
"""

LONG = "(long) "
"""Before a command that takes long: it is run for the page and by the long tier of tests."""
# Title, text, commands with what is kept of their output, and the headings of the text that the section is about.
SECTIONS = [
    (
        "Right kernels first",
        """The text's standard kernel: 128x64 of C for 8 waves, two slots in the LDS, the next tile on its way in
        registers. Outputs are compared bit for bit with the arithmetic of the instruction, which captures from
        hardware confirm, and each slot of every fragment is traced to the element of A or B that it has to hold.""",
        [("verify wmma --arch gfx1151 --case tile_128x64", "^PASS")],
        [
            "Correctness",
            "Methodology",
            "Standard kernel",
            "Adaptive kernel",
            "K-unroll",
            "No prefetch",
            "High occupancy",
            "Vectorised C",
            "Triple buffering",
        ],
    ),
    (
        "Fragments, and two corrections that need correcting",
        """On gfx11 the lanes l and l + 16 hold the same row of A; on gfx12 each holds a half of K, and C lies
        otherwise. Under the heading that a fragment is a *row* the text loads a column: the kernel multiplies by A
        transposed, and whoever tests with identity or symmetric matrices sees nothing of it. The mapping does,
        whatever the values:""",
        [
            ("where gfx1151 v_wmma_f32_16x16x16_f16 --operand A --element 3 5", "."),
            ("where gfx1151 v_wmma_f32_16x16x16_f16 --operand D --element 3 5", "."),
            ("where gfx1201 v_wmma_f32_16x16x16_f16 --operand D --element 3 5", "."),
            ("mutate wmma --name column_of_a_symmetric", "needs|places wrong|caught by$|caught,"),
        ],
        ["Fragment layout", "Fix 1", "Fix 2", "WMMA instruction"],
    ),
    (
        "What a kernel leaves out or puts elsewhere",
        """Outputs and the LDS are poisoned before a launch, and tails are tested with NaN all around: a kernel that
        writes nothing, as one published beside the text does, or multiplies a stale Inf by a zero, cannot pass. Nor can
        a transposition by exchanges between lanes that broadcasts the diagonal, as another one there does, and so
        leaves 8 of 64 elements right.""",
        [
            ("mutate wmma --name writes_nothing", "elements differ|hold no result|caught,"),
            ("mutate wmma --name stale_a_times_zero", "C.* needs|elements differ|caught,"),
            (f"{LONG}mutate wmma --name diagonal_broadcast_on_gfx12", "elements differ|caught,"),
        ],
        [],
    ),
    (
        "The LDS",
        """Eight lanes of a read of 16 bytes meet in a phase. With 16 bytes between rows of 32 they want each bank
        once. The published swizzle exchanges the halves of every other row, which leaves each conflict where it
        was; the third bit of the row removes them. The stores that transpose B meet in one bank whatever the rows
        do.""",
        [
            ("lds gfx1151 ds_load_b128 --address 'lane % 16 * 48'", "degrees"),
            ("lds gfx1151 ds_load_b128 --address 'lane % 16 * 32'", "degrees"),
            ("lds gfx1151 ds_load_b128 --address 'lane % 16 * 32 + (lane & 1) * 16'", "degrees"),
            ("lds gfx1151 ds_load_b128 --address 'lane % 16 * 32 + (lane >> 2 & 1) * 16'", "degrees"),
        ],
        ["LDS bank conflicts"],
    ),
    (
        "The main loop",
        """The loop is found in the graph of executed instructions, and counts are those of a wave in a turn. K is 48
        here: in the last of three turns nothing is fetched. Of the waits that the compiler sets, each is needed that
        waits for something: taken out or weakened by one, it is missed.""",
        [
            (
                "report wmma --arch gfx1151 --case tile_128x64",
                r"^│ (v_wmma|global_load|ds_load|ds_store)\w+ +│ [0-9.]+ +│$",
            ),
            (f"{LONG}mutate wmma --binary --arch gfx1151 --case tile_64x64 --kind wait", "^wait|^in all"),
        ],
        ["ISA analysis", "Bottlenecks", "Registers"],
    ),
    (
        "Tile maps and slices of K",
        """A map from workgroups to tiles has to be a permutation, for every grid. `hipkernels/grid_maps` has them as
        device code with NumPy twins; the names here are by what they do: `chunked_clamped` is the text's chunked
        column-major, `xcd_forgotten` its chiplet swizzle, `super_clamped` its L2-aware map, `grouped` its swizzle.
        Slices of K that are no multiples of 16 count some of K twice; `hipkernels/wmma/streams` plans them so that they
        are.""",
        [
            ("grid hilbert --every 40", "."),
            ("grid column --every 40", "."),
            ("grid grouped --every 40", "."),
            ("grid snake --every 40", "."),
            ("grid chunked_clamped --xcds 1 --every 19", "."),
            ("grid xcd_forgotten --window 8 --chunk 32", "permutation"),
            ("grid xcd_forgotten --rows 6 --cols 5 --xcds 1", "permutation"),
            ("grid super_clamped --rows 5 --cols 5", "permutation"),
        ],
        ["L2 rasterisation", "Split-K"],
    ),
    (
        "Attention",
        """`hipkernels/attention` has it by one thread a query and by tiles on WMMA and MFMA, causal both ways, with any
        scale and with queries that see no key. Outputs are those of a replay of the kernel's own operations, which lies
        within a derived bound of float64.""",
        [("verify attention --arch gfx1151 --case wmma[causal=1]", "^PASS")],
        ["Flash attention"],
    ),
    (
        "Roofline and machine",
        """59.4 TFLOPS over 256 GB/s are 232 operations a byte. What the text calls bound by arithmetic from K = 512 on
        is still bound by memory there, if only just.""",
        [],
        ["Roofline", "Architecture"],
    ),
    (
        "Loads past the registers",
        "gfx1151 has no load from memory to the LDS. Where there are some, on gfx9, they go on beside the program.",
        [],
        ["No async LDS", "Explored"],
    ),
    (
        "The text against itself",
        "Rates, times and percentages are computed from one another. What two tables give for one step differs.",
        [],
        ["Quick stats", "Performance results", "Journey", "Key optimisations"],
    ),
]


def run(command, keep, old):
    """A command with the lines of its output that are kept, as a block; a long one as it stands on the old page."""
    if command.startswith(LONG):
        command = command.removeprefix(LONG)
        if f"$ mfmasim {command}\n" in old:
            lines = old[old.index(f"$ mfmasim {command}\n") :].splitlines()
            end = next(i for i, line in enumerate(lines) if i and line.startswith(("$", "```")))
            return lines[:end]
    words = re.findall(r"'[^']*'|\S+", command)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        code = main([word.strip("'") for word in words])
    assert code in {0, 1}, command
    lines, cut = [], False
    for line in out.getvalue().splitlines():
        kept = re.search(keep, line.rstrip()) is not None
        if kept:
            lines += ["..."] * cut + [line.rstrip()]
        cut = not kept
    assert lines != [], command
    return [f"$ mfmasim {command}", *lines, *["..."] * cut]


def table(lines):
    """Statements as a table."""
    rows = ["| place | claim | text | found | verdict | |", "|---|---|---|---|---|---|"]
    for line in lines:
        place, claim, said, found, verdict, about = (part.replace("|", "\\|") for part in line.row)
        # What is undecided may differ from compiler to compiler.
        shown = "-" if verdict == "undecided" else found
        rows.append(f"| {place} | {claim} | {said} | {shown} | {verdict} | {about} |")
    return [*rows, ""]


def page(weighed, old=""):
    """The page.

    Args:
        weighed: the judged statements.
        old: the page as it is, to take from it what commands print that take long.
    """
    count = Counter(line.verdict for line in weighed)
    words = ", ".join(f"{count[word]} {word}" for word in ("confirmed", "refuted", "undecided"))
    out, left = [HEAD.format(count=words)], {line.statement.place for line in weighed}
    for title, text, commands, places in SECTIONS:
        out += [f"## {title}\n", *wrapped(text), ""]
        if commands:
            out += ["```", *(line for command in commands for line in run(*command, old)), "```", ""]
        mine = [line for place in places for line in weighed if line.statement.place == place]
        if mine:
            out += table(mine)
        left -= set(places)
    assert not left, f"no section is about {left}"
    return "\n".join(out).rstrip() + "\n"


def wrapped(text):
    """Lines of at most 120 characters."""
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) >= 120:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return lines


if __name__ == "__main__":
    PAGE.write_text(page(weigh(text_of("wmma"))))
