"""Compilation of HIP source files to code objects, with bytes that do not depend on the folder of the source."""

from __future__ import annotations

import itertools
import os
import re
import tempfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mfmasim.errors import MfmasimError, unknown
from mfmasim.resources import HEADERS
from mfmasim.toolchain.cache import Entry, dependencies, entry_for
from mfmasim.toolchain.compilers import Compiler, Kind, run
from mfmasim.toolchain.device_libs import chosen_folder, link_flags
from mfmasim.toolchain.diagnostics import Crash, crash_of, in_terms_of_source
from mfmasim.toolchain.discovery import known_compiler
from mfmasim.toolchain.entry_points import lacks_entry_points, link_entry_points
from mfmasim.toolchain.hostheaders import zig_flags
from mfmasim.toolchain.triples import triple
from mfmasim.toolchain.unreported import unreported

HOST_TRIPLE = "x86_64-unknown-linux-gnu"
"""The host target, which determines the size of ``long`` and some code generation of device code; pinned."""

CODE_OBJECT_VERSION = 6
"""The default of clang 21 and 22, stated so that a changed default does not change the bytes."""

# A processor and its target features, such as gfx942:sramecc+:xnack- or gfx9-4-generic.
_TARGET = re.compile(r"gfx[0-9a-f]+(-[0-9a-f]+)*(-generic|-strict)?(:[a-z]+[+-])*")

# ELF's EI_ABIVERSION of an amdhsa code object (LLVM, AMDGPU usage guide, "ELF Code Object").
_CODE_OBJECT_OF_ABI = {1: 3, 2: 4, 3: 5, 4: 6}

MAPPED = "include"
"""See `header_folders`."""
_COMMON = (
    "-x",
    "hip",
    "--offload-device-only",
    "--no-gpu-bundle-output",
    "-O3",
    "-std=c++17",
    "-gline-tables-only",
    # The default hashes the file's path into a symbol name.
    "-fuse-cuid=none",
    # The compiler's version would be the only difference between two builds of one clang.
    "-fno-ident",
    "-fdebug-compilation-dir=.",
    "-fno-color-diagnostics",
    # A compiler that crashes would leave the source and a script in the folder of temporary files.
    "-fno-crash-diagnostics",
    # A call of printf fills the buffer that HIP's runtime and the simulator print, without waiting for the host.
    "-mprintf-kind=buffered",
    f"--target={HOST_TRIPLE}",
)
# Without ROCm: mfmasim's headers, no device libraries, and no configuration files of the installed clang.
_OWN_HEADERS = ("-nogpuinc", "-nogpulib", "--no-default-config", f"-mcode-object-version={CODE_OBJECT_VERSION}")


IMPLIED = HEADERS / "mfmasim" / "implied.h"
"""What ``hipcc`` includes before every source, the standard headers among it."""
# Messages about a source that may rely on these headers.
_LACKS = re.compile(r"\bstd\b|undeclared identifier|unknown type name|undefined template|no matching function")


class CompilerCrashError(MfmasimError):
    """The compiler did not refuse the source, but crashed."""

    def __init__(self, text: str, crash: Crash) -> None:
        """Keep what is known of the crash."""
        super().__init__(text)
        self.crash = crash


@dataclass(frozen=True)
class Compiled:
    """The result of a compilation."""

    data: bytes
    """The code object, an ELF file."""
    compiler: str
    """Description of the compiler: ``clang 22.1.8 (ziglang 0.17.0)``."""
    kind: Kind
    """How the compiler was found."""
    version: str
    """Version of clang, such as ``22.1.8``."""
    command: tuple[str, ...]
    """The command that compiled the source."""
    code_object_version: int
    """2 to 6, from the ELF header; 0 when the compiler wrote something else, such as an offload bundle."""
    warnings: str
    """Messages of a successful compilation; usually empty."""


