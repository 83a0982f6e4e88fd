"""The option ``--timeout`` of verbs that launch kernels on a GPU."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import Any


class _Seconds(argparse.Action):
    """Sets the variable that launches read, in this process and in other processes of this run."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,  # noqa: ARG002
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option: str | None = None,  # noqa: ARG002
    ) -> None:
        from mfmasim.devices.isolated import TIMEOUT, seconds_of

        seconds = seconds_of(str(values), "--timeout ")
        os.environ[TIMEOUT] = str(values)
        setattr(namespace, self.dest, seconds)


def add_timeout(parser: argparse.ArgumentParser) -> None:
    """Add the option."""
    parser.add_argument(
        "--timeout",
        action=_Seconds,
        metavar="SECONDS",
        help="what a launch on a GPU may take before it is given up (default: 60 and 1 for every 1,000 workgroups)",
    )
