"""Generate docs/cost.md: ``python -m docs.make_cost``. Every table on the page is computed by running the kernels."""

import contextlib
import io
import json
import math
import re
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np

import mfmasim
from docs import DOCS
from docs.ladders import LADDERS, Timed, everything_picture, everything_table, ladder_table, log_axes, loops
from mfmasim.architectures import arch as find_arch
from mfmasim.architectures.rates import NAMES, Rates
from mfmasim.cli import main
from mfmasim.cli.run_arguments import given
from mfmasim.cost import record_launch, timeline
from mfmasim.cost.against import Compared, compare
from mfmasim.cost.capture import read_capture
from mfmasim.cost.cases import record_case
from mfmasim.cost.costed import Costed, product_of
from mfmasim.cost.estimate import timelines
from mfmasim.devices.counters import ROWS
from mfmasim.figures.svg import document, legend
from mfmasim.figures.svg import text as label
from mfmasim.lab.mutation.mutants import compile_mutant, mutants_of
from mfmasim.verify import find

PAGE = DOCS / "cost.md"
PICTURE = PAGE.parent / "pictures" / "captures.svg"
TIMES = PAGE.parent / "pictures" / "times.svg"
TEXT = (PAGE.parent / "templates" / "cost.md").read_text()
"""The page, with @NAMES@ for what is computed."""


def schedules_table() -> str:
    """Schedules of the 256x256 tile, right and wrong."""
    cases = {case.title: case for _, cases in find("gemm_fp8") for case in cases}
    mutants = {mutant.name: mutant for mutant, _ in mutants_of("gemm_fp8/scheduled")}
    rows = [
        ("double buffer, 8 waves", "multi_wave_256x256_t512", ""),
        ("ping-pong", "pingpong_row_256", ""),
        ("ping-pong without the barrier that parts the halves", "pingpong_row_256", "pingpong_all_waves_in_step"),
        ("ping-pong without `s_setprio`", "pingpong_row_256", "pingpong_no_priority"),
        ("4-wave interleave", "interleave_row_256", ""),
        ("4-wave interleave without a swizzle", "interleave_none_256", ""),
    ]
    lines = [
        (
            "| schedule | clocks a tile of K: low, rows, high | bound | matrix cores busy | LDS waits | barriers "
            "| matrix instructions that another wave's issue holds up |"
        ),
        "|---|---|---|---|---|---|---|",
    ]
    for text, name, mutant in rows:
        case = cases[name].with_parameters({"M": 256, "N": 256, "K": 1536, "beta": 0.0})
        kernel = compile_mutant(mutants[mutant], case, "gfx950")[case.kernel_name()] if mutant else None
        recorded = record_case(case, "gfx950", kernel=kernel)
        cost = Costed(recorded, product_of(recorded.kernel.arch, None))
        tiles = max(1, round(1536 / 128 / (cost.bound.turns + 1)))
        turns = [cost.drawn[end].turn(recorded.head) / tiles for end in ("low", "value", "high")]
        line = cost.drawn["value"]
        clocks = line.clocks * len(line.lanes)
        standing = line.standing()
        missed = sum(
            reason == "issue slot" and bool(recorded.trace.operations[number].matrix)
            for lane, wave in zip(line.lanes, recorded.trace.waves, strict=True)
            for number, reason in zip(wave.operations, lane.reasons, strict=True)
        )
        lines.append(
            f"| {text} | {' / '.join(f'{turn:,.0f}' for turn in turns)} | {cost.bound.total / tiles:,.0f} | "
            f"{line.matrix_share(recorded.head):.0%} | {standing.get('lgkmcnt', 0) / clocks:.0%} | "
            f"{standing.get('barrier', 0) / clocks:.0%} | {missed} |"
        )
    return "\n".join(lines)


READS = """
#include <hip/hip_runtime.h>
extern "C" __global__ void reads(float *out, int stride) {
  __shared__ float tile[8192];
  for (int k = threadIdx.x; k < 8192; k += 64) tile[k] = k;
  __syncthreads();
  unsigned place = threadIdx.x * stride % 32768;
  float sum = 0, value[8];
#pragma unroll
  for (int k = 0; k < 8; ++k) {
#pragma unroll
    for (int n = 0; n < 8; ++n) asm volatile("ds_read_b32 %0, %1" : "=v"(value[n]) : "v"(place) : "memory");
    asm volatile("s_waitcnt lgkmcnt(0)" ::: "memory");
    for (int n = 0; n < 8; ++n) sum += value[n];
  }
  out[threadIdx.x] = sum;
}
"""


