"""``python -m mfmasim.explorer.rebuild``: record the shipped runs and timelines again. It needs a compiler."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

from mfmasim.explorer.page import packed
from mfmasim.explorer.recording import record_case
from mfmasim.explorer.rows import shipped_runs
from mfmasim.explorer.timelines import rebuild as rebuild_timelines
from mfmasim.files import write_text
from mfmasim.verify.files import find

EXAMPLES = Path(str(files(__package__))) / "examples"


def record_all() -> list[dict[str, Any]]:
    """The records of all shipped runs, in order."""
    return [
        record_case(case, run["arch"])
        for run in shipped_runs()
        for _, cases in find(run["from"] or str(EXAMPLES / "cases.py"))
        for case in cases
        if case.title == run["case"]
    ]


def main() -> None:
    """Write the records where the page finds them."""
    path = Path(str(files(__package__))) / "static" / "records.txt"
    write_text(path, packed(record_all()) + "\n")
    for written in (path, rebuild_timelines()):
        print(f"{written}: {written.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
