"""Statements of AMD's post on the 4-wave interleave for FP8 GEMM on CDNA4, paraphrased."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import mfmasim
from hipkernels.gemm_fp8.scheduled.schedules import PRINTED
from mfmasim import grids, lds
from mfmasim.lab.reports.profile import Profile
from mfmasim.lab.reports.statements import Runs, Statement
from mfmasim.verify import load_file, verify_case
from mfmasim.verify.files import families

TEXT = "4-wave interleave FP8 GEMM on CDNA4"
S = Statement
ARCH, KERNEL, READ = "gfx950", "interleave_256", "ds_read_b128"
MFMA = "v_mfma_f32_16x16x128_f8f6f4"
MEASURED = "measured: only the GPU can decide it"
XCDS, UNITS = 8, 32


def profile(runs: Runs, case: str = KERNEL) -> Profile:
    return runs.profile(case, ARCH)


def claim(text: str, case: str = KERNEL) -> Callable[[Runs], float]:
    """What a claim of the case found."""

    def found(runs: Runs) -> float:
        (one,) = [j for j in profile(runs, case).claims if j.claim.text.startswith(text)]
        return -1.0 if one.found is None else one.found

    return found


def registers(runs: Runs) -> float:
    """Vector registers of a lane, both files."""
    return profile(runs).report.registers["vgpr"]


def scratch(kernel: str) -> Callable[[Runs], str]:
    """Bytes of scratch of a kernel at -O1, -O2 and -O3."""

    def found(runs: Runs) -> str:
        path = Path(__file__).with_name(f"{kernel}.hip")
        codes = [mfmasim.compile(path, arch=ARCH, compiler=runs.compiler, flags=[f"-O{n}"]) for n in (1, 2, 3)]
        return ", ".join(str(code[kernel].info.private_segment_fixed_size) for code in codes)

    return found


def after_first_store(case: str) -> Callable[[Runs], float]:
    """Matrix instructions of a wave behind its first store of C; after the main loop the code has no branch back."""

    def found(runs: Runs) -> float:
        report = profile(runs, case).report
        assert report.program is not None
        done = [i for i in report.program.instructions if report.executed.get(i.pc)]
        first = next(i.pc for i in done if i.name.startswith("global_store"))
        return sum(report.executed[i.pc] for i in done if i.name == MFMA and i.pc > first) / report.waves

    return found


def of_turn(name: str) -> Callable[[Runs], float]:
    """A quantity of the main loop's turn."""

    def found(runs: Runs) -> float:
        turn = profile(runs).turn
        value = None if turn is None else turn.quantities()[name]
        return -1.0 if value is None else value

    return found


def block(case: str) -> Callable[[Runs], str]:
    """The order of the first block of a turn: up to the next wait."""

    def found(runs: Runs) -> str:
        turn = profile(runs, case).turn
        return "" if turn is None else turn.written.partition(" B ")[2].partition(" lgkmcnt")[0]

    return found


