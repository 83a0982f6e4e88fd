"""Any requests of an editor, or any bytes, to the debugger: each is answered once, nothing is executed or written.

An input is bytes that say which requests come, with which arguments; odd values and expressions have their places in
the lists below, so that new ones are added at their ends. An input that begins with 255 is sent as it is.
"""

import functools
import io
import json
import os

import mfmasim
from mfmasim.debug.dap.framing import read
from mfmasim.debug.dap.server import Server
from mfmasim.debug.device import RecordingDevice
from mfmasim.debug.session import Session
from mfmasim.errors import MfmasimError
from mfmasim.resources import folder

MOST = 10
"""Requests of an input."""
COMMANDS = {
    "initialize": ("linesStartAt1", "adapterID"),
    "launch": ("target", "arch", "stopOnEntry", "noDebug"),
    "attach": ("stopOnEntry",),
    "configurationDone": (),
    "threads": (),
    "stackTrace": ("threadId", "startFrame", "levels"),
    "scopes": ("frameId",),
    "variables": ("variablesReference", "start", "count", "filter"),
    "evaluate": ("expression", "frameId", "context"),
    "completions": ("text", "column", "frameId", "line"),
    "setBreakpoints": ("source", "breakpoints", "lines"),
    "setFunctionBreakpoints": ("breakpoints",),
    "setInstructionBreakpoints": ("breakpoints",),
    "setExceptionBreakpoints": ("filters", "filterOptions"),
    "setDataBreakpoints": ("breakpoints",),
    "dataBreakpointInfo": ("name", "variablesReference", "frameId"),
    "breakpointLocations": ("source", "line", "endLine"),
    "continue": ("threadId",),
    "reverseContinue": ("threadId",),
    "next": ("threadId", "granularity"),
    "stepIn": ("threadId", "granularity"),
    "stepOut": ("threadId", "granularity"),
    "stepBack": ("threadId", "granularity"),
    "pause": ("threadId",),
    "goto": ("threadId", "targetId"),
    "gotoTargets": ("source", "line"),
    "exceptionInfo": ("threadId",),
    "disassemble": ("memoryReference", "offset", "instructionOffset", "instructionCount"),
    "readMemory": ("memoryReference", "offset", "count"),
    "loadedSources": (),
    "source": ("sourceReference", "source"),
    "restart": (),
    "terminate": (),
    "disconnect": (),
    "__class__": ("x",),
    "nosuch": ("threadId",),
}
TEXTS = (
    "v0",
    "v0[3]",
    "lane",
    "threadIdx.x",
    "exec",
    "$v3 lane 2",
    "blockDim.x + 1",
    "lds[0]",
    "out[0,1]",
    "s4 == 1",
    "0x1900",
    "",
    "x" * 3000,
    "(" * 400,
    "1 if 1 else",
    "1/0",
    "1 << 99999999",
    "9" * 5000,
    "9 ** 9 ** 9 ** 9",
    "[0] * 999999999",
    "__import__('os').system('touch executed')",
    "().__class__.__mro__[1].__subclasses__()",
    "open('executed', 'w')",
    "f16(v0)",
    "any(v0 > 3)",
    "all()",
    "abs(-v1)",
    "{x}",
    "\x1b[2J\udcff\0",
    "-" * 999 + "1",
    "v9999999",
    "s-1",
    "a.b.c.d",
    "who wrote out[0]",
    "who wrote v1",
    "watch v1",
    "rwatch s4",
    "awatch out[1]",
    "break *0x1900",
    "break v_*",
    "break 1 if v0",
    "until s_*",
    "reverse-until v_*",
    "goto 7",
    "goto 99999999999999",
    "wave 1",
    "wave -1",
    "lane 64",
    "frame 9",
    "run",
    "fragment A",
    "place B v0",
    "catch all",
    "catch races",
    "finding 1",
    "info registers",
    "info waves",
    "info args",
    "print/f16 v1",
    "lanes/x v2",
    "print/zz 1",
    "list",
    "disassemble",
    "memory 0 999999999",
    "memory out 64",
    "backtrace",
    "stepi 3",
    "reverse-stepi 2",
    "step 9999999999",
    "finish",
    "detach",
    "quit",
    "shell touch executed",
    "!touch executed",
    "source executed",
    "python open('executed','w')",
    "commands",
    "condition 1 v0",
    "ignore 1 -5",
    "delete 1",
    "help",
    "hover",
    "repl",
    "watch",
    "instruction",
    "line",
    "/etc/passwd",
    "../../etc/passwd",
    "loop.hip",
    "error",
    "info",
    "readWrite",
    "write",
)
VALUES = (
    1,
    0,
    2,
    3,
    -1,
    1 << 31,
    1 << 63,
    -(1 << 70),
    1.5,
    1e308,
    None,
    True,
    False,
    [],
    {},
    [[]],
    [{}],
    [None],
    "1",
    "0x1900",
    [{"line": 3}],
    [{"line": -1, "condition": "v0 >"}],
    [{"line": 1 << 70, "hitCondition": "9" * 99}],
    [{"name": "s_*"}],
    [{"name": 3}],
    [{"instructionReference": "0x1900", "offset": 4}],
    [{"instructionReference": "zz"}],
    [{"dataId": "v1"}],
    [{"dataId": "out[0] wave 0", "accessType": "write"}],
    [{"dataId": "x" * 999, "accessType": 7}],
    ["error", "info"],
    [{"filterId": "error", "condition": "races"}],
    [{"filterId": None}],
    {"path": "loop.hip"},
    {"path": "/etc/passwd"},
    {"name": 7},
    {"sourceReference": 1},
    ["intro"],
    [{"line": 3}] * 2000,
    200,
    4096,
    1 << 20,
    ["evil.py"],
    {"path": None},
)
SITES = ({"path": "loop.hip"}, {"name": "loop.hip"}, {"path": "/x/valu_loop.hip"}, {"sourceReference": 1, "name": "x"})
FITTING = {
    "threadId": (1, 2, 3),
    "frameId": (1, 2, 3),
    "variablesReference": tuple(range(1, 24)),
    "line": (1, 2, 3, 7),
    "endLine": (9,),
    "start": (0, 1, 5),
    "count": (1, 4, 64),
    "levels": (1, 20),
    "startFrame": (0, 1),
    "column": (1, 3),
    "memoryReference": ("0x1900", "0x1600", "lds:0", "0x100000"),
    "offset": (0, 4, -4, 100),
    "instructionOffset": (-3, 0, 5),
    "instructionCount": (0, 1, 10),
    "targetId": (1, 2),
    "sourceReference": (1,),
    "granularity": ("instruction", "line"),
    "stopOnEntry": (True, False),
    "filters": (["error"], ["info", "warning"], []),
    "source": SITES,
    "text": TEXTS,
    "name": TEXTS,
    "expression": TEXTS,
    "context": ("repl", "watch", "hover"),
    "filter": ("indexed", "named"),
    "breakpoints": VALUES[20:30],
    "filterOptions": VALUES[31:33],
    "linesStartAt1": (True, False),
    "target": (["intro"],),
}
"""Values that the protocol allows for an argument; a fourth of all arguments are others."""
USUAL = ("initialize", "attach", "configurationDone")


