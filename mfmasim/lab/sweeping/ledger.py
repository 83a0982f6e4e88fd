"""The file of a sweep: one JSON record a line, by SHA-256; a second run continues the file of a first run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mfmasim.errors import MfmasimError
from mfmasim.files import read_file, replacing
from mfmasim.lab.sweeping.judging import SCHEMA_VERSION
from mfmasim.resources import is_own

__all__ = ["Ledger"]

VERDICTS = ("pass", "fail", "unknown", "error")


class Ledger:
    """Records by hash, and the file that holds them."""

    def __init__(self, path: Path, version: str, seconds: float) -> None:
        """Read the existing records.

        Args:
            path: the file; it need not exist.
            version: of mfmasim: records of another version are dropped.
            seconds: for an object: records with another limit are dropped.

        Raises:
            MfmasimError: other users may write to the file, or it is no sweep.
        """
        self.path = path
        self.records: dict[str, dict[str, Any]] = {}
        if not path.exists():
            return
        if not is_own(path):
            raise MfmasimError(f"{path}: other users may write to it, and it states verdicts; chmod go-w {path}")
        text = read_file(path).decode(errors="replace")
        lines = text.split("\n")
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
            except ValueError:
                if number == len(lines):  # an interrupted run
                    continue
                raise MfmasimError(
                    f"{path}:{number}: not a line of JSON; a sweep writes to a file of its own"
                ) from None
            self._take(record, number, version, seconds)

    def _take(self, record: Any, number: int, version: str, seconds: float) -> None:
        if not isinstance(record, dict) or record.get("verdict") not in VERDICTS or "sha256" not in record:
            raise MfmasimError(f"{self.path}:{number}: not a record of a sweep; a sweep writes to a file of its own")
        own = (SCHEMA_VERSION, version, seconds)
        if (record.get("schema_version"), record.get("mfmasim"), record.get("seconds")) == own:
            self.records[str(record["sha256"])] = record

    def add(self, record: Mapping[str, Any]) -> None:
        """Add a record, and write it to the file at once."""
        self.records[str(record["sha256"])] = dict(record)
        with self.path.open("a") as file:
            file.write(json.dumps(record) + "\n")

    def write(self, digests: list[str]) -> None:
        """Replace the file by the records of these hashes, in their order.

        Args:
            digests: hashes of existing records.
        """
        text = "".join(json.dumps(self.records[digest]) + "\n" for digest in digests)
        with replacing(self.path) as file:
            file.write(text.encode())
