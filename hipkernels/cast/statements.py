"""Statements of a change of TransformerEngine about FP8 casts on MI300 and MI350, paraphrased."""

import math
from collections.abc import Callable

import numpy as np

import mfmasim
from hipkernels.cast.plan import Part, plan_cascade, plan_cast, plan_transpose
from hipkernels.cast.rejected_cases import Variant
from mfmasim import lds
from mfmasim.cost.cases import record_case
from mfmasim.cost.costed import Costed, product_of
from mfmasim.cost.estimate import estimate
from mfmasim.devices.occupancy import waves_of_vgprs
from mfmasim.isa.family import family
from mfmasim.lab.reports.profile import Profile
from mfmasim.lab.reports.statements import Runs, Statement
from mfmasim.verify import load_file
from mfmasim.verify.files import families

SECTIONS = (
    "Cast-Only (flat kernel)",
    "Cast+Transpose (optimized tiled kernel)",
    "Cast+Transpose Kernel (rocm_cast_transpose.cuh)",
    "Cast-Only Kernel (rocm_cast.cuh)",
    "Tried and Rejected: Cast+Transpose",
    "Tried and Rejected: Cast-Only",
    "Known Limitations",
    "Improvements to cast_transpose and cast for FP8 delayed scaling",
)
"""Headings of the text; of the first one its words are lost, and two begin with the heading above them."""
S = Statement
ARCH = "gfx950"
PEAK = next(one.gigabytes for one in mfmasim.arch(ARCH).rates.products if one.name == "MI355X") * 1e9 / 2**40
"""TiB per second of HBM on MI355X."""
MEASURED = "measured: only the GPU can decide it"
CAST = "cast[given=f32,target=e4m3,overflow=clamp,data=finite]"
F32, BF16 = "transpose[given=f32,load=16,store=8]", "transpose[given=bf16,load=8,store=8]"


WIDE, SIDE64 = "transpose_wide[given=bf16,load=16,store=8]", "transpose_side64[given=bf16,load=8,store=8]"
TWO, THIN = "transpose_two_tiles[given=bf16,load=8,store=8]", "transpose_thin[rows=64,cols=2880,split=1]"
SCALED = "scaled_conversion[given=f32,target=e4m3,overflow=clamp]"
SMALL, READ = "transpose[given=f32,load=16,store=2]", "transposed_read[given=f32,target=e4m3]"
BASE, BASE_TILE = "flat_baseline[given=f32]", "transpose_baseline[given=bf16,load=8,store=8]"
HELD, HELD_WIDE = "transpose_held[given=bf16,load=8,store=8]", "transpose_held[given=bf16,load=16,store=8]"
LOADS, MAYBE = "hinted_loads[given=f32]", "hinted_loads_if_large[given=f32]"


def profile(runs: Runs, case: str) -> Profile:
    """Of the cast without a tail, which converts its elements one by one."""
    return runs.profile(case, ARCH, **({"n": 4096} if case in (CAST, SCALED, LOADS, MAYBE, BASE) else {}))


def lds_bytes(case: str) -> Callable[[Runs], float]:
    return lambda runs: profile(runs, case).report.lds["bytes"]


def tile_bytes(lanes: int, store: int) -> Callable[[Runs], float]:
    """A tile of lanes x (lanes + 1) groups of FP8."""
    return lambda _: lanes * (lanes + 1) * store


def vgprs(case: str) -> Callable[[Runs], float]:
    return lambda runs: profile(runs, case).report.registers["vgpr"]


def waves(count: int) -> Callable[[Runs], float]:
    return lambda _: waves_of_vgprs(mfmasim.arch(ARCH), 64, count)


