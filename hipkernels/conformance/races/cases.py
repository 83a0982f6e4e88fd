"""Correct kernels that use the LDS with explicit barriers and waits: no check may report them.

Each of them has wrong variants in mutants.py.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from hipkernels.conformance.races import reference
from mfmasim.verify import In, InOut, LaunchDict, Out, case

ARCHS = ["gfx942", "gfx950", "gfx1151", "gfx1201"]
CDNA, SPLIT = ARCHS[:2], ARCHS[3:]
WAVES = [{"waves": 2}, {"waves": 8}]
WRITE = "ds_(write|store)_b(8|16|32)"


def launch(n: int, args: list[Any], expect: Callable[..., Any]) -> LaunchDict:
    return {"grid": 1, "block": n, "args": args, "expect": expect}


def mapped(n: int, expect: Callable[..., Any]) -> LaunchDict:
    """As many dwords in as out, one a thread."""
    return launch(n, [In("u32", n, "bits"), Out("u32", n)], expect)


def declare(source: str, name: str, expect: Callable[..., Any], executes: str = WRITE) -> None:
    """A case for a kernel that writes one dword for each thread."""

    def build(waves: int = 2, wave: int = 64) -> LaunchDict:
        return mapped(waves * wave, expect(wave))

    build.__name__ = name
    case(source, kernel=name, arch=ARCHS, each=WAVES, executes=executes)(build)


declare("exchange.hip", "exchange", lambda wave: lambda x: np.roll(x, -wave))
declare("exchange.hip", "exchange_twice", lambda wave: partial(reference.exchange_twice, wave=wave))
declare("exchange.hip", "turns", lambda wave: partial(reference.turns, wave=wave))
declare("exchange.hip", "broadcast", lambda wave: partial(reference.broadcast, wave=wave))
declare("exchange.hip", "stencil", lambda wave: reference.stencil)
declare("collect.hip", "reduction", lambda wave: lambda x: np.full_like(x, x.sum(dtype=x.dtype)))
declare("collect.hip", "scan", lambda wave: lambda x: x.cumsum(dtype=x.dtype))
declare(
    "collect.hip", "extremes", lambda wave: lambda x: np.full_like(x, x.max() - x.min()), executes="ds_(min|max)_u32"
)
declare("pipeline.hip", "counted_reads", lambda wave: lambda x: x[::-1] * np.uint32(9) ^ np.roll(x, -wave))


@case("exchange.hip", kernel="interleaved_bytes", arch=ARCHS, each=WAVES, executes=WRITE)
def interleaved_bytes(waves: int = 2, wave: int = 64) -> LaunchDict:
    n = waves * wave
    return launch(n, [In("u8", n, "bits"), Out("u8", n)], partial(reference.interleaved_bytes, wave=wave))


@case("exchange.hip", kernel="transposition", arch=ARCHS, each=WAVES, executes=WRITE)
def transposition(waves: int = 2, wave: int = 64) -> LaunchDict:
    return launch(min(waves * wave, 256), [In("u32", (16, 16), "bits"), Out("u32", (16, 16))], np.transpose)


@case("exchange.hip", kernel="two_halves", arch=ARCHS, each=WAVES, executes=WRITE)
def two_halves(waves: int = 2, wave: int = 64, rounds: int = 3) -> LaunchDict:
    n = waves * wave
    return launch(n, [In("u32", n, "bits"), Out("u32", n), rounds], partial(reference.two_halves, rounds=rounds))


@case("collect.hip", kernel="reduction_in_wave", arch=ARCHS, each=WAVES, executes="flat_store_(dword|b32)")
def reduction_in_wave(waves: int = 2, wave: int = 64) -> LaunchDict:
    n = waves * wave
    return launch(n, [In("u32", n, "bits"), Out("u32", 1)], lambda x: x.sum(dtype=x.dtype, keepdims=True))


@case("collect.hip", kernel="histogram", arch=ARCHS, each=WAVES, executes="ds_add_u32")
def histogram(waves: int = 2, wave: int = 64) -> LaunchDict:
    n = waves * wave
    return launch(n, [In("u32", n, "bits"), Out("u32", 32)], reference.histogram)


@case("collect.hip", kernel="tickets", arch=ARCHS, each=WAVES, executes="ds_add_rtn_u32")
def tickets(waves: int = 2, wave: int = 64) -> LaunchDict:
    n = waves * wave
    return mapped(n, lambda x: np.roll(np.arange(n, dtype=np.uint32), -wave) * np.uint32(7) + x[0])


@case("pipeline.hip", kernel="double_buffer", arch=ARCHS, each=WAVES, executes=WRITE)
def double_buffer(waves: int = 2, wave: int = 64, steps: int = 5) -> LaunchDict:
    n = waves * wave
    args = [In("u32", (steps, n), "bits"), Out("u32", n), steps]
    return launch(n, args, lambda x: reference.folded(np.roll(x, -wave, axis=1), 3))


@case("pipeline.hip", kernel="ring", arch=ARCHS, each=WAVES, executes=WRITE)
def ring(waves: int = 2, wave: int = 64, steps: int = 6) -> LaunchDict:
    n = waves * wave
    args = [In("u32", (steps, n), "bits"), Out("u32", n), steps]
    return launch(n, args, lambda x: reference.folded(x[:, ::-1], 5))


@case("pipeline.hip", kernel="counted_loads", arch=ARCHS, each=WAVES, executes="global_load_(dword|b32)")
def counted_loads(waves: int = 2, wave: int = 64) -> LaunchDict:
    return mapped(waves * wave, lambda x: x[::-1] * np.uint32(9) ^ x)


DIRECT = "buffer_load_dword"


@case("direct.hip", kernel="direct_alone", arch=CDNA, each=WAVES, executes=DIRECT)
def direct_alone(waves: int = 2) -> LaunchDict:
    n = 64 * waves
    return launch(n, [In("u32", 1024, "bits"), Out("u32", n)], partial(reference.direct_alone, n=n))


@case("direct.hip", kernel="direct_exchange", arch=CDNA, each=WAVES, executes=DIRECT)
def direct_exchange(waves: int = 2) -> LaunchDict:
    n = 64 * waves
    return launch(n, [In("u32", 1024, "bits"), Out("u32", n)], partial(reference.direct_exchange, n=n))


@case(
    "direct.hip",
    kernel="{name}",
    arch=CDNA,
    each=[{"name": name, **waves} for name in ("direct_pipeline", "direct_ping_pong") for waves in WAVES],
    executes=DIRECT,
)
def direct(name: str = "direct_pipeline", waves: int = 2, tiles: int = 4) -> LaunchDict:
    n = 64 * waves
    args = [In("u32", (tiles, n), "bits"), Out("u32", n), tiles]
    return launch(n, args, lambda x: reference.folded(x[:, ::-1], 3))


@case("split.hip", kernel="split_exchange", arch=SPLIT, each=WAVES, executes=["s_barrier_signal", "s_barrier_wait"])
def split_exchange(waves: int = 2, wave: int = 32) -> LaunchDict:
    return mapped(waves * wave, lambda x: x * np.uint32(9) ^ x[::-1])


@case("split.hip", kernel="split_rotation", arch=SPLIT, each=WAVES, executes=["s_barrier_signal", "s_barrier_wait"])
def split_rotation(waves: int = 2, wave: int = 32, rounds: int = 3) -> LaunchDict:
    n = waves * wave
    args = [In("u32", n, "bits"), Out("u32", n), rounds]
    return launch(n, args, partial(reference.split_rotation, rounds=rounds))


# Through global memory: workgroups of two and of eight waves, two and five workgroups.
SIZES = [{"waves": 2, "groups": 2}, {"waves": 8, "groups": 5}]


def memory_case(executes: str = "global_store_(dword|b32)") -> Callable[..., Any]:
    """Register a case under its own name as the kernel's."""
    return lambda build: case("memory.hip", kernel=build.__name__, arch=ARCHS, each=SIZES, executes=executes)(build)


