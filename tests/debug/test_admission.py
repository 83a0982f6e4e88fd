"""Who is served: the client that shows the token, or the same user at a Unix socket; nothing else is executed."""

import http.client
import http.server
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from mfmasim.cli import main
from mfmasim.debug.dap import admission, listen
from mfmasim.debug.dap.listen import Address
from mfmasim.debug.dap.server import Server
from mfmasim.errors import MfmasimError
from tests.debug.dap_client import Client
from tests.debug.ports import listening, told, waiting

ASK = {"seq": 1, "type": "request", "command": "initialize", "arguments": {"adapterID": "x"}}


def framed(message):
    body = json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def launch(target, **more):
    return {"seq": 2, "type": "request", "command": "launch", "arguments": {"target": [str(target)], **more}}


class Waiting:
    """A server in a thread of this process, which keeps what it is asked to launch."""

    def __init__(self, monkeypatch, address=None, **limits):
        self.launched, self.said = [], []
        monkeypatch.setattr(listen.secrets, "token_urlsafe", lambda _: "right")
        monkeypatch.setattr(listen, "_say", self.said.append)
        for name, value in limits.items():
            monkeypatch.setattr(admission, name, value)
        self.address = address or Address()
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()
        while not self.said:
            assert self.thread.is_alive()
            time.sleep(0.01)

    def _serve(self):
        def refused(arguments):
            self.launched.append(arguments)
            raise MfmasimError("enough")

        listen.accepted(self.address, lambda source, sink: Server(source, sink, refused)).run()

    def connect(self):
        if self.address.path:
            one = socket.socket(socket.AF_UNIX)
            one.connect(self.address.path)
            return one
        return socket.create_connection(("127.0.0.1", int(self.said[0].rsplit(":", 1)[1])), timeout=10)

    def end(self, connection):
        """Show the token, and leave."""
        with connection:
            connection.sendall(framed(launch("x", token="right")))
            assert b"enough" in connection.recv(4096)
        self.thread.join(10)
        assert not self.thread.is_alive()


def answer(connection):
    """All that comes until the connection ends."""
    found = b""
    try:
        while more := connection.recv(4096):
            found += more
    except ConnectionResetError:
        pass
    return found


@pytest.fixture
def served(monkeypatch):
    return Waiting(monkeypatch)


HOSTILE = {
    "a page's request": b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: text/plain\r\n",
    "rebound names": b"GET / HTTP/1.1\r\nHost: rebound.example\r\n",
    "a field of HTTP behind ours": b"Content-Type: text/plain\r\nHost: x\r\n",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_bytes_of_http_launch_nothing(served, name):
    body = json.dumps(launch("evil.py", token="right")).encode()  # even with the token
    with served.connect() as connection:
        connection.sendall(HOSTILE[name] + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        assert b"Content-Length and Content-Type are expected" in answer(connection)
    assert served.launched == []
    served.end(served.connect())
    assert len(served.launched) == 1


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (launch("evil.py"), "has to have"),
        (launch("evil.py", token="Right"), "another token"),
        (launch("evil.py", token=["right"]), "another token"),
        (launch("evil.py", token="r\udcffight"), "another token"),
        ({**ASK, "arguments": {"token": "wrong"}}, "another token"),
        ({**ASK, "arguments": None, "command": "evaluate"}, "has to have"),
        ({**ASK, "command": "threads", "arguments": {"token": "right"}}, "has to have"),
        ({"type": "event"}, "has to have"),
    ],
)
def test_without_the_token_nothing_is_served(served, message, text):
    with served.connect() as connection:
        connection.sendall(framed(message))
        assert text in answer(connection).decode()
    assert served.launched == []
    served.end(served.connect())


def test_capabilities_are_told_once_and_then_the_token_is_needed(served):
    with served.connect() as connection:
        client = Client(connection)
        assert client.request("initialize", adapterID="x")["supportsStepBack"]
        assert "has to have" in client.ask("initialize")["message"]
    with served.connect() as connection:
        client = Client(connection)
        client.request("initialize", adapterID="x")
        assert client.ask("launch", target=["one"], token="right")["message"] == "enough"
        assert client.ask("launch", target=["two"])["message"] == "enough"  # the client is known
        client.leave()
    served.thread.join(10)
    assert [one["target"] for one in served.launched] == [["one"], ["two"]]


