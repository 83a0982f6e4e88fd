"""Measure the table of docs/prove.md: ``python -m docs.make_prove [--limit SECONDS] [--most CASES] [FAMILY...]``.

Of each family at most so many cases are proved, evenly chosen from all pairs of case and architecture.
"""

import argparse
import re
import resource
from collections import Counter

from docs import DOCS
from mfmasim.prove import KINDS, prove_case
from mfmasim.verify import find

PAGE = DOCS / "prove.md"
START, END = "<!-- table: python -m docs.make_prove -->\n", "<!-- end of the table -->\n"
FAMILIES = (
    "intro", "gemm_f16", "gemm_fp8", "gemm_fp8/scheduled", "gemm_fp8/streams", "gemm_mx", "gemm_mx/scheduled",
    "gemm_blockscale", "gemm_epilogue", "gemm_sparse", "wmma", "wmma/fp8", "wmma_types", "gemm_gfx1250", "attention",
    "attention_fp8", "attention_backward", "cast", "grid_maps",
)  # fmt: skip
CLASSES = (
    ("the time is over", "time"), ("more than .* paths", "too many paths"), ("no invariant", "no invariant of a loop"),
    ("more than .* turns|never end", "turns of a loop"), ("structure", "a structure as argument"),
    ("takes another way", "the case's function branches on sizes"),
    ("what is not followed: only|divides|makes|not a polynomial|no comparison", "the case's function is not traced"),
    ("it rests on", "rests on another obligation"),
    ("is not known|is not a constant|begins with no", "an unknown register"),
    ("gpr_idx", "indexed registers"), ("not proved to", "an inequality is not found"), ("atomic", "atomic operations"),
)  # fmt: skip
"""Reasons by what they have in common, in words."""


def reason(text: str) -> str:
    """The class of a reason."""
    return next((words for pattern, words in CLASSES if re.search(pattern, text)), "other instructions")


def measured(family: str, limit: float, most: int) -> tuple[str, Counter[str]]:
    """One row of the table, and its obligations."""
    pairs = [
        (case, arch)
        for group, cases in find(family)
        if group == family
        for case in cases
        for arch in case.arch
        if arch not in case.skip
    ]
    step = max(1, -(-len(pairs) // most))
    proved: Counter[str] = Counter()
    total: Counter[str] = Counter()
    why: Counter[str] = Counter()
    seconds = 0.0
    chosen = pairs[::step]
    for case, arch in chosen:
        proof = prove_case(case, arch, group=family, seconds=limit, replays=False)
        seconds += proof.seconds
        for one in proof.obligations:
            total[one.kind] += 1
            proved[one.kind] += one.verdict == "proved"
        why.update({reason(r.why) for one in proof.obligations for r in one.reasons[:1]})
    cells = [f"{proved[kind]} of {total[kind]}" if total[kind] else "-" for kind in KINDS]
    unknown = sum(total.values()) - sum(proved.values())
    texts = "; ".join(f"{words} ({count})" for words, count in why.most_common(3))
    shown = f"{len(chosen)} of {len(pairs)}" if step > 1 else str(len(pairs))
    row = [family, shown, *cells, f"{sum(proved.values())} / 0 / {unknown}", f"{seconds:.0f}", texts]
    print(" | ".join(row), flush=True)
    counts = Counter(proved=sum(proved.values()), all=sum(total.values()), pairs=len(pairs))
    return "| " + " | ".join(row) + " |\n", counts


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("families", nargs="*", default=FAMILIES)
    parser.add_argument("--limit", type=float, default=15.0)
    parser.add_argument("--most", type=int, default=12)
    args = parser.parse_args()
    head = ["family", "cases", *KINDS, "proved / refuted / unknown", "CPU s", "why not (cases)"]
    rows, products, weighted = "", Counter[str](), 0.0
    for family in args.families:
        row, counts = measured(family, args.limit, args.most)
        rows += row
        if family.startswith(("gemm", "wmma")):
            products.update(counts)
            weighted += counts["pairs"] * counts["proved"] / max(counts["all"], 1)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20)
    text = "| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|\n" + rows
    share = products["proved"] / max(products["all"], 1)
    text += f"\nGEMM families (`gemm...`, `wmma...`): {products['proved']} of {products['all']} obligations of this"
    text += f" sample are proved, {share:.0%}; weighted by the pairs of each family an estimated"
    text += f" {weighted / max(products['pairs'], 1):.0%}. Up to {args.most} pairs of case and architecture of each"
    text += " family are proved, evenly spaced.\n"
    text += f"\nPeak memory of all of it in one process: {peak:.2f} GiB; limit {args.limit:g} CPU seconds a case.\n"
    before, rest = PAGE.read_text().split(START)
    PAGE.write_text(before + START + text + END + rest.split(END)[1])


if __name__ == "__main__":
    main()
