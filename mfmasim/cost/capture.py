"""Captures of a real GPU: clocks of instructions and performance counters, out of text files (docs/cost.md)."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mfmasim.errors import MfmasimError
from mfmasim.files import read_file

MOST_BYTES = 1 << 28
"""Of a capture."""
PICKLES = (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")


@dataclass(frozen=True)
class CapturedWave:
    """Instructions of one wave: clock, and address in the code, or class where a trace has no addresses."""

    events: tuple[tuple[float, int | str], ...]
    simd: int | None = None


@dataclass(frozen=True)
class Capture:
    """What was captured of one launch."""

    name: str
    waves: tuple[CapturedWave, ...] = ()
    counters: dict[str, float] = field(default_factory=dict)
    arch: str = ""
    kernel: str = ""
    totals: dict[int, tuple[int, float]] = field(default_factory=dict)
    """Of each address, how often it was executed, and clocks of all of these together, from the instruction before."""

    @property
    def resolution(self) -> int:
        """The greatest number of which all captured clocks are multiples."""
        clocks = [clock for wave in self.waves for clock, _ in wave.events]
        if not clocks or any(clock != int(clock) for clock in clocks):
            return 1
        return math.gcd(*map(int, clocks)) or 1

    def times(self, factor: float) -> Capture:
        """The same with all clocks of its waves multiplied, without counters."""
        waves = (
            replace(wave, events=tuple((clock * factor, what) for clock, what in wave.events)) for wave in self.waves
        )
        return replace(self, waves=tuple(waves), counters={}, totals={})

    def plus(self, other: Capture) -> Capture:
        """Both: waves of the one, counters of the other."""
        return Capture(
            f"{self.name}, {other.name}",
            self.waves + other.waves,
            self.counters | other.counters,
            self.arch or other.arch,
            self.kernel or other.kernel,
            self.totals | other.totals,
        )


def read_capture(path: str | Path, launch: str | None = None, kernel: str | None = None) -> Capture:
    """Read a capture.

    Args:
        path: JSON with ``waves`` and ``counters``, or with ``launches`` of these; a ``code.json`` or a wave of
            rocprofv3's thread trace (``se*_wv*.json`` beside it); the ``stats_*.csv`` of the same; a
            ``*_counter_collection.csv``; a CSV with the columns wave, clock, address.
        launch: of several launches, the name of one.
        kernel: of a counter CSV, only the rows of this kernel.

    Raises:
        MfmasimError: the file is none of these, or is damaged.
    """
    path = Path(path)
    data = read_file(path, MOST_BYTES)
    if data.startswith(PICKLES) or path.suffix in (".pkl", ".pickle"):
        raise MfmasimError(f"{path}: a pickle can execute code and is not read; JSON or CSV is expected (docs/cost.md)")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise MfmasimError(f"{path}: JSON or CSV text is expected, byte {error.start} is neither") from error
    try:
        if text.lstrip()[:1] in ("{", "["):
            return _of_json(path, json.loads(text), launch)
        return _of_csv(path, text, kernel)
    except (KeyError, TypeError, ValueError, IndexError, RecursionError) as error:
        raise MfmasimError(f"{path}: not a capture (docs/cost.md): {type(error).__name__}: {error}") from error


def _of_json(path: Path, found: object, launch: str | None) -> Capture:
    if isinstance(found, dict) and "launches" in found:
        names = [str(one["name"]) for one in found["launches"]]
        if launch is None and len(names) == 1:
            launch = names[0]
        if launch not in names:
            raise MfmasimError(f"{path}: --launch names one of {', '.join(names)}")
        return _of_json(path, found["launches"][names.index(launch)], None)
    if isinstance(found, dict) and ("waves" in found or "counters" in found):
        waves = tuple(CapturedWave(_events(wave["events"]), wave.get("simd")) for wave in found.get("waves", ()))
        counters = {str(name): float(value) for name, value in found.get("counters", {}).items()}
        return Capture(
            str(found.get("name", path.name)), waves, counters, str(found.get("arch", "")), str(found.get("kernel", ""))
        )
    if isinstance(found, dict) and ("wave" in found or "code" in found):
        return _of_thread_trace(path, found)
    raise MfmasimError(f"{path}: JSON without waves, counters or launches (docs/cost.md)")


def _events(rows: Any) -> tuple[tuple[float, int | str], ...]:
    """Rows of [clock, address or null, text]."""
    events: list[tuple[float, int | str]] = []
    for row in rows:
        clock, address = float(row[0]), row[1] if len(row) > 1 else None
        if not math.isfinite(clock) or clock < 0:
            raise ValueError(f"clock {row[0]}")
        events.append((clock, str(row[2]) if address is None else int(str(address), 0)))
    return tuple(sorted(events, key=lambda event: event[0]))


def _of_thread_trace(path: Path, found: dict[str, Any]) -> Capture:
    """Rocprofv3's decoded thread trace: ``code.json`` and a file for each wave."""
    listing = found if "code" in found else json.loads(read_file(path.parent / "code.json", MOST_BYTES))
    # [text, ..., line number, source, codeobject, address, hits, latency, ...]: the columns are named in the header.
    columns = [name.strip().lower() for name in str(listing.get("header", "")).split(",")]
    where = columns.index("vaddr") if "vaddr" in columns else 5
    number = columns.index("linenumber") if "linenumber" in columns else 2
    address = {int(row[number]): int(row[where]) for row in listing["code"]}
    files = [path] if "wave" in found else sorted(path.parent.glob("se*_sm*_sl*_wv*.json"))
    waves = []
    for file in files:
        one = json.loads(read_file(file, MOST_BYTES))["wave"]
        start = min(float(row[0]) for row in one["instructions"])
        # [clock, category, stall, duration, line number]: an instruction issues after it stood still.
        rows = [[float(row[0]) + float(row[2]) - start, address[int(row[4])]] for row in one["instructions"]]
        waves.append(CapturedWave(_events(rows), one.get("simd")))
    return Capture(path.name, tuple(waves))