def lds_table() -> str:
    """64 reads of one wave at growing strides, on gfx942."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "reads.hip"
        source.write_text(READS)
        kernel = mfmasim.compile(source, arch="gfx942")["reads"]
    lines = ["| stride in bytes | degree | cycles of the LDS, at least | clocks of 64 reads |", "|---|---|---|---|"]
    for stride in (4, 8, 16, 32, 64, 128):
        recorded = record_launch(kernel, 1, 64, [np.zeros(64, np.float32), np.int32(stride)])
        line, trace = timeline(recorded.trace), recorded.trace
        (lane,), (wave,) = line.lanes, trace.waves
        places = [place for place, n in enumerate(wave.operations) if trace.operations[n].name == "ds_read_b32"]
        passes = sum(trace.accesses[wave.accesses[place]].lds for place in places)
        clocks = lane.issued[places[-1] + 1] - lane.issued[places[0]]
        lines.append(f"| {stride} | {stride // 4} | {passes:,.0f} | {clocks:,.0f} |")
    return "\n".join(lines)


HARDWARE = PAGE.parents[1] / "golden" / "hardware"
UNCAPTURED = {
    "gfx950": {"issue": (4, 4, 4), "valu completion": (4, 4, 8), "internal": (4, 4, 4), "fall through": (4, 4, 4),
               "lds latency": (64, 100, 128), "cold scalar load": (60, 120, 200), "cold load": (320, 500, 800),
               "cold code": (60, 120, 200), "wave end": (4, 4, 4)},
    "gfx1201": {"vector queue": (1, 1, 1), "queue release": (1, 1, 1), "branch": (4, 16, 32),
                "cold code": (880, 1300, 1420)},
}  # fmt: skip
"""Rows without the captures of a GPU: of gfx950 guesses from LLVM's scheduling model; of gfx1201 what the rows of
gfx1100 have from it."""


@cache
def compared_launches() -> list[tuple[str, Compared]]:
    """Every captured launch with a thread trace, beside the model."""
    return [(name, compared_launch(one)) for name, one in launches().items() if one["waves"]]


@cache
def launches() -> dict[str, dict[str, Any]]:
    """The captured launches by name."""
    return {one["name"]: one for one in json.loads((HARDWARE / "launches.json").read_text())["launches"]}


def compared_launch(launch: dict[str, Any], rates: Rates | None = None) -> Compared:
    """One captured launch beside the model, with the rows of its architecture or others."""
    kernel = mfmasim.load(HARDWARE / launch["object"], arch=launch["arch"])[launch["kernel"]]
    arguments = given(launch["args"], kernel).values
    recorded = record_launch(kernel, launch["grid"], launch["block"], arguments, whole=True)
    if rates is not None:
        arch = replace(kernel.arch, rates=rates)
        recorded = replace(recorded, trace=replace(recorded.trace, arch=arch))
    capture = read_capture(HARDWARE / "launches.json", launch["name"])
    return compare(recorded, capture, timelines(recorded, cold=True), recorded.report.counters)


def counters_table() -> str:
    """Counters, what they count, and the captures that confirm them."""
    lines = ["| counter | counts | equal to captures of |", "|---|---|---|"]
    lines += [f"| {row.name} | {row.meaning} | {', '.join(row.captures)} |" for row in ROWS]
    lines.append("| SQ_INSTS_VALU_MFMA_F16, _BF16, _F32, ... | matrix instructions by type of A | |")
    lines.append("| SQ_INSTS_VALU_MFMA_MOPS_F16, ... | 512ths of their operations | |")
    return "\n".join(lines)


def equal_counters() -> str:
    """How many captured counters are equal, of those that are counted."""
    verdicts = [row[3] for one in launches().values() for row in compared_launch(one).counted() if row[2] is not None]
    return f"{verdicts.count('equal')} of {len(verdicts)}"


def captures_table() -> str:
    """Captured launches beside the model."""
    lines = [
        "| launch | waves | whole wave, captured | timeline, cold | gaps | inside | doubled | error | steady loop |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, one in compared_launches():
        totals = [wave.total for wave in one.waves]
        low, high = one.span or (0, 0)
        steady = f"{one.error(one.steady):.1%} of {len(one.steady)}" if one.steady else ""
        lines.append(
            f"| {name} | {len(one.waves)} | {min(totals):,.0f} to {max(totals):,.0f} | {low:,.0f} to {high:,.0f} | "
            f"{len(one.gaps):,} | {one.inside(one.gaps):.1%} | {one.doubled.inside(one.doubled.gaps):.1%} | "
            f"{one.error(one.gaps):.1%} | {steady} |"
        )
    lines += ["", summary([one for _, one in compared_launches()])]
    return "\n".join(lines)


def summary(found: list[Compared]) -> str:
    """What some comparisons amount to."""
    gaps = [(one, gap) for one in found for gap in one.gaps]
    inside = sum(gap.inside(one.slack) for one, gap in gaps)
    twice = [gap.inside(one.doubled.slack) for one in found for gap in one.doubled.gaps]
    steady = [abs(g.value - g.captured) / g.captured for one in found for g in one.steady if g.captured]
    errors = [abs(gap.value - gap.captured) / gap.captured for _, gap in gaps if gap.captured]
    width = median(gap.high - gap.low for _, gap in gaps)
    loop = f", {median(steady):.1%} (mean {fmean(steady):.0%}) in the steady loop" if steady else ""
    return (
        f"{inside:,} of {len(gaps):,} gaps inside their ranges ({inside / len(gaps):.1%}; of the same captures with "
        f"all clocks doubled {fmean(twice):.1%}; median width {width:,.0f} clocks); error of the rows' values: median "
        f"{median(errors):.1%}, mean {fmean(errors):.0%}{loop}."
    )


def left_out_table() -> str:
    """Captures of each GPU beside rows that do not know them."""
    lines = ["| captures of | rows | gaps inside | mean error | whole waves inside |", "|---|---|---|---|---|"]
    for name, other in (("gfx950", ""), ("gfx1100", "gfx1201"), ("gfx1201", "gfx1100")):
        mine = [one for one in launches().values() if one["arch"] == name and one["waves"]]
        rates = find_arch(name).rates
        changed = UNCAPTURED.get(name, {})
        rows = find_arch(other).rates.by_name if other else rates.by_name
        rows = rows | {
            key: replace(rows[key], low=low, value=value, high=high) for key, (low, value, high) in changed.items()
        }
        for text, used in (
            ("its own", None),
            (f"of {other}" if other else "without captures", replace(rates, rows=tuple(rows.values()))),
        ):
            found = [compared_launch(one, used) for one in mine]
            gaps = [(one, gap) for one in found for gap in one.gaps]
            inside = sum(gap.inside(one.slack) for one, gap in gaps) / len(gaps)
            error = fmean(abs(gap.value - gap.captured) / gap.captured for _, gap in gaps if gap.captured)
            waves = [one.span[0] <= wave.total <= one.span[1] for one in found if one.span for wave in one.waves]
            lines.append(f"| {name} | {text} | {inside:.1%} | {error:.0%} | {sum(waves)} of {len(waves)} |")
    return "\n".join(lines)


def captures_picture() -> str:
    """Captured clocks of each instruction, median of its waves, against the rows' value with its range, as SVG."""
    colours = {"gfx950": "#d9600a", "gfx1100": "#2b6cb0", "gfx1201": "#2f855a"}
    left, top, size, decades = 60, 40, 480, 3.5

    def at(clocks: float) -> float:
        return size * math.log10(max(1.0, clocks)) / decades

    head = label(left, 20, "Clocks of a gap: captured across, rows and range up", kind="head")
    body = [head, *log_axes(at, {10**power: f"{10**power:,}" for power in range(4)}, (left, top), size)]
    for name, one in compared_launches():
        colour = colours[launches()[name]["arch"]]
        for _, _, _, _, _, captured, _, low, value, high, _ in one.by_instruction():
            x, y, a, b = left + at(captured), top + size - at(value), top + size - at(low), top + size - at(high)
            body.append(f'<path d="M{x:.1f} {a:.1f}V{b:.1f}" stroke="{colour}" opacity=".25"/>')
            body.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2" fill="{colour}" opacity=".7"/>')
    body += legend(left, top + size + 24, [(colour, name) for name, colour in colours.items()])[0]
    return document(left + size + 20, top + size + 50, dict.fromkeys(body), "Captured clocks against the model") + "\n"