@functools.cache
def recorded():
    """A recorded launch of a prebuilt kernel: three waves and a loop."""
    import numpy as np

    kernel = mfmasim.load(folder("golden") / "code" / "bench" / "valu_loop.gfx942.hsaco")["valu_loop"]
    kept = []
    device = RecordingDevice(lambda recorder, report: kept.append((recorder, report)))
    device.launch(kernel, 3, 64, [np.zeros((3, 64), np.uint32), np.int32(5), np.uint32(7)])
    return kept[0]


class Reader:
    """The bytes of an input, one after another; zeros behind the end."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def choose(self, things):
        self.at += 1
        byte = self.data[self.at - 1] if self.at <= len(self.data) else 0
        return things[byte % len(things)]

    def value(self, name):
        """An argument: one that fits, or a small number, an odd value or a text."""
        if name in FITTING and self.choose(range(4)):
            return self.choose(FITTING[name])
        return self.choose((lambda: self.choose(range(64)), lambda: self.choose(VALUES), lambda: self.choose(TEXTS)))()


def requests(data):
    """The requests that an input stands for; mostly of a session that has begun."""
    reader = Reader(data)
    begun = USUAL if reader.choose(range(8)) else ()
    found = [(command, {}) for command in begun]
    names = list(COMMANDS)
    while reader.at < len(data) and len(found) < len(begun) + MOST:
        command = reader.choose(names)
        arguments = {name: reader.value(name) for name in COMMANDS[command]}
        if command in ("scopes", "variables", "evaluate"):  # what it refers to has to be there
            found.append(("stackTrace", {"threadId": 1}))
            found.append(("scopes", {"frameId": 1}))
        if reader.choose(range(4)) == 1:
            arguments = {name: value for name, value in arguments.items() if reader.choose(range(2))}
        if reader.choose(range(16)) == 7:
            arguments = reader.choose(VALUES)
        found.append((command, arguments))
    return found


def framed(message):
    body = json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def answers(stream):
    """All messages that a server sends for the bytes of a client."""

    def launched(arguments):
        raise MfmasimError(f"launched {str(arguments)[:50]}")

    sink = io.BytesIO()
    Server(io.BytesIO(stream), sink, launched, Session(*recorded(), folders=[])).run()
    sink.seek(0)
    found = []
    while (message := read(sink)) is not None:
        found.append(message)
    return found


def run(data):
    before = set(os.listdir())  # noqa: PTH208
    if data[:1] == b"\xff":
        answers(data[1:])
    else:
        asked = requests(data)
        messages = [
            {"seq": number, "type": "request", "command": command, "arguments": arguments}
            for number, (command, arguments) in enumerate(asked, 1)
        ]
        found = answers(b"".join(map(framed, messages)))
        answered = [one["request_seq"] for one in found if one["type"] == "response"]
        assert answered == list(range(1, len(answered) + 1))  # each once, in order, until the session ends
        assert len(answered) == len(asked) or ends(asked[len(answered) - 1], found), asked[len(answered) - 1]
        for one in found:
            assert one["type"] != "response" or one["success"] or one["message"].isprintable(), one
        assert [one["seq"] for one in found] == list(range(1, len(found) + 1))
    assert set(os.listdir()) == before  # noqa: PTH208


def ends(request, found):
    """Whether a session may end after a request: the client left, the launch is over, or its console said so."""
    events = {one["event"] for one in found if one["type"] == "event"}
    return request[0] in ("disconnect", "terminate", "evaluate") or bool(events & {"terminated", "continued"})
