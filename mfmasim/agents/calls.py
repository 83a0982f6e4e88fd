"""Questions as processes: started, watched, ended in time, and answered in any case."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from mfmasim.agents.answers import Answer
from mfmasim.agents.sandbox import Sandbox

__all__ = ["call"]

GRACE = 3.0
"""Seconds beyond a question's own for its process to end by itself."""
MOST_BYTES = 4 << 20
"""Bytes of a line that a process may answer."""
DYING = 1.0
"""Seconds from an interrupt to the end by force."""


async def call(
    made: Sandbox,
    tool: str,
    given: Mapping[str, Any],
    roots: Sequence[Path],
    seconds: float,
    say: Callable[[str], Awaitable[None]],
) -> dict[str, Any]:
    """Answer one question in a process of its own.

    Args:
        made: how it is started.
        tool: the tool.
        given: its arguments.
        roots: folders that it may read.
        seconds: that it may take.
        say: receives what it is doing.

    Returns:
        The answer's record; one with the verdict ``unknown`` where the process did not answer in time, or ended.
    """
    process = await asyncio.create_subprocess_exec(
        *made.command(),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=made.environment(seconds),
        start_new_session=True,
        limit=MOST_BYTES,
    )
    asked = {"tool": tool, "arguments": dict(given), "roots": [str(root) for root in roots], "seconds": seconds}
    found: dict[str, Any] | None = None
    try:
        async with asyncio.timeout(seconds + GRACE):
            found = await _conversation(process, asked, say)
    except TimeoutError:
        return Answer(tool, "unknown", f"it did not end within {seconds:g} seconds; seconds= allows more").record()
    except ValueError:  # a line beyond the limit, or no JSON
        return Answer(tool, "unknown", "the answer was too large").record()
    finally:
        await asyncio.shield(_end(process))
    if found is None:
        return Answer(tool, "unknown", "the process ended without an answer: a limit of memory or time").record()
    return found


async def _conversation(
    process: asyncio.subprocess.Process, asked: Mapping[str, Any], say: Callable[[str], Awaitable[None]]
) -> dict[str, Any] | None:
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(ConnectionError):
        process.stdin.write(json.dumps(asked).encode() + b"\n")
        await process.stdin.drain()
        process.stdin.close()
    while line := await process.stdout.readline():
        said = json.loads(line)
        if "answer" in said:
            return dict(said["answer"])
        await say(str(said.get("doing"))[:80])
    return None


async def _end(process: asyncio.subprocess.Process) -> None:
    """End a process and what it started: its interrupt ends a compiler, too, which is in a session of its own."""
    if not hasattr(os, "killpg"):  # Windows
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        return
    if process.returncode is None:
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGINT)
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), DYING)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