def loops_table() -> str:
    """The loops, published and as the timeline has them."""
    lines = ["| loop | published ticks | timeline clocks (low to high) | timeline / published |", "|---|---|---|---|"]
    for _, name, published, taken in loops():
        lines.append(
            f"| `{name}` | {published} | {taken['value']:.1f} ({taken['low']:.1f} to {taken['high']:.1f}) | "
            f"{taken['value'] / published:.2f} |"
        )
    return "\n".join(lines)


def whole_waves() -> list[Timed]:
    """Captured waves from first to last instruction, in clocks."""
    found: list[Timed] = []
    for name, one in compared_launches():
        low, high = one.span or (0.0, 0.0)
        value = median(lane.issued[-1] - lane.issued[0] for lane in one.drawn["value"].lanes)
        taken = {"low": low, "value": value, "high": high}
        found += [("captured waves, clocks", name, wave.total, taken) for wave in one.waves]
    return found


PEAKS = [
    ("gfx942", "MI300X", "v_mfma_f32_32x32x16_fp8_fp8", 2614.9),
    ("gfx942", "MI300X", "v_mfma_f32_32x32x8_f16", 1307.4),
    ("gfx942", "MI300X", "v_mfma_f64_16x16x4_f64", 163.4),
    ("gfx950", "MI355X", "v_mfma_f32_16x16x128_f8f6f4", 5033.2),
    ("gfx950", "MI355X", "v_mfma_f32_16x16x32_f16", 2516.6),
    ("gfx950", "MI355X", "v_mfma_f64_16x16x4_f64", 78.6),
    ("gfx1151", "Radeon 8060S", "v_wmma_f32_16x16x16_f16", 59.4),
]


