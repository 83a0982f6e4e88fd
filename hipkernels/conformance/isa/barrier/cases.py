"""Barriers and the order between waves and workgroups."""

from functools import partial

import numpy as np

from hipkernels.conformance.isa.barrier import reference
from hipkernels.conformance.isa.targets import ARCHS
from mfmasim.verify import In, InOut, LaunchDict, Out, case

declare = partial(case, "barrier.hip", arch=ARCHS)
BARRIER = "s_barrier(_wait)?"


@declare(kernel="barrier_phases", executes=BARRIER)
def barrier_phases(phases: int = 4, block: int = 250) -> LaunchDict:
    args = [In("u32", (2, block), "bits"), Out("u32", (2, block)), phases]
    return {"grid": 2, "block": block, "args": args, "expect": partial(reference.barrier_phases, phases=phases)}


@declare(
    kernel="barrier_after_exit",
    each=[{"stay": 128}, {"stay": 32}],
    executes=BARRIER,
    suppress={"barrier": "tests that the barrier does not wait for waves and lanes that have ended"},
)
def barrier_after_exit(stay: int = 128, block: int = 256) -> LaunchDict:
    args = [In("u32", (2, block), "bits"), Out("u32", (2, block)), stay]
    return {"grid": 2, "block": block, "args": args, "expect": partial(reference.barrier_after_exit, stay=stay)}


@declare(kernel="wave_handshake", executes=[BARRIER, "s_sleep"])
def wave_handshake(rounds: int = 3) -> LaunchDict:
    args = [In("u32", (3, 128), "bits"), Out("u32", (3, 128)), rounds]
    return {"grid": 3, "block": 128, "args": args, "expect": partial(reference.wave_handshake, rounds=rounds)}


@declare(
    kernel="last_workgroup", executes=[BARRIER, "global_atomic_add(_u32)?", "buffer_(wbl2|gl0_inv)|global_(wb|inv)"]
)
def last_workgroup(grid: int = 9, block: int = 100) -> LaunchDict:
    args = [In("u32", (grid, block), "bits"), Out("u32", grid), InOut("u32", 1), Out("u32", 1)]
    return {"grid": grid, "block": block, "args": args, "expect": reference.last_workgroup}


@declare(kernel="chained_scan", executes=["s_sleep", BARRIER])
def chained_scan(grid: int = 5) -> LaunchDict:
    args = [In("u32", 128 * grid, "bits"), Out("u32", 128 * grid), InOut("u32", 1 + 2 * grid)]
    return {"grid": grid, "block": 128, "args": args, "expect": reference.chained_scan}


@declare(
    kernel="split_barrier", arch=[a for a in ARCHS if a == "gfx1201"], executes=["s_barrier_signal", "s_barrier_wait"]
)
def split_barrier(block: int = 200) -> LaunchDict:
    args = [In("u32", (3, block), "bits"), Out("u32", (3, block))]
    return {"grid": 3, "block": block, "args": args, "expect": lambda x: x * np.uint32(9) ^ x[:, ::-1]}
