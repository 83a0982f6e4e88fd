"""The server: tools over the Model Context Protocol, on standard input and output."""

from __future__ import annotations

import asyncio
import hashlib
import json
import tempfile
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mfmasim.agents.answers import MOST_LINES, Answer, refused, text_of
from mfmasim.agents.calls import call
from mfmasim.agents.sandbox import Sandbox, sandbox
from mfmasim.agents.tools import MOST_SECONDS, SECONDS, TOOLS
from mfmasim.errors import MfmasimError, unknown
from mfmasim.schemas import schema

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

__all__ = ["Referee", "serve", "server_of"]

KEPT = 64
"""Answers whose rest is kept."""
AT_ONCE = 2
"""Questions that are answered at a time."""
STEPS = 5
"""Progress that is reported, at most."""

INSTRUCTIONS = """\
mfmasim executes the code object that an AMD GPU would run, bit for bit, without a GPU, and proves fragments, LDS
accesses and outputs. Begin with check: kernel source, sizes, grid, block, arguments, and the reference in expect. A
verdict of fail has the one finding that matters and edits in advice: apply the first that fits, check again. pass
means: all compared elements are right and no check reports an error at these sizes and at those in also_at; prove
answers for all sizes. Say fidelity on with a result: `assumed` means that the arithmetic of an instruction is not
public. Nothing that is sent is executed on this machine: references are evaluated, kernels are simulated.
"""


class Referee:
    """Answers questions, each in a process of its own, and keeps what was left out."""

    def __init__(self, made: Sandbox, roots: Sequence[Path], most: float = MOST_SECONDS) -> None:
        self.sandbox, self.roots, self.most = made, list(roots), most
        self._rests: OrderedDict[str, list[str]] = OrderedDict()
        self._slots = asyncio.Semaphore(AT_ONCE)

    async def ask(self, tool: str, given: Mapping[str, Any], say: Callable[[str], Awaitable[None]]) -> dict[str, Any]:
        """The answer to a question, as the schema `answer` has it.

        Args:
            tool: a name of `TOOLS`.
            given: its arguments.
            say: receives what is being done.
        """
        try:
            if tool not in TOOLS:
                raise unknown("tool", tool, TOOLS)
            _checked(tool, given)
            if tool == "rest":
                return self._rest(given)
            seconds = min(float(given.get("seconds") or SECONDS), self.most)
        except MfmasimError as error:
            return self._finished(refused(tool, str(error)).record(), given)
        async with self._slots:
            found = await call(self.sandbox, tool, given, self.roots, seconds, say)
        return self._finished(found, given)

    def _finished(self, record: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
        """An answer with its id, and without what is left out."""
        rest = list(record["rest"])
        text = json.dumps([record["tool"], dict(given), record["lines"], rest], sort_keys=True, default=str)
        name = hashlib.sha256(text.encode()).hexdigest()[:8]
        if rest or record["lines"]:
            self._rests[name] = [*record["lines"], *rest]
            self._rests.move_to_end(name)
            while len(self._rests) > KEPT:
                self._rests.popitem(last=False)
        kept = {key: value for key, value in record.items() if key != "rest"}
        return {**kept, "id": name, "more": len(rest), "sandbox": self.sandbox.kind}

    def _rest(self, given: Mapping[str, Any]) -> dict[str, Any]:
        name, first = str(given["id"]), int(given.get("from", MOST_LINES))
        if name not in self._rests:
            raise unknown("id", name, self._rests, "of an answer")
        lines = self._rests[name]
        shown = lines[first : first + MOST_LINES]
        record = Answer(
            "rest", "answer", f"lines {first} to {first + len(shown)} of {len(lines)}", lines=shown
        ).record()
        kept = {key: value for key, value in record.items() if key != "rest"}
        return {**kept, "id": name, "more": max(0, len(lines) - first - len(shown)), "sandbox": self.sandbox.kind}


def _checked(tool: str, given: Mapping[str, Any]) -> None:
    """Refuse arguments that a tool does not have, or lacks; their values are judged where they are used.

    Raises:
        MfmasimError: names the argument.
    """
    wanted = TOOLS[tool][1]
    for name in given:
        if name not in wanted["properties"]:
            raise unknown("argument", name, wanted["properties"], f"of {tool}")
    for name in wanted["required"]:
        if name not in given:
            raise MfmasimError(
                f"{tool}: {name} is missing: {wanted['properties'][name].get('description', 'see the schema')}"
            )
    for name, value in given.items():
        kinds = wanted["properties"][name].get("type", ())
        known = {"string": str, "object": dict, "array": list, "number": int | float, "integer": int}
        names = [kinds] if isinstance(kinds, str) else list(kinds)
        fits = any(isinstance(value, known[kind]) and not isinstance(value, bool) for kind in names)
        if names and not fits:
            raise MfmasimError(f"{tool}: {name} is a {type(value).__name__}; expected: {' or '.join(names)}")


def server_of(referee: Referee) -> Server[Any]:
    """The protocol's server for a referee.

    Args:
        referee: answers.
    """
    import mcp_types as types
    from mcp.server.lowlevel import Server

    import mfmasim

    output = schema("answer")

    async def tools(_: Any, __: Any) -> types.ListToolsResult:
        read = types.ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
        return types.ListToolsResult(
            tools=[
                types.Tool(name=name, description=about, input_schema=given, output_schema=output, annotations=read)
                for name, (about, given) in TOOLS.items()
            ]
        )

    async def called(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        step = 0

        async def say(text: str) -> None:
            nonlocal step
            step = min(step + 1, STEPS)
            await context.session.report_progress(step, STEPS, text)

        record = await referee.ask(params.name, params.arguments or {}, say)
        content: list[Any] = [types.TextContent(type="text", text=text_of(record))]
        wrong = record["verdict"] == "error"
        return types.CallToolResult(content=content, structured_content=record, is_error=wrong)

    return Server(
        "mfmasim", version=mfmasim.__version__, instructions=INSTRUCTIONS, on_list_tools=tools, on_call_tool=called
    )


def serve(roots: Sequence[Path], kind: str = "auto", most: float = MOST_SECONDS) -> None:
    """Serve one client on standard input and output, until it closes them.

    Args:
        roots: folders in which files may be named.
        kind: of `mfmasim.agents.sandbox.KINDS`.
        most: seconds that a question may take.

    Raises:
        MfmasimError: the extra is not installed, a folder does not exist, or the sandbox cannot be made.
    """
    try:
        import anyio
        from mcp.server.stdio import stdio_server
    except ImportError:
        raise MfmasimError("mcp needs the protocol's library: pip install 'mfmasim[agents]'") from None
    for root in roots:
        if not root.is_dir():
            raise MfmasimError(f"--root {root}: no such folder")
    with tempfile.TemporaryDirectory(prefix="mfmasim-mcp-") as cache:
        made = sandbox(kind, roots, Path(cache))

        async def run() -> None:
            served = server_of(Referee(made, roots, most))
            async with stdio_server() as (read, write):
                await served.run(read, write, served.create_initialization_options())

        anyio.run(run)