def compile_hip(
    path: str | os.PathLike[str],
    arch: str,
    compiler: str | os.PathLike[str] | None = None,
    flags: Sequence[str] = (),
    include: Sequence[str | os.PathLike[str]] = (),
    device_libs: str | os.PathLike[str] | None = None,
    *,
    again: bool = True,
) -> Compiled:
    """Compile the device code of a HIP source file.

    Host code in the file is parsed and dropped. ROCm's compilers use ROCm's headers, others those in
    ``mfmasim/hiprt/include``; a source that does not compile without `IMPLIED` is compiled with it. The bytes depend on
    the file, the flags and the compiler's version, not on any folder.

    Args:
        path: the source file.
        arch: LLVM's processor name, optionally with target features: ``gfx942``, ``gfx942:sramecc+:xnack-``.
        compiler: a program or ``ziglang``; None searches as `mfmasim.toolchain.find_compiler` does.
        flags: further flags, after the default ones, so that ``-O1`` or ``-std=c++20`` take precedence.
        include: further folders for ``#include``.
        device_libs: folder of ROCm's bitcode (``<ROCm>/amdgcn/bitcode``) for mathematics. None uses the variable
            ``MFMASIM_DEVICE_LIBS``; if that is not set either, mfmasim's functions, or ROCm's with hipcc.
        again: compile even where the result of an earlier call is kept (`mfmasim.toolchain.cache`).

    Returns:
        The code object, and how it was compiled.

    Raises:
        MfmasimError: the file is missing or empty, the architecture is unknown, there is no compiler, or the source
            does not compile; then the text has the compiler's messages.
    """
    given = Path(path)
    source = _checked(given)
    tool = known_compiler(compiler)
    if not _TARGET.fullmatch(arch):
        raise unknown("architecture", arch, _architectures(tool), f"for {tool.description}")
    libraries = _libraries(tool, arch, flags, device_libs)
    front = _front_end(tool, source, arch, flags, include)
    try:
        return _compiled(tool, given, source, arch, front, libraries, flags, include, again=again)
    except CompilerCrashError:
        raise
    except MfmasimError as error:
        if tool.style == "rocm" or not _LACKS.search(str(error)):
            raise
    return _compiled(tool, given, source, arch, _implying(front), libraries, flags, include, again=again)


def _implying(front: Sequence[str]) -> list[str]:
    """The front end's command with what hipcc includes before the source."""
    return [*front, "-include", str(IMPLIED)]


def _compiled(
    tool: Compiler,
    given: Path,
    source: Path,
    arch: str,
    front: Sequence[str],
    libraries: list[str],
    flags: Sequence[str],
    include: Sequence[str | os.PathLike[str]],
    *,
    again: bool,
) -> Compiled:
    """Compile with one command of the front end; the other arguments are those of `compile_hip`."""
    front = list(front)
    with tempfile.TemporaryDirectory(prefix="mfmasim-") as scratch:
        output = Path(scratch) / "kernel.hsaco"
        steps = _steps(tool, arch, front + libraries, _machine_flags(flags), source, output)
        kept = None if again or libraries else _entry(tool, steps, source, Path(scratch), flags, include)
        data = kept.read() if kept is not None else None
        said = ""
        if data is None:
            rules = output.with_suffix(".d")
            code, said = _ran(steps, [] if kept is None else dependencies(rules))
            if code != 0 and not libraries and lacks_entry_points(said):
                kept = None
                names = _front_end(tool, HEADERS, arch, _machine_flags(flags), ())
                libraries = link_entry_points(names, HEADERS, Path(scratch))
                steps = _steps(tool, arch, front + libraries, _machine_flags(flags), source, output)
                code, said = _ran(steps, [])
            said = in_terms_of_source(said, given, source, output.with_suffix(".s"))
            if code != 0:
                raise _refusal(tool, given, arch, code, said)
            data = output.read_bytes()
            if kept is not None and not said:
                kept.write(data, rules, unreported(front, source, Path(scratch)))
    is_elf = data.startswith(b"\x7fELF")
    return Compiled(
        data=data,
        compiler=tool.description,
        kind=tool.kind,
        version=tool.version,
        command=tuple(steps[0]),
        code_object_version=_CODE_OBJECT_OF_ABI.get(data[8], 0) if is_elf else 0,
        warnings=said,
    )


