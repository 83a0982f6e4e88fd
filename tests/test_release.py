"""What a release states in several places is one version, and its workflows run what the README says."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

import mfmasim
from mfmasim.errors import MfmasimError
from mfmasim.verify import files

ROOT = Path(__file__).resolve().parent.parent


def test_one_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert project["version"] == mfmasim.__version__ == citation["version"]
    assert (project["license"], project["name"]) == (citation["license"], citation["title"])


def test_workflows_run_on_three_systems_and_install_what_they_build():
    tests, release = (
        yaml.safe_load((ROOT / ".github" / "workflows" / f"{name}.yml").read_text()) for name in ("tests", "release")
    )
    systems = {"ubuntu-latest", "macos-latest", "windows-latest"}
    assert set(tests["jobs"]["quick"]["strategy"]["matrix"]["os"]) == systems
    assert set(tests["jobs"]["package"]["strategy"]["matrix"]["os"]) == systems
    oldest = re.search(r"requires-python = \">=([\d.]+)\"", (ROOT / "pyproject.toml").read_text())[1]
    assert oldest in tests["jobs"]["quick"]["strategy"]["matrix"]["python"]
    for job in (*tests["jobs"].values(), *release["jobs"].values()):
        assert job["timeout-minutes"] <= 60
    assert release["jobs"]["publish"]["permissions"] == {"id-token": "write"}
    built = [step["run"] for step in tests["jobs"]["package"]["steps"] if "dist/" in step.get("run", "")]
    assert len(built) == 2
    assert all("verify intro" in step for step in built)


def test_templates_are_forms():
    forms = [yaml.safe_load(path.read_text()) for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")]
    assert len(forms) == 3
    assert all({"name", "description", "body"} <= set(form) for form in forms)


def test_the_wheel_has_everything_but_the_families_that_test_the_machine():
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]
    wheel, kernels = set(build["wheel"]["force-include"]), ROOT / "hipkernels"
    folders = {path for path in kernels.iterdir() if path.name not in {files.CONFORMANCE, "__pycache__"}}
    folders |= {path for path in (kernels / files.CONFORMANCE).iterdir() if path.name not in files.IN_SOURCES}
    assert wheel == {path.relative_to(ROOT).as_posix() for path in folders if path.name != "__pycache__"} | {"golden"}
    assert set(files.IN_SOURCES) == {
        path.relative_to(kernels / files.CONFORMANCE).parts[0] for path in (kernels / "conformance").rglob("cases.py")
    }
    assert "hipkernels" in build["sdist"]["include"]


def test_a_family_that_the_wheel_lacks_says_where_it_is(monkeypatch):
    monkeypatch.setattr(files, "families", lambda: {"intro": kernels_of("intro")})
    assert [name for name, _ in files.find("intro")] == ["intro"]
    for target in ("races", "isa/maths"):
        with pytest.raises(MfmasimError, match=f"{target}: .* source distribution"):
            files.find(target)
    with pytest.raises(MfmasimError, match=r"did you mean .intro."):
        files.find("intros")


def kernels_of(family):
    return ROOT / "hipkernels" / family / "cases.py"
