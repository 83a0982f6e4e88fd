"""Python in the browser: Pyodide's files and the wheels that snippets import, as files of the site."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from mfmasim.errors import MfmasimError

__all__ = ["PACKAGES", "write_runtime"]

PACKAGES = ("numpy", "ml-dtypes", "msgpack", "rich", "pygments")
"""What mfmasim imports, from Pyodide's own distribution."""
PURE = ("pyelftools",)
"""What it imports besides; wheels without compiled parts, from the package index."""
CORE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")


def write_runtime(assets: Path, place: str | None) -> None:
    """Write `runtime.js`, which tells the pages where Python is, and the files it names.

    Args:
        assets: the folder of the site's scripts.
        place: a folder with a full Pyodide distribution, which is copied; the address of one; or None: pages then
            have no Run buttons.

    Raises:
        MfmasimError: the folder lacks files or packages.
    """
    runtime = None
    if place is not None:
        index = place.rstrip("/") + "/" if "://" in place else _copied(Path(place), assets / "pyodide")
        runtime = {"index": index, "packages": list(PACKAGES), "wheels": _wheels(assets / "wheels")}
    (assets / "runtime.js").write_text(f"window.mfmasimRuntime = {json.dumps(runtime)};\n")


def _copied(source: Path, target: Path) -> str:
    """Copy what pages load of a distribution; the path of the copy relative to the scripts."""
    lock = source / "pyodide-lock.json"
    if not lock.is_file():
        raise MfmasimError(f"{source}: no Pyodide distribution (pyodide-lock.json is missing)")
    listed = json.loads(lock.read_text())["packages"]
    names, waiting = set(), list(PACKAGES)
    while waiting:
        name = waiting.pop()
        if name not in names and name in listed:
            names.add(name)
            waiting += listed[name]["depends"]
    files = [*CORE, *(listed[name]["file_name"] for name in sorted(names))]
    if missing := [name for name in files if not (source / name).is_file()]:
        raise MfmasimError(
            f"{source}: lacks {', '.join(missing)} (the npm package has the interpreter alone; the release "
            "pyodide-VERSION.tar.bz2 has the packages too)"
        )
    target.mkdir()
    for name in files:
        shutil.copyfile(source / name, target / name)
    return f"{target.name}/"


def _wheels(folder: Path) -> list[str]:
    """Build mfmasim's wheel and fetch the others; their paths relative to the scripts."""
    root = Path(__file__).resolve().parents[2]
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder)]
    done = subprocess.run([*pip, str(root), *PURE], capture_output=True, text=True, check=False)
    if done.returncode:
        raise MfmasimError(f"no wheels for the browser: {done.stderr.strip().splitlines()[-1]}")
    return [f"{folder.name}/{path.name}" for path in sorted(folder.glob("*.whl"))]