def memory_launch(groups: int, n: int, args: list[Any], expect: Callable[..., Any]) -> LaunchDict:
    return {"grid": groups, "block": n, "args": args, "expect": expect}


@memory_case()
def memory_exchange(waves: int = 2, groups: int = 2, wave: int = 64) -> LaunchDict:
    shape = groups, waves * wave
    args = [In("u32", shape, "bits"), Out("u32", shape), Out("u32", shape)]
    return memory_launch(*shape, args, lambda x: (x, x[:, ::-1]))


@memory_case()
def memory_stencil(waves: int = 2, groups: int = 2, wave: int = 64) -> LaunchDict:
    shape = groups, waves * wave
    return memory_launch(*shape, [InOut("u32", shape, "bits")], lambda x: x * np.uint32(5) + np.roll(x, 1, axis=1))


@memory_case("global_store_(byte|b8)")
def memory_bytes(waves: int = 2, groups: int = 2, wave: int = 64) -> LaunchDict:
    n = groups * waves * wave
    args = [In("u8", n, "bits"), Out("u8", n)]
    return memory_launch(groups, waves * wave, args, partial(reference.memory_bytes, wave=wave))


@memory_case("global_atomic_add(_u32)?")
def memory_histogram(waves: int = 2, groups: int = 2, wave: int = 64) -> LaunchDict:
    shape = groups, waves * wave
    args = [In("u32", shape, "bits"), InOut("u32", 64, "zeros")]
    return memory_launch(*shape, args, lambda x, bins: bins + np.bincount(x.ravel() % 64, minlength=64).astype("u4"))