def test_a_client_that_says_nothing_or_is_slow_does_not_keep_the_others_out(monkeypatch):
    served = Waiting(monkeypatch, SECONDS=0.3)
    with served.connect() as silent, served.connect() as slow:
        for byte in b"Content-Len":
            slow.sendall(bytes([byte]))
        assert b"within 0 s" in answer(silent)
        assert b"within 0 s" in answer(slow)
    monkeypatch.setattr(admission, "SECONDS", 30)
    with served.connect() as slow, served.connect():
        for byte in framed(launch("x", token="right")):
            slow.sendall(bytes([byte]))
        assert b"enough" in slow.recv(4096)
        with pytest.raises(ConnectionRefusedError):  # one client is served
            served.connect()


def test_what_a_client_may_send_without_the_token_is_bounded(monkeypatch):
    served = Waiting(monkeypatch, MOST=2)
    with served.connect() as connection:
        connection.sendall(b"Content-Length: 9999999\r\n\r\n" + bytes(admission.BYTES))
        assert b"too much" in answer(connection)
    with served.connect() as first, served.connect(), served.connect() as last:
        assert b"others connected" in answer(first)
        served.end(last)


def test_bytes_behind_the_token_are_served(served):
    with served.connect() as connection:
        connection.sendall(framed(ASK) + framed(launch("x", token="right")) + framed(launch("y")) + b"Content-")
        connection.sendall(b"Length: 2\r\n\r\n{}")
        connection.shutdown(socket.SHUT_WR)
        assert answer(connection).count(b"enough") == 4  # each message has it twice
    served.thread.join(10)
    assert len(served.launched) == 2


def test_the_port_is_of_this_machine_and_for_one_client():
    with waiting("--port", 0) as process:
        port, token = told(process)
        with socket.create_connection(("127.0.0.1", port)) as first:
            client = Client(first)
            client.request("initialize", token=token)
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", port), timeout=2)
            assert "nothing is launched" in client.ask("threads")["message"]
        client.leave()
        assert process.wait(20) == 0


def test_a_page_in_plain_http_executes_no_file(tmp_path):
    marker = tmp_path / "executed"
    evil = tmp_path / "evil.py"
    evil.write_text(f"open({str(marker)!r}, 'w').write('x')\n")
    body = json.dumps(launch(evil, arch="gfx942"))
    with waiting("--port", 0) as process:
        port, token = told(process)
        page = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        page.request("POST", "/", body, {"Origin": "https://evil.example", "Content-Type": "text/plain"})
        with pytest.raises(http.client.HTTPException):
            page.getresponse()
        page.close()
        assert not marker.exists()
        with socket.create_connection(("127.0.0.1", port)) as connection:  # the owner is still served
            client = Client(connection)
            assert not client.ask("launch", target=[str(evil)], arch="gfx942", token=token)["success"]
        client.leave()
        assert process.wait(20) == 0
    assert marker.exists()


@pytest.mark.oracle
def test_a_page_in_chromium_executes_no_file(tmp_path, browser):
    marker = tmp_path / "executed"
    evil = tmp_path / "evil.py"
    evil.write_text(f"open({str(marker)!r}, 'w').write('x')\n")

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<title>page</title>")

        def log_message(self, *_):
            pass

    with waiting("--port", 0) as process, http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page) as site:
        port, _ = told(process)
        threading.Thread(target=site.serve_forever, daemon=True).start()
        page = browser.new_page()
        page.goto(f"http://localhost:{site.server_port}/")
        body = json.dumps(launch(evil, arch="gfx942"))
        sent = page.evaluate(
            """async ([port, body]) => {
              const at = `http://127.0.0.1:${port}/`, ended = [];
              for (const type of ['text/plain', 'application/x-www-form-urlencoded'])
                await fetch(at, {method: 'POST', mode: 'no-cors', headers: {'Content-Type': type}, body})
                  .then(() => ended.push('answer'), () => ended.push('refused'));
              const form = new FormData(); form.append('x', body);
              await fetch(at, {method: 'POST', mode: 'no-cors', body: form})
                .then(() => ended.push('answer'), () => ended.push('refused'));
              await new Promise(done => {
                const socket = new WebSocket(`ws://127.0.0.1:${port}/`);
                socket.onopen = () => { ended.push('open'); done(); };
                socket.onerror = () => { ended.push('refused'); done(); };
              });
              return ended;
            }""",
            [port, body],
        )
        page.close()
        site.shutdown()
        assert sent == ["refused"] * 4
        assert "a client is refused: header b'POST / HTTP/1.1'" in process.stderr.readline()
        assert process.poll() is None
    assert not marker.exists()


