"""Compiles and links one extension, in the folder that PyTorch chose for it."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import sys
import sysconfig
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from mfmasim.codeobject.bundle import bundled
from mfmasim.extensions import backend
from mfmasim.extensions.precompiled import LEVEL_OF_DEVICE, Headers, without_optimisation
from mfmasim.files import write_text
from mfmasim.hiprt.hipcc import device_flags, link_flags, read_line
from mfmasim.hiprt.two_passes import DEVICE
from mfmasim.resources import HEADERS
from mfmasim.toolchain.compilation import HOST_TRIPLE
from mfmasim.toolchain.compilers import Compiler, run
from mfmasim.toolchain.entry_points import link_entry_points, names_entry_points

HIP = (".cu", ".cuh", ".hip")
"""Endings of sources with kernels."""
SHIMS = Path(__file__).with_name("include")
"""Headers of PyTorch that its CPU build has not: streams, guards and checks of a device."""
DEPENDENCIES = ".mfmasim.d"
"""Ending of the files in which the compiler names what a source includes."""
RECORD = ".mfmasim.json"
"""Ending of the file beside a library that says what it was built of."""


@dataclass(frozen=True)
class Wanted:
    """What the program asks for."""

    name: str
    sources: tuple[Path, ...]
    cflags: tuple[str, ...]
    hip_flags: tuple[str, ...]
    ldflags: tuple[str, ...]
    includes: tuple[Path, ...]
    folder: Path
    with_hip: bool
    common: tuple[str, ...]
    """What PyTorch gives to every source of an extension for ROCm."""
    archs: tuple[str, ...]

    @property
    def library(self) -> Path:
        """What is built."""
        return self.folder / f"{self.name}{'.pyd' if os.name == 'nt' else '.so'}"


class CompileError(RuntimeError):
    """A source does not compile, or the library does not link; the text is the compiler's."""


def _words(flags: Sequence[str]) -> list[str]:
    """Options as words: PyTorch joins them to a line for the shell.

    Nothing intermediate is kept: a source that is preprocessed on its own has no precompiled headers.
    """
    return [word for flag in flags for word in shlex.split(flag) if not word.lstrip("-").startswith("save-temps")]


def build(wanted: Wanted, *, verbose: bool = False) -> None:
    """Build the library, unless it is there and nothing of it has changed.

    Args:
        wanted: what is built.
        verbose: print the commands.

    Raises:
        MfmasimError: there is no compiler for it.
        RuntimeError: a source does not compile.
    """
    tool = backend.compiler()
    record = wanted.folder / f"{wanted.name}{RECORD}"
    key = _key(wanted, tool)
    if wanted.library.exists() and _unchanged(record, key):
        return
    try:
        files = _built(wanted, tool, verbose=verbose)
    except CompileError as error:
        raise RuntimeError(f"Error building extension '{wanted.name}': {error}") from None
    contents = {"key": key, "files": {str(path): _digest(path) for path in files if path.is_file()}}
    write_text(record, json.dumps(contents, indent=1) + "\n")


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _key(wanted: Wanted, tool: Compiler) -> str:
    parts = [repr(wanted), tool.description, str(backend.tensors()), sys.version]
    parts += [path.read_text() for path in sorted(SHIMS.rglob("*.h"))]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _unchanged(record: Path, key: str) -> bool:
    try:
        known = json.loads(record.read_text())
        return bool(known["key"] == key) and all(_digest(Path(path)) == sha for path, sha in known["files"].items())
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _built(wanted: Wanted, tool: Compiler, *, verbose: bool) -> set[Path]:
    """Build; the files that it was made of."""
    line = read_line(_words(wanted.hip_flags))
    archs = line.archs if any("offload-arch" in flag for flag in wanted.hip_flags) else wanted.archs
    folders = [*(f"-I{one}" for one in wanted.includes), f"-isystem{SHIMS}"]
    folders += [f"-isystem{one}" for one in [*backend.includes(), Path(sysconfig.get_path("include"))]]
    names = [f"-DTORCH_EXTENSION_NAME={wanted.name}", "-DTORCH_API_INCLUDE_EXTENSION_H"]
    shared = ["-fPIC", backend.standard(), *wanted.common]
    headers = Headers(tool, [*shared, *folders[len(wanted.includes) :], names[1]], line.arguments, archs)
    work = Work(wanted, tool, archs, [*names, *shared, *folders], list(line.arguments), headers, verbose)
    with ThreadPoolExecutor(max(2, os.cpu_count() or 1)) as pool:
        headers.begin(pool, wanted.sources, with_device=wanted.with_hip)
        made: list[Future[Path]] = [
            pool.submit(work.hip if wanted.with_hip and source.suffix in HIP else work.plain, number, source)
            for number, source in enumerate(wanted.sources)
        ]
        objects = [one.result() for one in made]
    work.link(objects)
    return {
        *wanted.sources,
        *(file for one in wanted.folder.glob(f"{wanted.name}-*{DEPENDENCIES}") for file in _depends(one)),
    }


