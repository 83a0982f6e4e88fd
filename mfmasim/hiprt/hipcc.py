"""``hipcc`` without ROCm: its command line, translated for a clang with our headers and the simulated runtime.

Host and device code are compiled in one pass, as by ROCm's driver. The user's arguments follow the added ones, so
that they take precedence.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mfmasim.architectures import DEFAULT
from mfmasim.errors import MfmasimError
from mfmasim.files import SOURCES
from mfmasim.hiprt import two_passes
from mfmasim.hiprt.build import library
from mfmasim.hiprt.root import root
from mfmasim.hiprt.settings import ARCH
from mfmasim.resources import HEADERS
from mfmasim.toolchain import find_compiler
from mfmasim.toolchain.compilers import Compiler
from mfmasim.toolchain.entry_points import link_entry_points, names_entry_points

_SEPARATE = """
-B -D -F -I -L -MF -MJ -MQ -MT -T -Tbss -Tdata -Ttext -U -Xarch_device -Xarch_host -Xassembler -Xclang -Xlinker
-Xoffload-linker -Xpreprocessor --param --sysroot -arch -e -framework -gcc-toolchain -idirafter -imacros -include
-iprefix -iquote -isysroot -isystem -iwithprefix -l -mllvm -o -rpath -target -u -x -z
"""
SEPARATE = frozenset(_SEPARATE.split())
"""Options whose value is the next argument (clang's command line reference)."""
NO_LINK = frozenset(
    ("-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "--genco", "--offload-device-only", "--cuda-device-only")
)


@dataclass(frozen=True)
class Line:
    """A parsed command line."""

    arguments: tuple[str, ...]
    """Arguments that are not translated."""
    archs: tuple[str, ...]
    languages: tuple[str, ...]
    """Languages that the user gives with ``-x``."""
    device_only: bool

    @property
    def links(self) -> bool:
        """Whether the driver links."""
        inputs = any(not a.startswith("-") or a == "-" for a, value in _pairs(self.arguments) if not value)
        return inputs and not self.device_only and not any(a in NO_LINK for a in self.arguments)

    def has(self, *starts: str) -> bool:
        """Whether an argument has the prefix."""
        return any(argument.startswith(starts) for argument in self.arguments)


def _pairs(arguments: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Arguments, and whether each is the value of the argument before it."""
    value = False
    for argument in arguments:
        yield argument, value
        value = not value and argument in SEPARATE


def _expanded(arguments: Sequence[str]) -> Iterator[str]:
    """Arguments with response files (``@FILE``) replaced by their contents."""
    for argument in arguments:
        if argument.startswith("@") and Path(argument[1:]).is_file():
            yield from shlex.split(Path(argument[1:]).read_text())
        else:
            yield argument


def read_line(arguments: Sequence[str]) -> Line:
    """Read a command line of ``hipcc``: its targets, and the rest for clang.

    Args:
        arguments: the command line.
    """
    given, archs = list(_expanded(arguments)), []
    kept: list[str] = []
    languages: list[str] = []
    device_only = False
    while given:
        one = given.pop(0)
        name, equals, value = one.partition("=")
        if name in ("--offload-arch", "--amdgpu-target", "--cuda-gpu-arch"):
            chosen = value if equals else (given.pop(0) if given else "")
            archs += [part for part in chosen.split(",") if part]
        elif one == "--genco":
            device_only = True
        elif name in (
            "--rocm-path",
            "--hip-path",
            "--rocm-device-lib-path",
            "--hip-device-lib-path",
            "--hip-version",
            "--no-default-config",
            "-hc",
            "-use_fast_math",
        ):
            continue
        else:
            kept.append(one)
            if one in SEPARATE and given:
                kept.append(given.pop(0))
            if one == "-x":
                languages.append(kept[-1])
            elif one in ("-xhip", "-xc++", "-xc", "-xcu"):
                languages.append(one[2:])
    native = tuple(part for part in os.environ.get(ARCH, DEFAULT).split(",") if part)
    wanted = [arch for one in archs for arch in (native if one == "native" else (one,))]
    return Line(tuple(kept), tuple(dict.fromkeys(wanted or native)), tuple(languages), device_only)


def device_flags(archs: Sequence[str]) -> list[str]:
    """Flags with which clang compiles HIP with our headers instead of ROCm's.

    Args:
        archs: the targets.
    """
    return [
        *(f"--offload-arch={arch}" for arch in archs),
        "-nogpuinc",
        "-nogpulib",
        "-isystem",
        str(HEADERS),
        "-include",
        str(HEADERS / "mfmasim" / "implied.h"),
        "-mprintf-kind=buffered",
        "-mcode-object-version=6",
    ]


def _quiet(flags: Sequence[str]) -> list[str]:
    """Flags in a form for which clang does not warn if they have no effect."""
    return ["--start-no-unused-arguments", *flags, "--end-no-unused-arguments"] if flags else []


def link_flags() -> list[str]:
    """Flags that link a program with the simulated runtime, with its path for the program's start."""
    place = library().parent
    return [f"-L{place}", f"-L{root() / 'lib'}", f"-Wl,--enable-new-dtags,-rpath,{place}", "-lamdhip64"]


def command(arguments: Sequence[str], tool: Compiler) -> list[str]:
    """The compiler's command line for one of ``hipcc``.

    Args:
        arguments: those of hipcc.
        tool: the compiler.

    Returns:
        Program and arguments.

    Raises:
        MfmasimError: the library cannot be built.
    """
    if tool.style == "rocm":
        return [*tool.program, *arguments, *(link_flags() if read_line(arguments).links else [])]
    line = read_line(arguments)
    added = device_flags(line.archs)
    if not line.has("-O"):
        added.append("-O3")
    if not line.has("-g"):
        added.append("-gline-tables-only")  # findings name lines
    if line.device_only:
        added.append("--offload-device-only")
    if line.has("--cuda-host-only", "--offload-host-only"):
        added.append("-fuse-cuid=none")  # the name of the device code that build lines link to it: __hip_fatbin
    if line.links:
        added += ["--hip-link", "-no-hip-rt"]
    words, tail = _with_languages(line), link_flags() if line.links else []
    return [*tool.program, "--driver-mode=g++", *_quiet(added), *words, *_quiet(tail)]


def _with_languages(line: Line) -> list[str]:
    """The arguments with the language of every input: hipcc compiles every C++ source as HIP."""
    if line.languages:
        return list(line.arguments)
    words, current = [], ""
    for argument, value in _pairs(line.arguments):
        suffix = Path(argument).suffix
        if not value and not argument.startswith("-"):
            wanted = "hip" if suffix in SOURCES else "c" if suffix == ".c" else "none"
            if wanted != (current or "none"):
                words += ["-x", wanted]
                current = wanted
        words.append(argument)
    return words


def clang_command(arguments: Sequence[str], tool: Compiler) -> list[str]:
    """The command line of a compiler that is called as clang, by CMake's language HIP for example.

    Unlike hipcc, clang keeps the language of every input, and links only the libraries of its command line.

    Args:
        arguments: those of clang.
        tool: the compiler.
    """
    line = read_line(arguments)
    inputs = [argument for argument, value in _pairs(line.arguments) if not value]
    by_name = not line.languages and any(Path(argument).suffix in (".hip", ".cu") for argument in inputs)
    if "hip" not in line.languages and "--hip-link" not in inputs and not by_name:
        return [*tool.program, "--driver-mode=g++", *_quiet(["-nogpulib"]), *line.arguments]
    added = [*device_flags(line.archs), *([] if line.has("-g") else ["-gline-tables-only"])]
    tail = ["-no-hip-rt", *link_flags()] if line.links else []
    return [*tool.program, "--driver-mode=g++", *_quiet(added), *line.arguments, *_quiet(tail)]


def run_compiler(arguments: Sequence[str], *, as_clang: bool = False) -> int:
    """Run the compiler on hipcc's command line.

    Args:
        arguments: the command line.
        as_clang: whether it is clang's.

    Returns:
        The compiler's exit code.

    Raises:
        MfmasimError: no suitable compiler is found.
    """
    if not arguments:
        raise MfmasimError("hipcc: no input files")
    tool = find_compiler()
    if two_passes.wanted(tool) and not as_clang:
        line = read_line(arguments)
        with tempfile.TemporaryDirectory(prefix="mfmasim-") as scratch:
            return two_passes.run(
                tool, line.arguments, line.archs, [] if line.device_only else link_flags(), Path(scratch)
            )
    if tool.style == "zig":
        raise MfmasimError(
            f"{tool.description} has no driver for HIP programs: --as-clang needs a clang 21 or newer with lld "
            "(Debian and Ubuntu: apt install clang-22 lld-22 clang-tools-22)"
        )
    words = clang_command(arguments, tool) if as_clang else command(arguments, tool)
    with tempfile.TemporaryDirectory(prefix="mfmasim-") as scratch:
        try:
            return subprocess.run([*words, *_entry_points(arguments, tool, Path(scratch))], check=False).returncode
        except OSError as error:
            raise MfmasimError(f"hipcc: cannot run {words[0]}: {error.strerror or error}") from None


def _entry_points(arguments: Sequence[str], tool: Compiler, scratch: Path) -> list[str]:
    """Flags that link the device libraries' entry points to device code of one architecture that refers to them."""
    line = read_line(arguments)
    alone = line.device_only or line.has("--cuda-device-only", "--offload-device-only")
    if tool.style != "clang" or not alone or len(line.archs) != 1 or line.has("-fgpu-rdc", "-E", "-fsyntax-only"):
        return []
    inputs = (Path(word) for word, value in _pairs(line.arguments) if not value and not word.startswith("-"))
    if not any(names_entry_points(name) for name in inputs):
        return []
    device = ["-x", "hip", "-std=c++17", "-O3", "--offload-device-only", "--no-gpu-bundle-output"]
    waves = [word for word in line.arguments if word.startswith(("-mwave", "-mno-wave"))]
    return link_entry_points([*tool.program, *device, *device_flags(line.archs), *waves], HEADERS, scratch)
