"""Generate the section about wmma_ops of docs/statements.md: ``python -m docs.make_wmma``; its commands are run."""

import contextlib
import io
import re

from docs import DOCS
from mfmasim.cli import main
from mfmasim.lab.reports.statements import COLUMNS, counted, text_of, weigh

PAGE = DOCS / "statements.md"
TITLE = "wmma_ops"
HEAD = """\
## wmma_ops

wmma_ops is a public library of GEMM kernels for gfx1151 (RDNA3.5, WMMA in f16). Its README explains their development
and the gain of each step. It is a good text to learn from and a good test for a tool. Much of it is right, but there
are a load that transposes A, a swizzle that removes no conflict, a ridge point that is half of the correct one, and
tile maps that skip tiles. This page compares every statement with the result of mfmasim. The kernels in
`hipkernels/wmma` were written from the text's description ([docs/gemm.md](gemm.md) lists them); none of the text's code
is included.

```
$ mfmasim report wmma --claims
...
{count}
```
"""

LONG = "(long) "
"""Prefix of slow commands: they run for the page and in the long tier of tests."""
# Title, text, commands with a pattern of the output lines to keep, and the headings of the text in this section.
SECTIONS = [
    (
        "Correct kernels",
        """The text's standard kernel: 128x64 of C for 8 waves, two slots in the LDS, the next tile prefetched into
        registers. Outputs are compared bit for bit with the arithmetic of the instruction, which captures from
        hardware confirm, and each slot of every fragment is traced to its element of A or B.""",
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
        "Fragments, and two wrong corrections",
        """On gfx11 the lanes l and l + 16 hold the same row of A; on gfx12 each holds a half of K, and the layout of C
        differs. The text says that a fragment is a *row* but loads a column: the kernel multiplies by A transposed,
        which tests with identity or symmetric matrices cannot detect. The mapping check detects it for all values:""",
        [
            ("show gfx1151 v_wmma_f32_16x16x16_f16 A 3 5", "."),
            ("show gfx1151 v_wmma_f32_16x16x16_f16 D 3 5", "."),
            ("show gfx1201 v_wmma_f32_16x16x16_f16 D 3 5", "."),
            ("mutate wmma --name column_of_a_symmetric", "needs|places wrong|caught by$|caught,"),
        ],
        ["Fragment layout", "Fix 1", "Fix 2", "WMMA instruction"],
    ),
    (
        "Missing and misplaced results",
        """Outputs and the LDS are poisoned before a launch, and tails are tested with surrounding NaNs: a kernel that
        writes nothing, like one published beside the text, or that multiplies a stale Inf by zero, cannot pass.
        Neither can a transposition by lane exchanges that broadcasts the diagonal, like another one published there,
        which gets only 8 of 64 elements right.""",
        [
            ("mutate wmma --name writes_nothing", "elements differ|hold no result|caught,"),
            ("mutate wmma --name stale_a_times_zero", "C.* needs|elements differ|caught,"),
            (f"{LONG}mutate wmma --name diagonal_broadcast_on_gfx12", "elements differ|caught,"),
        ],
        [],
    ),
    (
        "The LDS",
        """Eight lanes of a 16-byte read share a phase. With 16 bytes of padding between rows of 32 bytes they use each
        bank once. The published swizzle exchanges the halves of every other row, which changes no conflict; the third
        bit of the row removes them. The stores that transpose B conflict in one bank for every row length.""",
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
        """The loop is found in the graph of executed instructions, and counts are per wave and iteration. K is 48 here:
        the last of three iterations fetches nothing. Every wait of the compiler with an operation in flight is needed:
        if it is removed or weakened by one, a check reports an error.""",
        [
            (
                "report wmma --arch gfx1151 --case tile_128x64",
                r"^│ (v_wmma|global_load|ds_load|ds_store)\w+ +│ [0-9.]+ +│$",
            ),
            (f"{LONG}mutate wmma --binary --arch gfx1151 --case tile_64x64 --kind wait", "^wait|^total"),
        ],
        ["ISA analysis", "Bottlenecks", "Registers"],
    ),
    (
        "Tile maps and slices of K",
        """A map from workgroups to tiles must be a permutation on every grid. `hipkernels/grid_maps` has the maps as
        device code with NumPy twins, under descriptive names: `chunked_clamped` is the text's chunked column-major map,
        `xcd_forgotten` its chiplet swizzle, `super_clamped` its L2-aware map, `grouped` its swizzle. Slices of K that
        are not multiples of 16 count some elements of K twice; `hipkernels/wmma/streams` plans multiples of 16.""",
        [
            ("lds grid hilbert --every 40", "."),
            ("lds grid column --every 40", "."),
            ("lds grid grouped --every 40", "."),
            ("lds grid snake --every 40", "."),
            ("lds grid chunked_clamped --xcds 1 --every 19", "."),
            ("lds grid xcd_forgotten --window 8 --chunk 32", "permutation"),
            ("lds grid xcd_forgotten --rows 6 --cols 5 --xcds 1", "permutation"),
            ("lds grid super_clamped --rows 5 --cols 5", "permutation"),
        ],
        ["L2 rasterisation", "Split-K"],
    ),
    (
        "Attention",
        """`hipkernels/attention` has kernels with one thread per query and with tiles on WMMA and MFMA, both causal
        masks, any scale, and queries without visible keys. Outputs equal a replay of the kernel's operations, which is
        within a derived bound of float64.""",
        [("verify attention --arch gfx1151 --case wmma[causal=1]", "^PASS")],
        ["Flash attention"],
    ),
    (
        "Roofline and machine",
        """59.4 TFLOPS over 256 GB/s are 232 operations per byte. The text calls the kernel compute-bound from K = 512
        on, but there it is still slightly memory-bound.""",
        [],
        ["Roofline", "Architecture"],
    ),
    (
        "Direct-to-LDS loads",
        "gfx1151 has no load from memory to the LDS. On gfx9, which has them, they run asynchronously.",
        [],
        ["No async LDS", "Explored"],
    ),
    (
        "Consistency of the text",
        "Rates, times and percentages are computed from each other. Two tables of the text disagree on one step.",
        [],
        ["Quick stats", "Final benchmarks", "Performance results", "Journey", "Key optimisations"],
    ),
]


def run(command, keep, old):
    """A command with the selected lines of its output; a slow command is copied from the old page."""
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
    rows = [f"| {' | '.join(COLUMNS[:-1])} | |", "|---" * len(COLUMNS) + "|"]
    for line in lines:
        place, _, *rest = (part.replace("|", "\\|").replace("*", "\\*") for part in line.row)
        # Words of a text are shown as they stand there: nothing in them is Markdown.
        words = re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", line.statement.words)
        rows.append(f"| {place} | {f'“{words}”' if words else ''} | {' | '.join(rest)} |")
    return [*rows, ""]


def page(weighed, old=""):
    """The section.

    Args:
        weighed: the judged statements.
        old: the current section, from which the output of slow commands is copied.
    """
    out, left = [HEAD.format(count=counted(weighed))], {line.statement.place for line in weighed}
    for title, text, commands, places in SECTIONS:
        out += [f"### {title}\n", *wrapped(text), ""]
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


def section(title):
    """A section of the stored page, with its title."""
    _, head, rest = PAGE.read_text().partition(f"\n## {title}\n")
    return head[1:] + rest.partition("\n## ")[0].rstrip() + "\n"


def store(title, text):
    """Replace a section of the stored page."""
    PAGE.write_text(PAGE.read_text().replace(section(title), text))


if __name__ == "__main__":
    store(TITLE, page(weigh(text_of("wmma"))))
