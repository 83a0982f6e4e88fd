"""Recordings as files: the launch before its run, and its results, so that another machine can run it again.

A file holds numbers, texts and bytes (msgpack), nothing that is executed on this machine; the code object in it is
simulated. It is untrusted: sizes are checked before anything is allocated.
"""

from __future__ import annotations

import hashlib
import zlib
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ml_dtypes
import msgpack
import numpy as np

from mfmasim import program
from mfmasim.codeobject.guard import parsing
from mfmasim.debug.device import RecordingDevice
from mfmasim.debug.lines import Lines
from mfmasim.debug.names import Elements
from mfmasim.debug.session import Session
from mfmasim.devices.options import Options
from mfmasim.errors import DamagedError, MfmasimError
from mfmasim.files import read_file, write_file
from mfmasim.machine.launch.argument_segment import Buffers
from mfmasim.machine.launch.launch import Launch
from mfmasim.machine.state.memory import PAGE, Memory, Region
from mfmasim.machine.state.memory_snapshot import Earlier
from mfmasim.observe import Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mfmasim.debug.recorder import Recorder
    from mfmasim.devices import Report
    from mfmasim.machine.events import Observer


MAGIC = b"mfmasim recording\n"
FORMAT = 1
LARGEST = 2 << 30
"""Bytes of all buffers together."""
ARENA = 1 << 40
"""Most bytes between the first and the last buffer's addresses."""
SPECIAL = ("kernarg", "packet", "printf", "gds", "grid_barrier")
"""Fields of a launch that are buffers."""


def is_record(path: Path) -> bool:
    """Whether a file is a recording."""
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def save(
    recorder: Recorder,
    report: Report,
    path: Path,
    folders: Iterable[Path] = (),
    elements: Mapping[str, Elements] | None = None,
    findings: Iterable[Finding] = (),
) -> None:
    """Write a recording.

    Args:
        recorder: of the launch.
        report: of the launch.
        path: the file.
        folders: where sources are looked for; their text goes into the file.
        elements: further arrays with names.
        findings: further findings.

    Raises:
        MfmasimError: the launch calls the host, or the recording is too large or cannot be written.
    """
    import mfmasim

    launch, machine = recorder.launch, recorder.machine
    assert machine is not None
    if launch.hostcall is not None:
        raise MfmasimError(f"{report.kernel} calls the host: its launch cannot be recorded in a file")
    total = sum(region.size for region in launch.memory.regions)
    if total > LARGEST:
        raise MfmasimError(f"{path}: {total:,} bytes of buffers; a recording holds {LARGEST:,} at most")
    before = Earlier(recorder.written)
    lines = Lines(launch.kernel, folders)
    content = {
        "format": FORMAT,
        "version": mfmasim.__version__,
        "code": launch.kernel.code.object.data,
        "arch": launch.kernel.arch.name,
        "kernel": launch.kernel.name,
        "grid": list(launch.grid),
        "block": list(launch.block),
        "cluster": list(launch.cluster),
        "shared": launch.shared_bytes,
        "image": launch.image_base,
        "approximation": launch.approximation,
        "budget": machine.budget,
        "max_waves": machine.max_waves,
        "checks": list(recorder.checks),
        "base": launch.memory.base,
        "size": launch.memory.size,
        "regions": [
            [one.name, one.address, one.size, one.writable, zlib.compress(before.view(one).tobytes(), 1)]
            for one in launch.memory.regions
        ],
        "special": {name: getattr(launch, name).address for name in SPECIAL if getattr(launch, name) is not None},
        "buffers": [[region.address, array.dtype.name, list(array.shape)] for region, array in launch.buffers],
        "undefined": [region.address for region in launch.undefined],
        "elements": [asdict(one) for one in (elements or {}).values()],
        "findings": [one.record() for one in findings],
        "sources": {name: lines.source(name) for name in lines.files},
        "instructions": sum(report.counts.values()),
        "after": digest(launch.memory),
    }
    write_file(path, MAGIC + msgpack.packb(content, unicode_errors="surrogatepass"))


def digest(memory: Memory) -> str:
    """SHA-256 of the contents of all buffers."""
    total = hashlib.sha256()
    for region in memory.regions:
        total.update(np.ascontiguousarray(memory.view(region)).data)
    return total.hexdigest()


