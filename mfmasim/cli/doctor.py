"""``mfmasim doctor``: which packages, compilers, devices and test programs are installed, and how to get the rest."""

from __future__ import annotations

import argparse
import json
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

# Programs that tests compare with; the names in Debian's packages end with the version.
_ORACLES = (
    ("llvm-objdump", "decoder: every instruction's text", ("llvm-objdump-22", "llvm-objdump")),
    ("llvm-mc", "decoder: generated encodings", ("llvm-mc-22", "llvm-mc")),
    ("llvm-readelf", "code objects: descriptors and notes", ("llvm-readelf-22", "llvm-readelf")),
    ("clang", "toolchain: the same source, another build of clang", ("clang-22", "clang")),
    ("ld.lld", "toolchain: linking for that clang", ("ld.lld-22", "ld.lld")),
    ("clang-offload-bundler", "code objects: bundles", ("clang-offload-bundler-22", "clang-offload-bundler")),
)
_ORACLES_MEND = "Debian and Ubuntu, from apt.llvm.org where needed: apt install llvm-22 clang-22 lld-22"

# Run in a separate process: a broken driver may crash or hang its caller.
_PROBE = """
from hip import hip
status, count = hip.hipGetDeviceCount()
print(int(status), count, getattr(status, "name", status))
for number in range(0 if int(status) else count):
    try:
        found = hip.hipGetDeviceProperties(number)[1]
    except TypeError:  # hip-python 7 fills them in
        found = hip.hipDeviceProp_t()
        hip.hipGetDeviceProperties(found, number)
    texts = [text.decode() if isinstance(text, bytes) else text for text in (found.gcnArchName, found.name)]
    print(*texts, sep="\t")
"""
_PROBE_SECONDS = 60


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the verb."""
    parser = subparsers.add_parser("doctor", help="report installed packages, the compiler and the device")
    parser.add_argument("--json", action="store_true", help="write the findings as JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the findings.

    Args:
        args: parsed arguments; ``json`` selects JSON output.

    Returns:
        0, or 1 when a package that mfmasim itself needs is missing.
    """
    found = examine()
    if args.json:
        print(json.dumps(found, indent=2))
    else:
        for line in _lines(found):
            print(line)
    return int(any(not row["ok"] and row["for"] == "mfmasim" for row in found["packages"]))


def examine() -> dict[str, Any]:
    """Examine this machine.

    Returns:
        ``python``, ``packages``, ``compiler``, ``device`` and ``oracles``. Every row has ``ok`` and, where something
        is missing, ``mend``: how to install or repair it.
    """
    import mfmasim

    return {
        "mfmasim": mfmasim.__version__,
        "python": {"version": platform.python_version(), "program": sys.executable, "platform": platform.platform()},
        "packages": _packages(),
        "compiler": _compiler(),
        "device": _device(),
        "oracles": _oracles(),
    }


def _packages() -> list[dict[str, Any]]:
    """The requirements in the project's metadata and the installed versions."""
    from importlib import metadata

    try:
        requirements = metadata.requires("mfmasim") or []
    except metadata.PackageNotFoundError:
        mend = "pip install -e . in the checkout"
        return [{"name": "mfmasim", "for": "mfmasim", "wanted": "", "version": None, "ok": False, "mend": mend}]
    rows: list[dict[str, Any]] = []
    for requirement in requirements:
        wanted, _, marker = (part.strip() for part in requirement.partition(";"))
        name = re.match(r"[\w.-]+", wanted)
        extra = re.search(r"extra == ['\"](\w+)['\"]", marker)
        seen = {row["name"] for row in rows} | {"mfmasim"}
        if name is None or name[0] in seen or not _applies(marker):
            continue
        try:
            version: str | None = metadata.version(name[0])
        except metadata.PackageNotFoundError:
            version = None
        use = extra[1] if extra else "mfmasim"
        row = {"name": name[0], "for": use, "wanted": wanted, "version": version, "ok": version is not None}
        if version is None:
            row["mend"] = f"pip install '{wanted}'"
        rows.append(row)
    return rows


def _applies(marker: str) -> bool:
    """Whether a marker of the form ``python_version < "3.14"`` holds here; other forms count as holding."""
    bound = re.search(r"python_version\s*<\s*['\"](\d+)\.(\d+)['\"]", marker)
    return bound is None or sys.version_info < (int(bound[1]), int(bound[2]))


