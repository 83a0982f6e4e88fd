"""Entries of the zoo: a row of `reports.toml`, a source, a case function; two cases, before and after the fix."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mfmasim.errors import MfmasimError, unknown
from mfmasim.verify import case

if TYPE_CHECKING:
    from collections.abc import Callable

    from mfmasim.verify import LaunchDict

VERSIONS = ("before", "after")
PROOFS = {
    "refuted": "by a size or a schedule that the simulator replays",
    "unknown": "what would have to be proved is not",
}
"""What `mfmasim prove` says about a kernel before the fix, for all sizes and schedules, of faults that it judges."""
HERE = "// here"
"""Comment on the source line where the fault is to be found."""
OUTPUTS = "outputs-differ"
"""What is found where only the outputs show the fault."""
REFUSED = "case-wrong"
"""What is found where nothing runs: the launch is refused, or the code is no instruction."""


@dataclass(frozen=True)
class Row:
    """One report."""

    name: str
    report: str
    """Repository and number, ``owner/name#12``."""
    year: int
    bug: str
    """Kind of bug, a word or two; the table is in its order."""
    arch: str
    about: str
    """What was wrong, in one sentence."""
    hardware: str
    """What real hardware showed, as the report says."""
    found: str = ""
    """Id of the finding that names the cause; `OUTPUTS` where only outputs show the fault; empty where it is missed."""
    missing: str = ""
    """Of one that is not caught by name: why, or what it would take."""
    proof: str = ""
    """One of `PROOFS`; empty where all that is judged is proved, and the fault is of another kind."""

    @property
    def link(self) -> str:
        """Address of the report."""
        repository, number = self.report.split("#")
        return f"https://github.com/{repository}/issues/{number}"

    @property
    def named(self) -> bool:
        """Whether a finding names the cause."""
        return self.found not in ("", OUTPUTS)


@cache
def rows() -> dict[str, Row]:
    """All rows by name, in the file's order.

    Raises:
        MfmasimError: the file is not TOML, or a row lacks a field or has an unknown one.
    """
    path = Path(__file__).with_name("reports.toml")
    try:
        return {name: Row(name, **fields) for name, fields in tomllib.loads(path.read_text(encoding="utf-8")).items()}
    except (tomllib.TOMLDecodeError, TypeError) as error:
        raise MfmasimError(f"{path.name}: {error}") from None


def entry(*, checks: str = "all", **options: Any) -> Callable[[Callable[..., LaunchDict]], Callable[..., LaunchDict]]:
    """Declare both versions of an entry.

    The function has the name of its row and of its source, and a parameter `version`.

    Args:
        checks: checks of the simulator.
        options: further arguments of `mfmasim.verify.case`.

    Raises:
        MfmasimError: `reports.toml` has no such row.
    """

    def declare(build: Callable[..., LaunchDict]) -> Callable[..., LaunchDict]:
        known = rows()
        if build.__name__ not in known:
            raise unknown("entry", build.__name__, known, "in reports.toml")
        row = known[build.__name__]
        for version in VERSIONS:
            case(
                f"{row.name}.hip",
                kernel="{version}",
                arch=row.arch,
                each=[{"version": version}],
                checks=checks,
                fails=row.found if version == "before" and row.found not in ("", REFUSED) else (),
                **options,
            )(build)
        return build

    return declare