def load(path: Path, folders: Iterable[str] = (), observers: Sequence[Observer] = ()) -> Session:
    """Run the launch of a file, and open a session on it.

    Args:
        path: the file.
        folders: where sources are looked for, before those in the file.
        observers: of the run.

    Raises:
        MfmasimError: the file is damaged or of another format; or the run differs from the recording.
    """
    import mfmasim

    with parsing(str(path), "recording"):
        held = msgpack.unpackb(
            read_file(path, LARGEST)[len(MAGIC) :], strict_map_key=False, unicode_errors="surrogatepass"
        )
        if held["format"] != FORMAT:
            raise MfmasimError(f"{path}: a recording of format {held['format']!r}; this version reads {FORMAT}")
        launch = _launch(held)
        elements = {one["name"]: _elements(one) for one in held["elements"]}
        findings = tuple(Finding.of_record(one) for one in held["findings"])
        sources = {str(name): [str(line) for line in lines] for name, lines in held["sources"].items()}
        names, budget, waves = tuple(map(str, held["checks"])), int(held["budget"]), held["max_waves"]
    kept: list[tuple[Recorder, Report]] = []
    device = RecordingDevice(lambda recorder, report: kept.append((recorder, report)), observers)
    side = {1: "above", -1: "below"}.get(launch.approximation, "nearest")
    report = device.run(launch, Options(checks=names, budget=budget, max_waves=waves, approximations=side))
    same = held["instructions"] == sum(report.counts.values()) and held["after"] == digest(launch.memory)
    if not same or not kept:
        by = f"mfmasim {held['version']}" if held["version"] != mfmasim.__version__ else "this version, changed since"
        raise MfmasimError(
            f"{path}: recorded by {by}; this one (mfmasim {mfmasim.__version__}) computes something else"
        )
    session = Session(*kept[0], elements, [Path(one) for one in folders], findings)
    for name, lines in sources.items():
        if not session.lines.source(name):
            session.lines.texts[name] = lines
    return session


def _launch(held: dict[str, Any]) -> Launch:
    """The launch before its run."""
    kernel = program.load(held["code"], held["arch"])[held["kernel"]]
    size, base = int(held["size"]), int(held["base"])
    if not 0 < size <= ARENA or size % PAGE or base % PAGE:
        raise DamagedError("the size of the memory")
    regions = [Region(str(n), int(a), int(s), bool(w)) for n, a, s, w, _ in held["regions"]]
    if sum(region.size for region in regions) > LARGEST:
        raise DamagedError("more bytes than a recording holds")
    for region in regions:
        if region.size < 0 or not base <= region.address <= region.address + region.size <= base + size:
            raise DamagedError(f"{region.name} lies outside of memory")
    memory = Memory.over(base, np.zeros(size, np.uint8), regions)
    for region, (*_, packed) in zip(regions, held["regions"], strict=True):
        content = zlib.decompressobj().decompress(packed, region.size + 1)
        if len(content) != region.size:
            raise DamagedError(f"the contents of {region.name}")
        memory.view(region)[:] = np.frombuffer(content, np.uint8)
    by_address = {region.address: region for region in regions}
    buffers = Buffers()
    for address, kind, shape in held["buffers"]:
        dtype = np.dtype(getattr(ml_dtypes, kind, None) or kind)
        region = by_address[address]
        if dtype.hasobject or int(np.prod(shape, dtype=object)) * dtype.itemsize > region.size:
            raise DamagedError(f"the shape of {region.name}")
        buffers.append((region, np.zeros([int(n) for n in shape], dtype)))
    special: dict[str, Any] = {name: by_address[held["special"][name]] for name in SPECIAL if name in held["special"]}
    launch = Launch(
        kernel,
        _three(held["grid"]),
        _three(held["block"]),
        int(held["shared"]),
        memory,
        image_base=int(held["image"]),
        cluster=_three(held["cluster"]),
        buffers=buffers,
        undefined=tuple(by_address[one] for one in held["undefined"]),
        **special,
    )
    launch.approximation = int(held["approximation"])
    return launch


def _three(numbers: Any) -> tuple[int, int, int]:
    x, y, z = (int(one) for one in numbers)
    if not all(0 < one < 1 << 31 for one in (x, y, z)):
        raise DamagedError("a size of the grid")
    return x, y, z


def _elements(held: dict[str, Any]) -> Elements:
    known = {one.name for one in fields(Elements)}
    made = {name: value for name, value in held.items() if name in known}
    return Elements(**{**made, "shape": tuple(made["shape"]), "strides": tuple(made["strides"])})