def _of_csv(path: Path, text: str, kernel: str | None) -> Capture:
    rows = list(csv.DictReader(io.StringIO(text)))
    names = set(rows[0]) if rows else set()
    if {"Counter_Name", "Counter_Value"} <= names:
        counters: dict[str, float] = {}
        dispatches = {row.get("Dispatch_Id") for row in rows if kernel is None or row.get("Kernel_Name") == kernel}
        first = min(dispatches, key=lambda one: int(one or 0), default=None)
        for row in rows:
            if row.get("Dispatch_Id") == first:
                name = str(row["Counter_Name"])
                counters[name] = counters.get(name, 0.0) + float(row["Counter_Value"])
        if not counters:
            raise MfmasimError(f"{path}: no row of the kernel {kernel}")
        return Capture(path.name, counters=counters)
    lower = {str(name).lower(): name for name in names}
    if {"vaddr", "hitcount", "latency", "idle"} <= lower.keys():
        # Latency is standing and issuing, idle what lies before it (ROCprof Compute Viewer, "Instruction latency").
        at, hits, *clocks = (lower[name] for name in ("vaddr", "hitcount", "latency", "idle"))
        totals = {int(row[at]): (int(row[hits]), sum(float(row[name]) for name in clocks)) for row in rows}
        return Capture(path.name, totals=totals)
    if {"wave", "clock", "address"} <= names:
        waves: dict[str, list[list[Any]]] = {}
        for row in rows:
            waves.setdefault(row["wave"], []).append([row["clock"], int(row["address"], 0)])
        return Capture(path.name, tuple(CapturedWave(_events(each)) for each in waves.values()))
    raise MfmasimError(
        f"{path}: CSV with Counter_Name and Counter_Value, with Vaddr, Hitcount, Latency and Idle, or with wave, clock "
        "and address is expected"
    )
