"""PyTorch's headers, precompiled: once for the host and once for each architecture, kept in the cache.

Reading them takes a compiler most of the time of an extension. They are the same for all extensions.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mfmasim.errors import MfmasimError
from mfmasim.extensions import backend
from mfmasim.hiprt.hipcc import device_flags
from mfmasim.resources import HEADERS
from mfmasim.toolchain.compilation import IMPLIED
from mfmasim.toolchain.compilers import Compiler, run

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

HEADER = "torch/extension.h"
NAMES = re.compile(
    r'^\s*#\s*include\s*[<"](torch/(extension|types|all|torch|python|library)\.h|ATen/ATen\.h)[>"]', re.MULTILINE
)
"""What makes a source read most of PyTorch's headers."""
FILE = "headers.pch"
LEVEL = re.compile(r"-O([0-3sz]|fast)?")
LEVEL_OF_DEVICE = "-O3"
LANGUAGE = re.compile(rf"-[fm]\w[\w=.-]*|-std=.*|{LEVEL.pattern}")
"""Options in which a source may not differ from a precompiled header that it uses."""


def reads_torch(source: Path) -> bool:
    """Whether a source includes PyTorch's headers itself."""
    return bool(NAMES.search(source.read_text(errors="replace")))


def without_optimisation(words: Sequence[str]) -> list[str]:
    """Options of host code, which is compiled fast: a precompiled header is for one level."""
    return [word for word in words if not LEVEL.fullmatch(word)]


class Headers:
    """The precompiled headers of one set of options."""

    def __init__(self, tool: Compiler, options: Sequence[str], own: Sequence[str], archs: Sequence[str]) -> None:
        """For a compiler.

        Args:
            tool: the compiler.
            options: of every source that uses them.
            own: the program's options; those that change the language count.
            archs: architectures of the device code.
        """
        self._tool, self._archs = tool, tuple(archs)
        usual = {LEVEL_OF_DEVICE, *options}  # what a program says again is no other header
        chosen = [word for word in own if LANGUAGE.fullmatch(word) and word not in usual]
        self._device = [*options, *chosen]
        self._host = [*options, *without_optimisation(chosen)]
        self._made: dict[str, Future[Path | None]] = {}

    host_flags = (
        "-x", "hip", "--offload-host-only", "-nogpuinc", "-nogpulib", "--no-default-config", "-isystem", str(HEADERS),
        "-include", str(IMPLIED), "-gline-tables-only", "-O0",
    )  # fmt: skip

    def begin(self, pool: Executor, sources: Sequence[Path], *, with_device: bool) -> None:
        """Begin to make what the sources will use.

        Args:
            pool: runs the compiler.
            sources: of the extension.
            with_device: whether there is device code.
        """
        if not any(reads_torch(source) for source in sources):
            return
        self._made["host"] = pool.submit(self._file, [*self.host_flags, *self._host])
        for arch in self._archs if with_device else ():
            flags = ["-x", "hip", *device_flags([arch]), LEVEL_OF_DEVICE, "-gline-tables-only", "--offload-device-only"]
            self._made[arch] = pool.submit(self._file, [*flags, "-fuse-cuid=none", *self._device])

    def _file(self, flags: Sequence[str]) -> Path | None:
        """The precompiled header of some flags, or None where it cannot be made."""
        command = [*self._tool.program, *flags]
        digest = hashlib.sha256("\n".join([*command, self._tool.description]).encode()).hexdigest()[:16]

        def make(place: Path) -> None:
            source = place / "headers.hip"
            source.write_text(f"#include <{HEADER}>\n")
            unfinished = place / f"{FILE}.unfinished"
            emit = ["-Xclang", "-emit-pch", "-Xclang", "-o", "-Xclang", str(unfinished)]
            ran = run([*command, "-w", "-fpch-instantiate-templates", "-fsyntax-only", *emit, str(source)])
            if ran.returncode:
                raise MfmasimError(ran.stderr)
            unfinished.replace(place / FILE)

        try:
            return backend.kept(f"torch-headers-{digest}", [FILE], make) / FILE
        except MfmasimError:
            return None  # a source then reads the headers, and reports what is wrong with them

    def _used(self, name: str, source: Path) -> list[str]:
        found = self._made.get(name) if reads_torch(source) else None
        path = found.result() if found is not None else None
        return ["-Xclang", "-include-pch", "-Xclang", str(path)] if path is not None else []

    def host(self, source: Path) -> list[str]:
        """Options that use them for a source's host code."""
        return self._used("host", source)

    def device(self, arch: str, source: Path) -> list[str]:
        """Options that use them for a source's device code."""
        return self._used(arch, source)
