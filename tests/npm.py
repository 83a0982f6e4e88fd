"""Packages of npm, unpacked into a folder for a test; nothing of them is stored in the repository."""

import shutil
import subprocess
import tarfile

import pytest


def npm_package(name, folder):
    """The folder of a package, such as ``axe-core@4``; where npm does not have it, the test is skipped."""
    if not shutil.which("npm"):
        pytest.skip(f"{name}: there is no npm")
    done = subprocess.run(["npm", "pack", name], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"npm has no {name}: {done.stderr.strip()[-200:]}")
    (archive,) = folder.glob("*.tgz")
    with tarfile.open(archive) as file:
        file.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))  # not before 3.11.4
    return folder / "package"
