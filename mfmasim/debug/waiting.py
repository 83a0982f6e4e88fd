"""Sessions in a program's own process, while its host code waits in a launch."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING

from mfmasim.debug.device import RecordingDevice
from mfmasim.debug.session import Session
from mfmasim.debug.terminal import Terminal
from mfmasim.errors import MfmasimError

if TYPE_CHECKING:
    from mfmasim.debug.recorder import Recorder
    from mfmasim.devices import Report


class Attached(RecordingDevice):
    """Opens a session after each launch, until the user quits."""

    def __init__(self, wanted: str) -> None:
        super().__init__(self.opened)
        mode, *folders = wanted.split("\n")
        self.mode, _, self.rest = mode.partition(":")
        self.folders = [Path(one) for one in folders if one]
        self.source: IO[str] | None = None
        self.out: IO[str] | None = None
        self.number = 0
        self.quit = False
        """Whether further launches run without the debugger."""

    def finish(self) -> None:
        """The program ends: tell an editor that is connected."""
        if self.mode == "dap":
            from mfmasim.debug.dap.listen import over

            over()

    def opened(self, recorder: Recorder, report: Report) -> None:
        """Debug a launch while the host waits."""
        self.number += 1
        if self.mode == "record":
            from mfmasim.debug.file import save

            path = Path(self.rest)
            named = path if self.number == 1 else path.with_name(f"{path.stem}-{self.number}{path.suffix}")
            save(recorder, report, named, self.folders)
            return
        session = Session(recorder, report, folders=self.folders)
        if self.mode == "dap":
            from mfmasim.debug.dap.listen import Address, serve_program

            quit_ = serve_program(Address.parsed(self.rest), session)
        else:
            quit_ = self._terminal(session)
        self.quit = quit_

    def _terminal(self, session: Session) -> bool:
        if self.mode == "commands" and self.source is None:
            self.source = Path(self.rest).open(encoding="utf-8")  # noqa: SIM115  (read until the program ends)
        elif self.source is None and not sys.stdin.isatty():
            try:
                self.source = Path("/dev/tty").open(encoding="utf-8")  # noqa: SIM115
                self.out = Path("/dev/tty").open("w", encoding="utf-8")  # noqa: SIM115
            except OSError:
                raise MfmasimError("debug: there is no terminal; give the commands with --commands FILE") from None
        terminal = Terminal(session, self.source, self.out)
        terminal.use_rawinput = self.source is None
        terminal.cmdloop(f"launch {self.number}: {terminal.introduction()}")
        return terminal.quit
