"""Parts of a page of docs/texts beside the rows of statements."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Commands = tuple[tuple[str, str], ...]
"""Commands, each with a pattern of the lines of its output that are kept."""
Picture = tuple[str, str]
"""Its description, and its file in docs/pictures."""


@dataclass(frozen=True)
class Part:
    """Below one heading of the text."""

    about: str = ""
    commands: Commands = ()
    picture: Picture | None = None


@dataclass(frozen=True)
class Companion:
    """The page of one text."""

    number: str
    about: str
    """What the text is, and what is proved of its kernel."""
    commands: Commands
    picture: Picture
    parts: Mapping[str, Part] = field(default_factory=dict)
    """By heading."""
    kernels: str = ""
    """Links to pages about the kernels."""
    speed: str = ""
    """What the tables of times show; empty where the text has no times."""
    tables: Callable[[], list[str]] | None = None
    """Lines of the tables of times."""