def declarations(
    path: str | os.PathLike[str],
    arch: str,
    compiler: str | os.PathLike[str] | None = None,
    flags: Sequence[str] = (),
    include: Sequence[str | os.PathLike[str]] = (),
) -> str:
    """The front end's IR of a source with debug information, which says what its kernels declare.

    Args:
        path: the source file, which compiles.
        arch: as of `compile_hip`.
        compiler: as of `compile_hip`.
        flags: as of `compile_hip`.
        include: as of `compile_hip`.

    Returns:
        LLVM IR before any optimisation; empty if the compiler does not give it.
    """
    tool, source = known_compiler(compiler), _checked(Path(path))
    with tempfile.TemporaryDirectory(prefix="mfmasim-") as scratch:
        output = Path(scratch) / "kernel.ll"
        plain = _front_end(tool, source, arch, flags, include)
        for front in (plain, _implying(plain)):
            step = [*front, "-g", "-S", "-emit-llvm", "-Xclang", "-disable-llvm-passes", "-o", str(output), str(source)]
            kept = _entry(tool, [step], source, Path(scratch), flags, include)
            data = kept.read() if kept is not None else None
            if data is None:
                rules = output.with_suffix(".d")
                wanted = [] if kept is None else dependencies(rules)
                ran = run([*step[:-1], *wanted, step[-1]])
                if ran.returncode != 0 or not output.is_file():
                    continue
                data = zlib.compress(output.read_bytes(), 1)
                if kept is not None:
                    kept.write(data, rules, unreported(front, source, Path(scratch)))
            return zlib.decompress(data).decode("utf-8", "replace")
    return ""


def _ran(steps: Sequence[Sequence[str]], wanted: Sequence[str]) -> tuple[int, str]:
    """Run the steps up to the first that fails: the last exit code, and the messages that are reported.

    Args:
        steps: of `_steps`.
        wanted: further flags of the first.
    """
    said = ""
    for number, step in enumerate(steps):
        ran = run(step if number else [*step[:-1], *wanted, step[-1]])
        if not number or ran.returncode != 0:  # remarks of the assembler on generated text say nothing to the user
            said = ran.stderr + ran.stdout
        if ran.returncode != 0:
            break
    return ran.returncode, said


def _checked(path: Path) -> Path:
    """The absolute path of a source file; symbolic links are kept, because includes are relative to them."""
    if set(path.name) & {"\n", "\r"}:  # the assembly text names the file in a comment, which would end there
        raise MfmasimError(f"{str(path)!r}: the name of a source holds a line break; rename it")
    try:
        if path.is_dir():
            raise MfmasimError(f"{path} is a folder, not a HIP source file")
        if path.stat().st_size == 0:
            raise MfmasimError(f"{path} is empty: nothing to compile")
    except FileNotFoundError:
        raise MfmasimError(f"no file {str(path)!r}") from None
    except (OSError, ValueError) as error:
        raise MfmasimError(f"cannot read {str(path)!r}: {getattr(error, 'strerror', None) or error}") from None
    return Path(os.path.abspath(path))  # noqa: PTH100


def _front_end(
    tool: Compiler, source: Path, arch: str, flags: Sequence[str], include: Sequence[str | os.PathLike[str]]
) -> list[str]:
    """The command that compiles the source, without its output."""
    folders = [Path(os.path.abspath(name)) for name in include]  # noqa: PTH100
    for name in folders:
        if not name.is_dir():
            raise MfmasimError(f"no include folder {str(name)!r}")
    command = [*tool.program, *_COMMON, f"--offload-arch={arch}"]
    maps = {name: f"{MAPPED}{index}" for index, name in enumerate(header_folders(flags, include))}
    command += [f"-I{name}" for name in folders]
    if tool.style != "rocm":
        maps[HEADERS] = "mfmasim/hiprt/include"
        command += [*_OWN_HEADERS, "-isystem", str(HEADERS)]
    if tool.style == "zig":
        command += zig_flags(tool.path)
        maps[tool.path.parent / "lib"] = "zig"
    # The last matching map is used, so an include folder below the source's folder comes after it.
    maps[source.parent] = ""  # though it is an include folder, too
    for place in sorted(maps, key=lambda path: len(path.parts)):
        new = f"{maps[place]}/" if maps[place] else ""
        command.append(f"-ffile-prefix-map={os.path.join(place, '')}={new}")  # noqa: PTH118
    return [*command, *flags]


def _libraries(tool: Compiler, arch: str, flags: Sequence[str], given: str | os.PathLike[str] | None) -> list[str]:
    """Flags for ROCm's device libraries, if they are requested."""
    place = chosen_folder(given)
    if place is None:
        return []
    if tool.style == "rocm":
        return [f"--rocm-device-lib-path={place}"]
    return link_flags(place, arch, flags, CODE_OBJECT_VERSION)


