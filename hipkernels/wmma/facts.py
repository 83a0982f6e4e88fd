"""Evidence for statements about WMMA kernels: executed kernels, instruction tables, layouts, arithmetic."""

import math
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

import mfmasim
from hipkernels.attention.numbers16 import decode
from hipkernels.attention.reference import attention
from hipkernels.attention.replay import scalar
from hipkernels.wmma.autotune import Trial, tune
from hipkernels.wmma.selection import published
from mfmasim import grids, lds
from mfmasim.devices.loops import Loop
from mfmasim.devices.occupancy import waves_of_vgprs
from mfmasim.isa import Instruction
from mfmasim.isa.counters import raised
from mfmasim.isa.family import family
from mfmasim.lab.reports.profile import Profile
from mfmasim.lab.reports.statements import Runs
from mfmasim.matrix import Fragment
from mfmasim.verify.prebuilt import code_for

Figure: TypeAlias = Callable[[Runs], float]
Word: TypeAlias = Callable[[Runs], str]
ARCH, WMMA = "gfx1151", "v_wmma_f32_16x16x16_f16"
K = 256
"""Length of the sums in profiles: 16 turns of the main loop."""
LARGE_ERROR = 0.00070634
"""`worst_error(4096, 4096, 2048)`, which takes minutes."""


def profile(runs: Runs, kernel: str = "tile_128x64", k: int = K) -> Profile:
    return runs.profile(kernel, ARCH, K=k)


def loop(runs: Runs, kernel: str) -> Loop:
    """The main loop of a kernel."""
    main = profile(runs, kernel).main
    assert main is not None
    return main


def listing(runs: Runs, kernel: str) -> tuple[Instruction, ...]:
    """Every instruction of a kernel."""
    program = profile(runs, kernel).report.program
    assert program is not None
    return program.instructions


def in_turn(name: str, kernel: str = "tile_128x64") -> Figure:
    """Instructions of a wave in a turn of the main loop, by the start of their names."""
    return lambda runs: sum(n for key, n in loop(runs, kernel).counts.items() if key.startswith(name))