def _compiler() -> dict[str, Any]:
    from mfmasim.errors import MfmasimError
    from mfmasim.toolchain import find_compiler

    try:
        tool = find_compiler()
    except MfmasimError as error:
        return {"ok": False, "mend": str(error)}
    headers = "ROCm's" if tool.style == "rocm" else "mfmasim's"
    return {
        "ok": True,
        "description": tool.description,
        "kind": tool.kind,
        "path": str(tool.path),
        "headers": headers,
        "code": "host and device code",
    }


def _device() -> dict[str, Any]:
    """Import hip-python and count the devices: importing alone succeeds without ROCm."""
    # -P: a folder named hip in the current directory, such as our headers, is not the package.
    command = [sys.executable, "-P", "-c", _PROBE]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_PROBE_SECONDS)
    except subprocess.TimeoutExpired:
        return _no_device(f"hipGetDeviceCount did not return within {_PROBE_SECONDS} s", "check that rocminfo works")
    first, *others = ran.stdout.splitlines() or [""]
    answer = first.split()
    if ran.returncode != 0 or len(answer) < 3:
        return _no_device(*_explain(ran.stderr.strip(), ran.returncode))
    status, count, name = int(answer[0]), int(answer[1]), answer[2]
    if status == 0 and count:
        text = f"hipGetDeviceCount: {count} device{'s' * (count > 1)}"
        devices = [dict(zip(("target", "name"), line.split("\t"), strict=False)) for line in others]
        return {"ok": True, "answer": text, "count": count, "devices": devices}
    from mfmasim.devices.hip_library import no_gpu

    return _no_device(*no_gpu(status, name))


def _explain(error: str, code: int) -> tuple[str, str]:
    """Describe why the probe failed, and the remedy."""
    from mfmasim.devices.hip_library import trouble

    if code < 0:
        return f"hipGetDeviceCount ended the process with signal {-code}", "check the driver with rocminfo"
    return trouble(error.splitlines()[-1] if error else f"exit code {code}")


def _no_device(answer: str, mend: str) -> dict[str, Any]:
    return {"ok": False, "answer": answer, "count": 0, "mend": mend}


def _oracles() -> list[dict[str, Any]]:
    rows = []
    for name, use, programs in _ORACLES:
        path = next((found for program in programs if (found := shutil.which(program))), None)
        row: dict[str, Any] = {
            "name": name,
            "for": use,
            "path": path,
            "version": _version(path),
            "ok": path is not None,
        }
        if path is None:
            row["mend"] = _ORACLES_MEND
        rows.append(row)
    return rows


def _version(path: str | None) -> str | None:
    if path is None:
        return None
    try:
        ran = subprocess.run([path, "--version"], capture_output=True, text=True, check=False, timeout=_PROBE_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r"(?:version|LLD) (\d+(?:\.\d+)*)", ran.stdout)
    return found[1] if found else None


def _lines(found: dict[str, Any]) -> Iterator[str]:
    """The findings for a terminal: one line each, with its remedy below."""
    python = found["python"]
    yield f"mfmasim {found['mfmasim']} · Python {python['version']} · {python['platform']}"
    yield ""
    yield "packages"
    for row in found["packages"]:
        use = "" if row["for"] == "mfmasim" else f"for {row['for']}"
        yield from _row(row, f"{row['name']:18} {row['version'] or 'missing':16} {use}")
    yield "compiler"
    tool = found["compiler"]
    parts = [tool["description"], f"{tool['headers']} headers", tool["code"], tool["path"]] if tool["ok"] else ["none"]
    yield from _row(tool, ", ".join(parts))
    yield "device"
    yield from _row(found["device"], found["device"]["answer"])
    for number, one in enumerate(found["device"].get("devices", ())):
        yield f"      hip:{number}  {one.get('target', '?'):24} {one.get('name', '')}".rstrip()
    yield "programs that tests compare with"
    for row in found["oracles"]:
        yield from _row(row, f"{row['name']:22} {row['version'] or 'missing':10} {row['for']}")


def _row(row: dict[str, Any], text: str) -> Iterator[str]:
    yield f"  {'ok' if row['ok'] else '--':3} {text}".rstrip()
    if "mend" in row:
        yield f"      {row['mend']}"