def peaks_table() -> str:
    """Peaks of products, from the rows of matrix instructions."""
    lines = ["| product | instruction | TFLOPS of the rows | published |", "|---|---|---|---|"]
    for name, product, instruction, published in PEAKS:
        row, gpu = mfmasim.instruction(name, instruction), product_of(find_arch(name), product)
        own = row.ops_per_cycle * gpu.units * gpu.megahertz * 1e-6
        lines.append(f"| {product} | `{instruction}` | {own:,.1f} | {published:,.1f} |")
    return "\n".join(lines)


def rates_table() -> str:
    """Rates of every architecture with their sources."""
    names = ("gfx942", "gfx950", "gfx1151")
    lines = ["| rate | " + " | ".join(names) + " | confidence, source (gfx950, gfx1151) |", "|---|---|---|---|---|"]
    for name, meaning in NAMES.items():
        cells = []
        for architecture in names:
            low, value, high = find_arch(architecture).rates[name].ends
            cells.append(f"{value:.4g}" if low == high else f"{value:g} ({low:g} to {high:g})")
        rows = [find_arch(architecture).rates[name] for architecture in names[1:]]
        sources = "; ".join(f"{row.confidence}, {row.source}" for row in rows)
        lines.append(f"| {name}: {meaning} | {' | '.join(cells)} | {sources} |")
    return "\n".join(lines)


def shown(command: str, keep: str) -> str:
    """A command with the lines of its output that match; ``...`` stands for the others."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        main(command.split())
    lines = [line.rstrip() if re.search(keep, line) else "..." for line in output.getvalue().splitlines()]
    kept = [line for line, before in zip(lines, ["", *lines], strict=False) if line != "..." or before != "..."]
    return "\n".join(["```", f"$ mfmasim {command}", *kept, "```"])


def page() -> str:
    """The page."""
    parts = {
        "COMMAND": lambda: shown(
            "cost gemm_fp8/scheduled --case pingpong_256 --arch gfx950 --set K=1536 --set beta=0.0",
            r"[┃│] (pipe|matrix|L2|LDS|issue) +[┃│] +(of a|simd|group|wave) |clocks per loop|cores busy"
            "|stalled: (barrier|lgkm)|^(bound|occup|intens|VGPRs|rates|assumed|a bound)",
        ),
        "FP8": lambda: ladder_table(LADDERS[0]),
        "WMMA": lambda: ladder_table(LADDERS[1]),
        "SCHEDULES": schedules_table,
        "READS": lds_table,
        "PEAKS": peaks_table,
        "COUNTERS": counters_table,
        "EQUAL": equal_counters,
        "CAPTURES": captures_table,
        "LEFT": left_out_table,
        "LOOPS": loops_table,
        "TIMES": lambda: everything_table(loops() + whole_waves()),
        "RATES": rates_table,
    }
    return re.sub(r"@([A-Z0-9]+)@", lambda found: parts[found[1]](), TEXT)


if __name__ == "__main__":
    PICTURE.write_text(captures_picture())
    TIMES.write_text(everything_picture())
    PAGE.write_text(page())
