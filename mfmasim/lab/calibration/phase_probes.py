"""Probes of the LDS: lanes of an instruction that conflict in a bank, by time.

Two lanes are active. They access different banks, then different dwords of one bank; if the second pattern takes
longer, the lanes share a phase. All pairs are tried. Then the distance of two lanes that conflict is varied: the
distances at which they conflict give the number of banks. Only the difference between two patterns of the same lanes
counts, so that neither latency nor the cost of a phase without lanes matters.

If a conflict of two lanes costs no time, because another part is slower, reads can be *crowded*: all
lanes access one bank, each a different dword, so that passes dominate the time. Then two lanes access one dword
together, which saves a pass if they share a phase; and one lane is moved out of the bank, which saves one, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.architectures import arch as find_arch
from mfmasim.errors import MfmasimError
from mfmasim.lds import ds_instruction
from mfmasim.resources import folder
from mfmasim.verify.prebuilt import code_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from mfmasim.devices import Device
    from mfmasim.kernels import Code, Kernel
    from mfmasim.lab.agreement.capture import Capture
    from mfmasim.lab.agreement.recording import Recorder

OFF = 0xFFFFFFFF
"""Address of a lane without an access."""
BESIDE, ELSEWHERE, ABOVE = 16, 32, 1024
"""Byte addresses: in other banks than 0, in yet others, and in the bank of 0 for up to 256 banks."""
ROW = 512
"""Bytes between the dwords of a crowd: in one bank for up to 128 banks."""
UNROLLED = 16
"""Accesses of a round in hipkernels/conformance/calibrate/phases.h."""


@dataclass(frozen=True)
class PhaseProbe:
    """One LDS instruction to probe; its kernel is ``phases_`` and `row` with underscores."""

    row: str
    """The access, as in the phase tables."""
    instruction: str
    """Its name on gfx9."""
    all_lanes: bool = False
    """All lanes must be active: the lanes that are not probed access one dword."""

    @property
    def name(self) -> str:
        """Name of the probe, such as ``read_b32``."""
        return self.row.replace(" ", "_")

    @property
    def reads(self) -> bool:
        """Whether lanes at one dword are a broadcast."""
        return self.row.startswith("read")

    @property
    def unit(self) -> int:
        """Step in bytes of the addresses that determine the number of banks: the alignment, at least a dword."""
        return max(4, ds_instruction(None, self.instruction).alignment)

    @property
    def dwords(self) -> int:
        """Dwords of one access."""
        return max(1, ds_instruction(None, self.instruction).size // 4)

    def on(self, arch: str) -> bool:
        """Whether the architecture has it."""
        try:
            ds_instruction(arch, self.instruction)
        except MfmasimError:
            return False
        return True


PHASE_PROBES = (
    PhaseProbe("read b8", "ds_read_u8"),
    PhaseProbe("read b32", "ds_read_b32"),
    PhaseProbe("read b64", "ds_read_b64"),
    PhaseProbe("read b96", "ds_read_b96"),
    PhaseProbe("read b128", "ds_read_b128"),
    PhaseProbe("read2 b32", "ds_read2_b32"),
    PhaseProbe("read2 b64", "ds_read2_b64"),
    PhaseProbe("read b64 tr", "ds_read_b64_tr_b16", all_lanes=True),
    PhaseProbe("read b96 tr", "ds_read_b96_tr_b6", all_lanes=True),
    PhaseProbe("write b8", "ds_write_b8"),
    PhaseProbe("write b32", "ds_write_b32"),
    PhaseProbe("write b64", "ds_write_b64"),
    PhaseProbe("write b96", "ds_write_b96"),
    PhaseProbe("write b128", "ds_write_b128"),
    PhaseProbe("write2 b32", "ds_write2_b32"),
    PhaseProbe("write2 b64", "ds_write2_b64"),
    PhaseProbe("atomic b32", "ds_add_u32"),
    PhaseProbe("atomic b64", "ds_add_u64"),
    PhaseProbe("atomic2 b32", "ds_wrxchg2_rtn_b32"),
    PhaseProbe("atomic2 b64", "ds_wrxchg2_rtn_b64"),
)
"""Every row of the phase tables."""


@dataclass(frozen=True)
class Timed:
    """Times of a device for a probe's patterns.

    Attributes:
        probe: the probe.
        arch: name of the architecture.
        wave: lanes of the wave.
        accesses: accesses that were timed together.
        pairs: ticks of every pair of lanes, (repetitions, 2, pairs): first in different banks, then in one bank, where
            they conflict if they share a phase.
        swept: lanes of the pairs whose distance was varied.
        sweep: ticks at distances of 1, 2, ... times `PhaseProbe.unit` bytes, (repetitions, pairs, distances).
        where: device and date of the capture, in words.
        simulated: whether the device was simulated.
    """

    probe: PhaseProbe
    arch: str
    wave: int
    accesses: int
    pairs: NDArray[np.int64]
    swept: tuple[tuple[int, int], ...]
    sweep: NDArray[np.int64]
    where: str = ""
    simulated: bool = True


def pair_patterns(probe: PhaseProbe, wave: int, *, crowded: bool = False) -> NDArray[np.uint32]:
    """Addresses of every pair of lanes, in different banks and then in one bank: (2 * pairs, lanes).

    Args:
        probe: the probe.
        wave: lanes of a wave.
        crowded: the other lanes of the wave are active, each in a different row of the bank.
    """
    lanes = np.array(list(combinations(range(wave), 2)))
    if crowded:
        both = np.tile(np.arange(wave, dtype=np.uint32) * ROW, (2, len(lanes), 1))
        both[0, np.arange(len(lanes)), lanes[:, 1]] = lanes[:, 0] * ROW
        return both.reshape(-1, wave)
    made = np.full((2, len(lanes), wave), ELSEWHERE if probe.all_lanes else OFF, np.uint32)
    rows = np.arange(len(lanes))
    made[:, rows, lanes[:, 0]] = 0
    made[0, rows, lanes[:, 1]], made[1, rows, lanes[:, 1]] = BESIDE, ABOVE
    return made.reshape(-1, wave)


def sweep_patterns(
    probe: PhaseProbe, wave: int, swept: Sequence[Sequence[int]], *, crowded: bool = False
) -> NDArray[np.uint32]:
    """Addresses of pairs at growing distances, (pairs * distances, lanes); lanes that must be active join the first.

    If crowded, the second lane of each pair moves away from its place in the common bank.

    Args:
        probe: the probe.
        wave: lanes of a wave.
        swept: pairs of lanes.
        crowded: the other lanes of the wave are active, as in `pair_patterns`.
    """
    if crowded:
        away = np.arange(probe.unit, ROW, probe.unit)
        crowd = np.tile(np.arange(wave, dtype=np.uint32) * ROW, (len(swept), len(away), 1))
        for place, (_, second) in enumerate(swept):
            crowd[place, :, second] += away.astype(np.uint32)
        return crowd.reshape(-1, wave)
    distances = np.arange(probe.unit, ABOVE + 1, probe.unit)
    made = np.full((len(swept), len(distances), wave), 0 if probe.all_lanes else OFF, np.uint32)
    for place, (first, second) in enumerate(swept):
        made[place, :, first], made[place, :, second] = 0, distances
    return made.reshape(-1, wave)


def measure(
    recorder: Recorder,
    code: Code,
    probes: Sequence[PhaseProbe],
    *,
    rounds: int,
    times: int,
    simulated: bool,
    options: dict[str, Any],
    crowded: bool = False,
) -> list[dict[str, Any]]:
    """Time the patterns of probes.

    Args:
        recorder: records the launches, two for each probe.
        code: the code object of hipkernels/conformance/calibrate/probe.hip.
        probes: the probes.
        rounds: rounds of `UNROLLED` accesses that are timed together.
        times: repetitions of each pattern.
        simulated: no GPU: then blocks need no separate compute units.
        options: further arguments of each launch.
        crowded: reads are crowded.

    Returns:
        The times of each probe.

    Raises:
        MfmasimError: an error of a launch, or a finding.
    """
    measured = []
    for probe in probes:
        kernel = code[f"phases_{probe.name}"]
        crowd = crowded and probe.reads
        run = partial(
            time_patterns,
            recorder,
            kernel,
            times=times,
            rounds=rounds,
            options=options,
            shared=dynamic_lds(kernel, alone=not simulated, crowded=crowd),
        )
        best = run(pair_patterns(probe, kernel.wave, crowded=crowd)).min(axis=0)
        swept = _dearest(best.reshape(2, -1), kernel.wave)
        run(sweep_patterns(probe, kernel.wave, swept, crowded=crowd))
        about = {"row": probe.row, "wave": kernel.wave, "rounds": rounds, "times": times, "crowded": crowd}
        measured.append({**about, "swept": swept})
    return measured


def time_patterns(
    device: Device,
    kernel: Kernel,
    patterns: NDArray[np.uint32],
    *,
    times: int,
    rounds: int,
    shared: int,
    options: Mapping[str, Any],
) -> NDArray[np.int64]:
    """Ticks of patterns, (times, patterns).

    Args:
        device: the device.
        kernel: of a probe.
        patterns: addresses, (patterns, lanes).
        times: repetitions of each pattern.
        rounds: rounds of `UNROLLED` accesses that are timed together.
        shared: bytes of dynamic LDS.
        options: further arguments of the launch.

    Raises:
        MfmasimError: an error of a launch, or a finding.
    """
    ticks = np.zeros((times, len(patterns)), np.uint32)
    report = device.launch(
        kernel, (len(patterns), times, 1), kernel.wave, [patterns, ticks, np.uint32(rounds)], shared, **options
    )
    if not report.ok:
        raise MfmasimError(f"probe {kernel.name}: {report.findings[0].message}")
    return ticks.astype(np.int64)


def dynamic_lds(kernel: Kernel, *, alone: bool, crowded: bool) -> int:
    """Bytes of dynamic LDS of a launch.

    Args:
        kernel: of a probe.
        alone: take all LDS that a workgroup can have, so that no other workgroup competes for the banks.
        crowded: the rows of a crowd have to fit.
    """
    own = -(-kernel.info.group_segment_fixed_size // 1024) * 1024
    return kernel.arch.lds_bytes - own if alone else kernel.wave * ROW if crowded else 0


def _dearest(best: NDArray[np.int64], wave: int) -> list[list[int]]:
    """The pair of lanes with the largest cost in one bank, and the next pair of other lanes."""
    lanes = list(combinations(range(wave), 2))
    order = np.argsort(best[0] - best[1], kind="stable").tolist()
    first = lanes[order[0]]
    second = next(lanes[n] for n in order if not set(lanes[n]) & set(first))
    return [list(first), list(second)]


def timed(capture: Capture) -> Iterator[Timed]:
    """The times of these probes in a capture.

    Raises:
        MfmasimError: it was recorded with other patterns.
    """
    by_row = {probe.row: probe for probe in PHASE_PROBES}
    about = capture.about
    launches = iter(capture.launches[len(about.get("probes", ())) :])
    where = f"{about['device']['product']}, {about.get('captured', 'no date')}"
    for row in about.get("phases", ()):
        if row["row"] not in by_row:
            raise MfmasimError(f"the capture has an LDS probe {row['row']!r} unknown to this version")
        probe, wave, swept = by_row[row["row"]], row["wave"], row["swept"]
        if wave not in (32, 64):
            raise MfmasimError(
                f"the capture's LDS probe {probe.row!r} has waves of {wave!r:.20} lanes; allowed: 32, 64"
            )
        found = []
        crowd = bool(row["crowded"])
        pairs = pair_patterns(probe, wave, crowded=crowd)
        for patterns in (pairs, sweep_patterns(probe, wave, swept, crowded=crowd)):
            launch = next(launches)
            if launch.before[0].tobytes() != patterns.tobytes():
                raise MfmasimError(f"the capture's LDS probe {probe.row!r} has other patterns than this version's")
            found.append(launch.after[1].view(np.uint32).reshape(row["times"], -1).astype(np.int64))
        yield Timed(
            probe,
            about["arch"],
            wave,
            row["rounds"] * UNROLLED,
            found[0].reshape(row["times"], 2, -1),
            tuple((first, second) for first, second in swept),
            found[1].reshape(row["times"], len(swept), -1),
            where,
            bool(about["device"].get("simulated", True)),
        )


def source() -> Path:
    """The file with the kernels of all probes."""
    return folder("hipkernels") / "conformance" / "calibrate" / "probe.hip"


def compiled(arch: str) -> Code:
    """The kernels of all probes, prebuilt where they are."""
    return code_for(source(), arch)


def chosen(arch: str) -> tuple[PhaseProbe, ...]:
    """The probes that an architecture has."""
    return tuple(probe for probe in PHASE_PROBES if probe.on(find_arch(arch).name))
