"""Requests about code: disassembly and sources."""

from __future__ import annotations

from typing import Any

from mfmasim.debug.dap.base import Base
from mfmasim.errors import MfmasimError

MOST = 10_000


class Code(Base):
    """Of a server."""

    def on_disassemble(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Instructions around an address, exactly as many as asked for."""
        session = self.session
        listed = session.kernel.reachable
        first = int(str(arguments["memoryReference"]), 0) + int(arguments.get("offset") or 0)
        count = min(max(0, int(arguments["instructionCount"])), MOST)
        at = next((k for k, ins in enumerate(listed) if ins.pc + ins.size > first), len(listed))
        begin = at + int(arguments.get("instructionOffset") or 0)
        out: list[dict[str, Any]] = []
        for number in range(begin, begin + count):
            if not 0 <= number < len(listed):
                where = listed[0].pc + 4 * number if number < 0 else listed[-1].pc + 4 * (number - len(listed) + 1)
                out.append({"address": f"{max(where, 0):#x}", "instruction": "", "presentationHint": "invalid"})
                continue
            ins = listed[number]
            one: dict[str, Any] = {
                "address": f"{ins.pc:#x}",
                "instructionBytes": ins.raw.hex(" ", 4),
                "instruction": ins.text.strip(),
            }
            row = session.lines.row(ins.pc)
            if row is not None:
                one |= {"location": self.source(row.file.removeprefix("./")), "line": self.line(row.line)}
            out.append(one)
        return {"instructions": out}

    def on_source(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The text of a source that is not on this machine."""
        number = int(arguments.get("sourceReference") or (arguments.get("source") or {}).get("sourceReference") or 0)
        if number not in self.sources:
            raise MfmasimError(f"source {number}: there is no such source")
        return {"content": "\n".join(self.session.lines.source(self.sources[number])) + "\n"}

    def on_loadedSources(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """All sources of the code object."""
        del arguments
        return {"sources": [self.source(name) for name in self.session.lines.files]}
