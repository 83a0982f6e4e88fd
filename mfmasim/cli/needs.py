"""Options that have an effect only beside others are refused without them."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from mfmasim.errors import MfmasimError


def needed(args: argparse.Namespace, options: Mapping[str, str], what: str) -> None:
    """Refuse options of a command line that lacks what they act on.

    Args:
        args: the verb's arguments.
        options: option -> the name of its value, which is None or empty where the option was not given.
        what: what the options need, such as ``"--trace"``.

    Raises:
        MfmasimError: one of them was given.
    """
    for option, name in options.items():
        if getattr(args, name) not in (None, []):
            raise MfmasimError(f"{option} needs {what}")
