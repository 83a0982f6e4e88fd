"""Make docs/zoo.md from the rows of hipkernels/zoo/reports.toml: ``python -m docs.make_zoo``.

What mfmasim prints about the reports at the top comes from running them.
"""

from collections import Counter

from docs import DOCS
from hipkernels.zoo.entry import PROOFS, rows
from hipkernels.zoo.table import MISSED, NAMED, expected
from mfmasim.verify import find, select, verify_case

PAGE = DOCS / "zoo.md"
FAMOUS = {
    "hipfire_575": "640 in 286 million",
    "sglang_26884": "An accuracy of 0.88 becomes 0.21",
    "hipblaslt_8801": "Success, and wrong data",
    "vllm_53856": "0 times NaN",
    "rocm_triton_968": "A barrier that waits for less",
    "pytorch_186229": "A softmax that sums to one half",
}
"""Reports at the top of the page, with their headings."""
HEAD = """\
# A zoo of real bugs

Does mfmasim find the faults that kernel engineers meet?

Each entry is a public report of 2023 to 2026. `hipkernels/zoo` has a minimal kernel for it, written anew from the
report's facts, with the fault and with its fix. Before the fix, mfmasim must report the cause at the marked line; after
it, no check may report anything. What outputs alone show, and what is missed, is listed too.

```sh
mfmasim verify zoo                                   # all of them, with places; no compiler, no GPU
mfmasim verify zoo --verbose --case hipfire_575      # the findings of one
```

**{tried} tried: {named} caught by name, {outputs} by outputs only, {missed} missed; 0 findings on fixed kernels.**
Tests compare every row with that.

## Six of them
"""
ONE = """
### {heading}

[{report}]({link}), {arch}: {about}

* On the GPU: {hardware}.
* mfmasim, of the kernel before the fix:

```text
{said}
```
"""
TABLE = """
## All

Kinds: {kinds}. GPUs: {archs}. "Not stated": the report does not say what a GPU showed. Beside some findings stands
what [`mfmasim prove`](prove.md) says about the kernel before the fix, for every size and every schedule: {proofs}.

| report | GPU | kind | what was wrong, and what the GPU showed | found before the fix |
|---|---|---|---|---|
"""
TAIL = """
## What is missed, and what only outputs tell

| entry | why, or what it would take |
|---|---|
{reasons}

## Add one from a report in ten minutes

1. In a checkout, `python -m hipkernels.zoo new llvm_222040 --report llvm/llvm-project#222040 --bug hazard --arch gfx950
   --about "..." --hardware "..." --found hazards-matrix --module waits` writes a kernel, a row with these facts and a
   case that already run. The kernel is a missing barrier until you write the report's.
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


def said(names):
    """What mfmasim prints about the findings that name the causes of reports."""
    titles = {f"{name}[version=before]": rows()[name] for name in names}
    lines = {}
    for case, arch in (pair for _, cases in find("zoo") for pair in select(cases, None)):
        row = titles.get(case.title)
        if row is not None:
            finding = next(one for one in verify_case(case, arch, group="zoo").findings if one.id == row.found)
            lines[row.name] = "\n".join(line.rstrip() for line in finding.lines())
    return lines


def wrapped(text, width=110):
    """Lines behind the first of at most so many characters, those that continue indented."""
    lines = []
    first, *rest = text.splitlines()
    lines.append(first)
    for line in rest:
        words, begin = line.split(" "), len(line) - len(line.lstrip())
        now = words[0]
        for word in words[1:]:
            if len(now) + 1 + len(word) > width:
                lines.append(now)
                now = " " * (begin + 2) + word
            else:
                now += f" {word}"
        lines.append(now)
    return "\n".join(lines)


def page():
    """The page."""
    known = rows()
    order = list(dict.fromkeys(row.bug for row in known.values()))
    ordered = sorted(known.values(), key=lambda row: order.index(row.bug))
    counts = Counter(map(expected, ordered))
    text = HEAD.format(
        tried=len(ordered),
        named=counts[NAMED],
        missed=counts[MISSED],
        outputs=len(ordered) - counts[NAMED] - counts[MISSED],
    )
    printed = said(FAMOUS)
    for name, heading in FAMOUS.items():
        row = known[name]
        text += ONE.format(
            heading=heading,
            report=row.report,
            link=row.link,
            arch=row.arch,
            about=row.about,
            hardware=row.hardware.rstrip("."),
            said=wrapped(printed[name]),
        )
    kinds, archs = Counter(row.bug for row in ordered), Counter(row.arch for row in ordered)
    proofs = Counter(row.proof for row in ordered if row.proof)
    text += TABLE.format(
        kinds=", ".join(f"{kind} ({kinds[kind]})" for kind in order),
        archs=", ".join(f"{arch} ({archs[arch]})" for arch in sorted(archs, key=lambda arch: (len(arch), arch))),
        proofs="; ".join(f"{proofs[proof]} {proof}, {meaning}" for proof, meaning in PROOFS.items()),
    )
    for row in ordered:
        found = f"`{row.found}`" if row.named else f"*{expected(row)}*"
        cells = (
            f"[{row.report}]({row.link}) ({row.year})",
            row.arch,
            row.bug,
            row.about if row.hardware == "not stated" else f"{row.about} On the GPU: {row.hardware}.",
            f"{found}; {row.proof}" if row.proof else found,
        )
        text += f"| {' | '.join(cells)} |\n"
    reasons = "\n".join(f"| `{row.name}` ({expected(row)}) | {row.missing} |" for row in ordered if not row.named)
    return text + TAIL.format(reasons=reasons)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
