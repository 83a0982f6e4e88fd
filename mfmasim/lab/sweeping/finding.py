"""The code objects below a folder: in files, in Triton's cache, in wheels and other archives, in libraries."""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mfmasim.codeobject import bundle, containers, elf_header
from mfmasim.errors import MfmasimError, NotCodeObjectError
from mfmasim.files import LIMIT, is_object, read_file
from mfmasim.visible import visible

__all__ = ["Found", "bytes_at", "found_in"]

MOST_MEMBERS = 100_000
"""Members of an archive."""
HEADS = (elf_header.ELF_MAGIC, containers.ARCHIVE, containers.PACKAGE)
ARCHIVES = (b"PK\x03\x04", b"\x1f\x8b", b"\xfd7zXZ", b"BZh")
TAR = slice(257, 262)


@dataclass(frozen=True)
class Place:
    """The place of a code object."""

    path: Path
    member: str = ""
    """Name within an archive; empty for a file."""
    entry: int = -1
    """Number within a container, such as a bundle; -1 for a file that is the code object."""


@dataclass
class Found:
    """One code object with all of its places."""

    sha256: str
    target: str
    """Target in its container; empty without a container."""
    size: int
    place: Place
    files: list[str] = field(default_factory=list)
    """Names relative to the folder of the sweep; those within archives follow after ``!``."""
    block: int = 0
    """Work-items of a workgroup, from Triton's JSON, if there is one."""
    shared: int = 0
    """Bytes of dynamic LDS, from Triton's JSON."""
    why: str = ""
    """Why it cannot be read; the hash is then that of the file."""


def found_in(folder: Path) -> list[Found]:
    """Every code object below a folder, or in one file, sorted by hash.

    Args:
        folder: a folder, or a file. Symbolic links are not followed.

    Raises:
        MfmasimError: there is no such folder or file.
    """
    if not folder.exists():
        raise MfmasimError(f"{folder}: no such file or folder")
    known: dict[str, Found] = {}
    for path in [folder] if folder.is_file() else _files(folder):
        name = path.name if path == folder else path.relative_to(folder).as_posix()
        for one in _in_file(path, visible(name)):
            first = known.setdefault(one.sha256, one)
            if first is not one:
                first.files += one.files
                first.block, first.shared = max(first.block, one.block), max(first.shared, one.shared)
    return sorted(known.values(), key=lambda one: one.sha256)


def _files(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(place) / name
            if path.is_file() and not path.is_symlink():
                yield path


def _in_file(path: Path, name: str) -> Iterator[Found]:
    try:
        with path.open("rb") as file:
            head = file.read(512)
    except OSError as error:
        if is_object(path):
            digest = hashlib.sha256(os.fsencode(name)).hexdigest()
            yield Found(digest, "", 0, Place(path), [name], why=f"cannot be read: {error.strerror}")
        return
    archive = head.startswith(ARCHIVES) or head[TAR] == b"ustar"
    if archive and not bundle.is_bundle(head):
        yield from _in_archive(path, name)
    elif _may_hold(head, name):
        try:
            data = read_file(path)
        except MfmasimError as error:
            digest = hashlib.sha256(head + os.fsencode(name)).hexdigest()
            yield Found(digest, "", path.stat().st_size, Place(path), [name], why=str(error))
            return
        block, shared = _of_triton(path)
        for one in _in_bytes(data, name, Place(path)):
            one.block, one.shared = block, shared
            yield one


def _may_hold(head: bytes, name: str) -> bool:
    return head.startswith(HEADS) or bundle.is_bundle(head) or is_object(name)


def _in_bytes(data: bytes, name: str, place: Place) -> Iterator[Found]:
    """The code objects of a container, or the bytes themselves."""
    digest = hashlib.sha256(data).hexdigest()
    try:
        if data[:4] == elf_header.ELF_MAGIC and elf_header.read_header(data, name).is_amdgpu:
            yield Found(digest, "", len(data), place, [name])
            return
        inside = containers.entries(data, name)
    except NotCodeObjectError as error:
        if is_object(name):
            yield Found(digest, "", len(data), place, [name], why=str(error))
        return
    except MfmasimError as error:
        yield Found(digest, "", len(data), place, [name], why=str(error))
        return
    for number, entry in enumerate(inside):
        if not entry.is_host:
            body = bytes(entry.data)
            at = Place(place.path, place.member, number)
            yield Found(hashlib.sha256(body).hexdigest(), entry.target_id, len(body), at, [name])


def _in_archive(path: Path, name: str) -> Iterator[Found]:
    """The code objects of a wheel, another zip file, or a tar file; archives within are not opened."""
    try:
        for member, data in _members(path):
            if _may_hold(data[:512], member):
                yield from _in_bytes(data, f"{name}!{visible(member)}", Place(path, member))
    except (OSError, EOFError, ValueError, zipfile.BadZipFile, tarfile.TarError, NotImplementedError) as error:
        if path.suffix in (".whl", ".zip", ".tar", ".tgz") or ".tar." in path.name:
            digest = hashlib.sha256(os.fsencode(name)).hexdigest()
            yield Found(digest, "", path.stat().st_size, Place(path), [name], why=f"damaged archive: {error}")


def _members(path: Path) -> Iterator[tuple[str, bytes]]:
    """Names and bytes of regular members, within the limits."""
    left = LIMIT
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as file:
            for number, info in enumerate(file.infolist()):
                if info.is_dir():
                    continue
                left = _spent(left, info.file_size, number)
                with file.open(info) as member:
                    yield info.filename, member.read(info.file_size)
        return
    with tarfile.open(path) as tar:
        for number, one in enumerate(tar):
            if one.isreg():
                left = _spent(left, one.size, number)
                held = tar.extractfile(one)
                yield one.name, (held or io.BytesIO()).read(one.size)


def _spent(left: int, size: int, number: int) -> int:
    if size > left or number >= MOST_MEMBERS:
        raise ValueError(f"more than {LIMIT:,} bytes or {MOST_MEMBERS:,} members")
    return left - size


def bytes_at(place: Place) -> bytes:
    """The code object at a place of `found_in`.

    Raises:
        MfmasimError: the file has changed.
    """
    if place.member:
        data = next((data for name, data in _members(place.path) if name == place.member), b"")
    else:
        data = read_file(place.path)
    if place.entry < 0:
        return data
    return bytes(containers.entries(data, str(place.path))[place.entry].data)


def _of_triton(path: Path) -> tuple[int, int]:
    """Workgroup and dynamic LDS of a code object of Triton's cache, from the JSON beside it; zeros without one."""
    beside = path.with_suffix(".json")
    if path.suffix != ".hsaco" or not beside.is_file():
        return 0, 0
    try:
        said: dict[str, Any] = json.loads(read_file(beside, 1 << 20))
        warps, lanes, shared = int(said["num_warps"]), int(said["warp_size"]), int(said["shared"])
    except (MfmasimError, ValueError, KeyError, TypeError):
        return 0, 0
    return (warps * lanes, shared) if 0 < warps * lanes <= 1024 and 0 <= shared < LIMIT else (0, 0)