def waves_of(waves: int) -> float:
    """Vector registers that each wave of a workgroup of so many may have; its waves share four SIMDs."""
    (_, registers, _), *_ = mfmasim.arch(ARCH).simd.vgprs
    return registers / -(-waves // 4)


def bank(address: int) -> Callable[[Runs], float]:
    """Bank of a dword by the table of the instruction."""
    return lambda _: address // 4 % lds.phase_table(ARCH, READ).banks


def swizzle(_: Runs) -> str:
    """Whether the library's swizzle is the printed one, byte by byte, one-to-one and its own inverse."""
    found = lds.swizzle("cdna4_4wave")
    row, column = np.indices((16, 128))
    offset = row * 128 + column
    same = (found.place(row, column) == (offset ^ ((offset % 2048) >> 8) << 4)).all()
    return "yes" if same and found.bijective and found.self_inverse else "no"


def mine(_: Runs) -> str:
    """Tiles of XCD 0 of the example."""
    found = grids.layout("xcd_grouped", 4, 6, xcds=3, window=2, chunk=4)
    return " ".join(f"({row},{col})" for row, col in found.tiles[np.arange(24) % 3 == 0].tolist())


def naive(_: Runs) -> str:
    """The same by rows, in which consecutive workgroups are on different XCDs."""
    return " ".join(f"({wg // 6},{wg % 6})" for wg in range(0, 24, 3))


def refuted(name: str) -> Callable[[Runs], float]:
    return lambda _: len(grids.refuted(name, 40))


def rectangle(rows: int, cols: int, chunk: int) -> Callable[[Runs], str]:
    """Chunks that are rectangles of the window's height."""

    def found(_: Runs) -> str:
        counted = grids.rectangles(rows, cols, chunk=chunk)
        return f"{counted.kept} of {counted.chunks}"

    return found


def memory_reads(name: str, side: int) -> Callable[[Runs], float]:
    """Percent of the strips of A and B from memory that rows of tiles would take."""
    rows, found = (grids.reuse(grids.layout(one, side, side)) for one in ("row", name))
    return lambda _: 100 * found.from_memory / rows.from_memory


def tuned(_: Runs) -> float:
    """The same of the best map, against the printed window and chunk."""
    (_best, least), *_rest = grids.best_maps(64, 64, names=("xcd_grouped",))
    return 100 * least.from_memory / grids.reuse(grids.layout("xcd_grouped", 64, 64)).from_memory


def executed(name: str) -> Callable[[Runs], str]:
    return lambda runs: "yes" if profile(runs).report.counts.get(name) else "no"


def one_tile(_: Runs) -> str:
    """Checks that fail with a single tile of K, without the contract."""
    (case,) = [c for c in load_file(families()["gemm_fp8/scheduled"]) if c.title == KERNEL]
    once: Any = replace(case.with_parameters({"K": 128}), needs="", mapping=None, data=("integers",), order={})
    findings = verify_case(once, ARCH).findings
    return ", ".join(sorted({f.check for f in findings if f.severity == "error"})) or "nothing"


def published(title: str) -> Callable[[Runs], str]:
    """Checks that report the schedule as it was published."""

    def found(_: Runs) -> str:
        path = families()["gemm_fp8/scheduled"].with_name("wrong_cases.py")
        (case,) = [case for case in load_file(path) if case.title == title]
        once: Any = replace(case, mapping=None, data=("integers",), fails=())
        findings = verify_case(once, ARCH).findings
        return ", ".join(sorted({f.check for f in findings if f.severity == "error"})) or "nothing"

    return found


def caught(name: str) -> Callable[[Runs], str]:
    return lambda runs: ", ".join(runs.mutant(name).caught) or "nothing"


K, B, L, G, P, X = "Kernel", "Block", "LDS", "Tiles and XCDs", "Performance", "The source beside the text"
STATEMENTS = [
    # --- Kernel
    S(K, "waves on a SIMD", 1, claim("one wave on each SIMD"), words="It places one wave per SIMD"),
    S(K, "registers of a lane, at most", 513, registers, relation="<", words="that wave gets all 512 VGPRs"),
    S(K, "registers of sums", 256, lambda _: 4 * 4 * 4 * mfmasim.instruction(ARCH, MFMA).D.vgprs,
      words="a complete 128×128 output register tile at once"),
    S(K, "VGPRs of a lane that 8 waves of a workgroup leave, in percent of those that 4 leave", 50,
      lambda _: 100 * waves_of(8) / waves_of(4), words="the register budget was half that"),
    S(K, "registers of operands, a and b with two halves each", 128,
      lambda _: 2 * 2 * 4 * mfmasim.instruction(ARCH, MFMA, "e4m3fn", "e4m3fn").A.vgprs, words="RT_A a[2]{};"),
    S(K, "bytes of LDS", 131072, claim("LDS of a workgroup"), words="__shared__ fp8 A_lds[2][2][128 * 128];"),
    S(K, "matrix instructions of four blocks", 64, claim("matrix instructions of four blocks"),
      words="Each wave ends up handling 4 64x64 tiles of the output matrix C"),
    S(K, "checks that fail for K = 128, a multiple of 128", "nothing", one_tile, "refuted",
      about="the prologue fetches two tiles: K is 256 at least",
      words="we will only consider input matrices with dimensions that are multiples of the blocking parameters"),
    # --- Block
    S(B, "matrix instructions", 16, claim("matrix instructions of a block"), words="Issues 16 MFMA instructions"),
    S(B, "reads of the LDS", 8, claim("reads of a block"), words="Issues 8 LDS → register loads"),
    S(B, "loads to the LDS", 4, claim("buffer loads of a block"), words="Issues 4 global → LDS loads"),
    S(B, "reads and loads stand between matrix instructions, in the printed order", PRINTED,
      block("interleave_printed_256"), about="so in the compiled code, of every turn that is executed",
      words="load_one_rt<1, 0>(lds_src, rt_dst, lds_swizzle); // ... pattern continues for rows 1, 2, 3"),
    S(B, "checks that fail without fences for the compiler", "order", caught("interleave_without_fences"),
      about="outputs and counts stay right",
      words="the compiler might legally batch all memory instructions after all MFMA"),
    S(B, "what a block fetches is used in the next one: fewest matrix instructions before its wait", 16,
      of_turn("matrix from fetch to wait"), "refuted", about="it is for the tile after next",
      words="that will be used in the next call to bring the operands from LDS to registers"),
    S(B, "matrix instructions between a read and its wait, at least", 0, of_turn("matrix from read to wait"),
      relation=">", words="we will have already loaded the operands for the next one"),
    # --- LDS
    S(L, "bank of byte 260", 1, bank(260), about="(address / 4) % 64", words="bank = (addr / 4) % 64"),
    S(L, "reads of 16 bytes for a fragment of 16 x 128", 2, lambda _: 16 * 128 / (16 * 64),
      words="(16*128) / (16*64) = 2"),
    S(L, "conflicts without a swizzle: degree", 8, claim("bank conflicts without a swizzle", "interleave_none_256"),
      "refuted", about="4 in the phases of gfx950, which this text takes for four, too",
      words="This results in an 8-way bank conflict"),
    S(L, "the printed swizzle is one-to-one and its own inverse", "yes", swizzle,
      words="int swizzled_offset = offset ^ mask;"),
    S(L, "degree with it", 1, lambda r: max(a.degree for a in profile(r).accesses if a.instruction == READ),
      words="we are now bank conflict-free during all four phases"),
    # --- Tiles
    S(G, "units of 8 XCDs with 32 each", 256, lambda _: XCDS * UNITS, words="each one with 32 compute units"),
    S(G, "tiles of XCD 0, 3 XCDs, window 2, chunks of 4, grid of 4 x 6",
      "(0,0) (1,0) (0,1) (1,1) (2,0) (3,0) (2,1) (3,1)", mine, words="WINDOW_SIZE=2 and CHUNK_SIZE=4"),
    S(G, "tiles of XCD 0 in the naive order, 3 XCDs, grid of 4 x 6",
      "(0,0) (0,3) (1,0) (1,3) (2,0) (2,3) (3,0) (3,3)", naive,
      words="tiles are assigned to XCDs in round-robin order"),
    S(G, "grids up to 40 x 40 that the remap fails", 0, refuted("xcd_grouped"),
      words="int remap_wgid(int wgid, int num_workgroups, int num_xcds, int chunk_size)"),
    S(G, "chunks that are rectangles, 16 x 16, chunks of 8", "32 of 32", rectangle(16, 16, 8),
      words="each XCD will own a WINDOW_SIZE x CHUNK_SIZE / WINDOW_SIZE contiguous tile block"),
    S(G, "chunks that are rectangles, 16 x 17, chunks of 8", "32 of 32", rectangle(16, 17, 8), "refuted",
      about="and fits the bands",
      words="each XCD will own a WINDOW_SIZE x CHUNK_SIZE / WINDOW_SIZE contiguous tile block"),
    S(G, "chunks that are rectangles, 16 x 16, chunks of 6", "0 of 40", rectangle(16, 16, 6), "remark",
      about="only if a chunk is whole columns of the window, which the text's division presumes"),
    S(G, "strips from memory with the printed window and chunk, in percent of those by rows, 32 x 32 tiles", 100,
      memory_reads("xcd_grouped", 32), "remark",
      about="every eighth column is an XCD's by rows, too; assumed: the workgroups of a round keep step"),
    S(G, "strips from memory with the best window and chunk, in percent of those of 4 and 8, 64 x 64 tiles", 100, tuned,
      relation="<", about="window 16, chunk 4, `mfmasim lds grid --search`; assumed: a round's workgroups keep step",
      words="WINDOW_SIZE and CHUNK_SIZE are constants that have to be tuned"),
    S(P, "rates beside other kernels", "a chart", None, "undecided", about=MEASURED,
      words="Figure 6 shows a performance comparison of the two algorithms"),
    S(P, "parts of c stored as soon as they are complete: matrix instructions of a wave after its first store", 48,
      after_first_store(KERNEL), words="we start storing parts c[i][j] as soon as they are available"),
    S(P, "and in a kernel that stores all at the end", 0, after_first_store("interleave_stored_last_256"), "remark",
      about="the timeline of one workgroup has 42,037 clocks for it and 43,856 for this one (K = 1024)"),
    S(P, "a gain by it", "in all cases", None, "undecided", about=MEASURED,
      words="this improves performance across all test cases"),
    S(P, "bytes of scratch of the kernel here, which has no pragma, at -O1, -O2 and -O3", "0, 0, 0",
      scratch("interleave"), about="by LLVM 22, and likewise by LLVM 21",
      words="it required no manual #pragma unroll tuning to avoid register spilling"),
    S(P, "those of the 8-wave kernel here", "36, 0, 0", scratch("pingpong"), "remark",
      about="by LLVM 22; 72, 20 and 20 when each fragment had an address register of its own"),
    S(P, "the same rates by several releases", "consistent", None, "undecided", about=MEASURED,
      words="delivered consistent performance across different ROCm releases"),
    # --- What the source beside the text does, and the text does not say
    S(X, "checks that report its barrier before the wait", "races", published("interleave_barrier_first_256"), "remark",
      about="others may overwrite what is still being read"),
    S(X, "grids up to 40 x 40 that its remap fails", 1099, refuted("xcd_divided"), "remark",
      about="it is right only where the XCDs divide the number of tiles"),
]  # fmt: skip
