"""The extension for VS Code: what it passes on is what the command line and the debug adapter take."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from mfmasim.cli import build
from mfmasim.cli.debug_targets import LAUNCHED, LISTS

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "editors" / "vscode"
PACKAGE = json.loads((FOLDER / "package.json").read_text())


def test_a_launch_has_the_options_of_the_adapter():
    (debugger,) = PACKAGE["contributes"]["debuggers"]
    properties = debugger["configurationAttributes"]["launch"]["properties"]
    assert set(properties) == {*LAUNCHED, *LISTS, "stopOnEntry"}
    assert {name for name, one in properties.items() if one["type"] == "array"} == {*LISTS}
    assert all(one["description"] for one in properties.values())
    for one in debugger["initialConfigurations"]:
        assert set(one) <= {*properties, "type", "request", "name"}


def test_the_command_lines_are_those_of_the_verbs():
    text = (FOLDER / "src" / "commands.ts").read_text()
    found = re.findall(r'\[("(?:debug|verify|show)"[^\]]*)\]', text)
    lines = [re.findall(r'"([^"]+)"|(\w+)', one) for one in found]
    words = [[plain or f"given-{name}" for plain, name in one] for one in lines]
    assert [one[0] for one in words] == ["debug", "verify", "show"]
    for one in words:
        args, left = build([one[0]]).parse_known_args(one)
        assert not left
        assert args.verb == one[0]


def test_version_and_address_are_the_projects():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert PACKAGE["version"] == project["version"]
    assert PACKAGE["repository"]["url"] == project["urls"]["Repository"]
    assert json.loads((FOLDER / "package-lock.json").read_text())["version"] == project["version"]


@pytest.mark.long
def test_its_own_tests_pass(tmp_path):
    compiler = FOLDER / "node_modules" / ".bin" / "tsc"
    if not compiler.exists() or shutil.which("node") is None:
        pytest.skip("npm install in editors/vscode")
    tool = tmp_path / "mfmasim"
    tool.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec {sys.executable} -m mfmasim "$@"\n')
    tool.chmod(0o755)
    out = tmp_path / "out"
    subprocess.run([compiler, "-p", FOLDER, "--outDir", out], check=True)
    env = {"MFMASIM": str(tool), "PATH": "/usr/bin:/bin"}
    words = ["node", "--test", out / "test" / "pure.test.js"]
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "# skipped 0" in done.stdout
