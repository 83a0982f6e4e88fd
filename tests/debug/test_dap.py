"""The Debug Adapter Protocol: with a client written from the specification, one of another package, and the schema."""

import base64
import importlib.util
import io
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from mfmasim.cli import debug_targets
from mfmasim.cli.entry import build
from mfmasim.debug.dap import listen
from mfmasim.debug.dap.server import Server
from mfmasim.errors import MfmasimError
from tests.debug.dap_client import Client
from tests.debug.ports import told
from tests.debug.sessions import HERE, SOURCE, compiled, matrices, swizzled
from tests.oracles import require


def launched(arguments):
    if arguments.get("target") == ["nosuch"]:
        raise MfmasimError("unknown target 'nosuch'")
    return swizzled(int(arguments.get("level", 1)))


@pytest.fixture
def client():
    made = Client(lambda source, sink: Server(source, sink, launched))
    yield made
    made.close()


def begin(client, *lines, filters=(), **arguments):
    """Initialise, set breakpoints, and stop at the entry."""
    client.request("initialize", adapterID="mfmasim", linesStartAt1=True, columnsStartAt1=True, pathFormat="path")
    client.request("launch", **arguments)
    client.event("initialized")
    source = {"path": str(SOURCE), "name": SOURCE.name}
    found = client.request("setBreakpoints", source=source, breakpoints=[{"line": line} for line in lines])
    client.request("setExceptionBreakpoints", filters=list(filters))
    client.request("configurationDone")
    return found["breakpoints"], client.event("stopped")


def top(client):
    return client.request("stackTrace", threadId=1)["stackFrames"][0]


def scopes(client):
    frames = client.request("stackTrace", threadId=1)["stackFrames"]
    found = client.request("scopes", frameId=frames[0]["id"])["scopes"]
    return {one["name"]: one["variablesReference"] for one in found}


def variables(client, reference):
    return {one["name"]: one for one in client.request("variables", variablesReference=reference)["variables"]}


def test_breakpoints_steps_and_back(client):
    points, stopped = begin(client, 27, 31)
    assert stopped["reason"] == "entry"
    assert [one["line"] for one in points] == [28, 31]
    assert "line 27 has no code" in points[0]["message"]
    assert client.request("threads")["threads"] == [{"id": 1, "name": "workgroup (0, 0, 0) wave 0"}]
    client.request("continue", threadId=1)
    assert client.event("stopped")["reason"] == "breakpoint"
    first = top(client)
    assert first["line"] == 28
    assert Path(first["source"]["path"]) == SOURCE
    lines = [28]
    for _ in range(3):
        client.request("stepIn", threadId=1)
        client.event("stopped")
        lines.append(top(client)["line"])
    for line in lines[-2::-1]:
        client.request("stepBack", threadId=1)
        assert client.event("stopped")["reason"] == "step"
        assert top(client)["line"] == line
    client.request("continue", threadId=1)
    client.event("stopped")
    assert top(client)["line"] == 31
    pc = top(client)["instructionPointerReference"]
    client.request("next", threadId=1, granularity="instruction")
    client.event("stopped")
    assert int(top(client)["instructionPointerReference"], 16) > int(pc, 16)
    client.request("reverseContinue", threadId=1)
    client.event("stopped")
    assert top(client)["instructionPointerReference"] == pc


