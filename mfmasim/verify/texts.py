"""Published texts about the kernels of `hipkernels`: who wrote them, where they are, which families they are about."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache

from mfmasim.errors import unknown
from mfmasim.resources import folder

PREFIX = "text:"
"""Of a target that names a text by its number."""


@dataclass(frozen=True)
class Source:
    """One text: a row of ``hipkernels/texts.toml``."""

    number: str
    page: str
    """Name of its page in ``docs/texts``."""
    title: str
    """As it was published."""
    authors: str
    date: str
    address: str
    licence: str
    families: tuple[str, ...]
    """Of `hipkernels`; the first has the statements."""

    @property
    def credit(self) -> str:
        """Title, authors, date and address in one line."""
        return f"{self.title}, by {self.authors}, {self.date}: {self.address}"


@cache
def sources() -> tuple[Source, ...]:
    """Every text, by number."""
    rows = tomllib.loads((folder("hipkernels") / "texts.toml").read_text(encoding="utf-8"))["text"]
    return tuple(Source(**row | {"families": tuple(row["families"])}) for row in rows)


def source(target: str) -> Source:
    """The text that a target such as ``text:004`` names.

    Raises:
        MfmasimError: there is no such text.
    """
    found = [one for one in sources() if target == f"{PREFIX}{one.number}"]
    if not found:
        raise unknown("text", target, [f"{PREFIX}{one.number}" for one in sources()])
    return found[0]


def family_of(target: str) -> str:
    """The family whose ``statements.py`` judges a text; any other target is a family itself.

    Raises:
        MfmasimError: there is no such text.
    """
    return source(target).families[0] if target.startswith(PREFIX) else target
