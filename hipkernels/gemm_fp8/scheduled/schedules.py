"""Cases of 8-wave ping-pong and 4-wave interleave, the right ones and the published wrong ones."""

from collections.abc import Sequence

from hipkernels.gemm_fp8.problem import declare
from mfmasim.verify import Claim

APART = {"barrier-different": "the halves of the workgroup are one barrier apart on purpose"}
HALVES = {"gfx942": 64, "gfx950": 128}
"""Rows of a half: two slots of two halves of A and of B fill the LDS of gfx942, and 128 KiB on gfx950."""


MFMA, READ, FETCH, BARRIER = "v_mfma_.*", "ds_read_b128", "buffer_load_dword(x4)?", "s_barrier"

# Statements of AMD's two posts about the kernels on gfx950, and the figures of the smaller tiles of gfx942, in the
# order of HALVES.
PINGPONG = [
    ("buffer loads for half a matrix: vmcnt rises by 2", FETCH, "FETCH_", (4, 2)),
    ("reads of a half of B: lgkmcnt rises by 4", READ, "READ_B(b", (2, 4)),
    ("reads of a half of A: lgkmcnt rises by 8", READ, "READ_A(a", (4, 8)),
    ("matrix instructions of a wave and a tile of K", MFMA, "", (32, 32)),
    ("reads of a wave and a tile of K", READ, "", (12, 24)),
    ("buffer loads of a wave and a tile of K", FETCH, "", (16, 8)),
    ("barriers of a tile of K", BARRIER, "", (8, 8)),
    ("LDS of a workgroup", "LDS bytes", "", (65536, 131072)),
    ("two waves on each SIMD", "waves per SIMD", "", (2, 2)),
]
INTERLEAVE = [
    ("reads of a block", READ, "BLOCK(", (4, 8)),
    ("buffer loads of a block", FETCH, "BLOCK(", (8, 4)),
    ("matrix instructions of a block", MFMA, "BLOCK(", (16, 16)),
    ("matrix instructions of four blocks", MFMA, "", (64, 64)),
    ("reads of four blocks", READ, "", (16, 32)),
    ("buffer loads of four blocks", FETCH, "", (32, 16)),
    ("LDS of a workgroup", "LDS bytes", "", (65536, 131072)),
    ("one wave on each SIMD", "waves per SIMD", "", (1, 1)),
]
ORDERED = {
    "pingpong": [
        ("register copies in the main loop", "register copies", (0, 0)),
        ("matrix instructions of a turn of one half of the waves", "matrix instructions in a row", (8, 8)),
    ],
    "interleave": [
        ("register copies in the main loop", "register copies", (0, 0)),
        ("at most so many matrix instructions without a load between", "matrix instructions in a row", (8, 3)),
        ("at least so many matrix instructions before a read is waited for", "matrix from read to wait", (4, 1)),
        ("at least so many before a load to the LDS is waited for", "matrix from fetch to wait", (68, 65)),
    ],
    "printed": [
        ("at most so many matrix instructions without a load between", "matrix instructions in a row", (0, 2)),
        ("at least so many matrix instructions before a read is waited for", "matrix from read to wait", (0, 2)),
        ("at least so many before a load to the LDS is waited for", "matrix from fetch to wait", (0, 68)),
    ],
}
"""What the order of the main loop has to have, in the order of HALVES."""


def pingpong_order(arch: str, scaled: bool = False) -> str:
    """Eight phases of a tile of K: every other one multiplies, between them data are moved.

    Args:
        arch: architecture.
        scaled: MXFP4, with a read of scales for each half, two loads of them for a tile, and two steps of K.
    """
    direct, a, b, matrix = {"gfx942": (4, 4, 2, 8), "gfx950": (2, 8, 4, 8)}[arch]
    a, b, first, matrix = (a + 1, b + 1, direct + 2, 2 * matrix) if scaled else (a, b, direct, matrix)
    wait = "lgkmcnt(0)"
    return (
        f"R{a + b} F{first} lgkmcnt({a}) B {wait} M{matrix} B "
        f"R{b} F{direct} B {wait} M{matrix} B "
        f"R{a} F{direct} B {wait} M{matrix} B "
        f"F{direct} vmcnt({3 * direct}) B M{matrix} B"
    )


