"""The library: built once per version of its source, with any C compiler, in the user's cache folder."""

from __future__ import annotations

import hashlib
import json
import os
import site
import sys
import sysconfig
from pathlib import Path

from mfmasim.errors import MfmasimError
from mfmasim.hiprt import calls
from mfmasim.hiprt.registry import CALLS
from mfmasim.hiprt.tables.names import BY_VALUE, NAMES, TEXTS
from mfmasim.resources import CACHE, cache_folder, is_own
from mfmasim.toolchain.clibrary import build_library
from mfmasim.toolchain.seals import seal_of, whole


def libpython() -> Path | str:
    """Find the shared library of this Python.

    Returns:
        Its path, or a text without a slash that says why there is none.
    """
    wanted = f"libpython{sys.version_info.major}.{sys.version_info.minor}{sys.abiflags}.so"
    named = [str(sysconfig.get_config_var(name) or "") for name in ("INSTSONAME", "LDLIBRARY")]
    names = [*(name for name in named if ".so" in name), f"{wanted}.1.0", wanted]
    multiarch = str(sysconfig.get_config_var("MULTIARCH") or "")
    roots = [str(sysconfig.get_config_var("LIBDIR") or ""), f"{sys.base_prefix}/lib", f"{sys.base_exec_prefix}/lib"]
    folders = [Path(root, *below) for root in roots if root for below in ((), (multiarch,))]
    for folder in dict.fromkeys(folders):
        for name in names:
            if (folder / name).is_file():
                return folder / name
    package = f"libpython{sys.version_info.major}.{sys.version_info.minor}"
    return f"this Python has no {wanted} (Debian and Ubuntu have it in the package {package})"


def sites() -> list[str]:
    """Folders of the packages that this Python sees: those of its environment, and the user's."""
    found = [*site.getsitepackages(), *([site.getusersitepackages()] if site.ENABLE_USER_SITE else [])]
    return [folder for folder in dict.fromkeys(found) if os.path.isdir(folder)]  # noqa: PTH112


LIBRARY = "libamdhip64.so"
"""The file name that hip-python loads, and the library's SONAME."""
OTHERS = ("libamdhip64.so.6", "libamdhip64.so.7", "libhiprtc.so", "libhiprtc.so.6", "libhiprtc.so.7")
"""Further names of the same library: those of ROCm 6 and 7."""
NATIVE = Path(__file__).with_name("native")


def header() -> str:
    """The list of calls that the C source includes: calls with their number of arguments, 0 if they are not served."""
    calls.load()
    counts = {name: len(call.readers) for name, call in CALLS.items() if not name.startswith("program")}
    listed = sorted({*NAMES, *counts} - BY_VALUE)
    return "".join(f"{'TEXT' if name in TEXTS else 'CALL'}{counts.get(name, 0)}({name})\n" for name in listed)


def built() -> str:
    """The header about this Python for the C source."""
    values = {
        "MFMASIM_LIBPYTHON": str(libpython()),
        "MFMASIM_PYTHONHOME": f"{sys.base_prefix}:{sys.base_exec_prefix}",
        "MFMASIM_SITES": repr(sites()),
        "MFMASIM_PACKAGE": repr(str(Path(__file__).resolve().parents[2])),
    }
    return "".join(f"#define {name} {json.dumps(value, ensure_ascii=False)}\n" for name, value in values.items())


def library() -> Path:
    """Build the library unless it exists.

    Returns:
        Its path. Its folder is named ``lib`` and contains only the library under its names.

    Raises:
        MfmasimError: it cannot be built here, its folder is not writable, or another user's.
    """
    written = {"calls.h": header(), "built.h": built()}
    digest = hashlib.sha256("".join(written.values()).encode())
    for one in sorted(NATIVE.iterdir()):
        digest.update(one.read_bytes())
    folder = cache_folder() / f"hiprt-{digest.hexdigest()[:16]}"
    path = folder / "lib" / LIBRARY
    seal = folder / "sha256"
    for one in (folder, path.parent, folder / "include", seal, path):  # programs load it
        if one.exists() and not is_own(one):
            raise MfmasimError(f"{one}: other users may write to it, and programs would load it; set {CACHE}")
    if whole(path, seal) and all((path.parent / name).exists() for name in OTHERS):
        return path
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (folder / "include").mkdir(exist_ok=True)
        for name, text in written.items():
            _write(folder / "include" / name, text)
        build_library(NATIVE / "runtime.c", path, include=[folder / "include"], soname=LIBRARY)
        _write(seal, seal_of(path))
        for name in OTHERS:
            link = path.with_name(f"{name}.{os.getpid()}")
            link.symlink_to(LIBRARY)
            link.replace(path.with_name(name))
    except OSError as error:
        text = f"{folder}: the simulated HIP runtime cannot be built there: {error.strerror or error}; set {CACHE}"
        raise MfmasimError(text) from None
    return path


def _write(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    with unfinished.open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)