def for_tile(name: str, kernel: str = "tile_128x64") -> Figure:
    """Instructions of a wave for each tile of K, those before the main loop included."""
    return lambda runs: profile(runs, kernel).report.counts[name] / profile(runs, kernel).report.waves / (K // 16)


def listed(name: str, kernel: str = "tile_128x64") -> Figure:
    """Instructions in the listing of the whole kernel."""
    return lambda runs: sum(ins.name.startswith(name) for ins in listing(runs, kernel))


def lds_bytes(kernel: str) -> Figure:
    return lambda runs: profile(runs, kernel).report.lds["bytes"]


def degree(kernel: str, instruction: str) -> Figure:
    """The most distinct dwords that lanes of a phase access in one bank."""
    return lambda runs: max(a.degree for a in profile(runs, kernel).accesses if a.instruction.startswith(instruction))


def conflict_rate(kernel: str) -> Figure:
    """Percent of the cycles of the LDS that serve conflicts: a pass of a phase is taken for a cycle."""

    def found(runs: Runs) -> float:
        accesses = profile(runs, kernel).accesses
        extra = sum(access.extra_passes for access in accesses)
        free = sum(access.executions * phases(access.instruction) for access in accesses)
        return 100 * extra / (extra + free)

    return found


def extra_per_instruction(kernel: str) -> Figure:
    """Passes that conflicts add, for 100 instructions of the LDS."""

    def found(runs: Runs) -> float:
        accesses = profile(runs, kernel).accesses
        return 100 * sum(access.extra_passes for access in accesses) / sum(access.executions for access in accesses)

    return found


def phases(instruction: str) -> int:
    """Passes of an access without conflicts."""
    return lds.conflicts(ARCH, instruction, np.zeros(32, int), warn=False).degrees.size


def prefetches(kernel: str) -> Figure:
    """Prefetch instructions in the listing of the kernel."""
    return lambda runs: sum("prefetch" in ins.name for ins in listing(runs, kernel))


def vgprs(kernel: str) -> Figure:
    return lambda runs: profile(runs, kernel).report.registers["vgpr"]


def caught(mutant: str) -> Word:
    return lambda runs: ", ".join(runs.mutant(mutant).caught) or "nothing"


def barriers(kernel: str, k: int) -> Figure:
    """Barriers of a wave."""

    def found(runs: Runs) -> float:
        report = profile(runs, kernel, k).report
        return report.counts["s_barrier"] / report.waves

    return found


def lanes_of_wave(runs: Runs) -> float:
    """Of the standard kernel, whose workgroups have 256 threads."""
    report = profile(runs).report
    return 256 * math.prod(report.grid) / report.waves


def waves_by_vgprs(count: int) -> Figure:
    return lambda _: waves_of_vgprs(mfmasim.arch(ARCH), 32, count)


def fragments(of: str, arch: str = ARCH) -> Fragment:
    op = mfmasim.instruction(arch, WMMA)
    return {"A": op.A, "B": op.B, "D": op.D}[of]


def copies(_: Runs) -> str:
    """Lanes that hold an element of A or B, as text."""
    lanes = {
        tuple(place.lane for place in fragments(of).locate(*((i, k) if of == "A" else (k, i))))
        for of in "AB"
        for i in range(16)
        for k in range(16)
    }
    return "lanes l and l + 16" if all(b - a == 16 for a, b in lanes) else "other lanes"


def rows_of_a(_: Runs) -> int:
    """Rows of A in the registers of one lane."""
    table = fragments("A").table()
    return max(len(set(table["row"][table["lane"] == lane].tolist())) for lane in range(32))


def share_of_c(arch: str) -> Figure:
    """Percent of the elements of C that lie where the text says: row 2 i + lane / 16, column lane % 16."""

    def found(_: Runs) -> float:
        table = fragments("D", arch).table()
        right = (table["row"] == 2 * table["vgpr"] + table["lane"] // 16) & (table["col"] == table["lane"] % 16)
        return 100 * right.mean()

    return found


def neighbours_in_loop(runs: Runs) -> str:
    """The matrix instructions of a turn: how many sums, fragments of A and of B, and how many are consecutive."""
    wmma = [ins for ins in listing(runs, "tile_128x64") if ins.name.startswith("v_wmma")]
    texts = [ins.text.replace(", v[", " v[").split() for ins in wmma]
    sums, a, b = (len({text[i] for text in texts}) for i in (1, 2, 3))
    assert loop(runs, "tile_128x64").counts[WMMA] == len(wmma)
    return f"{sums} sums, {a} of A, {b} of B"


def worst_error(m: int, n: int, k: int) -> Figure:
    """Percent of the largest element of C by which one differs from the exact product, normal numbers."""

    def found(_: Runs) -> float:
        rng = np.random.default_rng(0)
        a, b = (rng.normal(size=shape).astype(np.float16) for shape in ((m, k), (k, n)))
        c = np.full((m, n), np.nan, np.float32)
        kernel = code_for(Path(__file__).parent / "tiles.hip", ARCH)["tile_128x64"]
        args = [a, b, c, *map(np.int32, (m, n, k, k, n, n))]
        mfmasim.device("sim").launch(kernel, (-(-n // 64), -(-m // 128)), 256, args, checks="none")
        exact = a.astype(np.float64) @ b.astype(np.float64)
        return float(100 * np.abs(c - exact).max() / np.abs(exact).max())

    return found


def status(family_: str, case: str, **parameters: Any) -> Word:
    """Whether a kernel's output has the expected bits."""
    return lambda runs: runs.of(family_).profile(case, ARCH, **parameters).result.status


def attention_error(causal: int) -> Figure:
    """Largest difference of attention from float64, normal numbers; a kernel's own operations, replayed bit for bit."""

    def found(_: Runs) -> float:
        rng = np.random.default_rng(0)
        q, k, v = (rng.normal(size=(1, 2, 64, 64)).astype(np.float16) for _ in "qkv")
        exact, _bound = attention("f16", q.astype(np.float64), k.astype(np.float64), v.astype(np.float64), causal, None)
        a, b, c = (x.view(np.uint16) for x in (q, k, v))
        made = decode("f16", scalar(ARCH, "f16", a, b, c, causal, None))
        return float(np.abs(made.astype(np.float64) - exact).max())

    return found


def taken(m: int, n: int, k: int) -> Word:
    """The kernel that the text's code selects for a shape, as published."""
    return lambda _: published(m, n, k)


def unnoticed(m: int, n: int, k: int) -> Figure:
    """Percent of the elements of C, normal numbers, that could be 0 where an error may be 1 % of the largest one."""

    def found(_: Runs) -> float:
        rng = np.random.default_rng(0)
        c = np.abs(rng.normal(size=(m, k)) @ rng.normal(size=(k, n)))
        return float(100 * (c < c.max() / 100).mean())

    return found


def gemm_error(alpha: float, beta: float) -> Figure:
    """As `worst_error`, for alpha A B + beta C of 256x256x64 by hipkernels/wmma/scaled."""

    def found(_: Runs) -> float:
        rng = np.random.default_rng(0)
        a, b = (rng.normal(size=shape).astype(np.float16) for shape in ((256, 64), (64, 256)))
        old, c = rng.normal(size=(256, 256)).astype(np.float32), np.full((256, 256), np.nan, np.float32)
        kernel = code_for(Path(__file__).parent / "scaled" / "scaled.hip", ARCH)["gemm_128x64"]
        numbers = [*map(np.int32, (256, 256, 64, 64, 256, 256, 256)), np.float32(alpha), np.float32(beta)]
        mfmasim.device("sim").launch(kernel, (4, 2), 256, [a, b, old, c, *numbers], checks="none")
        exact = alpha * (a.astype(np.float64) @ b.astype(np.float64)) + beta * old
        return float(100 * np.abs(c - exact).max() / np.abs(exact).max())

    return found


@cache
def estimated() -> list[Trial]:
    """Four kernels of the text's table at its size by their estimated cost, the least first."""
    return tune(4096, 4096, 2048, ["matmul", "matmul_highOcc", "matmul_xor_optimized", "matmul_zerocopy"])


def instructions(arch: str, part: str) -> Figure:
    """How many instructions of an architecture have this in their names."""
    return lambda _: sum(part in row.name for rows in family(arch).rows.values() for row in rows.values())


def counter_of(arch: str, name: str) -> Word:
    """The wait counter that an instruction raises; instructions that raise one are asynchronous."""
    opcode = family(arch).opcode(name)
    return lambda _: ", ".join(one.counter for one in raised(mfmasim.arch(arch), opcode, returns=False)) or "none"


def refuted_grids(name: str, most: int, **more: Any) -> Figure:
    return lambda _: len(grids.refuted(name, most, **more))


def alignment(halfs: int) -> Figure:
    """Largest power of two, up to 16, that divides the bytes from row to row."""
    return lambda _: math.gcd(2 * halfs, 16)


def accepts(attribute: str) -> Word:
    """Whether a kernel template may have an attribute."""

    def found(runs: Runs) -> str:
        text = f"""#include <hip/hip_runtime.h>
        template <int N> __attribute__(({attribute})) __global__ void kernel(int *out) {{ *out = N; }}
        template __global__ void kernel<4>(int *);"""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "attribute.hip"
            path.write_text(text)
            try:
                mfmasim.compile(path, arch=ARCH, compiler=runs.compiler)
            except mfmasim.MfmasimError:
                return "no"
        return "yes"

    return found
