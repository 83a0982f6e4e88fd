"""What executed launches of the two schedules show: rotation of the slots, prologue, epilogue, a margin in clocks."""

from collections.abc import Sequence
from functools import cache
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import numpy as np

import mfmasim
from hipkernels.gemm_fp8.regions import SIDE, TILE_K, Seen
from mfmasim.cost import timeline
from mfmasim.cost.bound import turns_of
from mfmasim.cost.cases import record_case
from mfmasim.lab.reports.profile import Profile
from mfmasim.machine.events import AccessEvent
from mfmasim.verify import load_file
from mfmasim.verify.prebuilt import code_for

ARCH, HALF = "gfx950", 128 * 128
"""Architecture, and bytes of a half of a tile in the LDS."""
TILES = 6
"""Tiles of K of the launch."""


class Wave0(Seen):
    """The accesses of wave 0 to the LDS in their order."""

    def __init__(self) -> None:
        super().__init__()
        self.order: list[tuple[str, int, int]] = []
        """``read`` or ``write``, address of the instruction, and of the first lane."""

    def on_access(self, event: AccessEvent) -> None:
        """Keep an access."""
        super().on_access(event)
        numbers = np.asarray(event.numbers).ravel()
        if event.space == "lds" and (numbers == 0).any():
            at = int(np.flatnonzero(numbers == 0)[0])
            lanes = np.broadcast_to(np.asarray(event.addresses), (numbers.size, np.asarray(event.addresses).shape[1]))
            self.order.append((event.kind, event.instruction.pc, int(lanes[at, 0])))


@cache
def halves() -> tuple[str, ...]:
    """What wave 0 of the 4-wave kernel fetches (``F``) and reads (``R``), half by half: matrix, slot and half."""
    seen, k = Wave0(), TILES * TILE_K
    a, b, c = np.ones((SIDE, k), np.uint8), np.ones((SIDE, k), np.uint8), np.zeros((SIDE, SIDE), np.uint16)
    numbers = [*map(np.int32, (SIDE, SIDE, k, k, k, SIDE)), np.float32(1), np.float32(0)]
    code = code_for(Path(__file__).parent / "interleave.hip", ARCH)["interleave"]
    mfmasim.device("sim").launch(code, 1, 256, [a, b, c, *numbers], checks="none", observers=[seen])
    writes = {pc for kind, pc, _ in seen.order if kind == "write"}
    starts = {
        of: min(at for _, pc, at in seen.order if pc in writes and seen.fetched[pc] == of) // HALF * HALF for of in "AB"
    }

    def name(kind: str, at: int) -> str:
        of = "A" if starts["A"] <= at < starts["A"] + 4 * HALF else "B"
        slot, half = divmod((at - starts[of]) // HALF, 2)
        return f"{'F' if kind == 'write' else 'R'} {of}[{slot}][{half}]"

    return tuple(one for one, _ in groupby(name(kind, at) for kind, _, at in seen.order))


def rotation(turn: int) -> str:
    """What the four blocks of a turn of the main loop fetch, and read: ``A[0][0] B[0][1], ...``."""
    pairs: list[list[str]] = [[]]
    for one in halves()[_first_fetch() - 1 :]:
        if one not in pairs[-1]:
            pairs += [[]] * (len(pairs[-1]) == 2)
            pairs[-1] = [*pairs[-1], one]
    return ", ".join(" ".join(one[2:] for one in sorted(pair)) for pair in pairs[4 * turn : 4 * turn + 4])


def prologue() -> str:
    """Halves that the prologue fetches, and reads."""
    return _parts(halves()[: _first_fetch() - 1])


def epilogue() -> str:
    """Halves that are fetched and read behind the main loop: the next-to-last tile's second operands, and the last."""
    order = halves()
    last = max(n for n, one in enumerate(order) if one.startswith("F"))
    return _parts([one for one in order[last:] if one != order[last + 1] and not one.startswith("F")])


def _parts(order: Sequence[str]) -> str:
    parts = list(dict.fromkeys(order))
    fetched, read = ([one[2:] for one in parts if one.startswith(kind)] for kind in "FR")
    return f"{len(fetched)} fetched; read {' '.join(read)}"


def _first_fetch() -> int:
    """Number of the first fetch behind the first reads; the read before it is in the same block."""
    order = halves()
    first = next(n for n, one in enumerate(order) if one.startswith("R"))
    return next(n for n, one in enumerate(order) if n > first and one.startswith("F"))


def waits_of_prologue(profile: Profile) -> str:
    """Loads to the LDS and waits for them as the code before the main loop orders them: ``F8 vmcnt(4) ...``."""
    report, main = profile.report, profile.main
    assert report.program is not None
    assert main is not None
    words = []
    for ins in report.program.instructions:
        if ins.pc < main.first and report.executed.get(ins.pc):
            words += ["F"] * ins.name.startswith("buffer_load")
            words += [ins.text.removeprefix("s_waitcnt ")] * ins.text.startswith("s_waitcnt vmcnt")
    return " ".join(f"F{len(list(run))}" if one == "F" else one for one, run in groupby(words))


@cache
def margin() -> float:
    """Clocks from the last read of a half of A to the first write that the printed loop's fetch can do, at the least.

    Over all turns and all three ends of the timeline's latencies; the fetch takes the shortest latency of the L2, the
    read the longest of the LDS.
    """
    path = Path(__file__).with_name("wrong_cases.py")
    (case,) = [case for case in load_file(path) if case.title == "pingpong_printed_loop_256"]
    recorded = record_case(case.with_parameters({"K": 1024, "beta": 0.0}), ARCH, most=1)
    trace, head, rates = recorded.trace, recorded.head, mfmasim.arch(ARCH).rates
    fastest, slowest = rates["l2 latency"].low, rates["lds latency"].high
    assert head is not None
    assert fastest is not None
    assert slowest is not None
    most = []
    for end in ("low", "value", "high"):
        drawn = timeline(trace, end)
        ahead, behind = (_clocks(trace, drawn, wave, head) for wave in (0, 4))
        for fetches, reads in zip((turn["F"] for turn in ahead), (turn["R"] for turn in behind), strict=True):
            # A turn fetches two loads in each of four phases, and reads 12 fragments in its first.
            most.append(fetches[2] - reads[11])
    return min(most) + fastest - slowest


def _clocks(trace: Any, drawn: Any, wave: int, head: int) -> list[dict[str, list[float]]]:
    """Clocks at which a wave's fetches issue, and at which the LDS is done with its reads, by turns."""
    operations, lane = trace.waves[wave].operations, drawn.lanes[wave]
    starts = turns_of(trace, trace.waves[wave], head)
    found = []
    for first, last in pairwise(starts):
        turn: dict[str, list[float]] = {"F": [], "R": []}
        for n in range(first, last):
            name = trace.operations[operations[n]].name
            if name.startswith("buffer_load"):
                turn["F"].append(lane.issued[n])
            elif name.startswith("ds_read"):
                turn["R"].append(lane.busy[n])
        found.append(turn)
    return found
