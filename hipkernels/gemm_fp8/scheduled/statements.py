"""Statements of AMD's post on the 4-wave interleave for FP8 GEMM on CDNA4, paraphrased."""

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import mfmasim
from hipkernels.gemm_fp8.scheduled.evidence import epilogue, prologue, rotation
from hipkernels.gemm_fp8.scheduled.schedules import PRINTED
from mfmasim import grids, lds
from mfmasim.lab.reports.profile import Profile
from mfmasim.lab.reports.statements import Runs, Statement
from mfmasim.verify import load_file, verify_case
from mfmasim.verify.files import families

SECTIONS = (
    "One Wave Per SIMD",
    "Algorithm Breakdown",
    "Prologue and Epilogue",
    "LDS Swizzling",
    "Results",
    "Summary",
    "Configuration Details",
    "Appendix A: Optimizing Cache Reuse",
)
"""Headings of the text."""
S = Statement
ARCH, KERNEL, READ = "gfx950", "interleave_256", "ds_read_b128"
MFMA = "v_mfma_f32_16x16x128_f8f6f4"
MEASURED = "measured: only the GPU can decide it"


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


def turns(runs: Runs) -> float:
    """Turns of the main loop of a wave, with K = 1024."""
    found = runs.profile(KERNEL, ARCH, K=1024)
    return 0.0 if found.main is None else found.main.turns / found.report.waves


def sums(runs: Runs, case: str) -> float:
    """Elements of C that a wave computes in one workgroup's tile of 256 x 256."""
    report = profile(runs, case).report
    return 256 * 256 / (report.waves / math.prod(report.grid))


def tile(runs: Runs) -> str:
    """Of a workgroup and a turn of the main loop, from its matrix instructions; rows and columns are alike."""
    found, op = profile(runs), mfmasim.instruction(ARCH, MFMA)
    assert found.main is not None
    waves = found.report.waves / math.prod(found.report.grid)
    side = math.isqrt(round(found.main.counts[MFMA] * waves * op.m * op.n))
    return f"{side}x{side}x{op.k}"


def waits(runs: Runs) -> str:
    """Kinds of waits and barriers in a turn of the main loop."""
    turn = profile(runs).turn
    words = "" if turn is None else turn.written
    return " ".join(kind for kind in ("vmcnt", "lgkmcnt", "B") if kind in words)


