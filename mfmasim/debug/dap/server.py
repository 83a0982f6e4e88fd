"""The server: requests of a client, answered one after another, and the events that they cause."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

from mfmasim.debug.dap import framing
from mfmasim.debug.dap.breaking import Breaking
from mfmasim.debug.dap.code import Code
from mfmasim.debug.dap.looking import Looking
from mfmasim.debug.dap.moving import Moving
from mfmasim.errors import MfmasimError, unknown
from mfmasim.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable

    from mfmasim.debug.session import Session


CAPABILITIES = dict.fromkeys(
    (
        "supportsConfigurationDoneRequest", "supportsFunctionBreakpoints", "supportsConditionalBreakpoints",
        "supportsHitConditionalBreakpoints", "supportsEvaluateForHovers", "supportsStepBack",
        "supportsGotoTargetsRequest", "supportsRestartRequest", "supportsExceptionInfoRequest",
        "supportsExceptionFilterOptions", "supportsDataBreakpoints", "supportsReadMemoryRequest",
        "supportsDisassembleRequest", "supportsInstructionBreakpoints", "supportsSteppingGranularity",
        "supportsTerminateRequest", "supportsBreakpointLocationsRequest", "supportsLoadedSourcesRequest",
        "supportsCompletionsRequest",
    ),
    True,
)  # fmt: skip
FILTERS = [
    {"filter": "error", "label": "Findings: errors", "description": "Stop where an error begins", "default": True,
     "supportsCondition": True, "conditionDescription": "id of a finding or name of a check, such as races"},
    {"filter": "warning", "label": "Findings: warnings", "description": "Stop where a warning begins",
     "supportsCondition": True, "conditionDescription": "id of a finding or name of a check, such as uninitialised"},
    {"filter": "info", "label": "Findings: information", "description": "Stop where a remark begins",
     "supportsCondition": True, "conditionDescription": "id of a finding or name of a check"},
]  # fmt: skip
BEFORE = ("initialize", "launch", "attach", "disconnect", "terminate")
"""Requests that need no session."""


class Server(Breaking, Moving, Looking, Code):
    """One client."""

    def __init__(
        self,
        source: IO[bytes],
        sink: IO[bytes],
        launched: Callable[[dict[str, Any]], Session] | None = None,
        session: Session | None = None,
    ) -> None:
        """Serve a client.

        Args:
            source: its messages.
            sink: ours.
            launched: makes a session of the arguments of a launch request.
            session: of a program that waits, for an attach request.
        """
        super().__init__()
        self.stream, self.sink, self.launched = source, sink, launched
        self.opened = session
        self.sequence = 0
        self.done = False
        """Whether the client is gone."""
        self.ready = False
        self.program = session is not None

    def send(self, kind: str, **content: Any) -> None:
        """Send a response or an event."""
        self.sequence += 1
        framing.write(self.sink, {"seq": self.sequence, "type": kind, **content})

    def event(self, name: str, **body: Any) -> None:
        """Send an event, after the response to the request that is served."""
        self.later.append((name, body))

    def _flush(self) -> None:
        events, self.later = self.later, []
        for name, body in events:
            self.send("event", event=name, **({"body": body} if body else {}))

    def run(self) -> None:
        """Serve until the session ends or the client leaves."""
        while not self.done and not self.over:
            try:
                message = framing.read(self.stream)
            except MfmasimError as error:
                self.event("output", category="stderr", output=f"{error}\n")
                self._flush()
                self.done = True
                return
            except OSError:  # the connection is lost
                message = None
            if message is None:
                self.done = True
                return
            if message.get("type") == "request":
                try:
                    self.serve(message)
                except OSError:
                    self.done = True

    def serve(self, message: dict[str, Any]) -> None:
        """Answer a request."""
        command, arguments = str(message.get("command", "")), message.get("arguments") or {}
        answer: dict[str, Any] = {"request_seq": message.get("seq", 0), "command": command}
        try:
            body = self._handler(command, arguments)(arguments)
        except MfmasimError as error:
            self._refuse(str(error), answer)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            why = f"{type(error).__name__}: {error}"
            self._refuse(f"{command}: arguments that the protocol does not allow ({why})", answer)
        else:
            self.send("response", success=True, **answer, body=body or {})
        self._flush()

    def _handler(self, command: str, arguments: object) -> Callable[[dict[str, Any]], dict[str, Any] | None]:
        """The function that answers a request.

        Raises:
            MfmasimError: the request is unknown, or not possible now.
        """
        if not isinstance(arguments, dict):
            raise MfmasimError(f"{command}: arguments are an object")
        handler: Callable[[dict[str, Any]], dict[str, Any] | None] | None = getattr(self, f"on_{command}", None)
        if handler is None:
            raise unknown("request", command, [name[3:] for name in dir(self) if name.startswith("on_")])
        if self.opened is None and command not in BEFORE:
            raise MfmasimError(f"{command}: nothing is launched yet")
        return handler

    def refuse(self, text: str, message: dict[str, Any]) -> None:
        """Refuse a request."""
        self._refuse(text, {"request_seq": message.get("seq", 0), "command": str(message.get("command", ""))})

    def _refuse(self, text: str, answer: dict[str, Any]) -> None:
        text = visible(text)
        shown = text.replace("{", "(").replace("}", ")")  # braces of a format are variables
        body = {"error": {"id": 1, "format": shown, "showUser": True}}
        self.send("response", success=False, message=text, body=body, **answer)

    # The life of a session

    def on_initialize(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Report the server's capabilities."""
        self.lines_from = 1 if arguments.get("linesStartAt1", True) else 0
        return {**CAPABILITIES, "exceptionBreakpointFilters": FILTERS}

    def on_launch(self, arguments: dict[str, Any]) -> None:
        """Run the target of the arguments once."""
        if self.launched is None:
            raise MfmasimError("launch: a program waits already; attach to it")
        self.stop_on_entry = bool(arguments.get("stopOnEntry", True))
        self.opened = self.launched(arguments)
        self.event("initialized")

    def on_attach(self, arguments: dict[str, Any]) -> None:
        """Debug the launch of a program that waits."""
        if self.opened is None:
            raise MfmasimError("attach: no program waits; launch one, or mfmasim debug --dap --port N -- PROGRAM")
        self.stop_on_entry = bool(arguments.get("stopOnEntry", True))
        self.event("initialized")

    def on_configurationDone(self, arguments: dict[str, Any]) -> None:
        """All breakpoints are set."""
        del arguments
        self.ready = True
        self.begin()

    def begin(self) -> None:
        """Stop at the first instruction, or run."""
        session = self.session
        findings = session.all_findings
        total = sum(session.report.counts.values())
        text = f"{session.kernel.title} on {session.report.arch}: {total:,} wave-instructions, {len(findings)} findings"
        self.event("output", category="console", output=f"{text}\n")
        for one in findings:
            kind = "important" if one.severity == "error" else "console"
            text = visible(f"{one.severity} {one.id} {one.source}: {one.message}")
            self.event("output", category=kind, output=f"{text}\n")
        if self.stop_on_entry:
            self.stopped("entry")
        else:
            self.moved(session.resume())

    def next_session(self, session: Session) -> None:
        """Go on with a further launch of the program."""
        self.opened, self.over = session, False
        self.forget()
        self.again()
        self.begin()
        self._flush()

    def on_restart(self, arguments: dict[str, Any]) -> None:
        """Back to the beginning."""
        del arguments
        self.first()

    def on_disconnect(self, arguments: dict[str, Any]) -> None:
        """The client leaves; a program runs on."""
        del arguments
        self.done = True

    def on_terminate(self, arguments: dict[str, Any]) -> None:
        """End the session."""
        del arguments
        self.event("terminated")
        if self.program:
            self.done = True
