"""Folders that are shipped, beside the package in a checkout, inside it in an installed wheel; headers; the cache."""

from __future__ import annotations

import os
from pathlib import Path

from mfmasim.errors import MfmasimError, unknown

CACHE = "MFMASIM_CACHE"
"""Environment variable: folder of what is built once and used again."""

HEADERS = Path(__file__).resolve().parent / "hiprt" / "include"
"""HIP headers for compilers other than ROCm's: the folder that contains ``hip/hip_runtime.h``."""

FOLDERS = ("hipkernels", "golden")
"""Top-level folders of the repository that the wheel contains under ``mfmasim/_bundled``."""


def folder(name: str) -> Path:
    """Find a folder of the repository, in a checkout or in an installed wheel.

    Args:
        name: one of `FOLDERS`.

    Returns:
        Its absolute path.

    Raises:
        MfmasimError: the name is not one of `FOLDERS`, or the installation lacks the folder.

    >>> (folder("hipkernels") / "intro" / "cases.py").is_file()
    True
    """
    if name not in FOLDERS:
        raise unknown("folder", name, FOLDERS)
    package = Path(__file__).resolve().parent
    bundled = package / "_bundled" / name
    if bundled.is_dir():
        return bundled
    # Another folder in site-packages may have the same name, so a checkout must also have its pyproject.toml.
    checkout = package.parent / name
    if checkout.is_dir() and (package.parent / "pyproject.toml").is_file():
        return checkout
    raise MfmasimError(f"the folder {name!r} is missing from this installation: looked in {bundled} and {checkout}")


def cache_folder() -> Path:
    """Folder of what is built once: `CACHE`, or ``mfmasim`` in the user's cache folder; it need not exist.

    Raises:
        RuntimeError: the user has no home folder.
    """
    chosen = os.environ.get(CACHE)
    return Path(chosen or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "mfmasim").absolute()


def is_own(path: Path) -> bool:
    """Whether no other user decides what a file or folder holds: this one or root owns it, and others may not write.

    A group may, if it is this user's own. Where a system has no such owners, it is.

    Raises:
        OSError: there is none.
    """
    if not hasattr(os, "getuid"):
        return True
    about = path.stat()
    others = about.st_mode & (0o002 if about.st_gid == os.getegid() else 0o022)
    return about.st_uid in (0, os.getuid()) and not others
