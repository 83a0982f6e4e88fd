"""Generate docs/statements.md, about published texts: ``python -m docs.make_statements [FAMILY ...]``.

Each section judges every statement of a family's ``statements.py``; a test compares them. The section about wmma_ops is
made by ``make_wmma.py``.
"""

import sys
from dataclasses import dataclass

from docs.make_wmma import run, section, store, table, wrapped  # noqa: F401
from mfmasim.lab.reports.statements import counted, text_of, weigh


@dataclass(frozen=True)
class Section:
    """One text."""

    family: str
    title: str
    text: str
    commands: tuple[tuple[str, str], ...] = ()
    """Commands, each with a pattern of the output lines to keep."""


SECTIONS = (
    Section(
        "gemm_fp8",
        "FP8 GEMM on CDNA4",
        """AMD's post develops an FP8 GEMM for CDNA4 from one thread an element to eight waves that take turns. Its
        figures, tables and layouts are compared with the kernels in `hipkernels/gemm_fp8`, which were written from its
        description ([gemm.md](gemm.md), [schedules.md](schedules.md)).""",
        (("lds gfx950 ds_read_b128 --address 'lane % 16 * 128 + lane // 16 * 16'", "degrees"),),
    ),
    Section(
        "gemm_fp8/scheduled",
        "4-wave interleave",
        """AMD's post on a GEMM with one wave on each SIMD, which mixes matrix instructions with the loads for those to
        come. The kernels are in `hipkernels/gemm_fp8/scheduled`; [schedules.md](schedules.md) describes what is proved
        about their order.""",
        (
            ("lds grid xcd_grouped --rows 16 --cols 16 --chunk 6", "permutation|rectangle"),
            ("lds grid xcd_divided --rows 5 --cols 5", "permutation"),
        ),
    ),
    Section(
        "cast",
        "FP8 casts",
        """A change of TransformerEngine brings FP8 casts, with and without transposition, for MI300 and MI350. Rates
        were measured, and nothing here can confirm or refute a time; what follows from them, and everything about
        bytes, conflicts, registers and launches, can be checked with `hipkernels/cast` ([cast.md](cast.md)).""",
    ),
    Section(
        "intro",
        "Introduction to Matrix Cores",
        """AMD's introduction to the Matrix Cores of CDNA3 and CDNA4: peaks, cycles, number formats and the places of
        elements in registers, with five kernels, which `hipkernels/intro` has.""",
        (
            ("list gfx950 --units 256 --mhz 2400 --match f8f6f4", "v_mfma_f32"),
            ("list gfx942 --units 304 --mhz 2100 --match 32x32x8_f16", "v_mfma_f32"),
        ),
    ),
)
HEAD = """\
## {title}

{text}

```
$ mfmasim report {family} --claims
...
{count}
```
"""


def page(spec, weighed):
    """A section.

    Args:
        spec: which.
        weighed: the judged statements of its text.
    """
    text = "\n".join(wrapped(spec.text))
    out = [HEAD.format(title=spec.title, text=text.strip(), family=spec.family, count=counted(weighed))]
    if spec.commands:
        out += ["```", *(line for command in spec.commands for line in run(*command, "")), "```", ""]
    for place in dict.fromkeys(line.statement.place for line in weighed):
        out += [f"### {place}\n", *table([line for line in weighed if line.statement.place == place])]
    return "\n".join(out).rstrip() + "\n"


if __name__ == "__main__":
    for spec in SECTIONS:
        if len(sys.argv) == 1 or spec.family in sys.argv[1:]:
            store(spec.title, page(spec, weigh(text_of(spec.family))))
