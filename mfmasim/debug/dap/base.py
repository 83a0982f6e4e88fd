"""State that the parts of the server share: the session, references of a stop, events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mfmasim.errors import MfmasimError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mfmasim.debug.lines import Frame
    from mfmasim.debug.session import Session


class Base:
    """State of a server."""

    def __init__(self) -> None:
        """Nothing is debugged yet."""
        self.opened: Session | None = None
        self.lines_from = 1
        self.stop_on_entry = True
        self.over = False
        """Whether the launch is finished for the client."""
        self.later: list[tuple[str, dict[str, Any]]] = []
        self.frames: list[tuple[int, int]] = []
        """Wave and frame by frame id, from 1."""
        self.holders: list[Callable[[], list[dict[str, Any]]]] = []
        """Variables by reference, from 1."""
        self.sources: dict[int, str] = {}

    @property
    def session(self) -> Session:
        """The session."""
        if self.opened is None:
            raise MfmasimError("nothing is launched yet")
        return self.opened

    def event(self, name: str, **body: Any) -> None:
        """Send an event, after the response to the request that is served."""
        raise NotImplementedError

    def forget(self) -> None:
        """Drop the references of the last stop."""
        self.frames.clear()
        self.holders.clear()

    def holder(self, variables: Callable[[], list[dict[str, Any]]]) -> int:
        """A reference to variables."""
        self.holders.append(variables)
        return len(self.holders)

    def line(self, number: int) -> int:
        """A line in the client's numbering."""
        return number - 1 + self.lines_from

    def source(self, frame: Frame | str) -> dict[str, Any]:
        """A source as the protocol describes it."""
        name = frame if isinstance(frame, str) else frame.file
        path: Path | None = self.session.lines.path(name)
        if path is not None:
            return {"name": path.name, "path": str(path)}
        if not self.session.lines.source(name):
            return {"name": name, "presentationHint": "deemphasize", "sourceReference": 0}
        number = next((key for key, known in self.sources.items() if known == name), len(self.sources) + 1)
        self.sources[number] = name
        return {"name": name, "sourceReference": number}
