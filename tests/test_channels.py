"""What runs in others' repositories: action, hook, image, template, skill; each is executed as far as it goes."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from mfmasim.cli import main
from mfmasim.resources import folder

ROOT = Path(__file__).resolve().parent.parent
CODE = folder("golden") / "code" / "intro" / "mfma_f32_32x32x2_f32.gfx942.hsaco"
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
GITLAB = yaml.safe_load((ROOT / "docs" / "templates" / "gitlab.yml").read_text())
SKILL = (ROOT / "mfmasim" / "learn" / "skill.md").read_text()


def step(name):
    """A step of the action."""
    return next(one for one in ACTION["runs"]["steps"] if one.get("name") == name)


def programs(home):
    """Folders of a virtual environment whose program is this checkout's."""
    place = home / "mfmasim" / "bin"
    place.mkdir(parents=True)
    (place / "mfmasim").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m mfmasim "$@"\n')
    (place / "mfmasim").chmod(0o755)


def acted(home, **inputs):
    """Run the action's own step; what GitHub fills in is filled in here."""
    given = {name: one.get("default", "") for name, one in ACTION["inputs"].items()} | inputs
    one = step("check")
    known = {f"inputs.{name}": value for name, value in given.items()} | {"runner.temp": str(home)}
    env = {name: re.sub(r"\$\{\{ (.+?) \}\}", lambda m: known[m[1]], text) for name, text in one["env"].items()}
    assert one["shell"] == "bash"
    env = {**os.environ, **env, "RUNNER_TEMP": str(home), "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        ["bash", "-e", "-c", one["run"]], env=env, cwd=home, capture_output=True, text=True, check=False
    )


@pytest.mark.commit
def test_the_action_verifies_sweeps_and_fails(tmp_path):
    programs(tmp_path)
    (tmp_path / "mfmasim-cache").mkdir()
    done = acted(tmp_path, targets="intro", arguments="--arch gfx942 --case f32_32x32x2")
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "mfmasim.sarif").read_text())["version"] == "2.1.0"
    shutil.copy(CODE, tmp_path)
    done = acted(tmp_path, sweep=str(CODE.name), sarif="s.sarif")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "mfmasim-cache" / "sweep.jsonl").is_file()
    (tmp_path / "bad.hsaco").write_bytes(b"\x7fELF")
    assert acted(tmp_path, sweep=". ", sarif="s.sarif").returncode == 1
    assert len(json.loads((tmp_path / "s.sarif").read_text())["runs"][0]["results"]) == 1
    assert acted(tmp_path).returncode == acted(tmp_path, targets="intro", sweep=".").returncode == 2


def test_no_text_of_an_input_becomes_a_command():
    """Inputs reach the shell as variables alone, and an upload happens for failures, too."""
    assert ACTION["runs"]["using"] == "composite"
    for one in ACTION["runs"]["steps"]:
        assert "${{" not in one.get("run", "")
        assert "uses" in one or one["shell"] == "bash"
    assert "!cancelled()" in step("upload")["if"]


def test_the_hook_is_a_manifest_and_its_entry_runs(tmp_path, capsys, monkeypatch):
    (hook,) = HOOKS
    assert set(hook) <= {
        *("id", "name", "description", "entry", "language", "additional_dependencies", "files", "require_serial")
    }
    wanted = {"k.hip", "a/k.s", "k.co", "k.hsaco"}
    assert {name for name in (*wanted, "k.cpp", "k.hip.txt", "co") if re.search(hook["files"], name)} == wanted
    words = shlex.split(hook["entry"])
    assert words[0] == "mfmasim"
    monkeypatch.chdir(tmp_path)
    shutil.copy(CODE, "good.co")
    assert main([*words[1:], "good.co"]) == 0
    Path("bad.co").write_bytes(b"\x7fELF")
    assert main([*words[1:], "good.co", "bad.co"]) == 2
    assert "bad.co" in capsys.readouterr().err


