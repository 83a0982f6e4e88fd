"""Folders that are shipped with the package: beside it in a checkout, inside it in an installed wheel."""

from __future__ import annotations

from pathlib import Path

from mfmasim.errors import MfmasimError, unknown

__all__ = ["folder"]

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

    >>> (folder("hipkernels") / "include" / "hip" / "hip_runtime.h").is_file()
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