@case("memory.hip", kernel="split_k", arch=ARCHS, each=WAVES, executes="global_atomic_add(_u32)?")
def split_k(waves: int = 2, wave: int = 64, rows: int = 3, parts: int = 4, depth: int = 5) -> LaunchDict:
    n = waves * wave
    args = [In("u32", (rows, parts * depth)), In("u32", (parts * depth, n)), InOut("u32", (rows, n), "bits"), depth]
    return {"grid": (rows, parts), "block": n, "args": args, "expect": lambda a, b, c: c + a @ b}


@memory_case("global_atomic_(add|add_u32)")
def last_block(waves: int = 2, groups: int = 2, wave: int = 64) -> LaunchDict:
    shape = groups, waves * wave
    args = [In("u32", shape, "bits"), Out("u32", shape), InOut("u32", 1, "zeros"), Out("u32", shape[1])]
    count = np.array([groups], np.uint32)
    return memory_launch(*shape, args, lambda x, _: (x * np.uint32(3), count, reference.folded(x * np.uint32(3), 5)))


@memory_case()
def hand_over(waves: int = 2, groups: int = 2, wave: int = 64) -> LaunchDict:
    shape = groups, waves * wave
    args = [In("u32", shape, "bits"), Out("u32", shape), InOut("u32", groups, "zeros"), Out("u32", shape)]
    return memory_launch(*shape, args, reference.hand_over)


@memory_case("global_atomic_(add|add_u32)")
def chained_scan(waves: int = 2, groups: int = 2, wave: int = 64) -> LaunchDict:
    shape = groups, waves * wave
    args = [
        In("u32", shape, "bits"),
        InOut("u32", 1, "zeros"),
        Out("u32", groups),
        InOut("u32", groups, "zeros"),
        Out("u32", shape),
    ]
    return memory_launch(*shape, args, reference.chained_scan)


@memory_case("global_atomic_(add|add_u32)")
def grid_barrier(waves: int = 2, groups: int = 2, wave: int = 64) -> LaunchDict:
    shape = groups, waves * wave
    args = [In("u32", shape, "bits"), Out("u32", shape), InOut("u32", 1, "zeros"), Out("u32", shape)]
    count = np.array([groups], np.uint32)
    mark = np.uint32(0x55)
    return memory_launch(*shape, args, lambda x, _: (x ^ mark, count, np.roll(x ^ mark, -1, axis=0)[:, ::-1]))


@memory_case("global_atomic_cmpswap(_b32)?")
def locked(waves: int = 2, groups: int = 2, wave: int = 64) -> LaunchDict:
    shape = groups, waves * wave
    args = [In("u32", shape, "bits"), InOut("u32", 1, "zeros"), InOut("u32", shape[1], "bits")]
    return memory_launch(*shape, args, lambda x, lock, cells: (lock, cells + x.sum(axis=0, dtype=np.uint32)))


@memory_case()
def found_any(waves: int = 2, groups: int = 2, wave: int = 64) -> LaunchDict:
    shape = groups, waves * wave
    args = [In("u32", shape, "bits"), InOut("u32", 1, "zeros")]
    return memory_launch(*shape, args, lambda x, _: np.array([(x % 3 == 0).any()], np.uint32))
