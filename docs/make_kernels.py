"""Measure the table of proved kernels in docs/gemm-kernels.md: ``python -m docs.make_kernels [FAMILY...]``.

Each family is verified whole, its variants are counted; rows of families that are not named stay as they are. What
bounds a main loop, and what checks found, are taken from the pages that derive them.
"""

import argparse
import gc
import resource

from docs import DOCS
from mfmasim.cli.entry import COLLECT_AFTER
from mfmasim.lab.mutation.mutants import mutants_of
from mfmasim.verify import find, verify_case

PAGE = DOCS / "gemm-kernels.md"
START, END = "<!-- table: python -m docs.make_kernels -->\n", "<!-- end of the table -->\n"
HEAD = (
    "family", "kernels", "on", "outputs", "slots", "LDS",
    "main loop: bound, share of the matrix pipe", "variants", "CPU s",
)  # fmt: skip
BOUNDS = {
    "gemm_blockscale": "[matrix cores, gfx950 within a tenth L2; gfx1201 VALU, 85 %](#scales-in-f32-for-blocks-of-128)",
    "gemm_epilogue": "[the ping-pong's: matrix cores](#fused-epilogues)",
    "gemm_mx/scheduled": "[matrix cores](schedules.md#mxfp4)",
    "gemm_fp8/streams": "[matrix cores; the timeline has them busy for 41 and 26 %](#split-k-and-stream-k-in-fp8)",
    "attention_fp8": "[softmax; 88 % (gfx942), 78 % (gfx950), 31 % (gfx1250)](attention.md#fp8-on-cdna)",
    "attention_backward": "[matrix cores or VALU, 71 to 100 %](attention.md#backward)",
    "gemm_sparse": "[matrix cores; f16 LDS port, 80 %; gfx1201 VALU, 91 % of it](#sparse-a)",
    "wmma/fp8": "[VALU, of it matrix instructions 99.8 %](gemm.md#fp8-on-rdna4)",
    "gemm_gfx1250": "[gfx1250.md](gfx1250.md)",
}
"""Of each family: what bounds the main loop of its best kernels, where the page says so."""


def cpu() -> float:
    """CPU seconds of this process and of the compilers that it ran."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in both)


def measured(family: str) -> str:
    """The row of a family.

    Raises:
        SystemExit: a case does not pass.
    """
    start, outputs, slots, degree = cpu(), 0, 0, 1
    kernels: dict[str, None] = {}
    archs: dict[str, None] = {}
    for case in dict(find(family))[family]:
        kernels |= {case.kernel_name(): None}
        for arch in case.arch:
            result = verify_case(case, arch, group=family)
            if result.status not in ("pass", "skipped"):
                raise SystemExit(f"{case.title} on {arch}: {result.status}")
            archs |= {arch: None}
            outputs += result.outputs["elements"]
            slots += result.mapping["slots_checked"]
            degree = max(degree, result.lds.get("worst_degree") or 1)
            print(f"{family}: {case.title} on {arch}, {cpu() - start:.0f} CPU s", flush=True)
    spent, variants = cpu() - start, [mutant for mutant, _ in mutants_of(family)]
    alike = sum(bool(mutant.equivalent) for mutant in variants)
    cells = [f"`{family}`", len(kernels), ", ".join(sorted(archs)), f"{outputs:,}", f"{slots:,}", degree]
    cells += [BOUNDS[family], f"{len(variants) - alike}, {alike}", f"{spent:.0f}"]
    return "| " + " | ".join(map(str, cells)) + " |"


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("families", nargs="*", default=BOUNDS)
    gc.set_threshold(COLLECT_AFTER, *gc.get_threshold()[1:])  # as the commands do
    for family in parser.parse_args().families:
        row = measured(family)
        before, rest = PAGE.read_text().split(START)
        table, after = rest.split(END)
        rows = {line.split("`")[1]: line for line in table.splitlines()[2:]} | {family: row}
        lines = [f"| {' | '.join(HEAD)} |", "|---" * len(HEAD) + "|", *(rows[one] for one in BOUNDS if one in rows)]
        PAGE.write_text(before + START + "\n".join(lines) + "\n" + END + after)


if __name__ == "__main__":
    main()
