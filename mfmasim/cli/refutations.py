"""Refutations by ``mfmasim verify --prove``, as findings of the case: size, line, and the command that shows them."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from mfmasim.cli.case_options import words_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping

    from mfmasim.kernels import Kernel
    from mfmasim.observe import Finding
    from mfmasim.verify import Case


def refutations(
    args: argparse.Namespace, case: Case, arch: str, kernel: Kernel, proof: Mapping[str, Any]
) -> Iterator[Finding]:
    """A finding for each refuted obligation of a proof.

    Args:
        args: of the verb, for the command.
        case: the case.
        arch: architecture.
        kernel: its kernel.
        proof: the record of the proof (`mfmasim.prove.Proof.record`).
    """
    from mfmasim.lab.covering.covering import words
    from mfmasim.observe import Finding

    for one in proof["obligations"]:
        if one["verdict"] != "refuted":
            continue
        changes = {n: v for n, v in one["parameters"].items() if case.parameters.get(n) != v and n not in PLACE}
        seen = _finding(case, kernel, changes, one["kind"])
        reason: Mapping[str, Any] = one["reasons"][0] if one["reasons"] else {}
        at = f"at {words(case, changes)}" if changes else "at the case's own size"
        text = f"{one['kind']}: refuted {at}: {one['note']}; mfmasim {shlex.join(_command(args, case, arch, changes))}"
        source = seen.source if seen is not None else reason.get("source", "")
        yield Finding(
            "proof",
            "error",
            text,
            "proof-refuted",
            kernel.name,
            seen.pc if seen is not None else reason.get("pc"),
            source,
            instruction=seen.instruction if seen is not None else "",
            other=seen.other if seen is not None else "",
        )


PLACE = ("arch", "wave")


def _finding(case: Case, kernel: Kernel, changes: Mapping[str, Any], kind: str) -> Finding | None:
    """The finding that violates an obligation at some parameters."""
    from mfmasim.errors import MfmasimError
    from mfmasim.lab.covering.covering import verify_at
    from mfmasim.prove.replay import of_kind

    try:
        found = verify_at(case, changes, kernel).findings
    except MfmasimError:
        return None
    return next((finding for finding in found if of_kind(finding) == kind), None)


def _command(args: argparse.Namespace, case: Case, arch: str, changes: Mapping[str, Any]) -> list[str]:
    """The command that verifies the case alone at some parameters."""
    words = ["verify", *args.targets, "--arch", arch, "--case", case.title]
    words += words_of(args, "--arch", "--case", "--set")
    words += [word for text in args.set if text.partition("=")[0] not in changes for word in ("--set", text)]
    return words + [word for name, value in changes.items() for word in ("--set", f"{name}={value}")]
