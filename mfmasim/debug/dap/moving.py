"""Requests that move: continue, steps, both also backwards; goto; threads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mfmasim.debug.dap.base import Base
from mfmasim.debug.history import Position
from mfmasim.debug.session import Stop
from mfmasim.errors import MfmasimError

if TYPE_CHECKING:
    from collections.abc import Callable


THREADS = 256
"""Waves that are listed."""
REASONS = {"watch": "data breakpoint", "finding": "exception", "start": "entry", "end": "pause"}


class Moving(Base):
    """Of a server."""

    def __init__(self) -> None:
        """No targets yet."""
        super().__init__()
        self.targets: list[str] = []

    def stopped(self, reason: str, **more: Any) -> None:
        """Tell the client that the launch has stopped."""
        self.forget()
        self.event("stopped", reason=reason, threadId=self.session.wave + 1, allThreadsStopped=True, **more)

    def moved(self, stop: Stop) -> None:
        """Tell the client where a move ended."""
        more: dict[str, Any] = {}
        if stop.text:
            more["description"] = more["text"] = stop.text
        if stop.hits:
            more["hitBreakpointIds"] = [hit.source.number for hit in stop.hits]
        self.stopped(REASONS.get(stop.reason, stop.reason), **more)

    def first(self) -> None:
        """Back to the beginning of the launch."""
        session = self.session
        self.moved(session.go(session.history.next_of(session.wave, Position(0)), Stop("start")))

    def _thread(self, arguments: dict[str, Any]) -> None:
        if "threadId" in arguments:
            self.session.select(wave=int(arguments["threadId"]) - 1)

    def on_threads(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The waves in flight."""
        del arguments
        session = self.session
        session.cursor.to(session.at)
        replay = session.cursor.replay
        first = replay.first_workgroup * session.history.per
        waves = list(range(first, first + min(replay.waves.count, THREADS)))
        if session.wave not in waves and first <= session.wave < first + replay.waves.count:
            waves.append(session.wave)
        named = ((wave, session.recorder.launch.place(wave)) for wave in waves)
        return {
            "threads": [
                {"id": wave + 1, "name": f"workgroup ({', '.join(map(str, at.workgroup))}) wave {at.wave}"}
                for wave, at in named
            ]
        }

    def _step(self, arguments: dict[str, Any], line: Callable[[], Stop], *, backward: bool = False) -> None:
        self._thread(arguments)
        if arguments.get("granularity") == "instruction":
            self.moved(self.session.step_instruction(backward=backward))
        else:
            self.moved(line())

    def on_continue(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Run; at the end of the launch, leave it."""
        self._thread(arguments)
        session = self.session
        if session.at == session.history.end:
            self.over = True
            self.event("terminated") if not getattr(self, "program", False) else self.event(
                "continued", threadId=session.wave + 1, allThreadsContinued=True
            )
        else:
            self.moved(session.resume())
        return {"allThreadsContinued": True}

    def on_reverseContinue(self, arguments: dict[str, Any]) -> None:
        """Run backwards."""
        self._thread(arguments)
        self.moved(self.session.resume(backward=True))

    def on_next(self, arguments: dict[str, Any]) -> None:
        """The next line, past inlined calls."""
        self._step(arguments, lambda: self.session.step(over=True))

    def on_stepIn(self, arguments: dict[str, Any]) -> None:
        """The next line."""
        self._step(arguments, self.session.step)

    def on_stepOut(self, arguments: dict[str, Any]) -> None:
        """Out of an inlined call."""
        self._step(arguments, self.session.finish)

    def on_stepBack(self, arguments: dict[str, Any]) -> None:
        """Back to the line before."""
        self._step(arguments, lambda: self.session.step(backward=True), backward=True)

    def on_pause(self, arguments: dict[str, Any]) -> None:
        """Nothing to do: the launch is already stopped."""
        self._thread(arguments)
        self.stopped("pause")

    def on_gotoTargets(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Where a line begins."""
        source = arguments["source"]
        wanted = int(arguments["line"]) + 1 - self.lines_from
        name = str(source.get("path") or source.get("name") or "")
        line, addresses = self.session.lines.addresses(name, wanted)
        self.targets.append(f"{name}:{line}")
        target = {
            "id": len(self.targets),
            "label": f"line {line}",
            "line": self.line(line),
            "instructionPointerReference": f"{min(addresses):#x}",
        }
        return {"targets": [target]}

    def on_goto(self, arguments: dict[str, Any]) -> None:
        """Go to the wave's next execution of the target, else to its last one."""
        self._thread(arguments)
        number = int(arguments["targetId"])
        if not 0 < number <= len(self.targets):
            raise MfmasimError(f"goto: there is no target {number}")
        text = self.targets[number - 1]
        try:
            stop = self.session.run_to(text)
        except MfmasimError:
            stop = self.session.run_to(text, backward=True)
        self.moved(stop)