def test_a_unix_socket_needs_no_token_and_no_other_user_reaches_it(monkeypatch, tmp_path):
    folder = tmp_path / "own"
    served = Waiting(monkeypatch, Address(path=str(folder / "debug")))
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "debug").stat().st_mode & 0o777 == 0o600
    with served.connect() as connection:
        connection.sendall(framed(launch("x")))
        assert b"enough" in connection.recv(4096)
    served.thread.join(10)
    assert not (folder / "debug").exists()
    assert served.launched == [{"target": ["x"]}]


def test_a_folder_that_others_can_enter_and_a_place_that_is_taken_are_refused(tmp_path):
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o750)
    with pytest.raises(MfmasimError, match="others can enter the folder"):
        listen.accepted(Address(path=str(folder / "debug")), Server)
    folder.chmod(0o700)
    (folder / "debug").write_text("x")
    with pytest.raises(MfmasimError, match=r"--socket .*: Address already in use"):
        listen.accepted(Address(path=str(folder / "debug")), Server)
    assert (folder / "debug").read_text() == "x"
    with pytest.raises(MfmasimError, match="too long"):
        listen.accepted(Address(path=str(folder / ("x" * 200))), Server)


def test_a_socket_that_nothing_listens_on_is_replaced(monkeypatch, tmp_path):
    path = tmp_path / "own" / "debug"
    path.parent.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as old:
        old.bind(str(path))
    served = Waiting(monkeypatch, Address(path=str(path)))
    with served.connect() as connection:
        connection.sendall(framed(launch("x")))
        assert b"enough" in connection.recv(4096)
    served.thread.join(10)


def as_another(code):
    """Python as a user without rights."""
    command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/env", "python3", "-c", code]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs to become another user")
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="needs setpriv")
def test_another_user_of_the_machine_is_refused():
    with tempfile.TemporaryDirectory() as name:  # below a folder that everyone can enter
        _refused_to_another(Path(name))


def _refused_to_another(folder):
    path = folder / "own" / "debug"
    connect = f"""
import socket
one = socket.socket(socket.AF_UNIX)
try:
    one.connect({str(path)!r})
    one.sendall({framed(launch("/x.py"))!r})
    print(one.recv(4096))
except OSError as error:
    print(type(error).__name__)
"""
    with waiting("--socket", path) as process:
        assert listening(process) == str(path)
        assert as_another(connect).stdout.strip() == "PermissionError"
        for one in (folder, path.parent):  # even where the folders are opened to others
            one.chmod(0o711)
        path.chmod(0o666)
        assert as_another(connect).stdout.strip() != "PermissionError"
        assert process.stderr.readline() == "DAP: a client is refused: it belongs to user 65534\n"
        assert process.poll() is None
    with waiting("--port", 0) as process:
        port, _ = told(process)
        code = connect.replace("socket.AF_UNIX", "socket.AF_INET").replace(repr(str(path)), f"('127.0.0.1', {port})")
        assert "has to have" in as_another(code).stdout
        assert process.poll() is None


def test_a_target_of_the_command_line_is_the_only_one(tmp_path):
    with waiting("intro", "--socket", tmp_path / "own" / "debug") as process:
        path = listening(process)
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(path)
            client = Client(connection)
            refused = client.ask("launch", target=["zoo"], arch="gfx942")
            assert refused["message"] == "launch: the command line has the target, intro; leave it out"
            assert "choose one with --case and --arch" in client.ask("launch")["message"]
        client.leave()
        assert process.wait(20) == 0


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--port", "1"], "--port: --dap is needed with it"),
        (["--socket", "x"], "--socket: --dap is needed with it"),
        (["--dap", "--host", "0.0.0.0"], "--host: --port is needed with it"),
        (["--dap", "--port", "1", "--socket", "x"], "--socket and --port exclude each other"),
        (["--dap", "--port", "0", "--host", "no such host"], "--port 0: "),
        (["--dap", "--socket", ""], "--socket '': a value is expected"),
    ],
)
def test_options_that_do_not_fit(options, text, capsys):
    assert main(["debug", *options]) == 2
    assert text in capsys.readouterr().err


def test_addresses_survive_the_environment():
    for one in (Address(), Address(4711), Address(0, "::1"), Address(path="/x/y:z")):
        assert Address.parsed(one.text) == one


@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells who connects")
def test_the_same_user_is_no_stranger():
    first, second = socket.socketpair()
    with first, second:
        assert listen._foreign(first) == ""
