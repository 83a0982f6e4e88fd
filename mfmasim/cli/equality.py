"""``mfmasim prove --equal A B``: whether two kernels leave the same bytes for all contents of their buffers."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from mfmasim.cli.output import write

if TYPE_CHECKING:
    import argparse

    from mfmasim.prove.equality import Equality, Side
    from mfmasim.verify.cases import Case


def run(args: argparse.Namespace) -> int:
    """Compare and print; exit code 0 where all pairs are equal, else 1."""
    from mfmasim.prove.equality import equal

    found = [equal(*pair) for pair in _pairs(args)]
    if args.json != "-":
        for one in found:
            print(text(one))
    if args.json:
        write(args.json, json.dumps([one.record() for one in found], indent=1) + "\n")
    levels = ("bits",) if args.bits else ("bits", "sums")
    return int(any(one.level not in levels for one in found))


def text(one: Equality) -> str:
    """A verdict as text."""
    first, second = one.sides
    archs = one.archs[0] if len(set(one.archs)) == 1 else " and ".join(one.archs)
    words = {
        "bits": "equal in every bit, for all contents of the buffers",
        "sums": "equal as exact sums, in another order of the additions, for all contents of the buffers",
        "different": "different",
        "unknown": "unknown",
    }
    sizes = " ".join(f"{name}={value}" for name, value in one.sizes.items())
    lines = [f"{first} and {second} on {archs}: {words[one.level]}"]
    lines += [f"  at {sizes or 'the sizes of the case'}: {one.bytes:,} bytes, {one.count:,} expressions"]
    if one.reason:
        lines.append(f"  {one.reason}")
    if one.level != "bits":
        lines += [f"    {side}: {shown}" for side, shown in zip(one.sides, one.expressions, strict=True) if shown]
    return "\n".join(lines)


def _pairs(args: argparse.Namespace) -> list[tuple[Side, Side]]:
    """The two kernels, of every case of the targets; without targets A and B are cases."""
    from mfmasim.cli.chosen import chosen_cases
    from mfmasim.errors import MfmasimError
    from mfmasim.lab.comparing.sides import side_of
    from mfmasim.prove.equality import Side
    from mfmasim.verify.runner import set_parameters

    def made(case: Case, arch: str, words: str) -> Side:
        if not words:
            return Side(case, case.compiled(arch, args.compiler), case.title)
        side = side_of(words)
        target = side.arch or arch
        own = replace(side.case(set_parameters(case, arch=target)), golden="", fails=())
        return Side(own, side.kernel(own, target), words)

    if args.targets:
        chosen = chosen_cases(args.targets, args.arch, args.case, skipped=False)
        return [(made(case, arch, args.equal[0]), made(case, arch, args.equal[1])) for _, _, case, arch in chosen]
    ends = []
    for given in args.equal:
        name, _, words = given.partition(",")
        target, _, case_name = name.partition(":")
        chosen = chosen_cases([target], args.arch, [case_name] if case_name else args.case, skipped=False)
        exact = [one for one in chosen if case_name in (one[2].title, one[2].name)] or chosen
        if not exact:
            raise MfmasimError(f"--equal {given}: no case of {target} is called {case_name!r}")
        _, _, case, arch = exact[0]
        side = made(case, arch, words)
        ends.append(replace(side, text=given))
    return [(ends[0], ends[1])]