def test_scopes_and_variables(client):
    begin(client, 31)
    a, _, _ = matrices()
    client.request("continue", threadId=1)
    client.event("stopped")
    found = scopes(client)
    assert list(found) == ["Arguments", "Locals", "Work-item", "Registers", "Fragments", "LDS"]
    assert set(variables(client, found["Arguments"])) == {"a", "b", "c"}
    held = variables(client, found["Locals"])
    assert held["fa"]["value"] == "<optimised out>"
    assert held["lane"]["value"] == "0"
    tile = variables(client, found["LDS"])["As"]
    assert tile["indexedVariables"] == 1024
    row = client.request("variables", variablesReference=tile["variablesReference"], start=32, count=4)["variables"]
    assert [float(one["value"]) for one in row] == a[1, :4].tolist()
    fragment = variables(client, variables(client, found["Fragments"])["A"]["variablesReference"])
    assert [float(one) for one in fragment["row 3"]["value"].split()] == a[3, :8].tolist()
    files = variables(client, found["Registers"])
    vectors = variables(client, files["v"]["variablesReference"])
    lanes = variables(client, vectors["v0"]["variablesReference"])
    assert lanes["lane 17"]["value"] == "0x11"
    assert lanes["f16"]["value"] == "[0, 0]"
    work = variables(client, found["Work-item"])
    assert (work["blockDim.x"]["value"], work["threadIdx.x"]["value"]) == ("64", "0")


def test_evaluate_and_the_console(client):
    begin(client)
    assert client.request("evaluate", expression="blockDim.x + 1", context="watch")["result"] == "65"
    refused = client.ask("evaluate", expression="__import__('os')", context="repl")
    assert not refused["success"]
    assert "not part of an expression" in refused["message"]
    client.request("continue", threadId=1)
    assert client.event("stopped")["description"] == "the end of the launch"
    answer = client.request("evaluate", expression="who wrote c[0,1]", context="repl")
    assert "lane 1" in answer["result"]
    assert client.event("stopped")["reason"] == "data breakpoint"
    assert top(client)["line"] == 33
    targets = client.request("completions", text="la", column=3)["targets"]
    assert {"label": "lane"} in targets


def test_data_breakpoints_forwards_and_backwards(client):
    begin(client)
    info = client.request("dataBreakpointInfo", name="Bs[36]")
    assert "write" in info["accessTypes"]
    assert client.request("dataBreakpointInfo", name="1 + 1")["dataId"] is None
    points = [{"dataId": info["dataId"], "accessType": "write"}]
    assert client.request("setDataBreakpoints", breakpoints=points)["breakpoints"][0]["verified"]
    client.request("continue", threadId=1)
    assert client.event("stopped")["reason"] == "data breakpoint"
    assert top(client)["line"] == 24
    client.request("continue", threadId=1)
    client.event("stopped")
    client.request("reverseContinue", threadId=1)
    assert client.event("stopped")["reason"] == "data breakpoint"
    assert top(client)["line"] == 24


def test_conditions_functions_and_instructions(client):
    begin(client)
    source = {"path": str(SOURCE)}
    asked = [{"line": 31, "hitCondition": "3"}, {"line": 31, "hitCondition": "x"}, {"line": 31, "condition": "1 +"}]
    found = client.request("setBreakpoints", source=source, breakpoints=asked)["breakpoints"]
    assert [one["verified"] for one in found] == [True, False, False]
    client.request("continue", threadId=1)
    client.event("stopped")
    assert (
        client.request("evaluate", expression="$pc", context="watch")["result"]
        == top(client)["instructionPointerReference"]
    )
    client.request("setBreakpoints", source=source, breakpoints=[])
    assert client.request("setFunctionBreakpoints", breakpoints=[{"name": "v_mfma*"}])["breakpoints"][0]["verified"]
    client.request("restart")
    client.event("stopped")
    client.request("continue", threadId=1)
    client.event("stopped")
    pc = top(client)["instructionPointerReference"]
    client.request("setFunctionBreakpoints", breakpoints=[])
    client.request("setInstructionBreakpoints", breakpoints=[{"instructionReference": pc}])
    client.request("reverseContinue", threadId=1)
    client.event("stopped")
    client.request("continue", threadId=1)
    client.event("stopped")
    assert top(client)["instructionPointerReference"] == pc


