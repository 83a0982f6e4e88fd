"""The server for agents: answers, limits, cancellation, and a scripted agent that repairs faults by its advice
alone."""

import asyncio
import json
import re
import subprocess
import sys
import time
from pathlib import Path

import jsonschema
import pytest

from mfmasim.agents.answers import MOST_TEXT
from mfmasim.agents.problems import problem_of
from mfmasim.agents.tools import TOOLS
from mfmasim.schemas import schema
from tests.agents.loops import alone
from tests.agents.planted import FAULTS, PROBLEMS, source
from tests.agents.repairing import repaired
from tests.oracles import module

ROOT = Path(__file__).resolve().parents[2]
TRANSCRIPT = Path(__file__).parent / "transcript.json"


def connected(work, *words, folder=ROOT):
    """What `work` gives with a client of the SDK that talks to ``mfmasim mcp`` over stdio."""
    module("mcp")
    from mcp import Client, StdioServerParameters

    async def run():
        command = StdioServerParameters(command=sys.executable, args=["-m", "mfmasim", "mcp", *words], cwd=str(folder))
        async with Client(command) as client:
            return await work(client)

    return alone(asyncio.wait_for(run(), 300))


def judged(answer, tool):
    """An answer that its schema admits."""
    jsonschema.Draft202012Validator(schema("answer")).validate(answer.structured_content)
    assert answer.structured_content["tool"] == tool
    assert len(answer.content[0].text.split("\n")) <= MOST_TEXT
    return answer.structured_content


@pytest.mark.commit
def test_a_fault_is_repaired_over_stdio_with_progress(tmp_path):
    said = []

    async def work(client):
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == list(TOOLS)
        for tool in tools:
            jsonschema.Draft202012Validator.check_schema(tool.input_schema)

        async def progress(done, total, text):
            said.append((done, total, text))

        given = {**PROBLEMS["pick"], "source": source("pick", "rows that do not exist")}
        first = judged(await client.call_tool("check", given, progress_callback=progress), "check")
        assert first["finding"]["id"] == "bounds-outside-buffer"
        assert first["finding"]["line"].startswith("fa = ")
        return await repaired(client, "rows that do not exist", "pick")

    text, asked = connected(work, "--root", str(tmp_path))
    assert text == source("pick")
    assert asked == 2
    assert [one[2] for one in said][:2] == ["compiling", "executing"]


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_repaired_by_the_advice(fault):
    kernel = FAULTS[fault][0]

    async def work(client):
        return await repaired(client, fault, kernel)

    text, asked = connected(work)
    assert text is not None, f"{asked} questions led nowhere"


def test_every_fault_is_in_the_kernel_once():
    assert len(FAULTS) == 10
    assert all(source(kernel, fault) != source(kernel) for fault, (kernel, _, _) in FAULTS.items())


@pytest.mark.commit
def test_the_transcript():
    """A recorded conversation, line by line as a client of any make writes it; the answers are the same ones."""
    module("mcp")
    talk = json.loads(TRANSCRIPT.read_text())
    command = [sys.executable, "-m", "mfmasim", "mcp", "--sandbox", "limits"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as server:
        for turn in talk:
            server.stdin.write(json.dumps(turn["sent"]) + "\n")
            server.stdin.flush()
            if "answered" in turn:
                found = json.loads(server.stdout.readline())
                assert held(turn["answered"], found), (turn["answered"], found)
        server.stdin.close()
        assert server.wait(30) == 0


def held(wanted, found):
    """Whether all that is recorded is there; what is not recorded may be anything."""
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(
            key in found and held(value, found[key]) for key, value in wanted.items()
        )
    if isinstance(wanted, list):
        return len(wanted) == len(found) and all(map(held, wanted, found))
    return wanted == found


@pytest.mark.commit
def test_time_ends_and_cancelling_ends(tmp_path):
    """A kernel that does not end is stopped; a question that is cancelled leaves the server able to answer."""
    endless = "__global__ void spin(volatile int* x) { for (int i = 1; i; i += 2) x[threadIdx.x] = i; }"
    given = {
        "source": f'#include <hip/hip_runtime.h>\nextern "C" {endless}',
        "grid": 1,
        "block": 64,
        "arguments": [{"name": "x", "kind": "inout", "format": "i32", "shape": [64], "data": "zeros"}],
        "expect": "x",
        "seconds": 4,
    }

    async def work(client):
        start = time.monotonic()
        answer = judged(await client.call_tool("check", given), "check")
        assert answer["verdict"] in ("fail", "unknown")
        assert time.monotonic() - start < 60
        task = asyncio.create_task(client.call_tool("check", {**given, "seconds": 200}))
        await asyncio.sleep(2)
        assert not task.done()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return judged(await client.call_tool("show", {"what": "e4m3fn"}), "show")

    assert connected(work, "--root", str(tmp_path))["verdict"] == "answer"
    assert not running(str(tmp_path))


def running(word):
    """Processes of a server with this word among their arguments."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            text = path.read_bytes().decode(errors="replace")
        except OSError:
            continue
        found += [text] if word in text and "mfmasim" in text and "pytest" not in text else []
    return found


def test_the_page_names_every_tool_and_its_example_is_a_problem(tmp_path):
    """docs/agents.md: the table has the tools, and the problem is one."""
    from mfmasim.agents.server import _checked

    text = (ROOT / "docs" / "agents.md").read_text()
    tools = text[text.index("## The tools") : text.index("## A problem")]
    assert set(re.findall(r"^\| `(\w+)` \|", tools, re.MULTILINE)) == set(TOOLS)
    problem = json.loads(re.search(r"```json\n(\{\n.*?\n\})\n```", text, re.DOTALL)[1])
    _checked("check", problem)
    jsonschema.Draft202012Validator(TOOLS["check"][1]).validate(problem)
    made = problem_of({**problem, "file": "k.hip"}, tmp_path, [_with_kernel(tmp_path)])
    assert made.parameters["M"] == 128


def _with_kernel(folder):
    (folder / "k.hip").write_text("")
    return folder
