"""The shared library of this Python, which a program without Python loads to be served."""

from __future__ import annotations

import os
import site
import sys
import sysconfig
from pathlib import Path


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