def test_disassembly_memory_goto_and_sources(client):
    begin(client)
    pc = top(client)["instructionPointerReference"]
    listed = client.request("disassemble", memoryReference=pc, instructionOffset=-3, instructionCount=12)[
        "instructions"
    ]
    assert len(listed) == 12
    assert [one.get("presentationHint") for one in listed[:4]] == ["invalid"] * 3 + [None]
    assert listed[3]["address"] == pc
    session = swizzled()
    assert [one["instruction"] for one in listed[3:]] == [ins.text.strip() for ins in session.kernel.instructions[:9]]
    targets = client.request("gotoTargets", source={"path": str(SOURCE)}, line=31)["targets"]
    client.request("goto", threadId=1, targetId=targets[0]["id"])
    assert client.event("stopped")["reason"] == "goto"
    assert top(client)["line"] == 31
    a, _, _ = matrices()
    pointer = client.request("evaluate", expression="a", context="hover")
    read = client.request("readMemory", memoryReference=pointer["memoryReference"], count=a.nbytes + 8)
    data = base64.b64decode(read["data"])
    assert data == a.tobytes()
    assert read["unreadableBytes"] == 8
    lds = client.request("evaluate", expression="As", context="hover")["memoryReference"]
    shared = base64.b64decode(client.request("readMemory", memoryReference=lds, count=64)["data"])
    assert np.array_equal(np.frombuffer(shared, np.float16), a[0])
    assert SOURCE.name in {one["name"] for one in client.request("loadedSources")["sources"]}
    locations = client.request("breakpointLocations", source={"path": str(SOURCE)}, line=26, endLine=28)["breakpoints"]
    assert [one["line"] for one in locations] == [26, 28]


def test_findings_are_exceptions(client):
    begin(client, filters=["info"])
    client.request("continue", threadId=1)
    stopped = client.event("stopped")
    assert stopped["reason"] == "exception"
    assert stopped["description"].startswith("conflicts-lds")
    info = client.request("exceptionInfo", threadId=1)
    assert info["exceptionId"] == "conflicts-lds"
    assert top(client)["line"] == 13
    client.request("setExceptionBreakpoints", filters=[], filterOptions=[{"filterId": "error", "condition": "races"}])
    client.request("continue", threadId=1)
    assert client.event("stopped")["description"] == "the end of the launch"


def test_bad_requests_are_answered(client):
    assert "nothing is launched yet" in client.ask("threads")["message"]
    client.request("initialize", adapterID="mfmasim")
    assert client.ask("launch", target=["nosuch"])["message"] == "unknown target 'nosuch'"
    begin(client)
    for command, arguments, message in (
        ("nosuch", {}, "unknown request 'nosuch'"),
        ("stackTrace", {}, "does not allow"),
        ("stackTrace", {"threadId": 99}, "the launch has waves 0 to 0"),
        ("variables", {"variablesReference": 77}, "earlier stop"),
        ("scopes", {"frameId": 77}, "earlier stop"),
        ("readMemory", {"memoryReference": "x", "count": 4}, "does not allow"),
        ("goto", {"threadId": 1, "targetId": 5}, "no target 5"),
        ("exceptionInfo", {"threadId": 1}, "does not stand at a finding"),
    ):
        answer = client.ask(command, **arguments)
        assert not answer["success"]
        assert message in answer["message"]


def test_a_launch_request_has_nothing_of_an_earlier_one(monkeypatch):
    seen = []
    monkeypatch.setattr(debug_targets, "opened", lambda args: seen.append((args.target, args.arch, args.case)))
    monkeypatch.setattr(listen, "serve_streams", lambda source, sink, launched: seen.append(launched) or 0)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO()))
    assert debug_targets.serve(build(["debug"]).parse_args(["debug", "--dap", "--arch", "gfx950"])) == 0
    launched_with = seen.pop()
    launched_with({"target": ["intro"], "arch": "gfx942", "case": "f16"})
    launched_with({"target": ["zoo"]})
    assert seen == [(["intro"], "gfx942", "f16"), (["zoo"], "gfx950", None)]


