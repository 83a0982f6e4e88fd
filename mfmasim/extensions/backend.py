"""The library that gives a CPU build of PyTorch tensors of ``cuda``: built once for each PyTorch, and kept."""

from __future__ import annotations

import ctypes
import fcntl
import hashlib
import importlib.util
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mfmasim.errors import MfmasimError
from mfmasim.hiprt.build import library as runtime_library
from mfmasim.resources import CACHE, cache_folder, is_own
from mfmasim.toolchain import find_compiler
from mfmasim.toolchain.clibrary import build_library
from mfmasim.toolchain.compilers import run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mfmasim.toolchain.compilers import Compiler

NATIVE = Path(__file__).with_name("native")
ANSWERS, TENSORS = "libmfmasim_answers.so", "libmfmasim_torch.so"


def torch_folder() -> Path:
    """Where PyTorch is installed.

    Raises:
        MfmasimError: it is not.
    """
    spec = importlib.util.find_spec("torch")
    if spec is None or not spec.submodule_search_locations:
        raise MfmasimError("torch is not installed; install it: pip install torch (the build for the CPU)")
    return Path(spec.submodule_search_locations[0])


def includes() -> list[Path]:
    """Folders of PyTorch's headers."""
    whole = torch_folder() / "include"
    return [whole, whole / "torch" / "csrc" / "api" / "include"]


def compiler() -> Compiler:
    """The compiler of extensions.

    Raises:
        MfmasimError: there is none that shares PyTorch's C++ library.
    """
    tool = find_compiler()
    if tool.style != "clang":
        raise MfmasimError(
            "PyTorch's C++ extensions need a clang 21 or newer with lld (Debian and Ubuntu: apt install clang-22 "
            f"lld-22), not {tool.description}, whose C++ library or headers are others than PyTorch's"
        )
    return tool


def standard() -> str:
    """The C++ standard that PyTorch's headers need, as an option: what its own module for extensions asks for."""
    text = (torch_folder() / "utils" / "cpp_extension.py").read_text()
    return "-std=c++20" if "-std=c++20" in text else "-std=c++17"


def _identity(*parts: object) -> str:
    """A name for what is built of these parts, of PyTorch's version and place."""
    folder = torch_folder()
    digest = hashlib.sha256((folder / "version.py").read_bytes())
    for part in (folder, *parts):
        digest.update(f"{part}\n".encode())
    return digest.hexdigest()[:16]


def kept(name: str, files: Iterable[str], make: Callable[[Path], None]) -> Path:
    """A folder of the cache, made once, by one process.

    Args:
        name: of the folder.
        files: what it has once it is whole.
        make: makes the files in a folder that is given.

    Returns:
        The folder.

    Raises:
        MfmasimError: it cannot be made, or another user may write to it: programs load what is in it.
    """
    place = cache_folder() / name
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        paths = [place / one for one in files]
        with (place / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not all(path.exists() for path in paths):
                make(place)
        for path in (place, *paths):
            if not is_own(path):
                raise MfmasimError(f"{path}: other users may write to it, and programs would load it; set {CACHE}")
    except OSError as error:
        raise MfmasimError(f"{place}: cannot be written: {error.strerror or error}; set {CACHE}") from None
    return place


def answers() -> Path:
    """The library that is loaded before PyTorch.

    Raises:
        MfmasimError: it cannot be built here.
    """
    source = NATIVE / "answers.c"
    name = f"torch-answers-{hashlib.sha256(source.read_bytes()).hexdigest()[:16]}"
    return kept(name, [ANSWERS], lambda place: build_library(source, place / ANSWERS, soname=ANSWERS)) / ANSWERS


def tensors() -> Path:
    """The library of tensors, for the PyTorch that is installed.

    Raises:
        MfmasimError: it cannot be built here.
    """
    source, tool = NATIVE / "tensors.cpp", compiler()
    runtime, folder, first = runtime_library(), torch_folder(), answers()

    def make(place: Path) -> None:
        made = place / TENSORS
        unfinished = made.with_name(f"{made.name}.{os.getpid()}")
        command = [
            *tool.program,
            "--driver-mode=g++",
            standard(),
            "-fPIC",
            "-O1",
            "-shared",
            "-w",
            *(f"-isystem{one}" for one in includes()),
            str(source),
            "-o",
            str(unfinished),
            f"-L{folder / 'lib'}",
            "-lc10",
            "-ltorch_cpu",
            f"-L{runtime.parent}",
            "-lamdhip64",
            str(first),
            f"-Wl,-rpath,{first.parent}",
            f"-Wl,-rpath,{runtime.parent}",
            f"-Wl,-soname,{TENSORS}",
        ]
        ran = run(command)
        if ran.returncode:
            lines = [line for line in ran.stderr.splitlines() if "error" in line] or ran.stderr.splitlines() or ["?"]
            unfinished.unlink(missing_ok=True)
            raise MfmasimError(f"{tool.description} cannot build {TENSORS} for this PyTorch: {lines[0]}")
        unfinished.replace(made)

    name = f"torch-tensors-{_identity(source.read_text(), runtime, first, tool.description)}"
    return kept(name, [TENSORS], make) / TENSORS


def load(path: Path) -> Any:
    """A library whose names later libraries see."""
    return ctypes.CDLL(str(path), ctypes.RTLD_GLOBAL)
