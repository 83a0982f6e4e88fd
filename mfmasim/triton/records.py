"""Records of launches: one file of lines for each process of a program, read together when it has ended."""

from __future__ import annotations

import base64
import json
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from mfmasim.devices import Report


def launch_record(report: Report, seconds: float) -> dict[str, Any]:
    """A launch as a dictionary that JSON can hold."""
    return {
        "kernel": report.kernel,
        "arch": report.arch,
        "grid": list(report.grid),
        "block": list(report.block),
        "instructions": report.counts.total(),
        "findings": [finding.record() for finding in report.findings],
        "fidelity": {"level": str(report.fidelity), "operations": list(report.fidelity.operations)},
        "stopped": report.stopped,
        "seconds": round(seconds, 4),
    }


class Recorder:
    """Appends to the file of this process; a child that was forked gets a file of its own."""

    def __init__(self, folder: Path) -> None:
        """Write into a folder."""
        self.folder = folder

    def _write(self, record: dict[str, Any]) -> None:
        with (self.folder / f"{os.getpid()}.jsonl").open("a") as file:
            file.write(json.dumps(record) + "\n")

    def launch(self, report: Report, seconds: float) -> None:
        """Record a launch."""
        self._write({"launch": launch_record(report, seconds)})

    def compiled(self, seconds: float) -> None:
        """Record a kernel that Triton compiled."""
        self._write({"compiled": seconds})

    def kernel(self, text: str, code: bytes) -> None:
        """Record a kernel in Triton's GPU dialect, and its code object."""
        self._write({"text": text, "code": base64.b64encode(code).decode()})


@dataclass
class Records:
    """What all processes of a program recorded."""

    launches: list[dict[str, Any]] = field(default_factory=list)
    compiled: list[float] = field(default_factory=list)
    """Seconds of each kernel that Triton compiled."""
    kernels: list[tuple[str, bytes]] = field(default_factory=list)
    """Each kernel in Triton's GPU dialect, and its code object, if layouts were asked for."""

    def merge(self, record: dict[str, Any]) -> None:
        """Add one line of a file."""
        if "launch" in record:
            self.launches.append(record["launch"])
        if "compiled" in record:
            self.compiled.append(record["compiled"])
        if "text" in record:
            self.kernels.append((record["text"], base64.b64decode(record["code"])))


def read(folder: Path) -> Records:
    """The records in a folder; a last line that was cut short is left out."""
    found = Records()
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text().splitlines():
            try:
                found.merge(json.loads(line))
            except json.JSONDecodeError:
                continue
    return found
