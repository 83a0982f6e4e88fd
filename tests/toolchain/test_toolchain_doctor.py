"""``mfmasim doctor``: every finding in words, with what to do about it."""

import argparse
import json

import pytest

from mfmasim.cli import doctor


def run(arguments, capsys):
    parser = argparse.ArgumentParser()
    doctor.add(parser.add_subparsers())
    parsed = parser.parse_args(["doctor", *arguments])
    code = parsed.run(parsed)
    return code, capsys.readouterr().out


def test_findings_as_json(capsys):
    code, text = run(["--json"], capsys)
    found = json.loads(text)
    packages = {row["name"].replace("_", "-"): row for row in found["packages"]}
    assert code == 0
    assert packages["numpy"]["ok"]
    assert packages["numpy"]["for"] == "mfmasim"
    assert packages["ziglang"]["for"] == "compile"
    assert packages["hip-python"]["for"] == "hip"
    assert len(found["oracles"]) == 6
    for row in [*found["packages"], found["compiler"], found["device"], *found["oracles"]]:
        assert row["ok"] is ("mend" not in row)


def test_findings_as_text(capsys):
    code, text = run([], capsys)
    assert code == 0
    assert [line for line in text.splitlines() if line and not line.startswith(" ")][1:] == [
        "packages",
        "compiler",
        "device",
        "programs that tests compare with",
    ]


def test_no_compiler_says_how_to_get_one(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("MFMASIM_HIP_COMPILER", str(tmp_path / "nosuch"))
    code, text = run([], capsys)
    assert code == 0
    assert "  --  none\n      MFMASIM_HIP_COMPILER: no compiler" in text


@pytest.mark.parametrize(
    ("probe", "ok", "answer"),
    [
        ("print(0, 2, 'hipSuccess')", True, "hipGetDeviceCount: 2 devices"),
        ("print(0, 0, 'hipSuccess')", False, "the HIP runtime works but sees no GPU"),
        ("print(100, 0, 'hipErrorNoDevice')", False, "the HIP runtime works but sees no GPU"),
        ("print(3, 0, 'hipErrorNotInitialized')", False, "hipGetDeviceCount failed: hipErrorNotInitialized (3)"),
        ("raise RuntimeError(\"failed to dlopen 'libamdhip64.so'\")", False, "the HIP runtime (libamdhip64.so) is not"),
        ("import nosuch_package", False, "hip-python is not installed"),
        ("raise ValueError('odd')", False, "hip-python does not work: ValueError: odd"),
        ("import os; os.kill(os.getpid(), 11)", False, "hipGetDeviceCount ended the process with signal 11"),
        ("import time; time.sleep(60)", False, "did not return within 2 s"),
    ],
)
def test_every_answer_of_the_device_is_put_into_words(probe, ok, answer, monkeypatch):
    monkeypatch.setattr(doctor, "_PROBE", probe)
    monkeypatch.setattr(doctor, "_PROBE_SECONDS", 2 if "sleep" in probe else 60)
    found = doctor.examine()["device"]
    assert found["ok"] is ok
    assert answer in found["answer"]


def test_a_folder_called_hip_is_not_the_package(monkeypatch, tmp_path):
    (tmp_path / "hip").mkdir()
    (tmp_path / "hip" / "__init__.py").write_text("raise SystemExit('the trap')")
    monkeypatch.chdir(tmp_path)
    assert "trap" not in doctor.examine()["device"]["answer"]


def test_a_missing_package_of_our_own_fails(capsys, monkeypatch):
    from importlib import metadata

    real = metadata.version

    def version(name):
        if name == "msgpack":
            raise metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(metadata, "version", version)
    code, text = run([], capsys)
    assert code == 1
    assert "pip install 'msgpack>=1.0'" in text
