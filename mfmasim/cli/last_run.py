"""Records of the last run of ``mfmasim verify`` in a folder: failed cases, and the time of each case."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Sequence

    from mfmasim.verify import Result

FAILED = ("fail", "error")
SLOWEST = 10
"""Cases that ``--durations`` lists without a number."""


def add_order(parser: argparse.ArgumentParser) -> None:
    """Add the options, named as pytest's."""
    parser.add_argument("-x", "--exitfirst", action="store_true", help="stop after the first case that fails")
    parser.add_argument(
        "--failed-first", action="store_true", help="begin with the cases that failed in the last run in this folder"
    )
    parser.add_argument(
        "--durations",
        nargs="?",
        const=SLOWEST,
        type=int,
        metavar="N",
        help=f"print the N slowest cases (default {SLOWEST}; 0: all)",
    )
    parser.set_defaults(failed_before=())


def file_of(here: Path) -> Path | None:
    """File of the last run in a folder; None if the user has no folder for caches."""
    from mfmasim.resources import cache_folder

    try:
        return cache_folder() / "verified" / f"{hashlib.sha256(str(here).encode()).hexdigest()[:24]}.json"
    except RuntimeError:
        return None


def failed_before(here: Path) -> tuple[tuple[str, str, str], ...]:
    """Group, title and architecture of each case that failed when it last ran in a folder."""
    return tuple(key for key, status in _kept(here).items() if status in FAILED)


def first_of(work: Sequence[tuple[str, str, str]], failed: Iterable[tuple[str, str, str]]) -> list[int]:
    """Numbers of cases: failed cases first, otherwise in their order.

    >>> first_of([("f", "a", "gfx942"), ("f", "b", "gfx942")], [("f", "b", "gfx942")])
    [1, 0]
    """
    known = {*failed}
    return sorted(range(len(work)), key=lambda number: work[number] not in known)


def keep(here: Path, results: Iterable[Result]) -> None:
    """Store the failures of a run with those of cases that it did not have, if the folder is writable."""
    from mfmasim.errors import MfmasimError
    from mfmasim.files import write_text

    path, kept = file_of(here), _kept(here)
    kept |= {(one.group, one.case, one.arch): one.status for one in results}
    if path is None or (not path.exists() and not any(status in FAILED for status in kept.values())):
        return
    with suppress(OSError, MfmasimError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, json.dumps([[*key, status] for key, status in kept.items() if status in FAILED]) + "\n")


def slowest(results: Sequence[Result], number: int) -> list[str]:
    """Lines of the cases that took longest, and their seconds."""
    found = sorted(results, key=lambda one: -one.seconds)[: number or None]
    return [f"{one.seconds:7.2f} s  {one.arch:<8} {one.title}" for one in found]


def _kept(here: Path) -> dict[tuple[str, str, str], str]:
    """Statuses by group, title and architecture; damaged records are dropped."""
    from mfmasim.errors import MfmasimError
    from mfmasim.files import read_file

    path = file_of(here)
    if path is None or not path.is_file():
        return {}
    try:
        rows = json.loads(read_file(path))
        return {(str(group), str(title), str(arch)): str(status) for group, title, arch, status in rows}
    except (OSError, ValueError, TypeError, MfmasimError):
        return {}
