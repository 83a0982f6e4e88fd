"""Requests about breakpoints: of lines, functions, instructions, data, and findings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mfmasim.debug.dap.base import Base
from mfmasim.debug.watches import READ, WRITE
from mfmasim.errors import MfmasimError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mfmasim.debug.breakpoints import Breakpoint
    from mfmasim.debug.watches import Watch


ACCESS = {"read": frozenset({READ}), "write": frozenset({WRITE}), "readWrite": frozenset({READ, WRITE})}


class Breaking(Base):
    """Of a server."""

    def __init__(self) -> None:
        """None yet."""
        super().__init__()
        self.given: dict[str, Callable[[], Any]] = {}
        """Functions that set the breakpoints of each source and kind again, for a further launch."""
        self.own: dict[str, list[int]] = {}
        """Numbers of the breakpoints of each source and kind."""

    def again(self) -> None:
        """Set all breakpoints for another launch."""
        self.own.clear()
        for request in list(self.given.values()):
            request()

    def _set(self, key: str, makers: Sequence[Callable[[], tuple[Breakpoint | Watch, str]]]) -> dict[str, Any]:
        """Replace the breakpoints of a source or kind."""
        for number in self.own.pop(key, []):
            self.session.breakpoints.pop(number, None)
        answers, numbers = [], []
        for make in makers:
            try:
                made, remark = make()
            except MfmasimError as error:
                answers.append({"verified": False, "message": str(error)})
                continue
            numbers.append(made.number)
            answer: dict[str, Any] = {"id": made.number, "verified": True}
            if remark:
                answer["message"] = remark
            name, _, line = made.text.rpartition(":")
            if line.isdecimal() and name:
                answer |= {"line": self.line(int(line)), "source": self.source(name)}
            elif getattr(made, "addresses", ()):
                answer["instructionReference"] = f"{min(made.addresses):#x}"  # type: ignore[union-attr]
            answers.append(answer)
        self.own[key] = numbers
        return {"breakpoints": answers}

    def _make(self, place: str, request: dict[str, Any]) -> Callable[[], tuple[Breakpoint | Watch, str]]:
        condition, hits = str(request.get("condition") or ""), str(request.get("hitCondition") or "")

        def make() -> tuple[Breakpoint | Watch, str]:
            if hits and not hits.strip().isdecimal():
                raise MfmasimError(f"hit condition {hits!r}: a number of hits is expected")
            made, remark = self.session.add_breakpoint(place + (f" if {condition}" if condition else ""))
            made.ignore = max(0, int(hits) - 1) if hits else 0
            return made, remark

        return make

    def on_setBreakpoints(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Set breakpoints at lines of a source."""
        source = arguments["source"]
        name = str(source.get("path") or "") or self.sources.get(int(source.get("sourceReference") or 0), "")
        name = name or str(source.get("name") or "")
        asked = arguments.get("breakpoints") or [{"line": line} for line in arguments.get("lines") or []]
        makers = [self._make(f"{name}:{int(one['line']) + 1 - self.lines_from}", one) for one in asked]
        self.given[f"source {name}"] = lambda: self.on_setBreakpoints(arguments)
        return self._set(f"source {name}", makers)

    def on_breakpointLocations(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Lines that have code."""
        source = arguments["source"]
        name = str(source.get("path") or source.get("name") or "")
        first = int(arguments["line"]) + 1 - self.lines_from
        last = int(arguments.get("endLine", arguments["line"])) + 1 - self.lines_from
        found = []
        while first <= last:
            try:
                line, _ = self.session.lines.addresses(name, first)
            except MfmasimError:
                break
            if line <= last:
                found.append({"line": self.line(line)})
            first = line + 1
        return {"breakpoints": found}

    def on_setFunctionBreakpoints(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """At kernels, functions, mnemonics."""
        self.given["functions"] = lambda: self.on_setFunctionBreakpoints(arguments)
        return self._set("functions", [self._make(str(one["name"]), one) for one in arguments["breakpoints"]])

    def on_setInstructionBreakpoints(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """At addresses."""
        self.given["instructions"] = lambda: self.on_setInstructionBreakpoints(arguments)
        makers = [
            self._make(f"*{int(str(one['instructionReference']), 0) + int(one.get('offset') or 0):#x}", one)
            for one in arguments["breakpoints"]
        ]
        return self._set("instructions", makers)

    def on_dataBreakpointInfo(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Whether something can be watched."""
        name = str(arguments["name"])
        reference = int(arguments.get("variablesReference") or 0)
        if 0 < reference <= len(self.holders):
            inside = (one for one in self.holders[reference - 1]() if one["name"] == name)
            name = next((one.get("evaluateName") or name for one in inside), name)
        wave = self.session.wave
        text = f"{name} wave {wave}"
        try:
            made = self.session.add_watch(text, ACCESS["readWrite"])
        except MfmasimError as error:
            return {"dataId": None, "description": str(error)}
        self.session.remove(made.number)
        return {"dataId": text, "description": name, "accessTypes": list(ACCESS), "canPersist": False}

    def on_setDataBreakpoints(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Watch registers and memory."""

        def maker(one: dict[str, Any]) -> Callable[[], tuple[Breakpoint | Watch, str]]:
            kinds = ACCESS[str(one.get("accessType") or "write")]
            return lambda: (self.session.add_watch(str(one["dataId"]), kinds), "")

        return self._set("data", [maker(one) for one in arguments["breakpoints"]])

    def on_setExceptionBreakpoints(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Stop at findings: by severity, or by id or check where a condition names one."""
        self.given["exceptions"] = lambda: self.on_setExceptionBreakpoints(arguments)
        wanted = [str(one) for one in arguments.get("filters") or []]
        wanted += [str(one.get("condition") or one["filterId"]) for one in arguments.get("filterOptions") or []]
        self.session.finding_stops = tuple(wanted)
        return {"breakpoints": [{"verified": True} for _ in wanted]}

    def on_exceptionInfo(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The finding at which the launch stands."""
        del arguments
        finding = self.session.stop.finding
        if finding is None:
            raise MfmasimError("the launch does not stand at a finding")
        return {
            "exceptionId": finding.id,
            "description": finding.message,
            "breakMode": "always",
            "details": {"message": "\n".join(finding.lines()), "typeName": finding.check},
        }
