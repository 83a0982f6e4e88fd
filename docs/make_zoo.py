"""Make docs/zoo.md from the rows of hipkernels/zoo/reports.toml: ``python -m docs.make_zoo``."""

from collections import Counter

from docs import DOCS
from hipkernels.zoo.entry import rows
from hipkernels.zoo.table import MISSED, NAMED, expected

PAGE = DOCS / "zoo.md"
HEAD = """\
# A zoo of real bugs

Does mfmasim find the faults that kernel engineers meet?

Each row is a public report of 2023 to 2026. `hipkernels/zoo` has a minimal kernel for it, written anew from the
report's facts, with the fault and with its fix. Before the fix, mfmasim must report the cause at the marked line; after
it, no check may report anything. The table also lists what the outputs alone show, and what is missed.

```sh
mfmasim verify zoo                                   # the table below, with places; no compiler, no GPU
mfmasim verify zoo --verbose --case hipfire_575      # the findings of one
```

**{tried} tried: {named} caught by name, {outputs} by outputs only, {missed} missed; 0 findings on fixed kernels.**
Tests compare every row with that. "Not stated": the report says nothing about what a GPU showed.

| report | GPU | what was wrong | hardware showed | found before the fix |
|---|---|---|---|---|
"""
TAIL = """
## What is missed, and what only outputs tell

| entry | why, or what it would take |
|---|---|
{reasons}

## Add one from a report in ten minutes

1. In a checkout, `python -m hipkernels.zoo new llvm_222040 --report llvm/llvm-project#222040 --bug hazard --arch gfx950
   --module waits` writes a kernel, a row and a case that already run.
2. **Kernel** (`NAME.hip`): `entry<false>` has the fault, `entry<true>` the fix; only what the fault needs, no code of
   the report. The line where it is to be found ends with `// here`. `BOTH_OF` makes the two kernels, for exactly so
   many work-items. What a compiler would move or repair is inline assembly, with every register it writes as a clobber.
3. **Case** (in the module): arguments and expected result, [as for every kernel](cases.md). Both versions have the same
   inputs, unless these are the fault. `sources` follow elements where there is no matrix instruction.
4. **Row** (`reports.toml`): what was wrong in one sentence, what hardware showed, and `found`, the id of the finding
   that names the cause. `outputs-differ`, or no `found` with `missing`, say that nothing does: then fix the check,
   rather than the entry.
5. `mfmasim verify zoo --verbose --case NAME`; then `python -m mfmasim.lab.rebuild`, `python -m
   tests.reproducible.digests zoo` and `python -m docs.make_zoo`.

Until then: `tests/hipkernels/test_zoo.py`.
"""


def page():
    """The page."""
    known = sorted(rows().values(), key=lambda row: list(dict.fromkeys(r.bug for r in rows().values())).index(row.bug))
    counts = Counter(map(expected, known))
    text = HEAD.format(
        tried=len(known),
        named=counts[NAMED],
        missed=counts[MISSED],
        outputs=len(known) - counts[NAMED] - counts[MISSED],
    )
    for row in known:
        found = f"`{row.found}`" if row.named else f"*{expected(row)}*"
        cells = f"[{row.report}]({row.link}) ({row.year})", row.arch, f"{row.bug}: {row.about}", row.hardware, found
        text += f"| {' | '.join(cells)} |\n"
    reasons = "\n".join(f"| `{row.name}` ({expected(row)}) | {row.missing} |" for row in known if not row.named)
    return text + TAIL.format(reasons=reasons)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
