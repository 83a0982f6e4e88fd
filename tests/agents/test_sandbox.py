"""What confines a question: the network, files, memory and time; and what remains without bubblewrap."""

import json
import shutil
import subprocess
import sys

import pytest

from mfmasim.agents import worker
from mfmasim.agents.calls import call
from mfmasim.agents.sandbox import sandbox
from mfmasim.errors import MfmasimError
from tests.agents.loops import alone
from tests.oracles import require

PROBE = """
import json, os, socket
def tried(work):
    try:
        work()
    except OSError as error:
        return type(error).__name__
    return ""
print(json.dumps({
    "network": tried(lambda: socket.create_connection(("127.0.0.1", PORT), 2)),
    "secret": tried(lambda: open(SECRET)),
    "write": tried(lambda: open(os.path.join(ROOT, "new"), "w")),
    "read": tried(lambda: open(os.path.join(ROOT, "kernel.hip"))),
    "processes": len([name for name in os.listdir("/proc") if name.isdigit()]),
    "token": os.environ.get("TOKEN", ""),
    "home": os.environ["HOME"],
}))
"""


def probed(made, root, secret):
    """What a program sees in a sandbox while something listens on this machine."""
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        names = {"PORT": server.getsockname()[1], "SECRET": str(secret), "ROOT": str(root)}
        text = "\n".join(f"{name} = {value!r}" for name, value in names.items()) + PROBE
        command = [*made.prefix, sys.executable, "-c", text]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=made.environment(10))
    return json.loads(done.stdout)


@pytest.mark.commit
def test_bubblewrap_isolates(tmp_path, monkeypatch):
    require("bubblewrap", shutil.which("bwrap"), "apt install bubblewrap", installed=False)
    monkeypatch.setenv("TOKEN", "a secret")
    root, cache, secret = tmp_path / "root", tmp_path / "cache", tmp_path / "secret"
    root.mkdir()
    cache.mkdir()
    secret.write_text("a secret")
    (root / "kernel.hip").write_text("int x;")
    made = sandbox("bubblewrap", [root], cache)
    found = probed(made, root, secret)
    assert [found[name] != "" for name in ("network", "secret", "write", "read")] == [True, True, True, False]
    assert found["processes"] <= 3
    assert (found["token"], found["home"]) == ("", "/tmp")
    open_ = probed(sandbox("limits", [root], cache), root, secret)
    assert [open_[name] for name in ("network", "secret", "token")] == ["", "", ""]


def test_a_kind_that_is_unknown_or_absent(tmp_path, monkeypatch):
    with pytest.raises(MfmasimError, match="did you mean 'bubblewrap'"):
        sandbox("bubblewrp", [], tmp_path)
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(MfmasimError, match="it is not installed"):
        sandbox("bubblewrap", [], tmp_path)
    assert sandbox("auto", [], tmp_path).kind == "limits"


def test_limits_hold_for_what_is_started():
    """Memory, files and CPU time, of the process and of its children."""
    code = (
        "from mfmasim.agents.worker import limit; limit(1); import subprocess, sys\n"
        "print(subprocess.run(['sh', '-c', 'ulimit -v; ulimit -f; ulimit -n; ulimit -t; ulimit -c'],"
        " capture_output=True, text=True).stdout)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    memory, blocks, files, seconds, core = map(int, done.stdout.split())
    assert (memory, files, seconds, core) == (worker.MEMORY >> 10, worker.FILES, 6, 0)
    assert blocks * 512 == worker.FILE


async def _nothing(_):
    pass


def asked(made, given, seconds=20.0, roots=()):
    return alone(call(made, "inspect", given, roots, seconds, _nothing))


@pytest.mark.commit
def test_files_outside_of_the_folders_are_refused(tmp_path):
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    (outside / "k.hsaco").write_bytes(b"not for others")
    (inside / "link.hsaco").symlink_to(outside / "k.hsaco")
    made = sandbox("limits", [inside], tmp_path)
    for name in ("../out/k.hsaco", str(outside / "k.hsaco"), "link.hsaco"):
        found = asked(made, {"file": name}, roots=[inside])
        assert found["verdict"] == "error"
        assert "lies outside the folders" in found["summary"]
    assert "no such file" in asked(made, {"file": "none.hsaco"}, roots=[inside])["summary"]
