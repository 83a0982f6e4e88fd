"""HIP programs by a compiler without an offload bundler: device code first, then the host code that contains it.

The ziglang wheel has no bundler, and Debian's clang has it in a recommended package. The device code of every
source is compiled as for `mfmasim.compile`, bundled here, and named to the host pass, as clang's driver does (clang,
Driver.cpp and CGCUDANV.cpp: -fcuda-include-gpubinary).
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from mfmasim.codeobject.bundle import bundled
from mfmasim.errors import MfmasimError
from mfmasim.files import SOURCES
from mfmasim.resources import HEADERS
from mfmasim.toolchain import compile_hip
from mfmasim.toolchain.compilation import HOST_TRIPLE, IMPLIED
from mfmasim.toolchain.compilers import Compiler
from mfmasim.toolchain.hostheaders import zig_flags

BUNDLER = "clang-offload-bundler"
DEVICE = "hipv4-amdgcn-amd-amdhsa--"
"""First part of a code object's name in a bundle (LLVM, Clang Offload Bundler, "Bundle Entry ID")."""
LINKS = ("-l", "-L", "-Wl,", "-Xlinker", "-rpath", "-static", "-shared", "-rdynamic")
"""Beginnings of options for the linker."""
VALUES = ("-l", "-L", "-Xlinker", "-rpath")
"""Options whose value is the next word, if they are a word of their own."""
REFUSED = ("-E", "-M", "-MM", "-S", "-fgpu-rdc", "-fsyntax-only", "--hip-link")
"""Options that only the driver of a clang with its bundler has."""


def wanted(tool: Compiler) -> bool:
    """Whether a compiler needs two passes: it is zig's, or a clang without its bundler."""
    near = str(tool.path.resolve().parent)
    return tool.style == "zig" or (
        tool.style == "clang" and not (shutil.which(BUNDLER, path=near) or shutil.which(BUNDLER))
    )


def _parts(words: Sequence[str]) -> tuple[list[Path], list[str], list[str], str]:
    """HIP sources, words for the passes of the compiler, words for the linker, and the value of ``-o``."""
    sources: list[Path] = []
    compiles: list[str] = []
    links: list[str] = []
    output = ""
    for before, word in pairwise(["", *words]):
        if before == "-o":
            output = word
        elif word.startswith(LINKS) or before in VALUES:
            links.append(word)
        elif word.startswith("-") or before in (
            "-D",
            "-I",
            "-U",
            "-include",
            "-isystem",
            "-iquote",
            "-idirafter",
            "-mllvm",
        ):
            compiles += [word] if word not in ("-o", "-c") else []
        elif Path(word).suffix in SOURCES:
            sources.append(Path(word))
        else:
            links.append(word)
    return sources, compiles, links, output


def _device_code(tool: Compiler, source: Path, archs: Sequence[str], flags: Sequence[str]) -> bytes:
    """The bundle of a source's device code."""
    found = [(f"{DEVICE}{arch}", compile_hip(source, arch, tool.program[0], flags, again=False).data) for arch in archs]
    return bundled([(f"host-{HOST_TRIPLE}-", b""), *found])


def _host_pass(tool: Compiler, source: Path, bundle: Path, output: Path, flags: Sequence[str]) -> list[str]:
    """The command that makes an object file of the host code."""
    own = zig_flags(tool.path) if tool.style == "zig" else []
    return [
        *tool.program,
        "-x",
        "hip",
        "--offload-host-only",
        "-nogpuinc",
        "-nogpulib",
        "--no-default-config",
        "-isystem",
        str(HEADERS),
        "-include",
        str(IMPLIED),
        *own,
        f"--target={HOST_TRIPLE}",
        "-O3",
        "-fPIC",
        "-std=c++17",
        "-fuse-cuid=none",
        *flags,
        "-Xclang",
        "-fcuda-include-gpubinary",
        "-Xclang",
        str(bundle),
        "-c",
        str(source),
        "-o",
        str(output),
    ]


def run(tool: Compiler, words: Sequence[str], archs: Sequence[str], runtime: Sequence[str], scratch: Path) -> int:
    """Compile HIP sources in two passes each, and link them unless ``-c`` is among the words.

    Args:
        tool: the compiler.
        words: hipcc's command line without its targets.
        archs: the targets.
        runtime: flags that link a program with the runtime; empty for device code only.
        scratch: a folder for intermediate files.

    Returns:
        The exit code of the first command that fails, else 0.

    Raises:
        MfmasimError: an option needs a clang with its bundler, or device code does not compile.
    """
    for option in REFUSED:
        if option in words:
            raise MfmasimError(
                f"hipcc: {option} needs a clang with {BUNDLER} (Debian and Ubuntu: apt install clang-22 lld-22 "
                f"clang-tools-22); {tool.description} compiles in two passes"
            )
    sources, flags, links, output = _parts(words)
    driver = [str(tool.path), "c++"] if tool.style == "zig" else [*tool.program, "--driver-mode=g++"]
    if not sources and not links:
        return subprocess.run([*driver, *words], check=False).returncode
    if not runtime:
        for source in sources:
            Path(output or f"{source.stem}.hipfb").write_bytes(_device_code(tool, source, archs, flags))
        return 0
    made: list[str] = []
    for number, source in enumerate(sources):
        bundle = scratch / f"{number}.hipfb"
        bundle.write_bytes(_device_code(tool, source, archs, flags))
        target = Path(output or source.with_suffix(".o").name) if "-c" in words else scratch / f"{number}.o"
        if code := subprocess.run(_host_pass(tool, source, bundle, target, flags), check=False).returncode:
            return code
        made.append(str(target))
    if "-c" in words:
        return 0
    return subprocess.run(
        [*driver, *made, *links, *runtime, *(["-o", output] if output else [])], check=False
    ).returncode
