"""The declaration of a mutant: a wrong variant of a kernel, and the checks that must report it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Mutant:
    """One wrong variant, made by replacing text in the case's source."""

    name: str
    case: str
    """Title of the case it varies."""
    edits: Sequence[Any]
    """Text to replace and what by: a pair, or several; every text must occur, in the source or a header beside it."""
    caught: tuple[str, ...]
    """Checks that must report an error; no other may."""
    warned: tuple[str, ...] = ()
    """Ids of warnings that must be reported as well."""
    data: str = ""
    """Run on this data class and not on golden data."""
    arch: str = ""
    """Run on this architecture; else the case's last."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    equivalent: str = ""
    """Why no check should fail, for a variant that computes the same."""
    about: str = ""
    reported: Sequence[tuple[str, str, str]] | None = None
    """Exactly the errors about two places: id, and a text of the line of each in the edited kernel. None: any. A file
    ``reported.json`` beside the mutants may say it instead, by name."""

    @property
    def replacements(self) -> list[tuple[str, str]]:
        """The edits as a list."""
        if not self.edits:
            return []
        if isinstance(self.edits[0], str):
            return [(self.edits[0], str(self.edits[1]))]
        return [(str(old), str(new)) for old, new in self.edits]
