"""Triton and PyTorch: whether they are there, and whether the version is one that is tested."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from typing import Any

from mfmasim.errors import MfmasimError

TESTED = ("3.8", "3.9")
"""Versions of Triton in the tests."""
_said: set[str] = set()


def need() -> Any:
    """Triton's module; another version than the tested ones is reported once, and tried.

    Raises:
        MfmasimError: Triton or PyTorch is not installed.
    """
    for name in ("triton", "torch"):
        if importlib.util.find_spec(name) is None:
            raise MfmasimError(
                f"{name} is not installed; install it: pip install {name} (of PyTorch the build for the CPU)"
            )
    triton = importlib.import_module("triton")
    version = str(getattr(triton, "__version__", "unknown"))
    if ".".join(version.split(".")[:2]) not in TESTED and version not in _said:
        _said.add(version)
        text = f"mfmasim: triton {version} is not one of the tested versions ({', '.join(TESTED)}); trying it"
        print(text, file=sys.stderr)
    return triton