@pytest.mark.parametrize(
    "data",
    [
        b"Content-Length: 99999999999\r\n\r\n",
        b"\r\n",
        b"x" * 9000,
        b"Content-Length: 3\r\n\r\n{x}",
        b"Content-Length: 2\r\nHost: x\r\n\r\n{}",
        b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
        b"GET / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}",
    ],
)
def test_what_is_no_message_ends_the_server(data):
    client = Client(lambda source, sink: Server(source, sink, launched))
    client.raw(data)
    message = client.receive()
    assert message["event"] == "output"
    client.close()


@pytest.mark.oracle
def test_every_message_fits_the_schema(client):
    """The JSON schema of the protocol, as debugpy ships it."""
    try:
        import jsonschema

        folder = Path(importlib.util.find_spec("debugpy").origin).parent
    except (ImportError, AttributeError):
        require("debugpy", available=False, how="pip install --group oracles")
    schema = json.loads(next(folder.rglob("debugProtocol.json")).read_text())
    begin(client, 31, filters=["info"])
    client.request("continue", threadId=1)
    client.event("stopped")
    client.request("exceptionInfo", threadId=1)
    client.request("setExceptionBreakpoints", filters=[])
    client.request("continue", threadId=1)
    client.event("stopped")
    client.request("threads")
    for reference in scopes(client).values():
        variables(client, reference)
    client.request("evaluate", expression="As", context="watch")
    client.request("evaluate", expression="bt", context="repl")
    client.request("dataBreakpointInfo", name="As[3]")
    client.request("setDataBreakpoints", breakpoints=[{"dataId": "As[3]"}])
    client.request("setFunctionBreakpoints", breakpoints=[{"name": "gemm"}])
    client.request("setInstructionBreakpoints", breakpoints=[])
    client.request("disassemble", memoryReference="0x1600", instructionCount=4)
    client.request("readMemory", memoryReference="0x10", count=4)
    client.request("gotoTargets", source={"path": str(SOURCE)}, line=31)
    client.request("stepBack", threadId=1)
    client.request("reverseContinue", threadId=1)
    client.request("loadedSources")
    client.request("breakpointLocations", source={"path": str(SOURCE)}, line=31)
    client.request("completions", text="l", column=2)
    client.ask("nosuch")
    client.request("terminate")
    client.request("disconnect")
    titles = {}
    for message in client.log:
        if message["type"] == "request":
            titles[message["seq"]] = message["command"]
    checked = 0
    for message in client.log:
        if message["type"] == "response":
            name = titles[message["request_seq"]]
            kind = f"{name[0].upper()}{name[1:]}Response" if message["success"] else "ErrorResponse"
        elif message["type"] == "event":
            name = message["event"]
            kind = f"{name[0].upper()}{name[1:]}Event"
        else:
            continue
        jsonschema.validate(message, {**schema, "$ref": f"#/definitions/{kind}"})
        checked += 1
    assert checked > 40


@pytest.mark.oracle
def test_the_test_client_of_visual_studio_code(monkeypatch):
    """@vscode/debugadapter-testsupport, over a socket."""
    modules = os.environ.get("MFMASIM_DAP_CLIENT", "")
    how = "npm install @vscode/debugadapter-testsupport in a folder, and set MFMASIM_DAP_CLIENT to it"
    available = bool(modules) and shutil.which("node") is not None
    require("@vscode/debugadapter-testsupport", available, how, installed=False)
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    monkeypatch.setattr(listen.secrets, "token_urlsafe", lambda _: "shown")
    thread = threading.Thread(target=listen.serve_at, args=(listen.Address(port), launched), daemon=True)
    thread.start()
    done = subprocess.run(
        ["node", str(HERE / "dap_client.js"), str(port), str(SOURCE), "shown"],
        capture_output=True,
        text=True,
        timeout=100,
        env={**os.environ, "NODE_PATH": f"{modules}/node_modules"},
        check=False,
    )
    thread.join(10)
    assert done.returncode == 0, done.stderr
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        {"back": True, "data": True},
        {"verified": [True]},
        {"reason": "entry", "line": 17, "name": SOURCE.name},
        {"reason": "breakpoint", "line": 31, "name": SOURCE.name},
        {"reason": "step", "line": 28, "name": SOURCE.name},
        {"scopes": ["Arguments", "Locals", "Work-item", "Registers", "Fragments", "LDS"]},
        {"value": "64"},
        {"reason": "step", "line": 31, "name": SOURCE.name},
        {"reason": "entry", "line": 17, "name": SOURCE.name},
    ]
    assert not thread.is_alive()