@pytest.mark.commit
def test_the_template_for_gitlab_runs(tmp_path):
    (job,) = GITLAB.values()
    programs(tmp_path)
    shutil.copy(CODE, tmp_path)
    env = {**os.environ, **job["variables"], "CI_PROJECT_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    env |= {"MFMASIM_RUN": f"sweep {CODE.name}", "MFMASIM_CACHE": str(tmp_path / ".mfmasim")}
    for line in job["script"]:
        command = line.replace(".mfmasim-venv/", "mfmasim/")
        subprocess.run(["bash", "-e", "-c", command], env=env, cwd=tmp_path, check=True, capture_output=True)
    written = [name for name in job["artifacts"]["paths"] if (tmp_path / name).is_file()]
    assert len(written) >= 1
    assert written == job["artifacts"]["paths"]


def instructions():
    """Instructions of the Containerfile, in order."""
    lines = (ROOT / "Containerfile").read_text().splitlines()
    return [line.partition(" ")[::2] for line in lines if line and not line.startswith("#")]


def test_the_image_has_what_it_copies_and_no_root():
    found = instructions()
    assert [word for word, _ in found if word in ("FROM", "ENTRYPOINT", "USER")] == ["FROM", "USER", "ENTRYPOINT"]
    kept = [line[1:] for line in (ROOT / ".dockerignore").read_text().split() if line.startswith("!")]
    build = (ROOT / "pyproject.toml").read_text()
    assert all((ROOT / name).exists() for name in kept)
    assert {"mfmasim", "hipkernels", "golden", "pyproject.toml", *re.findall(r'readme = "(.+?)"', build)} <= set(kept)
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())
    assert any("Containerfile" in one.get("run", "") for one in workflow["jobs"]["image"]["steps"])


@pytest.mark.long
def test_the_steps_of_the_image_run(tmp_path):
    """Its RUN lines, in a folder instead of an image: the source is copied as .dockerignore says, and installed."""
    source = tmp_path / "source"
    for name in (line[1:] for line in (ROOT / ".dockerignore").read_text().split() if line.startswith("!")):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, source / name) if source.mkdir(exist_ok=True) is None else None
    env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    env["MFMASIM_CACHE"] = str(tmp_path / "cache")
    ran = 0
    for word, rest in instructions():
        if word != "RUN" or rest.startswith("useradd"):
            continue
        command = rest.replace("/opt/mfmasim", f"{tmp_path}/opt").replace("/source", str(source))
        done = subprocess.run(
            ["sh", "-e", "-c", command], env=env, cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (command, done.stdout[-800:], done.stderr[-800:])
        ran += 1
    assert ran == 4
    assert not source.exists()


def test_the_skill_is_short_and_printed(capsys):
    assert len(SKILL.splitlines()) <= 150
    head = yaml.safe_load(SKILL.split("---\n")[1])
    assert set(head) == {"name", "description"}
    assert main(["learn", "skill"]) == 0
    assert capsys.readouterr().out == SKILL


EXPECTED = {"doctor": 0, "verify": 0, "explain": 0, "why": 0, "prove": 0, "mutate": 0}
"""Exit codes of the skill's commands, by verb."""


@pytest.mark.long
def test_the_skill_is_followed_literally(tmp_path):
    """Its files are written under the names that the text gives them, its commands run in its order."""
    for language, name in (("cpp", "scaled.hip"), ("python", "scaled_case.py")):
        (text,) = re.findall(rf"```{language}\n(.*?)```", SKILL, re.DOTALL)
        assert f"`{name}`" in SKILL
        (tmp_path / name).write_text(text)
    commands = [line for block in re.findall(r"```sh\n(.*?)```", SKILL, re.DOTALL) for line in block.splitlines()]
    assert commands[0] == "pip install 'mfmasim[compile]'"
    ran = {}
    for command in commands[1:]:
        words = shlex.split(command)
        assert words[0] == "mfmasim"
        done = subprocess.run(
            [sys.executable, "-m", *words],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
        ran[words[1]] = done.returncode
        assert done.returncode == EXPECTED[words[1]], (command, done.stdout[-1500:], done.stderr[-500:])
    assert ran == EXPECTED
    assert json.loads((tmp_path / "result.json").read_text())[0]["status"] == "pass"
