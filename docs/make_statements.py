"""Generate the pages of statements of published texts: ``python docs/make_statements.py [FAMILY ...]``.

Each page judges every statement of a family's ``statements.py``, as docs/wmma.md does; a test compares the pages.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

from mfmasim.lab.reports.statements import counted, text_of, weigh

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))
from make_wmma import run, table, wrapped  # noqa: E402


@dataclass(frozen=True)
class Page:
    """One page."""

    family: str
    file: str
    title: str
    text: str
    commands: tuple[tuple[str, str], ...] = ()
    """Commands, each with a pattern of the output lines to keep."""


PAGES = (
    Page(
        "gemm_fp8",
        "statements-fp8-gemm.md",
        "FP8 GEMM on CDNA4: statements checked",
        """AMD's post develops an FP8 GEMM for CDNA4 from one thread an element to eight waves that take turns. Its
        figures, tables and layouts are compared with the kernels in `hipkernels/gemm_fp8`, which were written from its
        description ([gemm.md](gemm.md), [schedules.md](schedules.md)).""",
        (("lds gfx950 ds_read_b128 --address 'lane % 16 * 128 + lane // 16 * 16'", "degrees"),),
    ),
    Page(
        "gemm_fp8/scheduled",
        "statements-interleave.md",
        "4-wave interleave: statements checked",
        """AMD's post on a GEMM with one wave on each SIMD, which mixes matrix instructions with the loads for those to
        come. The kernels are in `hipkernels/gemm_fp8/scheduled`; [schedules.md](schedules.md) describes what is proved
        about their order.""",
        (
            ("lds grid xcd_grouped --rows 16 --cols 16 --chunk 6", "permutation|rectangle"),
            ("lds grid xcd_divided --rows 5 --cols 5", "permutation"),
        ),
    ),
    Page(
        "cast",
        "statements-cast.md",
        "FP8 casts: statements checked",
        """A change of TransformerEngine brings FP8 casts, with and without transposition, for MI300 and MI350. Rates
        were measured, and nothing here can confirm or refute a time; what follows from them, and everything about
        bytes, conflicts, registers and launches, can be checked with `hipkernels/cast` ([cast.md](cast.md)).""",
    ),
    Page(
        "intro",
        "statements-matrix-cores.md",
        "Introduction to Matrix Cores: statements checked",
        """AMD's introduction to the Matrix Cores of CDNA3 and CDNA4: peaks, cycles, number formats and the places of
        elements in registers, with five kernels, which `hipkernels/intro` has.""",
        (
            ("list gfx950 --units 256 --mhz 2400 --match f8f6f4", "v_mfma_f32"),
            ("list gfx942 --units 304 --mhz 2100 --match 32x32x8_f16", "v_mfma_f32"),
        ),
    ),
)
HEAD = """\
# {title}

{text}

```
$ mfmasim report {family} --claims
...
{count}
```

A statement is **confirmed** or **refuted** by executing a kernel, by the tables of instructions and layouts, or by a
calculation. It is **undecided** if only a GPU or the text's own binaries could decide it; what was found here stands
beside it. A **remark** is not a statement of the text. `docs/make_statements.py` generates this page, and a test
compares it; another finds the quoted words in the text.
"""


def page(spec, weighed):
    """A page.

    Args:
        spec: which.
        weighed: the judged statements of its text.
    """
    text = "\n".join(wrapped(spec.text))
    out = [HEAD.format(title=spec.title, text=text.strip(), family=spec.family, count=counted(weighed))]
    if spec.commands:
        out += ["```", *(line for command in spec.commands for line in run(*command, "")), "```", ""]
    for place in dict.fromkeys(line.statement.place for line in weighed):
        out += [f"## {place}\n", *table([line for line in weighed if line.statement.place == place])]
    return "\n".join(out).rstrip() + "\n"


if __name__ == "__main__":
    for spec in PAGES:
        if len(sys.argv) == 1 or spec.family in sys.argv[1:]:
            (FOLDER / spec.file).write_text(page(spec, weigh(text_of(spec.family))))
