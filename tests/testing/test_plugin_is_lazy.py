"""The plugin in a project that does not use it: nothing of mfmasim but the plugin is imported."""

import subprocess
import sys
from pathlib import Path

TEST = """
import sys

def test_nothing():
    print("modules:", *sorted(name for name in sys.modules if name.partition(".")[0] == "mfmasim"))
    print("numpy:", "numpy" in sys.modules)
"""
PLUGIN = ("-p", "no:mfmasim", "-p", "mfmasim.testing.plugin", "-p", "no:cacheprovider", "-p", "no:hypothesispytest")


def test_an_unrelated_project_imports_the_plugin_alone(tmp_path):
    (tmp_path / "test_unrelated.py").write_text(TEST)
    made = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-s", *PLUGIN, str(tmp_path)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
        env={"PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert made.returncode == 0, made.stdout + made.stderr
    modules = next(line for line in made.stdout.splitlines() if line.startswith("modules:")).split()[1:]
    own = ["errors", "forks", "testing", "testing.plugin", "visible"]
    assert modules == ["mfmasim", *(f"mfmasim.{name}" for name in own)]
    assert "numpy: False" in made.stdout
