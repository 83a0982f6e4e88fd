"""The files of docs/ci.md: what they install exists, and their steps pass and fail as CI has to."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from mfmasim.toolchain import find_compiler
from tests.oracles import require

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
TEXT = (ROOT / "docs" / "ci.md").read_text()


def file_of(name):
    """A YAML file of the page."""
    return yaml.safe_load(re.search(rf"```yaml\n# {re.escape(name)}\n(.*?)```", TEXT, re.DOTALL)[1])


def github():
    """Installation, other commands, and the variables of the job."""
    job = file_of(".github/workflows/kernels.yml")["jobs"]["verify"]
    runs = [step["run"] for step in job["steps"] if "run" in step]
    return runs[0], runs[1:], job["env"]["MFMASIM_CACHE"]


def gitlab():
    """The same of the other file."""
    job = file_of(".gitlab-ci.yml")["kernels"]
    (install,) = job["before_script"]
    return install, job["script"], job["variables"]["MFMASIM_CACHE"]


FILES = {"github": github, "gitlab": gitlab}


@pytest.mark.parametrize("name", FILES)
def test_what_is_installed_is_this_version_of_this_project(name):
    install, _, _ = FILES[name]()
    extras, address, version = re.search(r'"mfmasim\[([\w,]+)\] @ git\+(\S+)@v([\d.]+)"', install).groups()
    assert address == PROJECT["urls"]["Repository"]
    assert version == PROJECT["version"]
    assert set(extras.split(",")) <= set(PROJECT["optional-dependencies"])
    pinned = re.search(r"ziglang==(\d+)\.(\d+)\.", install)
    lowest, highest = re.search(r">=0\.(\d+),<0\.(\d+)", PROJECT["optional-dependencies"]["compile"][0]).groups()
    assert pinned[1] == "0"
    assert int(lowest) <= int(pinned[2]) < int(highest)


def test_reports_that_are_uploaded_are_written_also_after_a_failure():
    steps = file_of(".github/workflows/kernels.yml")["jobs"]["verify"]["steps"]
    uploads = [step for step in steps if "upload" in step.get("uses", "")]
    assert [step["if"] for step in uploads] == ["success() || failure()"] * 2
    written = {name for step in steps for name in re.findall(r"--(?:sarif|html) (\S+)", step.get("run", ""))}
    assert {value for step in uploads for value in step["with"].values()} - {"mfmasim"} == written
    assert set(file_of(".gitlab-ci.yml")["kernels"]["artifacts"]["paths"]) == written
    assert file_of(".gitlab-ci.yml")["kernels"]["artifacts"]["when"] == "always"


def test_both_run_the_same_commands():
    assert gitlab()[1] == github()[1]


@pytest.mark.parametrize("right", [True, False])
def test_the_steps_pass_with_a_right_kernel_and_fail_with_a_wrong_one(right, tmp_path):
    require("a HIP compiler", find_compiler() is not None, "pip install -e '.[test]'")
    page = (ROOT / "docs" / "first-kernel.md").read_text()
    kernels = tmp_path / "kernels"
    kernels.mkdir()
    for language, file in (("cpp", "// tile.hip"), ("python", "# tile_case.py")):
        found = re.search(rf"```{language}\n({file}\n.*?)```", page, re.DOTALL)[1]
        changed = found if right else found.replace("b[k * 16 + row]", "b[row * 16 + k]")
        assert right or language == "python" or changed != found
        (kernels / file.split()[1]).write_text(changed)
    tool = tmp_path / "bin" / "mfmasim"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\nexec {sys.executable} -m mfmasim "$@"\n')
    tool.chmod(0o755)
    _, commands, cache = github()
    variables = {"MFMASIM_CACHE": cache.replace("${{ github.workspace }}", str(tmp_path)), "PYTHONPATH": str(ROOT)}
    env = {**os.environ, **variables, "PATH": f"{tool.parent}{os.pathsep}{os.environ['PATH']}"}
    for command in commands:
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", command], cwd=tmp_path, env=env, check=False)
        assert done.returncode == (0 if right else 1)
    assert any((tmp_path / ".mfmasim").rglob("*")), "compiled kernels are kept"
    (run,) = json.loads((tmp_path / "mfmasim.sarif").read_text())["runs"]
    assert {found["ruleId"] for found in run["results"]} >= (set() if right else {"mapping-wrong-element"})
    assert bool(run["results"]) != right
    assert (tmp_path / "mfmasim.html").stat().st_size > 1000


def test_addresses_in_the_documents_are_those_of_the_project():
    pages = [*(ROOT / "docs").glob("*.md"), ROOT / "README.md"]
    found = {address for page in pages for address in re.findall(r"git\+(https://[^\s@\"]+)", page.read_text())}
    assert found == {PROJECT["urls"]["Repository"]}