def _entry(
    tool: Compiler,
    steps: Sequence[Sequence[str]],
    source: Path,
    scratch: Path,
    flags: Sequence[str],
    include: Sequence[str | os.PathLike[str]],
) -> Entry | None:
    """Where the result is kept, or None where it is not to be."""
    folders = [Path(os.path.abspath(name)) for name in include] + _include_folders(flags)  # noqa: PTH100
    if not all(name.is_absolute() for name in folders):
        return None
    return entry_for(tool, steps, source, scratch, flags, folders, HEADERS)


def header_folders(flags: Sequence[str], include: Sequence[str | os.PathLike[str]] = ()) -> list[Path]:
    """Absolute include folders. Code names files of the n-th `MAPPED` n, so that its bytes do not depend on the place.

    Args:
        flags: the user's flags.
        include: folders beside them.
    """
    given = [Path(os.path.abspath(name)) for name in include]  # noqa: PTH100
    return given + [name for name in _include_folders(flags) if name.is_absolute()]


def _include_folders(flags: Sequence[str]) -> list[Path]:
    """Include folders among the user's flags, joined (``-I/x``) or separate (``-isystem /x``)."""
    options = ("-I", "-isystem", "-iquote", "-idirafter")
    joined = [flag.removeprefix(option) for flag in flags for option in options if flag.startswith(option)]
    separate = [flag for before, flag in itertools.pairwise(flags) if before in options]
    return [Path(name) for name in (*joined, *separate) if name]


def _steps(
    tool: Compiler, arch: str, front: Sequence[str], machine: Sequence[str], source: Path, output: Path
) -> list[list[str]]:
    """Commands from the source to the linked code object.

    HIP's driver links with a program named ``lld``, which zig lacks, and it links even with ``-c``. Therefore the
    compilation goes through assembly text, with every clang, so that all give the same bytes.
    """
    if tool.style == "rocm":
        return [[*front, "-o", str(output), str(source)]]
    text, unlinked = output.with_suffix(".s"), output.with_suffix(".o")
    target = [f"--target={triple(arch, tool.version)}", f"-mcpu={arch}", f"-mcode-object-version={CODE_OBJECT_VERSION}"]
    return [
        [*front, "-S", "-o", str(text), str(source)],
        [*tool.program, *target, *machine, "-c", str(text), "-o", str(unlinked)],
        [*tool.linker, "--no-undefined", "-shared", str(unlinked), "-o", str(output)],
    ]


def _machine_flags(flags: Sequence[str]) -> list[str]:
    """Flags that the assembler also needs: wave size, CU mode, code object version, target features."""
    machine = [
        flag
        for before, flag in itertools.pairwise(["", *flags])
        if flag.startswith("-m") and flag != "-mllvm" and before != "-mllvm"
    ]
    given = [flag for before, flag in itertools.pairwise(flags) if before == "-Xclang"]
    features = [flag for before, flag in itertools.pairwise(given) if before == "-target-feature"]
    return machine + [f for feature in features for f in ("-Xclangas", "-target-feature", "-Xclangas", feature)]


def _refusal(tool: Compiler, given: Path, arch: str, code: int, said: str) -> MfmasimError:
    if "unsupported HIP gpu architecture" in said or "invalid target ID" in said:
        error = unknown("architecture", arch, _architectures(tool), f"for {tool.description}")
        return MfmasimError(f"{error}; a processor that is newer than the compiler needs a later one")
    crash = crash_of(said, code)
    if crash is not None:
        where = f" in {crash.function}" if crash.function else ""
        return CompilerCrashError(f"{given}: {tool.description} crashed for {arch}{where}: {crash.reason}", crash)
    hint = "\nname its folder: -I DIR, or flags=['-IDIR'] of a case" if "file not found" in said else ""
    return MfmasimError(f"{given} does not compile for {arch} with {tool.description}:\n{said.strip()}{hint}")


def _architectures(tool: Compiler) -> list[str]:
    """Processors that the compiler lists."""
    listed = run([*tool.program, "--target=amdgcn-amd-amdhsa", "--print-supported-cpus"])
    return [word for word in (listed.stdout + listed.stderr).split() if word.startswith("gfx")]
