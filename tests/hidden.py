"""A plugin of pytest (``-p tests.hidden``) that hides what the README's second command does not install."""

import re
import sys
import tomllib
from pathlib import Path

GROUPS = ("oracles", "fuzz", "mutation")


def pytest_configure():
    """Make their imports raise ModuleNotFoundError, and find_spec find nothing."""
    project = tomllib.loads((Path(__file__).resolve().parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    for requirement in (one for group in GROUPS for one in project["dependency-groups"][group]):
        sys.modules[re.match(r"[\w-]+", requirement)[0].replace("-", "_")] = None
