"""``--executor``: workers that are another mfmasim or none, lack memory, or run what was interrupted; TLS."""

import json
import signal
import subprocess
import sys
import time

import pytest

from tests.cli.clusters import cluster, mfmasim, outcome, write
from tests.oracles import module, require

pytestmark = [pytest.mark.oracle, pytest.mark.long]
OTHER = """
import importlib.metadata as metadata
own = metadata.version
metadata.version = lambda name: "0.0.1" if name == "numpy" else own(name)
"""
WITHOUT = """
import sys
sys.modules["mfmasim"] = None
"""
THREE = 'for name in ("first", "second", "third"): declare(name)'


def started_by(folder, name, text):
    """The environment of a process that runs this text first."""
    from tests.cli.clusters import ROOT

    (folder / name).mkdir()
    (folder / name / "sitecustomize.py").write_text(text)
    return {"PYTHONPATH": f"{folder / name}:{ROOT}"}


@pytest.mark.parametrize("text", [OTHER, WITHOUT], ids=["other", "without"])
def test_a_worker_of_another_version_is_refused(tmp_path, text):
    module("distributed")
    folder = tmp_path / "cases"
    folder.mkdir()
    write(folder, THREE)
    wanted = outcome(folder, "verify", "my_cases.py", "--json", "-", "--jobs", 1)
    assert wanted[0] == 0
    bad = ((), started_by(tmp_path, "bad", text))
    arguments = ("verify", "my_cases.py", "--json", "-", "--executor")
    with cluster(folder, [bad]) as (address, started):
        code, out, err = outcome(folder, *arguments, address)
        assert (code, out, err.count("\n")) == (2, "", 1), err
        assert "the command has mfmasim" in err
        assert ("has another mfmasim, or none" if text is WITHOUT else "NumPy 0.0.1") in err
        # A worker of the right version joins: the tasks that the other one refuses run there.
        with_good = [*started[0].args[:2], "distributed.cli.dask_worker", address.replace("dask", "tcp")]
        good = mfmasim(folder, start=subprocess.Popen, command=[*with_good, "--nthreads", "1", "--no-dashboard"])
        try:
            end = time.monotonic() + 60
            while time.monotonic() < end and (found := outcome(folder, *arguments, address)) != wanted:
                assert "the command has mfmasim" in found[2]
                time.sleep(1)
            assert found == wanted
        finally:
            good.kill()
            good.wait()


def test_a_task_for_which_memory_is_short_is_an_error_and_the_others_go_on(tmp_path):
    module("distributed")
    write(
        tmp_path,
        """
        import time

        def hungry():
            held = []
            for _ in range(30):
                held.append(b"x" * (40 << 20))
                time.sleep(0.2)

        for name in ("first", "second", "third"):
            declare(name, hungry if name == "second" else lambda: None)
    """,
    )
    with cluster(tmp_path, [(("--memory-limit", "500MB"), {})]) as (address, _):
        code, out, _ = outcome(tmp_path, "verify", "my_cases.py", "--json", "-", "--executor", address)
    assert code == 2
    results = json.loads(out)
    assert [result["status"] for result in results] == ["pass", "error", "pass"]
    assert "second was not executed: its worker ended 4 times" in results[1]["findings"][0]["message"]


def test_an_interruption_ends_the_tasks_that_run(tmp_path):
    module("distributed")
    write(
        tmp_path,
        """
        import time

        def endless():
            while True:
                (HERE / "beat").write_text(str(time.monotonic()))
                time.sleep(0.05)

        declare("endless", endless)
    """,
    )
    beat = tmp_path / "beat"

    def wait(until):
        end = time.monotonic() + 60
        while time.monotonic() < end and not until():
            time.sleep(0.5)
        assert until()

    def still():
        before = beat.read_text()
        time.sleep(2)
        return before == beat.read_text()

    with cluster(tmp_path) as (address, started):
        arguments = ("verify", "my_cases.py", "--executor", address)
        taken = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}  # ignored in background jobs
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        running = mfmasim(tmp_path, *arguments, start=subprocess.Popen, **pipes, **taken)
        wait(beat.exists)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
        assert (running.returncode, out, err) == (130, "", "mfmasim: interrupted\n")
        wait(still)
        assert [process.poll() for process in started] == [None, None]
        write(tmp_path, THREE)  # and the worker has room for others
        assert outcome(tmp_path, *arguments)[0] == 0


def test_a_cluster_that_speaks_tls(tmp_path):
    module("distributed")
    made = subprocess.run(
        [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-days",
            "1",
            "-subj",
            "/CN=localhost",
            "-addext",
            "subjectAltName=IP:127.0.0.1",
            "-keyout",
            "key.pem",
            "-out",
            "ca.pem",
        ],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    require("openssl", made.returncode == 0, "apt-get install openssl")
    write(tmp_path, THREE)
    files = {"ca-file": tmp_path / "ca.pem", "cert": tmp_path / "ca.pem", "key": tmp_path / "key.pem"}
    tls = [text for name, path in files.items() for text in (f"--tls-{name}", str(path))]
    with cluster(tmp_path, tls=tls) as (address, _):
        settings = {
            "DASK_DISTRIBUTED__COMM__TLS__CA_FILE": str(files["ca-file"]),
            "DASK_DISTRIBUTED__COMM__TLS__CLIENT__CERT": str(files["cert"]),
            "DASK_DISTRIBUTED__COMM__TLS__CLIENT__KEY": str(files["key"]),
        }
        arguments = ("verify", "my_cases.py", "--executor", address)
        code, out, err = outcome(tmp_path, *arguments, more=settings)
        assert (code, err) == (0, "")
        assert "3 pass" in out
        code, out, err = outcome(tmp_path, *arguments)
        assert (code, out, err.count("\n")) == (2, "", 1), err
        assert "TLS" in err


def test_a_worker_that_does_not_start_is_one_line(tmp_path):
    module("distributed")
    why = {"DASK_DISTRIBUTED__WORKER__PRELOAD": "nothing_there"}
    code, out, err = outcome(tmp_path, "verify", "intro", "--executor", "dask://local?workers=1", more=why)
    text = "a worker does not start: ModuleNotFoundError: No module named 'nothing_there'"
    assert (code, out, err) == (2, "", f"mfmasim: --executor dask://local?workers=1: {text}\n")


LISTENERS = """
import urllib.request, psutil
from mfmasim.clusters import opened

if __name__ == "__main__":
    with opened("dask://local?workers=1"), opened("dask://local?workers=1"):
        own = psutil.Process()
        for process in [own, *own.children(recursive=True)]:
            for one in process.net_connections():
                if one.status == "LISTEN":
                    try:
                        urllib.request.urlopen(f"http://{one.laddr.ip}:{one.laddr.port}/status", timeout=2)
                        page = True
                    except Exception:
                        page = False
                    print(one.laddr.ip, page)
"""


def test_local_clusters_listen_on_the_loopback_address_and_have_no_dashboard(tmp_path):
    """Two at the same time, of which the second one finds no port in use."""
    module("distributed")
    (tmp_path / "listeners.py").write_text(LISTENERS)
    command = [sys.executable, "-W", "default", "listeners.py"]
    done = mfmasim(tmp_path, command=command, more={"PYTHONWARNINGS": ""}, capture_output=True, timeout=120)
    lines = done.stdout.splitlines()
    assert len(lines) >= 6, done.stderr
    assert set(lines) == {"127.0.0.1 False"}
    assert "is already in use" not in done.stderr
