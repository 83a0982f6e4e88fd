"""Cases of 8-wave ping-pong and 4-wave interleave, the right ones and the published wrong ones."""

from problem import declare

APART = {"barrier-different": "the halves of the workgroup are one barrier apart on purpose"}
HALVES = {"gfx942": 64, "gfx950": 128}
"""Rows of a half: two slots of two halves of A and of B fill the LDS of gfx942, and 128 KiB on gfx950."""


def both(name, source, arch, threads, suppress=None):
    """A case on one architecture. The prologue fetches two tiles of K, so that there have to be two."""
    size = 2 * HALVES[arch]
    needs = f"M % {size} == 0 and N % {size} == 0 and K % 128 == 0 and K >= 256"
    declare(
        f"{name}_{size}", source, kernel=name, arch=arch, tile=(size, size, 128), threads=threads, needs=needs,
        M=size, N=2 * size if size < 256 else size, K=512, suppress=suppress,
    )  # fmt: skip


def right():
    """Kernels that no check may blame; the second of each is free of bank conflicts on gfx942, too."""
    for arch in HALVES:
        for name in ("pingpong", "pingpong_row"):
            both(name, "pingpong.hip", arch, 512, APART)
        for name in ("interleave", "interleave_row"):
            both(name, "interleave.hip", arch, 256)


def wrong():
    """The schedules as they were printed, or published and mended later."""
    for arch in HALVES:
        for name in ("printed_loop", "racy_epilogue", "barrier_parity"):
            both(f"pingpong_{name}", "pingpong.hip", arch, 512, APART)
        for name in ("barrier_first", "not_all_fetched"):
            both(f"interleave_{name}", "interleave.hip", arch, 256)