def degree(store: int, pad: int, *, write: bool) -> Callable[[Runs], float]:
    """Of a wave that writes its columns, or reads its rows, of the tile [32][32 + pad] of `store` bytes."""
    names = {8: "b64", 4: "b32", 2: "b16" if write else "u16"}
    name = f"ds_{'write' if write else 'read'}_{names[store]}"

    def found(_: Runs) -> float:
        lane = np.arange(64)
        x, y = lane % 32, lane // 32
        row, column = (x, y) if write else (y, x)
        addresses = (row * (32 + pad) + column) * store
        return int(lds.conflicts(ARCH, name, addresses, warn=False).degrees.max())

    return found


def executed(case: str, pattern: str) -> Callable[[Runs], float]:
    """Instructions with a text in the listing that were executed, a wave."""

    def found(runs: Runs) -> float:
        report = profile(runs, case).report
        assert report.program is not None
        texts = [(i.pc, i.text) for i in report.program.instructions]
        return sum(report.executed.get(pc, 0) for pc, text in texts if pattern in text)

    return found


def per_store(case: str) -> Callable[[Runs], float]:
    """Packed conversions for each 16-byte store."""
    return lambda runs: executed(case, "v_cvt_pk_fp8_f32")(runs) / executed(case, "global_store_dwordx4")(runs)


def multiplied(runs: Runs) -> float:
    """Products with the factor for each 16-byte store; a packed multiplication counts as two."""
    plain, packed = executed(SCALED, "v_mul_f32"), executed(SCALED, "v_pk_mul_f32")
    return (plain(runs) + 2 * packed(runs)) / executed(SCALED, "global_store_dwordx4")(runs)


def without_hint(case: str) -> Callable[[Runs], float]:
    """Wide stores without the hint `nt`."""
    return lambda runs: executed(case, "global_store_dwordx4")(runs) - hinted(case)(runs)


def hinted(case: str) -> Callable[[Runs], float]:
    """Executed stores with the hint `nt`."""

    def found(runs: Runs) -> float:
        report = profile(runs, case).report
        assert report.program is not None
        stores = (i for i in report.program.instructions if i.text.startswith("global_store"))
        return sum(report.executed.get(i.pc, 0) for i in stores if i.text.endswith(" nt"))

    return found


def hints(case: str) -> Callable[[Runs], str]:
    """Wide loads in the code of the case's kernel that have the hint `nt`, of all."""

    def found(runs: Runs) -> str:
        report = profile(runs, case).report
        assert report.program is not None
        loads = [i.text for i in report.program.instructions if i.text.startswith("global_load_dwordx4")]
        return f"{sum(text.endswith(' nt') for text in loads)} of {len(loads)}"

    return found


def occupied(case: str) -> Callable[[Runs], float]:
    """Waves on a SIMD."""
    return lambda runs: profile(runs, case).occupancy.waves_per_simd


def lines(case: str, buffer: str) -> Callable[[Runs], float]:
    """Lines of 64 bytes that a wave's store to a buffer touches."""

    def found(runs: Runs) -> float:
        sites = [s for s in profile(runs, case).traffic.sites if s.buffer == buffer and s.kind == "write"]
        return sum(s.lines[64] for s in sites) / sum(s.accesses for s in sites)

    return found


def atomics(case: str) -> Callable[[Runs], float]:
    """Operations on amax of a launch: one of each workgroup."""
    return lambda runs: sum(s.accesses for s in profile(runs, case).traffic.sites if s.kind == "atomic")


