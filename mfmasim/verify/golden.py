"""Reading golden data: entries of the manifest, arrays checked against their hash."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from mfmasim.archives import parse_archive
from mfmasim.errors import MfmasimError
from mfmasim.files import read_file
from mfmasim.resources import folder

SCHEMA = 1


@lru_cache(maxsize=4)
def _manifest(root: Path) -> list[dict[str, Any]]:
    path = root / "manifest.json"
    try:
        manifest = json.loads(path.read_text())
        version, found = manifest["schema_version"], manifest["entries"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise MfmasimError(f"{path}: the golden manifest cannot be read: {error}") from None
    if version != SCHEMA:
        raise MfmasimError(f"{path}: golden manifest has schema {version}, this version reads {SCHEMA}")
    return list(found)


def entries(case: str, arch: str, select: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
    """Golden entries of a case on an architecture.

    Args:
        case: name of the golden case.
        arch: architecture.
        select: further keys an entry must have, such as ``{"opsel": 1}``; keys that an entry does not have are ignored.

    Returns:
        The entries, in the manifest's order.

    Raises:
        MfmasimError: there is no entry.
    """
    wanted = select or {}
    found = [
        entry
        for entry in _manifest(folder("golden"))
        if entry["case"] == case
        and entry["arch"] == arch
        and all(entry[key] == value for key, value in wanted.items() if entry.get(key) is not None)
    ]
    if not found:
        raise MfmasimError(f"golden data has no case {case!r} for {arch}")
    return found


def arrays(entry: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """Arrays of an entry.

    Raises:
        MfmasimError: the file is missing, or its hash differs from the manifest.
    """
    path = folder("golden") / entry["file"]
    data = read_file(path)
    found = hashlib.sha256(data).hexdigest()
    if found != entry["sha256"]:
        raise MfmasimError(
            f"{path}: golden data is damaged or stale (SHA-256 {found[:12]}…, {entry['sha256'][:12]}… expected)"
        )
    try:
        return parse_archive(data)
    except ValueError as error:
        raise MfmasimError(f"{path}: golden data cannot be read: {error}") from None
