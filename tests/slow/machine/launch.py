"""Launches on the slow interpreter: one workgroup after the other."""

from __future__ import annotations

from tests.slow.machine.interpreter import Wave
from tests.slow.machine.storage import Lds, Memory


def launch(kernel, grid, block, arguments, *, lds_bytes=0, most_steps=100_000, user_sgprs=2, arch="gfx942", lanes=64):
    """Run a kernel whose arguments are buffers (bytes) or 64-bit numbers.

    The kernel enables the kernarg pointer (s[0:1]) and the workgroup ids x, y, z after it (on gfx12 they are in
    TTMP9 and TTMP7), and takes packed work-item ids in v0.

    Returns:
        The buffers as they are at the end, and the waves by (workgroup x, y, z, wave).
    """
    memory = Memory()
    words = [memory.place(value) if isinstance(value, bytes | bytearray) else value for value in arguments]
    kernarg = memory.place(b"".join(word.to_bytes(8, "little") for word in words) or bytes(8))
    waves = {}
    sizes = [(x, y, z) for z in range(grid[2]) for y in range(grid[1]) for x in range(grid[0])]
    for group in sizes:
        lds = Lds(lds_bytes)
        options = {"arch": arch, "lanes": lanes, "accum_offset": _first_agpr(kernel, arch)}
        options["vgprs"] = _registers(kernel, arch)
        waves_of = (Wave(kernel.code, kernel.info.entry, memory, lds, **options) for _ in iter(int, 1))
        mine = _workgroup(waves_of, group, block, kernarg, user_sgprs)
        waves |= {(*group, n): wave for n, wave in enumerate(mine)}
        _run(mine, most_steps)
    placed = dict(memory.buffers)
    outputs = [
        bytes(placed[word]) if isinstance(value, bytes | bytearray) else None
        for word, value in zip(words, arguments, strict=True)
    ]
    return outputs, waves


def _first_agpr(kernel, arch):
    """Register that is a0; gfx908 has a file of its own for AGPRs, here behind the 256 VGPRs."""
    return 256 if arch == "gfx908" else 4 * (kernel.info.descriptor.rsrc3 & 63) + 4


def _registers(kernel, arch):
    """VGPRs of a wave on CDNA: units of 8 registers, on gfx908 of 4 (COMPUTE_PGM_RSRC1, bits 5 to 0)."""
    return (4 if arch == "gfx908" else 8) * ((kernel.info.descriptor.rsrc1 & 63) + 1)


def _workgroup(fresh, group, block, kernarg, user_sgprs):
    items = [(x, y, z) for z in range(block[2]) for y in range(block[1]) for x in range(block[0])]
    mine = []
    while items:
        wave = next(fresh)
        own, items = items[: wave.lanes], items[wave.lanes :]
        wave.exec_ = (1 << len(own)) - 1
        for lane, (x, y, z) in enumerate(own):
            wave.v[0][lane] = x | y << 10 | z << 20
        wave.set_pair(0, kernarg)
        if wave.facts.ttmp_ids:
            wave.s[108 + 9], wave.s[108 + 7] = group[0], group[1] | group[2] << 16
        else:
            wave.s[user_sgprs : user_sgprs + 3] = group
        mine.append(wave)
    return mine


def _run(waves, most_steps):
    """All waves of a workgroup, each as far as it goes; a barrier opens when every living wave waits at it."""
    while not all(wave.ended for wave in waves):
        for wave in waves:
            while not wave.ended and not wave.waiting:
                wave.step()
                assert wave.steps <= most_steps, f"more than {most_steps} instructions, at {wave.pc:#x}"
        for wave in waves:
            wave.waiting = False