def _depends(rule: Path) -> list[Path]:
    """Files that a rule for make names after its colon."""
    text = rule.read_text().replace("\\\n", " ").partition(": ")[2]
    return [Path(word) for word in shlex.split(text)]


@dataclass(frozen=True)
class Work:
    """How the sources of one extension are compiled."""

    wanted: Wanted
    tool: Compiler
    archs: tuple[str, ...]
    shared: list[str]
    """Options of every source."""
    hip_options: list[str]
    """Those of the program for sources with kernels, without targets."""
    headers: Headers
    verbose: bool

    def run(self, command: Sequence[str]) -> None:
        """Run a command.

        Raises:
            CompileError: it fails.
        """
        if self.verbose:
            print(shlex.join(command), flush=True)  # noqa: T201
        ran = run(command)
        if ran.returncode:
            raise CompileError(ran.stderr.strip() or f"{command[0]} ended with {ran.returncode}")
        if self.verbose and ran.stderr:
            print(ran.stderr, end="", file=sys.stderr)  # noqa: T201

    def _place(self, number: int, source: Path, ending: str) -> Path:
        return self.wanted.folder / f"{self.wanted.name}-{source.stem}-{number}{ending}"

    def _dependencies(self, number: int, source: Path) -> list[str]:
        return ["-MMD", "-MF", str(self._place(number, source, DEPENDENCIES))]

    def hip(self, number: int, source: Path) -> Path:
        """Compile a source with kernels, first for the devices, then for the host."""
        objects = []
        for arch in self.archs:
            made = self._place(number, source, f".{arch}.hsaco")
            target = device_flags([arch])
            entries: list[str] = []
            if names_entry_points(source):
                device = ["-x", "hip", "-std=c++17", "-O3", "--offload-device-only", "--no-gpu-bundle-output", *target]
                entries = link_entry_points([*self.tool.program, *device], HEADERS, self.wanted.folder)
            self.run(
                [
                    *self.tool.program,
                    "-x",
                    "hip",
                    *target,
                    LEVEL_OF_DEVICE,
                    "-gline-tables-only",
                    "--offload-device-only",
                    "--no-gpu-bundle-output",
                    "-fuse-cuid=none",
                    *self.headers.device(arch, source),
                    *self.shared,
                    *self.hip_options,
                    *entries,
                    "-c",
                    str(source),
                    "-o",
                    str(made),
                ]
            )
            objects.append((f"{DEVICE}{arch}", made.read_bytes()))
        bundle = self._place(number, source, ".hipfb")
        bundle.write_bytes(bundled([(f"host-{HOST_TRIPLE}-", b""), *objects]))
        binary = ["-Xclang", "-fcuda-include-gpubinary", "-Xclang", str(bundle)]
        return self._host(number, source, [*self.hip_options, *binary])

    def plain(self, number: int, source: Path) -> Path:
        """Compile a source without kernels: as HIP for the host, whose headers are precompiled, else as C++."""
        options = _words(self.wanted.cflags)
        try:
            return self._host(number, source, options)
        except CompileError:
            made = self._place(number, source, ".o")
            plain = [word for word in self.shared if "HALF" not in word]
            self.run(
                [
                    *self.tool.program,
                    "--driver-mode=g++",
                    "-O1",
                    f"-isystem{HEADERS}",
                    *plain,
                    *options,
                    *self._dependencies(number, source),
                    "-c",
                    str(source),
                    "-o",
                    str(made),
                ]
            )
            return made

    def _host(self, number: int, source: Path, options: Sequence[str]) -> Path:
        made = self._place(number, source, ".o")
        self.run(
            [
                *self.tool.program,
                *self.headers.host_flags,
                *self.headers.host(source),
                *self.shared,
                *without_optimisation(options),
                *self._dependencies(number, source),
                "-c",
                str(source),
                "-o",
                str(made),
            ]
        )
        return made

    def link(self, objects: Sequence[Path]) -> None:
        """Link the library, which replaces one of the same name whole."""
        made, torch, tensors = self.wanted.library, backend.torch_folder() / "lib", backend.tensors()
        unfinished = made.with_name(f"{made.name}.{os.getpid()}")
        others = [word for word in _words(self.wanted.ldflags) if word not in LEFT_OUT]
        self.run(
            [
                *self.tool.program,
                "--driver-mode=g++",
                "-shared",
                *map(str, objects),
                f"-L{torch}",
                "-lc10",
                "-ltorch_cpu",
                "-ltorch",
                "-ltorch_python",
                str(tensors),
                f"-Wl,-rpath,{tensors.parent}",
                *link_flags(),
                *others,
                "-o",
                str(unfinished),
            ]
        )
        unfinished.replace(made)


LEFT_OUT = ("-lc10_hip", "-ltorch_hip", "-lc10_cuda", "-ltorch_cuda", "-lcudart", "-lcuda")
"""Libraries whose part the library of tensors has."""
