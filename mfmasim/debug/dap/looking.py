"""Requests that look: stack, scopes, variables, expressions, memory."""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.debug import views
from mfmasim.debug.dap.base import Base
from mfmasim.debug.terminal import SHORT, Terminal
from mfmasim.debug.values import OPTIMISED, Object, shown
from mfmasim.errors import MfmasimError
from mfmasim.machine.state.memory import SHARED_BASE

if TYPE_CHECKING:
    from collections.abc import Callable

    from mfmasim.debug.session import Session, Stop
    from mfmasim.debug.values import Number


CHILDREN = 4096
"""Elements of an array that are listed."""
READ = 1 << 20
DIMENSIONS = ("threadIdx", "blockIdx", "blockDim", "gridDim")
SPECIAL = ("pc", "exec", "vcc", "scc", "m0")
FORMATS = ("x", "f32", "f16", "bf16", "fp8", "i8")
"""Formats in which a vector register is shown."""


class Looking(Base):
    """Of a server."""

    def moved(self, stop: Stop) -> None:
        """Tell the client where a move ended."""
        raise NotImplementedError

    def _chosen(self, arguments: dict[str, Any]) -> Session:
        """The session, at the wave and frame of a request."""
        number = int(arguments.get("frameId") or 0)
        if number:
            if not 0 < number <= len(self.frames):
                raise MfmasimError(f"frame {number} is of an earlier stop")
            wave, frame = self.frames[number - 1]
            self.session.select(wave=wave)
            self.session.frame = frame
        return self.session

    def on_stackTrace(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Inlined calls of a wave."""
        session = self.session
        session.select(wave=int(arguments["threadId"]) - 1)
        found = []
        for number, frame in enumerate(session.frames):
            self.frames.append((session.wave, number))
            row = session.lines.row(session.pc)
            one: dict[str, Any] = {
                "id": len(self.frames),
                "name": frame.name + (" (ended)" if session.over else ""),
                "line": self.line(frame.line) if frame.line else 0,
                "column": (row.column or 1) if row is not None and not number else 0,
            }
            if frame.line:
                one["source"] = self.source(frame)
            if not number:
                one["instructionPointerReference"] = f"{session.pc:#x}"
            found.append(one)
        first = int(arguments.get("startFrame") or 0)
        count = int(arguments.get("levels") or 0) or len(found)
        return {"stackFrames": found[first : first + count], "totalFrames": len(found)}

    def on_scopes(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Arguments, locals, registers, fragments, LDS."""
        self._chosen(arguments)
        where = dict(arguments)

        def scope(name: str, variables: Callable[[Session], list[dict[str, Any]]], **more: Any) -> dict[str, Any]:
            reference = self.holder(lambda: variables(self._chosen(where)))
            return {"name": name, "variablesReference": reference, "expensive": False, **more}

        return {
            "scopes": [
                scope("Arguments", self._arguments, presentationHint="arguments"),
                scope("Locals", self._locals, presentationHint="locals"),
                scope("Work-item", self._place),
                scope("Registers", self._registers, presentationHint="registers"),
                scope("Fragments", self._fragments, expensive=True),
                scope("LDS", self._lds),
            ]
        }

    def on_variables(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The variables of a reference."""
        number = int(arguments["variablesReference"])
        if not 0 < number <= len(self.holders):
            raise MfmasimError(f"variables {number} are of an earlier stop")
        found = self.holders[number - 1]()
        first = int(arguments.get("start") or 0)
        count = int(arguments.get("count") or 0) or len(found)
        return {"variables": found[first : first + count]}

    def variable(self, name: str, value: Number | Object, expression: str) -> dict[str, Any]:
        """A variable as the protocol describes it.

        Args:
            name: its displayed name.
            value: its value, in all lanes.
            expression: an expression with this value.
        """
        names = self.session.names
        lane = names.lane
        out: dict[str, Any] = {
            "name": name,
            "value": shown(value, lane, names.describe),
            "variablesReference": 0,
            "evaluateName": expression,
        }
        if not isinstance(value, Object):
            return out
        out["type"] = value.type.name
        kind = value.type.kind
        if value.reader is not None and kind in ("array", "struct"):
            if kind == "array":
                out["indexedVariables"] = min(value.type.count, CHILDREN)
            out["variablesReference"] = self.holder(lambda: self._children(value, expression))
        elif value.reader is not None and kind == "pointer" and value.type.element is not None:
            out["variablesReference"] = self.holder(lambda: self._children(value, expression))
            codes = value.codes()
            if codes is not None:
                out["memoryReference"] = f"{int(codes[lane]):#x}"
        if value.place is not None:
            at = int(np.broadcast_to(value.place.address, (names.state.lanes,))[lane])
            out["memoryReference"] = f"{at + (SHARED_BASE if value.place.space == 'lds' else 0):#x}"
        return out

    def _children(self, value: Object, expression: str) -> list[dict[str, Any]]:
        if value.type.kind == "pointer":
            try:
                return [self.variable("[0]", value.target(), f"{expression}[0]")]
            except MfmasimError:
                return []
        if value.type.kind == "struct":
            return [self.variable(one, value.field(one), f"{expression}.{one}") for one in value.type.fields]
        count = min(value.type.count, CHILDREN)
        return [self.variable(f"[{k}]", value.element(k), f"{expression}[{k}]") for k in range(count)]

    def _arguments(self, session: Session) -> list[dict[str, Any]]:
        names = session.names
        own: list[tuple[str, Number | Object]] = []
        own += [(one.name, value) for one, value in names.variables() if one.parameter]
        seen = {name for name, _ in own}
        if not session.frame or len(session.frames) == session.frame + 1:
            own += [
                (one.name, names.find(one.name))
                for one in session.kernel.parameters
                if one.name and one.name not in seen and len(session.frames) == session.frame + 1
            ]
        return [self.variable(name, value, name) for name, value in own]

    def _locals(self, session: Session) -> list[dict[str, Any]]:
        own = ((one, value) for one, value in session.names.variables() if not one.parameter)
        return [self.variable(one.name, value, one.name) for one, value in own]

    def _place(self, session: Session) -> list[dict[str, Any]]:
        texts = ["$lane", *(f"{name}.{axis}" for name in DIMENSIONS for axis in "xyz")]
        return [self.variable(text, session.evaluate(text), text) for text in texts]

    def _registers(self, session: Session) -> list[dict[str, Any]]:
        state = session.state
        special = [self.variable(one, session.evaluate(f"${one}"), f"${one}") for one in SPECIAL]
        counts = {"v": state.count("v"), "a": state.count("a"), "s": session.kernel.info.metadata.sgpr_count or 0}

        def inside(kind: str) -> int:
            return self.holder(lambda: [self._register(session, f"{kind}{k}") for k in range(counts[kind])])

        files = [
            {"name": kind, "value": f"{count} registers", "variablesReference": inside(kind)}
            for kind, count in counts.items()
            if count
        ]
        return special + files

    def _register(self, session: Session, name: str) -> dict[str, Any]:
        made = self.variable(name, session.evaluate(f"${name}"), f"${name}")
        if name[0] != "s":
            made["variablesReference"] = self.holder(lambda: self._lanes(session, f"${name}"))
        return made

    def _lanes(self, session: Session, text: str) -> list[dict[str, Any]]:
        """A vector register in other formats, and in every lane."""
        rows = []
        for form in FORMATS:
            try:
                rows.append((form, views.printed(session, text, form)))
            except MfmasimError:  # the architecture has no such format
                continue
        values = session.evaluate(text)
        rows += [(f"lane {lane}", views.packed(values, "x", lane, session)) for lane in range(session.kernel.wave)]
        return [{"name": name, "value": value, "variablesReference": 0} for name, value in rows]

    def _fragments(self, session: Session) -> list[dict[str, Any]]:
        try:
            found = views.operands(session)
        except MfmasimError as error:
            return [{"name": "none", "value": str(error), "variablesReference": 0}]
        return [self._fragment(session, name) for name in found]

    def _fragment(self, session: Session, name: str) -> dict[str, Any]:
        try:
            held = views.fragment_of(session, name)
        except MfmasimError as error:
            return {"name": name, "value": str(error), "variablesReference": 0}
        matrix = held.matrix.reshape(-1, held.matrix.shape[-1])
        rows = [
            {"name": f"row {k}", "value": "  ".join(f"{one:.6g}" for one in row), "variablesReference": 0}
            for k, row in enumerate(matrix)
        ]
        text = f"{held.fragment.shape_text} {held.fragment.format} in {held.kind}{held.first}"
        return {"name": name, "value": text, "variablesReference": self.holder(lambda: rows)}

    def _lds(self, session: Session) -> list[dict[str, Any]]:
        names = session.names
        found = [self.variable(one.name, names.find(one.name), one.name) for one in session.kernel.lds_variables]
        size = len(names.state.lds)
        whole = {
            "name": "(bytes)",
            "value": f"{size} bytes",
            "variablesReference": 0,
            "memoryReference": f"{SHARED_BASE:#x}",
        }
        return [*found, whole]

    def on_evaluate(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """An expression; in the console also the terminal's commands."""
        session, text = self._chosen(arguments), str(arguments["expression"]).strip()
        word = text.partition(" ")[0].partition("/")[0]
        command = SHORT.get(word, word).replace("-", "_")
        if arguments.get("context") == "repl" and hasattr(Terminal, f"do_{command}"):
            return self._command(text)
        value = session.evaluate(text)
        made = self.variable(text, value, text)
        if made["value"] == OPTIMISED:  # with a suggestion for the name
            made["value"] = views.printed(session, text)
        return {"result": made.pop("value"), **{k: v for k, v in made.items() if k not in ("name", "evaluateName")}}

    def _command(self, text: str) -> dict[str, Any]:
        session, out = self.session, io.StringIO()
        before = session.at, session.wave, session.lane
        Terminal(session, io.StringIO(), out).onecmd(text)
        if (session.at, session.wave, session.lane) != before:
            self.moved(session.stop)
        return {"result": out.getvalue().rstrip("\n"), "variablesReference": 0}

    def on_completions(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Names that begin as the text ends."""
        text = str(arguments["text"])[: max(0, int(arguments["column"]) - self.lines_from)]
        begun = ""
        while text and (text[-1].isalnum() or text[-1] in "_$"):
            begun, text = text[-1] + begun, text[:-1]
        known = sorted(set(self._chosen(arguments).names.known()))
        return {"targets": [{"label": one} for one in known if one.startswith(begun)][:100]}

    def on_readMemory(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Bytes of global memory or of the LDS."""
        first = int(str(arguments["memoryReference"]), 0) + int(arguments.get("offset") or 0)
        count = min(max(0, int(arguments["count"])), READ)
        data = self._bytes(first, count)
        out: dict[str, Any] = {"address": f"{first:#x}"}
        if data:
            out["data"] = base64.b64encode(data).decode()
        if len(data) < count:
            out["unreadableBytes"] = count - len(data)
        return out

    def _bytes(self, first: int, count: int) -> bytes:
        state = self.session.state
        if first >> 48 == SHARED_BASE >> 48:
            at = first & 0xFFFFFFFF
            return state.lds[at : at + count].tobytes()
        memory = state.replay.memory
        region = memory.region_at(first)
        if region is None:
            return b""
        offset = first - region.address
        return memory.view(region)[offset : offset + count].tobytes()