@pytest.mark.oracle
def test_neovim_with_nvim_dap(tmp_path):
    """A real editor without a screen: nvim-dap starts the server on standard streams."""
    plugin = os.environ.get("MFMASIM_NVIM_DAP", "")
    how = "install neovim, and set MFMASIM_NVIM_DAP to a checkout of nvim-dap"
    require("nvim-dap", bool(plugin) and shutil.which("nvim") is not None, how, installed=False)
    compiled(1)
    out = tmp_path / "out"
    subprocess.run(
        ["nvim", "--headless", "--clean", "-c", f"luafile {HERE / 'editor.lua'}"],
        timeout=100,
        check=False,
        env={**os.environ, "DEBUG_SOURCE": str(SOURCE), "DEBUG_OUT": str(out)},
        capture_output=True,
    )
    assert out.read_text().splitlines() == [
        "stopped entry ",
        "line gemm 17",
        "stopped breakpoint breakpoint 1",
        "line gemm 31",
        "stopped step ",
        "line gemm 28",
        "stopped step ",
        "line gemm 31",
        "stopped entry the beginning of the launch",
        "line gemm 17",
        "value 64",
    ]


@pytest.mark.oracle
def test_a_program_is_attached_to(tmp_path):
    """Two launches of a HIP program, each stopped at its entry while the host waits."""
    require("clang", shutil.which("clang-22") is not None or shutil.which("clang") is not None, "install clang")
    source = tmp_path / "twice.hip"
    source.write_text(
        "#include <hip/hip_runtime.h>\n#include <cstdio>\n"
        "__global__ void twice(int* x) {\n  x[threadIdx.x] *= 2;\n}\n"
        "int main() {\n  int host[64], *x;\n  for (int i = 0; i < 64; ++i) host[i] = i;\n"
        "  hipMalloc(&x, sizeof host);\n  hipMemcpy(x, host, sizeof host, hipMemcpyHostToDevice);\n"
        "  for (int k = 0; k < 2; ++k) twice<<<1, 64>>>(x);\n"
        "  hipMemcpy(host, x, sizeof host, hipMemcpyDeviceToHost);\n"
        '  printf("host %d\\n", host[63]);\n}\n'
    )
    run = [sys.executable, "-m", "mfmasim"]
    program = str(tmp_path / "twice")
    assert subprocess.run([*run, "hipcc", "-g", str(source), "-o", program], check=False).returncode == 0
    waiting = subprocess.Popen(
        [*run, "debug", "--dap", "--port", "0", "--", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        port, token = told(waiting)
        with socket.create_connection(("127.0.0.1", port)) as connection:
            client = Client(connection)
            client.request("initialize", adapterID="mfmasim")
            client.request("attach", token=token)
            client.event("initialized")
            points = [{"name": "global_store*"}]
            client.request("setFunctionBreakpoints", breakpoints=points)
            client.request("configurationDone")
            for expected in ("3", "6"):
                assert client.event("stopped")["reason"] == "entry"
                client.request("continue", threadId=1)
                assert client.event("stopped")["reason"] == "breakpoint"
                assert client.request("evaluate", expression="x[3]", context="watch")["result"] == expected
                client.request("continue", threadId=1)
                assert client.event("stopped")["description"] == "the end of the launch"
                client.request("continue", threadId=1)
            client.event("terminated")
        assert waiting.wait(60) == 0
        assert waiting.stdout.read().endswith("host 252\n")
    finally:
        waiting.kill()
        waiting.stdout.close()
        waiting.stderr.close()