def interleave_order(arch: str) -> str:
    """Four blocks; in each the reads and the loads are spread over the gaps between matrix instructions.

    The gaps are computed as interleave.hip does: the first one and the last ones are left free.
    """
    tiles, direct, each = {"gfx942": (2, 8, 4), "gfx950": (4, 4, 1)}[arch]
    reads, slots = 2 * tiles, tiles * tiles - 2
    block: list[str] = []
    for n in range(tiles * tiles):
        block += ["M"] * each
        if 0 < n <= slots:
            for r in range((n - 1) * reads // slots, n * reads // slots):
                block += ["F"] * ((r + 1) * direct // reads - r * direct // reads) + ["R"]
    return four_blocks(" ".join(block), direct)


def four_blocks(block: str, direct: int) -> str:
    """A turn of the interleave: a quadrant in each block, and waits before the operands of the next one."""
    waits = f"vmcnt({4 * direct}) lgkmcnt(0) B"
    return f"{waits} {block} lgkmcnt(0) {block} {waits} {block} lgkmcnt(0) {block}"


PRINTED = "M2 F R M R M F R M2 R M2 F R M2 R M2 F R M2 R M2"
"""A block in the order of AMD's post on the interleave: the post prints up to its third F R, and goes on as the source
beside it does (nirw4nna/hipgemm, fp8_4wave.hpp)."""
EIGHT_WAY = Claim("bank conflicts without a swizzle are 8-way", "LDS degree", 8, holds=False)
"""The post on the interleave says so; it is 4-way in the phases of either architecture."""
# On gfx950; with the swizzle for CDNA4 the LDS is what bounds on gfx942.
BOUNDS = [
    Claim("bound by the matrix cores", "matrix share", 1),
    Claim("the LDS is busy for at most half of the bound", "LDS share", 0.5, relation="<="),
]


def claims_of(rows: list[tuple[str, str, str, tuple[int, int]]], arch: str, ordered: str) -> list[Claim]:
    which = list(HALVES).index(arch)
    found = [Claim(text, what, counts[which], where) for text, what, where, counts in rows]
    found += [Claim(text, what, counts[which]) for text, what, counts in ORDERED[ordered]]
    return found + (BOUNDS if arch == "gfx950" else [])


def both(
    name: str,
    source: str,
    arch: str,
    threads: int,
    suppress: dict[str, str] | None = None,
    claims: Sequence[Claim] = (),
    fails: str = "",
    order: str = "",
) -> None:
    """A case on one architecture. The prologue fetches two tiles of K, so that K has at least two."""
    size = 2 * HALVES[arch]
    needs = f"M % {size} == 0 and N % {size} == 0 and K % 128 == 0 and K >= 256"
    declare(
        f"{name}_{size}",
        source,
        kernel=name,
        arch=arch,
        tile=(size, size, 128),
        threads=threads,
        needs=needs,
        M=size,
        N=2 * size if size < 256 else size,
        K=512,
        suppress=suppress,
        claims=claims,
        fails=(fails,) if fails else (),
        order=order or (),
    )


def right() -> None:
    """Kernels that no check may report; the second of each is also free of bank conflicts on gfx942."""
    for arch in HALVES:
        for name in ("pingpong", "pingpong_row"):
            both(
                name,
                "pingpong.hip",
                arch,
                512,
                APART,
                claims_of(PINGPONG, arch, "pingpong"),
                order=pingpong_order(arch),
            )
        for name in ("interleave", "interleave_row"):
            both(
                name,
                "interleave.hip",
                arch,
                256,
                claims=claims_of(INTERLEAVE, arch, "interleave"),
                order=interleave_order(arch),
            )
        both("interleave_none", "interleave.hip", arch, 256, claims=[EIGHT_WAY], order=interleave_order(arch))
    both("interleave_stored_last", "interleave.hip", "gfx950", 256, order=interleave_order("gfx950"))
    claims = claims_of(INTERLEAVE, "gfx950", "printed")
    both("interleave_printed", "interleave.hip", "gfx950", 256, claims=claims, order=four_blocks(PRINTED, 4))


def wrong() -> None:
    """The schedules as printed or published, and one without the barrier that would balance another's halves."""
    for arch in HALVES:
        for name, check in (("printed_loop", "races"), ("racy_epilogue", "races"), ("barrier_parity", "barrier")):
            both(f"pingpong_{name}", "pingpong.hip", arch, 512, APART, fails=check)
        for name in ("barrier_first", "not_all_fetched"):
            both(f"interleave_{name}", "interleave.hip", arch, 256, fails="races")
