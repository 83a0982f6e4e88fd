"""The process that holds a GPU: opening it fails, or it does not end; with packages in hip-python's place."""

import subprocess

import pytest

import mfmasim
from mfmasim.devices import isolated
from mfmasim.errors import MfmasimError

ENUMS = "class hipError_t(int): name = 'hipSuccess'\n"


def package(folder, monkeypatch, text):
    """Put a package in hip-python's place."""
    (folder / "hip").mkdir()
    (folder / "hip" / "__init__.py").write_text("")
    (folder / "hip" / "hip.py").write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(folder))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("import missing_library", "hip-python is not installed"),
        ("raise ImportError('undefined symbol: hipNew')", "ImportError: undefined symbol: hipNew"),
        ("def hipGetDeviceCount(): raise RuntimeError('libamdhip64.so: cannot open')", r"libamdhip64\.so\) is not"),
        ("def hipGetDeviceCount(): raise OSError('symbol hipNew not found')", "OSError: symbol hipNew not found"),
        ("", "has no attribute 'hipGetDeviceCount'"),
        ("def hipGetDeviceCount(): return 'ab'", "hip-python does not work: ValueError: "),
        (ENUMS + "def hipGetDeviceCount(): return hipError_t(0), 1", "has no attribute 'hipGetDeviceProperties'"),
        (ENUMS + "def hipGetDeviceCount(): return hipError_t(0), 0", "sees no GPU"),
        ("import os; os._exit(3)", r"the device's process ended during opening it \(exit code 3\)$"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", r"ended during opening it \(SIGSEGV\)$"),
    ],
)
def test_what_fails_while_opening_is_one_line_that_names_it(text, says, tmp_path, monkeypatch, capfd):
    package(tmp_path, monkeypatch, text)
    with pytest.raises(MfmasimError, match=says) as error:
        mfmasim.device("hip")
    assert "\n" not in str(error.value)
    assert "fault" not in str(error.value)
    assert capfd.readouterr().err == ""


class Endless:
    """A process in an uninterruptible wait of the driver."""

    pid = 4711

    def __init__(self):
        self.killed = 0

    def kill(self):
        self.killed += 1

    def wait(self, seconds):
        raise subprocess.TimeoutExpired("worker", seconds)


@pytest.mark.parametrize("patient", [False, True])
def test_a_process_that_does_not_end_is_given_up(monkeypatch, patient):
    ours, theirs = isolated.socket.socketpair()
    with theirs:
        worker = object.__new__(isolated._Worker)
        worker.process, worker.connection = Endless(), isolated.Connection(ours.detach())
        device = object.__new__(isolated.IsolatedHip)
        device.name = "hip"
        device.forget()
        device._workers.append(worker)
        if patient:
            assert device._end(patient=True) == "its process 4711 does not end even when killed, and was given up"
        else:
            with pytest.raises(MfmasimError, match=r"no answer within 0 s; its process 4711 does not end even when"):
                device._answer(worker, 0.01, "gemm", kernel=True)
        assert worker.process.killed == 1
        assert not device._workers
