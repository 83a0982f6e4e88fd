"""Options for the quotas of a launch, shared by the verbs that launch kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfmasim.cli.numbers import positive, whole

if TYPE_CHECKING:
    import argparse

    from mfmasim.machine.launch.quota import Quota


def add_quotas(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    group = parser.add_argument_group("quotas of a launch")
    group.add_argument("--max-instructions", type=whole(), metavar="N", help="wave-instructions (default 10^12)")
    group.add_argument("--max-seconds", type=positive(), metavar="S", help="time (default: no limit)")
    group.add_argument("--max-bytes", type=whole(), metavar="N", help="device memory (default: no limit)")
    group.add_argument(
        "--max-faults",
        type=whole(),
        metavar="N",
        help="accesses outside every buffer by one instruction of a wave (default 1,000)",
    )
    group.add_argument("--max-rows", type=whole(), metavar="N", help="findings and printed lines (default: no limit)")


def quota_of(args: argparse.Namespace) -> Quota:
    """The quota that the options give."""
    from mfmasim.machine.launch.quota import Quota

    given = {name: getattr(args, f"max_{name}") for name in ("instructions", "seconds", "bytes", "rows", "faults")}
    return Quota(**{name: value for name, value in given.items() if value is not None})
