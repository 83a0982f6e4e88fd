"""Progress: what was started, checked and solved, in a file of the folder in which a learner works."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mfmasim.errors import MfmasimError
from mfmasim.files import read_file, write_file

LARGEST = 1 << 20
FILE = ".mfmasim-learn.json"
FIELDS = {"state": str, "checks": int, "findings": list, "hints": int}


class Progress:
    """The progress of one folder. Every change is stored at once."""

    def __init__(self, folder: Path) -> None:
        """Read the folder's progress; none is stored before something was started or checked.

        Raises:
            MfmasimError: the file holds something else.
        """
        self._path = folder / FILE
        self._rows = self._read()

    def state(self, name: str) -> str:
        """State of an exercise: ``open``, ``started`` or ``solved``."""
        return str(self._rows.get(name, {}).get("state", "open"))

    def finding(self, name: str) -> str:
        """Topic of the finding that the last check reported first (`hints.topics`); empty if there is none."""
        found = self._rows.get(name, {}).get("findings", [])
        return str(found[0]) if found else ""

    def started(self, name: str) -> None:
        """An exercise was begun; one that is solved stays so."""
        self._store(name, {"state": "started" if self.state(name) == "open" else self.state(name), "findings": []})

    def checked(self, name: str, findings: Sequence[str], *, solved: bool) -> None:
        """A file was graded, and if something was found, the first hint about it was shown.

        An exercise that was solved once stays so, whatever is tried later.

        Args:
            name: its exercise.
            findings: topics of what was found.
            solved: the grade.
        """
        row = self._rows.get(name, {})
        unique = list(dict.fromkeys(findings))
        again = unique[:1] == row.get("findings", [])[:1]
        self._store(
            name,
            {
                "state": "solved" if solved or self.state(name) == "solved" else "started",
                "checks": row.get("checks", 0) + 1,
                "findings": unique,
                "hints": row.get("hints", 0) if again else min(1, len(unique)),
            },
        )

    def hinted(self, name: str, most: int) -> int:
        """Number of the next hint, from 1; the last one again where there are no more.

        Args:
            name: the exercise.
            most: hints that there are.
        """
        number = min(int(self._rows.get(name, {}).get("hints", 0)) + 1, most)
        self._store(name, {"hints": number})
        return number

    def _store(self, name: str, changes: dict[str, Any]) -> None:
        self._rows[name] = self._rows.get(name, {}) | changes
        try:
            write_file(self._path, json.dumps({"exercises": self._rows}, indent=1).encode() + b"\n")
        except MfmasimError as error:
            raise MfmasimError(f"{error}; progress is as before") from None

    def _read(self) -> dict[str, dict[str, Any]]:
        if not self._path.exists():
            return {}
        try:
            rows = json.loads(read_file(self._path, LARGEST))["exercises"]
            fits = all(isinstance(row[key], FIELDS[key]) for row in rows.values() for key in row)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            fits = False
        if not fits:
            raise MfmasimError(f"{self._path}: not the progress of mfmasim learn; delete it to begin anew")
        return dict(rows)
