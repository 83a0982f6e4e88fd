"""JSON Schemas of what verbs write for programs; each file is one schema, and travels in the wheel.

>>> schema("verify")["title"]
'Results of mfmasim verify --json'
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mfmasim.errors import unknown

FOLDER = Path(__file__).resolve().parent

__all__ = ["FOLDER", "names", "schema"]


def names() -> tuple[str, ...]:
    """What has a schema, sorted."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.json")))


def schema(name: str) -> dict[str, Any]:
    """A JSON Schema (draft 2020-12).

    Args:
        name: what it describes: one of `names`.

    Raises:
        MfmasimError: it has no schema.
    """
    if name not in names():
        raise unknown("schema", name, names())
    found: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text())
    return found
