"""A plugin of pytest (``-p tests.hidden``) that hides what the README's second command does not install."""

import re
import sys
import tomllib
from pathlib import Path

GROUPS = ("oracles", "fuzz", "mutation")
PROJECT = tomllib.loads((Path(__file__).resolve().parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
OPTIONAL = [
    re.match(r"[\w-]+", requirement)[0].replace("-", "_")
    for group in GROUPS
    for requirement in PROJECT["dependency-groups"][group]
]
for name in OPTIONAL:
    sys.modules[name] = None  # an import raises ModuleNotFoundError, and find_spec finds nothing
