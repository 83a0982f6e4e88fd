"""``mfmasim gpu ...``: verbs that need a GPU, or a recording of one."""

from __future__ import annotations

import argparse
import importlib

VERBS = ("golden", "calibrate", "kit")


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the verb."""
    parser = subparsers.add_parser("gpu", help="record what a GPU computes, calibrate the models, settle assumed rows")
    actions = parser.add_subparsers(dest="gpu_verb", metavar="VERB", required=True, parser_class=type(parser))
    for verb in VERBS:
        importlib.import_module(f"mfmasim.cli.{verb}").add(actions)


def run(args: argparse.Namespace) -> int:
    """Execute the verb below."""
    return int(importlib.import_module(f"mfmasim.cli.{args.gpu_verb}").run(args))
