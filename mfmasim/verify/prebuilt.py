"""Prebuilt code objects: kernels of the families, compiled once, so that verifying them needs no compiler."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from mfmasim import program
from mfmasim.errors import MfmasimError
from mfmasim.files import is_object
from mfmasim.kernels import Code
from mfmasim.resources import HEADERS, folder
from mfmasim.verify.clobbers import INCLUDE

MANIFEST = "manifest.json"
KEPT = 16
"""Code objects that are kept, with what launches memoise of their kernels: some MiB each. Cases that share one follow
one another."""
FOLDERS = ("-I", "-iquote", "-isystem", "-idirafter")
"""Flags that name a folder, in the same word or the next one."""
FORCED = ("-include", "-imacros")
"""Flags whose next word is a header that comes before the source."""


def source_hash(path: Path) -> str:
    """SHA-256 of a kernel source and of the headers that it may include: ours, and its folder's; without line ends."""
    digest = hashlib.sha256(path.read_bytes().replace(b"\r\n", b"\n"))
    ours = sorted(header for header in HEADERS.rglob("*") if header.is_file())  # <complex> has no suffix
    for header in (*ours, *sorted(path.parent.glob("*.h"))):
        digest.update(header.read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()


@lru_cache(maxsize=1)
def _entries() -> list[dict[str, Any]]:
    path = folder("golden") / "code" / MANIFEST
    if not path.is_file():
        return []
    try:
        return list(json.loads(path.read_text())["entries"])
    except (ValueError, KeyError, TypeError) as error:
        raise MfmasimError(f"{path}: the manifest of prebuilt code objects cannot be read: {error}") from None


def code_for(source: Path, arch: str, compiler: str | None = None, flags: tuple[str, ...] = ()) -> Code:
    """Code object of a kernel source: prebuilt when it is up to date, else compiled now.

    Args:
        source: a ``.hip`` file, or an ``.hsaco`` to load as it is.
        arch: architecture.
        compiler: the compiler to use instead of prebuilt code.
        flags: further compiler flags; with them prebuilt code is not used.

    Returns:
        The code; ``made_by`` says who compiled it.

    Raises:
        MfmasimError: a damaged prebuilt file, a missing source, or a failing compile.
    """
    if not source.is_file():
        raise MfmasimError(f"{source}: no such file")
    return _made(source, arch, compiler, flags, tuple(_stamps(source, flags)))


def _stamps(source: Path, flags: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """Name, size and time of a source and of the headers that it or a flag includes, from its folder or a flag's."""
    words = list(zip(flags, (*flags[1:], ""), strict=False))
    folders = [Path(flag[len(one) :] or after) for flag, after in words for one in FOLDERS if flag.startswith(one)]
    forced = [after for flag, after in words if flag in FORCED]
    seen: set[Path] = set()
    open_ = [source, *(place / name for name in forced for place in (Path(), source.parent, *folders))]
    while open_:
        path = Path(os.path.normpath(open_.pop()))  # headers may include each other through ../
        if path in seen or not path.is_file():
            continue
        seen.add(path)
        found = path.stat()
        yield str(path), found.st_size, found.st_mtime_ns
        if not is_object(path):
            names = INCLUDE.findall(path.read_text(errors="replace"))
            open_ += [place / name for name in names for place in (path.parent, source.parent, *folders)]


@lru_cache(maxsize=KEPT)
def _made(
    source: Path,
    arch: str,
    compiler: str | None,
    flags: tuple[str, ...],
    stamps: tuple[tuple[str, int, int], ...],  # noqa: ARG001, what is kept is of these files
) -> Code:
    if is_object(source):
        return program.load(source, arch)
    if compiler is None and not flags:
        found = _prebuilt(source, arch)
        if found is not None:
            return found
    return program.compile(source, arch, compiler=compiler, flags=flags)


def is_prebuilt(source: Path, arch: str) -> bool:
    """Whether a kernel source needs no compiler on an architecture.

    Raises:
        MfmasimError: the prebuilt file is damaged.
    """
    return _prebuilt(source, arch) is not None


def _prebuilt(source: Path, arch: str) -> Code | None:
    try:
        name = source.resolve().relative_to(folder("hipkernels").resolve()).as_posix()
    except ValueError:
        return None
    try:
        entry = next((e for e in _entries() if e["source"] == name and e["arch"] == arch), None)
        if entry is None or entry["source_sha256"] != source_hash(source):
            return None
        path, expected, compiler = folder("golden") / "code" / entry["file"], entry["sha256"], entry["compiler"]
    except (KeyError, TypeError) as error:
        manifest = folder("golden") / "code" / MANIFEST
        raise MfmasimError(f"{manifest}: an entry is damaged: {type(error).__name__} {error}") from None
    try:
        data = path.read_bytes()
    except OSError as error:
        raise MfmasimError(f"{path}: prebuilt code object cannot be read: {error.strerror or error}") from None
    if hashlib.sha256(data).hexdigest() != expected:
        raise MfmasimError(f"{path}: prebuilt code object is damaged (its SHA-256 is not the manifest's)")
    code = program.load(data, arch)
    code.made_by = f"{compiler}, prebuilt"
    code.source = program.Source(source, arch, hashlib.sha256(source.read_bytes()).hexdigest(), eager=False)
    return code


def placed_flags(flags: Sequence[str], home: Path) -> tuple[str, ...]:
    """Flags with folders of headers relative to a source's folder, independent of the working folder.

    Args:
        flags: of the compiler.
        home: the source's folder.
    """
    out: list[str] = []
    for number, flag in enumerate(flags):
        option, place = next(((one, flag[len(one) :]) for one in FOLDERS if flag.startswith(one)), ("", flag))
        option = option or ("" if number == 0 or flags[number - 1] not in FOLDERS else " ")
        here = home / place
        out.append(f"{option.strip()}{here}" if option and place and here.is_dir() else flag)
    return tuple(out)
