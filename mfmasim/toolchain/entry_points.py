"""The device libraries' entry points (``__ocml_exp2_f32``, ``__ockl_get_local_id``) as bitcode.

A source that includes ``hip/hip_runtime.h`` has them from its headers. Others, such as kernels that programs generate,
declare the functions they call and include nothing: ROCm's compiler links its bitcode to them, and this module makes
bitcode of mfmasim's headers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from mfmasim.errors import MfmasimError
from mfmasim.toolchain.compilers import run

_NAMES = Path("mfmasim") / "library_names.h"
_NAME = rb"__oc[mk]l_\w+"


def lacks_entry_points(said: str) -> bool:
    """Whether a linker's messages name entry points of the device libraries that nothing defines."""
    return re.search(b"undefined hidden symbol: " + _NAME, said.encode()) is not None


def names_entry_points(source: Path) -> bool:
    """Whether a source names entry points of the device libraries; not if it cannot be read."""
    try:
        return re.search(_NAME, source.read_bytes()) is not None
    except OSError:
        return False


def link_entry_points(front: Sequence[str], headers: Path, scratch: Path) -> list[str]:
    """Make the bitcode, and the flags with which clang links what a source uses of it.

    Args:
        front: the command that compiles a source for one architecture, without source and output.
        headers: folder of mfmasim's headers.
        scratch: folder for the bitcode.

    Returns:
        Flags of a compilation for the device alone.

    Raises:
        MfmasimError: the headers do not compile with the given flags.
    """
    made = scratch / "entry_points.bc"
    wanted = ["-w", "-DMFMASIM_LIBRARY_MODULE", "-fgpu-rdc", "-emit-llvm", "-c", "-o", str(made)]
    ran = run([*front, *wanted, str(headers / _NAMES)])
    if ran.returncode != 0:
        raise MfmasimError(f"the device libraries' entry points do not compile:\n{ran.stderr.strip()}")
    return [word for part in ("-mlink-builtin-bitcode", str(made)) for word in ("-Xclang", part)]