def most_loads(blocks: int) -> Callable[[Runs], float]:
    """Turns of the busiest thread for 131072 x 5760 elements."""
    return lambda _: -(-131072 * 5760 // 16 // (256 * blocks))


def groups(case: str, arch: str) -> Callable[[Runs], float]:
    """Workgroups that the LDS of a compute unit holds."""
    return lambda runs: mfmasim.arch(arch).lds_bytes // int(profile(runs, case).report.lds["bytes"])


def left(_: Runs) -> float:
    """Part of the workgroups that two tiles for each leave."""
    one, two = Part(8, 8, 0, 2048, 0, 2816), Variant(8, 8, 0, 2048, 0, 2816, beside=2)
    return math.prod(two.tiles(2)) / math.prod(one.tiles(2))


def launches(rows: int, cols: int, size: int) -> Callable[[Runs], str]:
    """Load and store of each launch, with its rows and columns."""

    def one(part: object) -> str:
        load, store, high, wide = (getattr(part, name) for name in ("load", "store", "rows", "cols"))
        return f"{load}/{store} {high}x{wide}" if load else f"general {high}x{wide}"

    return lambda _: "; ".join(one(part) for part in plan_transpose(rows, cols, size))


def most_launches(_: Runs) -> float:
    """Of any number of rows up to 4096, with whole columns."""
    return max(len(plan_transpose(rows, 2816, 2)) for rows in range(1, 4097))


def products(case: str) -> Callable[[Runs], float]:
    """Products with the factor of a thread; a packed multiplication counts as two."""

    def found(runs: Runs) -> float:
        report = profile(runs, case).report
        return (executed(case, "v_mul_f32")(runs) + 2 * executed(case, "v_pk_mul_f32")(runs)) / report.waves

    return found


def for_sixteen(case: str) -> Callable[[Runs], float]:
    """Vector instructions of a wave for each 16-byte store."""

    def found(runs: Runs) -> float:
        report = profile(runs, case).report
        return sum(n for name, n in report.counts.items() if name.startswith("v_")) / executed(case, "store_dwordx4")(
            runs
        )

    return found


def counts_pass(runs: Runs) -> str:
    """Whether a launch of the flat cast is right for counts around the width of a thread and of a workgroup."""
    every = {runs.profile(f"cast_count[n={n},given=bf16]", ARCH).result.status for n in (1, 17, 4097)}
    return "pass" if every == {"pass"} else ", ".join(sorted(every))


def traffic(rows: int, cols: int, size: int, seconds: float) -> Callable[[Runs], float]:
    """Percent of the peak that reading elements of a size and writing bytes takes in a time."""
    return lambda _: 100 * rows * cols * (size + 1) / seconds / 2**40 / PEAK


def caught(name: str) -> Callable[[Runs], str]:
    return lambda runs: ", ".join(runs.mutant(name).caught) or "nothing"


def grid_ratio(blocks: int) -> Callable[[Runs], float]:
    """Times as long as a cast of 131072x5760 from f32 takes with so many workgroups as with 256, by the timeline."""

    def milliseconds(count: int) -> float:
        (case,) = [case for case in load_file(families()["cast"]) if case.title == "cast_grid[blocks=1]"]
        product = product_of(mfmasim.arch(ARCH), None)
        recorded = record_case(
            case.with_parameters({"n": count * 4096 * 8, "blocks": count}), ARCH, units=product.units
        )
        cost, n = Costed(recorded, product, case.title), 131072 * 5760
        turns = n / (count * 4096)
        taken = estimate(recorded, cost.bound, cost.drawn, product, turns=turns, workgroups=count, operands=n * 5)
        return taken.milliseconds["value"]

    return lambda _: milliseconds(blocks) / milliseconds(256)


def share(rate: float) -> Callable[[Runs], float]:
    return lambda _: 100 * rate / PEAK


def exists(arch: str, name: str) -> Callable[[Runs], str]:
    """Whether an architecture has an instruction."""
    rows = family(arch).rows.values()
    return lambda _: "yes" if any(row.name == name for table in rows for row in table.values()) else "no"


def mean(*values: float) -> Callable[[Runs], float]:
    return lambda _: math.fsum(values) / len(values)


FLAT, TILED, T, C, RT, RC, KNOWN, ALL = SECTIONS
STATEMENTS = [
    # --- Bandwidth
    *(S(place, f"{name}: percent of 8 TB/s that {rate} TiB/s are", said, share(rate), within=1e-3,
        about="by the peak of MI355X, 7.276 TiB/s; the rate was measured", words=f"{rate} Ti/s ({said}%)")
      for place, name, rate, said in [(FLAT, "cast from f32", 6.26, 86.0), (FLAT, "cast from bf16", 6.08, 83.5),
        (TILED, "with transposition from f32", 5.84, 80.3), (TILED, "with transposition from bf16", 5.87, 80.6)]),
    S(FLAT, "rates and gains", "a table", None, "undecided", about=MEASURED,
      words="Geometric mean speedup (LLM shapes) ~3.0x ~2.7x Geometric mean speedup (GPT-OSS) ~3.1x ~2.6x"),
    S(TILED, "rates and gains", "a table", None, "undecided", about=MEASURED,
      words="Geometric mean speedup (LLM shapes) ~1.4x ~2.2x Geometric mean speedup (GPT-OSS) ~1.5x ~2.1x"),
    S(RC, "percent of 8 TB/s that 131072x5760 from f32 in 668 us are", 70.6, traffic(131072, 5760, 4, 668e-6),
      "remark", within=0.002, about="5.14 TiB/s, of the text's own time for a large shape, against 86.0 % at the peak",
      words="1004 us vs 668 us for FP32 131072x5760"),
    S(RC, "percent of 8 TB/s that they are in 1004 us", 47.0, traffic(131072, 5760, 4, 1004e-6), "remark", within=0.002,
      about="with 128 workgroups for 256 units"),
    S(RC, "128 workgroups, times as slow as 256, by the timeline", 1.5, grid_ratio(128), "undecided",
      about="1,004 / 668 us is 1.50; memory bounds both in the timeline, which does not tell them apart",
      words="Grid size 128 blocks — large shapes collapse (1004 us vs 668 us for FP32 131072x5760)"),
    S(KNOWN, "percent that error correction takes", 6.25, None, "undecided",
      about="one of 16 bytes would be 6.25; how much it takes of the bandwidth can only be measured",
      words="consuming ~6.25% of raw bandwidth for parity metadata"),
    S(KNOWN, "percent of the peak that it leaves", 93.75, lambda _: 100 - 6.25, "consistent",
      words="The theoretical ceiling for any streaming kernel is ~93.75% of advertised peak"),
    S(KNOWN, "what caps the bandwidth", "~80 %", None, "undecided", about=MEASURED,
      words="This scattered pattern caps bandwidth at ~80% of peak"),
    S(ALL, "mean gain of the cast, by the table", 2.85, mean(3.0, 2.7, 3.1, 2.6), "consistent", within=1e-3,
      words="Cast Only: 2.85x speedup on average"),
    S(ALL, "mean gain with transposition, by the tables", 1.8, mean(1.4, 2.2, 1.5, 2.1), "remark", within=0.01,
      about="the means of the table above give 1.8; the summary names no shapes, so others may give 2.0",
      words="Cast Transpose: 2.0x speedup on average"),
    # --- Kernels
    S(C, "packed conversions for 16 bytes of FP8", 8, per_store(CAST), about="one intrinsic pair for each dword, "
      "word by word: four for 16 bytes",
      words="4 intrinsic pairs per 16 elements"),
    S(C, "wide stores with the hint, with an array between and without", "all, all", None, "undecided",
      about="by the text's compiler; LLVM 22 keeps `nt` in both, on gfx942 and gfx950",
      words="No intermediate converted[] array, which preserves the NT store hint through the compiler"),
    S(C, "wide stores without the hint of non-temporal", 0, without_hint(CAST),
      words="confirmed as global_store_dwordx4 ... nt in assembly"),
    S(T, "v_cvt_scalef32_pk_fp8_f32 on gfx942", "no", exists("gfx942", "v_cvt_scalef32_pk_fp8_f32"), "remark",
      about="gfx950 alone; v_cvt_pk_fp8_f32 is on both, and is what the code here uses"),
    S(T, "packed conversions with a scale for 16 bytes of FP8, by the other instruction", 8,
      lambda r: executed(SCALED, "v_cvt_scalef32_pk_fp8_f32")(r) / executed(SCALED, "global_store_dwordx4")(r),
      about="its scale is 1: a factor that is no power of two is multiplied before",
      words="__builtin_amdgcn_cvt_scalef32_pk_fp8_f32 with scale=1.0 and pre-multiply"),
    S(KNOWN, "factors multiplied for them, at least", 15, multiplied, relation=">",
      about="one for each element; and a few for 1 / scale",
      words="pass 1.0 to the intrinsic, adding 16-128 extra v_mul_f32 instructions per tile"),
    S(KNOWN, "factors multiplied by a thread of the smallest tile of f32", 16, products(SMALL),
      within=0.15, about="and some for 1 / scale, by one wave",
      words="pass 1.0 to the intrinsic, adding 16-128 extra v_mul_f32 instructions per tile"),
    S(KNOWN, "and of the largest of bf16", 128, products(WIDE), within=0.05,
      words="pass 1.0 to the intrinsic, adding 16-128 extra v_mul_f32 instructions per tile"),
    S(T, "checks that fail if that instruction's scale is 1.5 instead of 1", "nothing",
      caught("scaled_conversion_by_its_exponent"), about="of the scale the exponent alone counts",
      words="the intrinsic's scale param is E8M0 format, not arbitrary float"),
    S(FLAT, "packed conversions of a cast like the baseline, for 16 elements", 0,
      executed(BASE, "v_cvt_pk"), "remark", about="`element_by_element` of flat_ways.hip; the same bytes"),
    S(FLAT, "its vector instructions for 16 elements, times those with conversions", 3.58,
      lambda r: for_sixteen(BASE)(r) / for_sixteen(CAST)(r), "remark", within=0.02,
      about="the text measured 3.0 times the time, which memory limits"),
    S(TILED, "hints of a tile like the baseline's", 0, hinted(BASE_TILE), "remark",
      about="`baseline` of transpose_ways.hip: bytes made one by one, no cap of the loads"),
    S(C, "checks that fail for a version without limits, beyond the range", "outputs", caught("first_version_cdna4"),
      "remark", about="NaN in the bulk and 448 in the tail, where later code limits the value first"),
    S(T, "VGPRs of the kernel for bf16 with loads of 8", 125, vgprs(HELD), "undecided",
      about="the text's own compiler decides; found for matrices that are apart and a target of 4 waves, with which "
      "LLVM 22 keeps every load in flight (`held`); 38 without, which 8 waves leave room for",
      words="Capping at LOAD=8 uses 125 VGPRs"),
    S(T, "waves of such kernels with loads of 8, times those with loads of 16", 2,
      lambda r: occupied(HELD)(r) / occupied(HELD_WIDE)(r), about="4 and 2, with 127 and 248 VGPRs",
      words="doubling occupancy"),
    S(TILED, "VGPRs of the baseline's tile with loads of 8 from bf16", 124, vgprs(BASE_TILE), "remark",
      about="bytes that are made one by one take a register each until they are packed; 249 with loads of 16"),
    S(T, "waves on a SIMD with 211 VGPRs", 2, waves(211), words="uses 211 VGPRs (2 waves/SIMD)"),
    S(T, "waves on a SIMD with 125 VGPRs", 4, waves(125), words="uses 125 VGPRs (4 waves/SIMD)"),
    # --- LDS
    S(T, "bytes of a tile of 32 x 33 groups of 8", 8448, tile_bytes(32, 8),
      words="stores CVec<fp8,8> instead of float"),
    S(T, "times as many in f32", 4, lambda _: tile_bytes(32, 32)(_) / tile_bytes(32, 8)(_), "consistent",
      words="4x smaller footprint"),
    S(RT, "KB of a tile of 64 x 65 groups of 8, for WARP_SIZE 64", 33, lambda _: tile_bytes(64, 8)(_) / 1000,
      within=0.01,
      words="creates TILE_M=512 and smem=33KB"),
    S(T, "bytes of the LDS that the kernel here takes, at least", 8512, lds_bytes(F32), "remark",
      about="the tile, and a dword of each wave for amax"),
    S(T, "padding leaves no conflict in writes of 8 bytes: degree", 1, degree(8, 1, write=True),
      about="16 without padding", words="avoids bank conflicts with +1 padding"),
    S(T, "padding leaves no conflict in writes of 4 bytes: degree", 1, degree(4, 1, write=True),
      about="32 without padding", words="avoids bank conflicts with +1 padding"),
    S(T, "degree of writes of 2 bytes with padding", 2, degree(2, 1, write=True), "remark",
      about="16 without padding; the text names groups of 8"),
    # --- Launches
    S(KNOWN, "320x2880, bf16", "general 320x2880", launches(320, 2880, 2), "refuted",
      about="320 is a multiple of 64: by the rule as its code was published (below 512 rows one launch) it takes "
      "tiles with stores of 2; 496 alone is right. By the rule that the text prints it would be 256 rows by STORE 8 "
      "and 64 by STORE 2",
      words="shapes like 320x2880 and 496x2880 trigger the general-kernel fallback"),
    S(KNOWN, "496x2880, bf16", "general 496x2880", launches(496, 2880, 2),
      about="by the rule as its code was published",
      words="shapes like 320x2880 and 496x2880 trigger the general-kernel fallback"),
    S(KNOWN, "2048x2880, bf16", "8/8 2048x2816; 4/8 2048x64", launches(2048, 2880, 2),
      words="2880 is not divisible by TILE_N=128 for BF16 (LOAD=8), requiring a 2-launch column cascade (2816 + 64 "
      "cols)"),
    S(KNOWN, "2048x2880, f32", "8/8 2048x2880", launches(2048, 2880, 4), "remark",
      about="2880 is a multiple of 64 columns"),
    S(T, "most launches for any number of rows", 2, most_launches, words="Max 2 launches for any M value"),
    S(T, "640x128 and 576x128, bf16", "8/8 512x128; 8/4 128x128; 8/8 512x128; 8/2 64x128",
      lambda r: f"{launches(640, 128, 2)(r)}; {launches(576, 128, 2)(r)}",
      words="STORE=4 if rem%128==0, STORE=2 if rem%64==0, general kernel otherwise"),
    S(C, "one launch of 1 to 4097 elements: the kernel", "pass", counts_pass,
      words="No tiling, no cascade, single kernel launch for any shape"),
    S(RC, "launches of 2048x2880 from bf16 by tiles whose transposition is off, above 1", 1,
      lambda _: len(plan_transpose(2048, 2880, 2)), relation=">", about="the kernel: `only_cast` of transpose_ways.hip",
      words="Tiled structure imposed unnecessary alignment constraints and cascade overhead"),
    S(RT, "launches of the full cascade for M = 496", 5, lambda _: len(plan_cascade(496, 2816, 2)),
      about="256 + 128 + 64 + 32 + 16 rows; the tests execute them",
      words="Full row cascade (STORE 8->4->2->1->scalar) — produces up to 5 kernel launches for non-aligned M (e.g., "
      "M=496)"),
    S(C, "workgroups of a cast of 131072x5760 from f32 on 256 units", 256,
      lambda _: plan_cast(131072 * 5760, 4, 256).blocks, words="cu_count blocks for FP32"),
    S(C, "and from bf16", 512, lambda _: plan_cast(131072 * 5760, 2, 256).blocks,
      about="from 2^27 elements on, which the text writes as more than 128M",
      words="cu_count*2 for BF16 tensors >128M elements"),
    # --- Rejected
    S(RT, "percent of 256 units that 12 workgroups take", 4.7, lambda _: 100 * 12 / 256, "consistent", within=0.01,
      words="across 256 CUs (4.7% utilization)"),
    S(RT, "workgroups of a thread for each of 2880 columns, 256 at once", 12, lambda _: -(-2880 // 256), "consistent",
      words="only 12 blocks for N=2880"),
    S(RT, "workgroups of that kernel, executed for 64 rows", 12, atomics(THIN), about="each adds to amax once",
      words="only 12 blocks for N=2880"),
    S(KNOWN, "lines of its store of 512 transposed bytes: one for each thread", 64, lines(THIN, "across"),
      about="the tiles' stores touch 8", words="adjacent threads write to cache lines spaced num_rows bytes apart"),
    S(T, "loads of 16 bytes from bf16: VGPRs", 211, vgprs(HELD_WIDE), "undecided",
      about="as for loads of 8, with a target of 2 waves; 68 without", words="LOAD=16 for BF16 uses 211 VGPRs"),
    S(T, "waves on a SIMD of the kernel here with loads of 16 bytes from bf16", 6, occupied(WIDE), "remark",
      about="8 with loads of 8, on gfx950: with packed bytes and loads in turn nothing asks for a cap"),
    S(RT, "how much faster than that kernel", "2-3x", None, "undecided", about=MEASURED,
      words="The tiled cascade was 2-3x faster for M>=64"),
    S(RC, "how much faster than the tiles", "10-20%", None, "undecided", about=MEASURED,
      words="The dedicated 1D kernel was 10-20% faster on small shapes"),
    S(T, "packed conversions for 4 bytes, in one dword", 2, lambda r: per_store(CAST)(r) / 4,
      words="pack 4 FP8 values into one uint32"),
    S(T, "a kernel that turns its bytes when it loads them", "pass", lambda r: profile(r, F32).result.status, "remark",
      about="`transpose` of hipkernels/cast does, and its tile in the LDS is stored without a pass more",
      words="Register transpose during load"),
    S(RT, "two tiles for a workgroup: part of the workgroups that is left of 2048x2816, bf16", 0.5, left,
      words="by halving block count"),
    S(RT, "two tiles for a workgroup: lines of a transposed store, as with one", 8, lines(TWO, "across"), "remark",
      about="the stores are those of one tile"),
    S(RT, "by ds_read_b64_tr_b8: lines of a transposed store, no fewer than the tiles' 8", 7, lines(READ, "across"),
      relation=">",
      words="The output_t scattered write pattern is the bottleneck, not the transpose method"),
    S(RT, "WARP_SIZE 64: rows of a tile", 512, lambda _: 2048 // Variant(8, 8, 0, 2048, 0, 256, side=64).tiles(2)[0],
      words="creates TILE_M=512 and smem=33KB"),
    S(RT, "WARP_SIZE 64: bytes of the LDS, at least", 33279, lds_bytes(SIDE64), relation=">",
      words="creates TILE_M=512 and smem=33KB"),
    S(RT, "WARP_SIZE 64: workgroups that the LDS of a unit of gfx942 holds", 1, groups(SIDE64, "gfx942"),
      about="on gfx950, whose LDS is larger, four", words="exceeding practical LDS budget per workgroup"),
    S(RC, "unconditional hints: loads in the code that have one", "4 of 4", hints(LOADS),
      words="Only unconditional NT or template-parameterized NT can emit the nt flag"),
    S(RC, "hints behind a branch on the size: loads in the code that have one", "0 of 4", hints(MAYBE), "undecided",
      about="by the text's compiler; LLVM 22 keeps both branches, and the hint in one",
      words="Conditional NT loads (runtime branch on tensor size >512MB) — LLVM merged both branch paths during "
      "optimization and dropped the !nontemporal metadata"),
    S(RC, "1024 workgroups: operations on amax", 1024, atomics("rejected_grid[blocks=1024]"),
      about="256 with a workgroup for each unit", words="Grid size 1024 blocks — uniformly worse than 512 or 256. "
      "More blocks = more scheduling overhead + more atomicMax contention on amax"),
    S(RC, "128 workgroups: turns of a thread for 131072x5760, twice those of 256", 2 * 720, most_loads(128),
      "consistent",
      words="Grid size 128 blocks"),
    S(RC, "times of the rejected variants", "a list", None, "undecided", about=MEASURED,
      words="up to -35% on 16384x4096"),
]  # fmt: skip