def busy_groups(_: Runs) -> float:
    """Groups of four banks that the first phase of the unswizzled read uses."""
    lane = np.arange(64)
    address = lane % 16 * 128 + lane // 16 * 16
    return len({int(address[one]) // 16 % 16 for one in lds.phase_table(ARCH, READ).sets(64)[0]})


def period(_: Runs) -> str:
    banks = lds.phase_table(ARCH, READ).banks
    return f"{banks}, {4 * banks}"


def same_mask(_: Runs) -> float:
    """Rows in a run that the swizzle places alike."""
    places = lds.swizzle("cdna4_4wave").place(np.arange(16), np.zeros(16, np.int64)) % 128
    return 16 / (1 + int((np.diff(places) != 0).sum()))


def chiplets(_: Runs) -> str:
    (product,) = [one for one in mfmasim.arch(ARCH).rates.products if one.name == "MI355X"]
    return f"{product.chiplets}, {product.units // product.chiplets}"


def caught(name: str) -> Callable[[Runs], str]:
    return lambda runs: ", ".join(runs.mutant(name).caught) or "nothing"


ONE, B, ENDS, L, RESULTS, SUMMARY, DETAILS, G = SECTIONS
STATEMENTS = [
    # --- Kernel
    S(ONE, "waves on a SIMD", 1, claim("one wave on each SIMD"), words="It places one wave per SIMD"),
    S(ONE, "registers of a lane, at most", 513, registers, relation="<", words="that wave gets all 512 VGPRs"),
    S(ONE, "registers of sums", 256, lambda _: 4 * 4 * 4 * mfmasim.instruction(ARCH, MFMA).D.vgprs,
      words="a complete 128×128 output register tile at once"),
    S(ONE, "VGPRs of a lane that 8 waves of a workgroup leave, in percent of those that 4 leave", 50,
      lambda _: 100 * waves_of(8) / waves_of(4), words="the register budget was half that"),
    S(B, "registers of operands, a and b with two halves each", 128,
      lambda _: 2 * 2 * 4 * mfmasim.instruction(ARCH, MFMA, "e4m3fn", "e4m3fn").A.vgprs, words="RT_A a[2]{};"),
    S(B, "bytes of LDS", 131072, claim("LDS of a workgroup"), words="__shared__ fp8 A_lds[2][2][128 * 128];"),
    S(B, "matrix instructions of four blocks", 64, claim("matrix instructions of four blocks"),
      words="Each wave ends up handling 4 64x64 tiles of the output matrix C, and each one of these is made up of a "
      "sequence of smaller, 16x16, sub-tiles"),
    S(B, "checks that fail for K = 128, a multiple of 128", "outputs", one_tile, "remark",
      about="the prologue fetches two tiles: the printed code needs K of 256 at least",
      words="we will only consider input matrices with dimensions that are multiples of the blocking parameters"),
    S(ONE, "elements of C of a wave of the 8-wave kernel, in percent of 64×128", 100,
      lambda r: 100 * sums(r, "pingpong_256") / (64 * 128),
      words="compared to 64×128 in the 8-wave case"),
    S(B, "rows, columns and K of a workgroup's step, by its matrix instructions", "256x256x128", tile,
      words="as we used in the 8-Wave example from our previous article that is: 256x256x128"),
    S(B, "what the four blocks of a turn fetch, and read, in slot 0",
      "A[0][0] B[0][1], B[0][0] A[0][1], B[0][1] A[1][0], A[0][1] B[1][0]", lambda _: rotation(0),
      about="from the executed accesses to the LDS; each half is fetched two blocks after it was read",
      words="interleaved_block(B_lds[cur][0], B, a[1], A_lds[cur][1], a[0], b[1], c[0][1]);"),
    S(B, "the same in the next turn, whose slot is 1",
      "A[1][0] B[1][1], B[1][0] A[1][1], B[1][1] A[0][0], A[1][1] B[0][0]", lambda _: rotation(1),
      words="cur ^= 1; next ^= 1;"),
    S(B, "turns of the main loop for K = 1024, which has 8 tiles", 6, turns,
      words="for (int k = 0; k < K_BLOCKS - 2; ++k) {"),
    S(B, "waits and barriers of a turn", "vmcnt lgkmcnt B", waits, "remark",
      about="the printed loop shows neither, being an outline; the source beside the post has both, and so has the "
      "kernel here: two waits for fetches, four for reads, two barriers"),
    # --- Block
    S(B, "matrix instructions", 16, claim("matrix instructions of a block"), words="Issues 16 MFMA instructions (a "
      "4x4 grid of 16x16x128 MFMA) computing a 64x64 part of C"),
    S(B, "reads of the LDS", 8, claim("reads of a block"), words="Issues 8 LDS → register loads (loading a 64x128 "
      "fragment of A/B)"),
    S(B, "loads to the LDS", 4, claim("buffer loads of a block"), words="Issues 4 global → LDS loads loading a "
      "128x128 sub-tile of A/B"),
    S(B, "reads and loads stand between matrix instructions, in the printed order", PRINTED,
      block("interleave_printed_256"), about="so in the compiled code, of every turn that is executed",
      words="load_one_rt<1, 0>(lds_src, rt_dst, lds_swizzle); // ... pattern continues for rows 1, 2, 3"),
    S(B, "checks that fail without fences for the compiler", "order", caught("interleave_without_fences"),
      about="outputs and counts stay right",
      words="the compiler might legally batch all memory instructions after all MFMA"),
    S(B, "what a block fetches is used in the next one: fewest matrix instructions before its wait", 16,
      of_turn("matrix from fetch to wait"), "refuted",
      about="`six calls later` would be right: as the printed arguments show, a call fetches for the tile after next; "
      "call 1 fills A_lds[cur][0], which call 3 of the next turn reads",
      words="that will be used in the next call to bring the operands from LDS to registers"),
    S(B, "matrix instructions between a read and its wait, at least", 0, of_turn("matrix from read to wait"),
      relation=">", words="we will have already loaded the operands for the next one"),
    # --- LDS
    S(L, "bank of byte 260", 1, bank(260), about="(address / 4) % 64", words="bank = (addr / 4) % 64"),
    S(L, "reads of 16 bytes for a fragment of 16 x 128", 2, lambda _: 16 * 128 / (16 * 64),
      words="Since we need a 16x128 fragment of A/B for each MFMA we’ll have to issue two ds_read_b128 per thread in "
      "order to load one fragment: (16*128) / (16*64) = 2"),
    S(L, "conflicts without a swizzle: degree", 8, claim("bank conflicts without a swizzle", "interleave_none_256"),
      "refuted",
      about="4-way: in each of the four phases 16 lanes hit four groups of four banks, four lanes each. 8-way would be "
      "right if a phase were 16 lanes of one column, or if rows had 256 bytes",
      words="This results in an 8-way bank conflict"),
    S(L, "groups of banks that a phase uses, of four banks each", 4, busy_groups,
      "remark", about="lanes of one column use two of them, and a phase has lanes of two columns",
      words="lanes along the same column will always hit the same two banks"),
    S(L, "banks, and bytes from one address of bank 0 to the next", "64, 256", period,
      words="This means that the period is 256 bytes"),
    S(L, "phases of the read", 4, lambda _: len(lds.phase_table(ARCH, READ).sets(64)),
      words="The ds_read_b128 instruction is carried out in 4 phases"),
    S(L, "adjacent rows that have the same mask", 2, same_mask,
      words="We can tolerate two adjacent lanes to access elements in the same column"),
    S(L, "the printed swizzle is one-to-one and its own inverse", "yes", swizzle,
      words="int swizzled_offset = offset ^ mask;"),
    S(L, "degree with it", 1, lambda r: max(a.degree for a in profile(r).accesses if a.instruction == READ),
      words="we are now bank conflict-free during all four phases"),
    # --- Tiles
    S(G, "XCDs of MI355X, and compute units of each", "8, 32", chiplets, about="by AMD's white paper on CDNA 4",
      words="the AMD Instinct™ MI355X is a cluster of 8 chiplets called accelerated complex die, or XCD, each one "
      "with 32 compute units"),
    S(G, "tiles of XCD 0, 3 XCDs, window 2, chunks of 4, grid of 4 x 6",
      "(0,0) (1,0) (0,1) (1,1) (2,0) (3,0) (2,1) (3,1)", mine, words="WINDOW_SIZE=2 and CHUNK_SIZE=4"),
    S(G, "tiles of XCD 0 in the naive order, 3 XCDs, grid of 4 x 6",
      "(0,0) (0,3) (1,0) (1,3) (2,0) (2,3) (3,0) (3,3)", naive,
      words="tiles are assigned to XCDs in round-robin order"),
    S(G, "grids up to 40 x 40 that the remap fails", 0, refuted("xcd_grouped"),
      words="int remap_wgid(int wgid, int num_workgroups, int num_xcds, int chunk_size)"),
    S(G, "chunks that are rectangles, 16 x 16, chunks of 8", "32 of 32", rectangle(16, 16, 8),
      words="each XCD will own a WINDOW_SIZE x CHUNK_SIZE / WINDOW_SIZE contiguous tile block"),
    S(G, "chunks that are rectangles, 16 x 17, chunks of 8", "30 of 32", rectangle(16, 17, 8), "remark",
      about="the sentence holds where bands and chunks divide the grid; at its edges some chunks are no rectangles",
      words="each XCD will own a WINDOW_SIZE x CHUNK_SIZE / WINDOW_SIZE contiguous tile block"),
    S(G, "chunks that are rectangles, 16 x 16, chunks of 6", "0 of 40", rectangle(16, 16, 6), "remark",
      about="only if a chunk is whole columns of the window, which the text's division presumes"),
    S(G, "strips from memory with the printed window and chunk, in percent of those by rows, 32 x 32 tiles", 100,
      memory_reads("xcd_grouped", 32), "remark",
      about="every eighth column is an XCD's by rows, too; assumed: the workgroups of a round keep step"),
    S(G, "strips from memory with the best window and chunk, in percent of those of 4 and 8, 64 x 64 tiles", 100, tuned,
      relation="<", about="window 16, chunk 4, `mfmasim lds grid --search`; assumed: a round's workgroups keep step",
      words="WINDOW_SIZE and CHUNK_SIZE are constants that have to be tuned"),
    S(RESULTS, "rates beside other kernels", "a chart", None, "undecided", about=MEASURED,
      words="Figure 6 shows a performance comparison of the two algorithms"),
    S(ENDS, "halves of tiles that the prologue fetches, and what it reads", "8 fetched; read A[0][0] B[0][0]",
      lambda _: prologue(), about="both operands of two tiles, in halves",
      words="The prologue loads both cur and next tile pairs into LDS before the loop starts"),
    S(ENDS, "and behind the loop", "0 fetched; read B[0][1] A[0][1] A[1][0] B[1][0] B[1][1] A[1][1]",
      lambda _: epilogue(), words="there is no further tile to prefetch"),
    S(ENDS, "parts of c stored as soon as they are complete: matrix instructions of a wave after its first store", 48,
      after_first_store(KERNEL), words="we start storing parts c[i][j] as soon as they are available"),
    S(ENDS, "and in a kernel that stores all at the end", 0, after_first_store("interleave_stored_last_256"), "remark",
      about="the timeline of one workgroup has 42,037 clocks for it and 43,856 for this one (K = 1024)"),
    S(ENDS, "a gain by it", "in all cases", None, "undecided", about=MEASURED,
      words="this improves performance across all test cases"),
    S(SUMMARY, "registers of a lane, and elements of C of a wave, against those of the 8-wave kernel", "512, 2",
      lambda r: f"{registers(r):g}, {sums(r, KERNEL) / sums(r, 'pingpong_256'):g}",
      words="One wave per SIMD gives each wave the full 512-VGPR budget, enabling a larger 128×128 output register "
      "tile instead of 64×128"),
    S(SUMMARY, "degree that the swizzle removes", 4, claim("bank conflicts without a swizzle", "interleave_none_256"),
      "remark", about="the swizzle removes all; without it they are 4-way, see above",
      words="LDS swizzling eliminates 8-way bank conflicts that arise from the column-major access pattern"),
    S(SUMMARY, "bytes of scratch of the kernel here, which has no pragma, at -O1, -O2 and -O3", "0, 0, 0",
      scratch("interleave"), "undecided", about="of the text's kernel its own compiler decides; found by LLVM 22, "
        "and LLVM 21",
      words="it required no manual #pragma unroll tuning to avoid register spilling"),
    S(SUMMARY, "those of the 8-wave kernel here", "36, 0, 0", scratch("pingpong"), "remark",
      about="by LLVM 22; 72, 20 and 20 when each fragment had an address register of its own"),
    S(SUMMARY, "the same rates by several releases", "consistent", None, "undecided", about=MEASURED,
      words="delivered consistent performance across different ROCm releases"),
    # --- What the source beside the text does, and the text does not say
    S(G, "checks that report its barrier before the wait", "races", published("interleave_barrier_first_256"), "remark",
      about="others may overwrite what is still being read"),
    S(G, "grids up to 40 x 40 that its remap fails", 1099, refuted("xcd_divided"), "remark",
      about="it is right only where the XCDs divide the number of tiles"),
]  # fmt: skip
