"""Options that only have an effect together with other options are refused without these."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from mfmasim.errors import MfmasimError


def needed(args: argparse.Namespace, options: Mapping[str, str], what: str) -> None:
    """Refuse options of a command line without the option that they need.

    Args:
        args: the verb's arguments.
        options: option -> the name of its value, which is None or empty where the option was not given.
        what: the option that they need, such as ``"--trace"``.

    Raises:
        MfmasimError: one of them was given.
    """
    for option, name in options.items():
        if getattr(args, name) not in (None, []):
            raise MfmasimError(f"{option} needs {what}")
