"""A folder shaped as a ROCm installation, for Makefiles and for CMake: hipcc, hipconfig, headers, the library."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

from mfmasim.architectures import DEFAULT
from mfmasim.errors import MfmasimError
from mfmasim.hiprt.build import LIBRARY, OTHERS, library
from mfmasim.hiprt.settings import ARCH
from mfmasim.resources import CACHE, HEADERS
from mfmasim.toolchain import find_compiler
from mfmasim.toolchain.discovery import OURS

VERSION = "7.2.0"
CMAKE = Path(__file__).with_name("cmake")
LINKS = {
    "bin/amdclang++": "clang++", "bin/clang": "clang++", "bin/amdclang": "clang++", "llvm": ".",
    **{f"lib/{name}": f"../../lib/{name}" for name in (LIBRARY, *OTHERS)},
}  # fmt: skip
"""Symbolic links of the folder, with their targets."""
EMPTY = ("libamd_comgr.so", "libhsa-runtime64.so", "libhiprtc-builtins.so", "libhipblas.so")
"""Libraries that build lines name because ROCm's runtime is made of them, or whose header here has all of it. They are
linker scripts without content: a program that calls other functions of theirs does not link."""
BITCODE = "amdgcn/bitcode"
"""Folder of ROCm's device libraries, without them: MLIR looks for it before it links a kernel, whether the kernel calls
their functions or not."""
DEVICES = "devices"
"""Folder of the programs that say which devices there are; programs look for them by their name alone, and not for our
compilers, which may stand before another one then."""
BUNDLER = "clang-offload-bundler"
TOOLS = (
    "llvm-mc", "llvm-objcopy", "llvm-objdump", "llvm-readelf", "llvm-as", "llvm-dis",
    "llvm-link", "llvm-ar", "llvm-ranlib", "opt", "llc", "ld.lld",
)  # fmt: skip


def _hipconfig(place: Path) -> str:
    """A script with the output of hipconfig."""
    answers = {
        "-p|--path|-R|--rocmpath": str(place),
        "-v|--version": VERSION,
        "-P|--platform": "amd",
        "-c|--compiler": "clang",
        "-r|--runtime": "rocclr",
        "-l|--hipclangpath": str(place / "bin"),
        "-C|--cpp_config|--cpp-config": f"-D__HIP_PLATFORM_AMD__= -I{place}/include",
    }
    cases = "".join(f"  {names}) printf %s {shlex.quote(text)};;\n" for names, text in answers.items())
    return f'#!/bin/sh\ncase "$1" in\n{cases}  *) echo {shlex.quote(f"HIP version: {VERSION}")};;\nesac\n'


def _python(*words: str) -> str:
    """A script that runs mfmasim's command line with this Python."""
    package = str(Path(__file__).resolve().parents[2])
    program = f"import sys; sys.path.append({package!r}); from mfmasim.cli import main; sys.exit(main())"
    call = shlex.join([sys.executable, "-P", "-c", program, *words])
    return f'#!/bin/sh\nexec {call} "$@"\n'


def _bundler(program: str) -> str:
    """A script that calls LLVM's bundler as older build lines do, in whose targets the environment is missing."""
    shorter = "s/\\(host\\|hip[v4]*\\)-\\([a-z0-9_]*\\)-\\([a-z]*\\)-\\([a-z]*\\)\\(,\\|$\\)/\\1-\\2-\\3-\\4-\\5/g"
    return f"""#!/bin/sh
for word do
  shift
  case "$word" in -targets=*|--targets=*) word=$(printf %s "$word" | sed '{shorter}');; esac
  set -- "$@" "$word"
done
exec {shlex.quote(program)} "$@"
"""


def _tools() -> dict[str, str]:
    """LLVM's programs beside the compiler, which build lines call by ROCm's path; paths by name."""
    try:
        tool = find_compiler()
    except MfmasimError:  # programs that compile nothing run without one
        return {}
    near = tool.path.resolve().parent
    major = tool.version.partition(".")[0]
    found = {name: shutil.which(name, path=str(near)) or shutil.which(f"{name}-{major}") for name in (BUNDLER, *TOOLS)}
    return {name: path for name, path in found.items() if path}


def root() -> Path:
    """Make the folder, in the library's folder, unless it exists.

    Returns:
        Its path.

    Raises:
        MfmasimError: it cannot be written, or the library cannot be built.
    """
    place = library().parents[1] / "rocm"
    tools = _tools()
    archs = f'#!/bin/sh\necho "${{{ARCH}:-{DEFAULT}}}" | tr , "\\n"\n'
    agents = f'{archs.rstrip()} | sed "s/^/  Name:                    /"\n'
    scripts = {
        "bin/hipcc": _python("hipcc"),
        "bin/clang++": _python("hipcc", "--as-clang"),
        "bin/hipconfig": _hipconfig(place),
        "bin/rocm_agent_enumerator": archs,
        "bin/rocminfo": agents,
        f"{DEVICES}/rocm_agent_enumerator": archs,
        f"{DEVICES}/rocminfo": agents,
        "bin/amdgpu-arch": archs,
        **({f"bin/{BUNDLER}": _bundler(tools.pop(BUNDLER))} if BUNDLER in tools else {}),
        **{f"lib/{name}": "/* part of libamdhip64.so here */\n" for name in EMPTY},
        f"{BITCODE}/{OURS}": "",
        ".info/version": VERSION + "\n",
        OURS: "",
    }
    programs = {f"bin/{name}": path for name, path in tools.items()}
    links = {**LINKS, **programs, "include": str(HEADERS), "lib/cmake": str(CMAKE)}
    try:
        for name, text in scripts.items():
            path = place / name
            if path.is_file() and not path.is_symlink() and path.read_text() == text:
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            unfinished = path.with_name(f"{path.name}.{os.getpid()}")
            unfinished.write_text(text)
            unfinished.chmod(0o755)
            unfinished.replace(path)
        for name, target in links.items():
            path = place / name
            if path.is_symlink() and str(path.readlink()) == target:
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            unfinished = path.with_name(f"{path.name}.{os.getpid()}")
            unfinished.symlink_to(target)
            unfinished.replace(path)
    except OSError as error:
        raise MfmasimError(f"{place}: cannot be written: {error.strerror or error}; set {CACHE}") from None
    return place
