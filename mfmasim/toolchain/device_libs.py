"""ROCm's device libraries as bitcode: which files are linked, and the error if some are missing.

Layout and names are those of ROCm's ``amdgcn/bitcode`` folder (LLVM, clang/lib/Driver/ToolChains/AMDGPU.cpp).
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from mfmasim.errors import MfmasimError

VARIABLE = "MFMASIM_DEVICE_LIBS"
"""Environment variable that names the folder."""

# Control constants that not every release has; without the file the library does not use them.
_OPTIONAL = (
    "oclc_correctly_rounded_sqrt_on.bc",
    "oclc_daz_opt_off.bc",
    "oclc_finite_only_off.bc",
    "oclc_unsafe_math_off.bc",
    "ockl.bc",
)


def chosen_folder(given: str | os.PathLike[str] | None) -> Path | None:
    """The given folder, or that of the environment variable; None for mfmasim's functions.

    Raises:
        MfmasimError: it is not a folder.
    """
    name = given if given is not None else os.environ.get(VARIABLE)
    if not name:
        return None
    folder = Path(os.path.abspath(name))  # noqa: PTH100
    if not folder.is_dir():
        where = "device_libs" if given is not None else VARIABLE
        raise MfmasimError(f"{where} {str(name)!r} is not a folder; ROCm's bitcode is in <ROCm>/amdgcn/bitcode")
    return folder


def link_flags(folder: Path, arch: str, flags: Sequence[str], code_object_version: int) -> list[str]:
    """Flags with which clang links the used functions of the libraries into the kernels.

    Args:
        folder: folder of the ``.bc`` files.
        arch: processor, with or without target features.
        flags: the user's flags; ``-mwavefrontsize64`` selects the wave size.
        code_object_version: 4, 5 or 6.

    Raises:
        MfmasimError: files are missing; the text names all of them.
    """
    processor = arch.partition(":")[0].removeprefix("gfx")
    # LLVM: waves have 64 lanes by default up to gfx9, 32 from gfx10 on. After the major version come two digits, or a
    # generic processor's dash.
    wide = re.match(r"\d([0-9a-f]{2}$|-)", processor) is not None or "-mwavefrontsize64" in flags
    needed = [
        "ocml.bc",
        f"oclc_isa_version_{processor.replace('-', '_')}.bc",
        f"oclc_abi_version_{code_object_version}00.bc",
        f"oclc_wavefrontsize64_{'on' if wide else 'off'}.bc",
    ]
    missing = [name for name in needed if not (folder / name).is_file()]
    if missing:
        raise MfmasimError(f"device libraries in {folder}: missing for {arch}: {', '.join(missing)}")
    files = [folder / name for name in (*needed, *_OPTIONAL) if (folder / name).is_file()]
    linked = [part for file in files for part in ("-Xclang", "-mlink-builtin-bitcode", "-Xclang", str(file))]
    return ["-DMFMASIM_DEVICE_LIBS=1", *linked]
