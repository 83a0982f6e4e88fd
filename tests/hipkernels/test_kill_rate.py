"""Mutants of every family's compiled code: the checks catch 99 of 100, and what they do not catch is listed."""

from collections import Counter
from itertools import islice

import pytest

from mfmasim.lab.mutation.binary import run_binary
from mfmasim.verify import find, select
from mfmasim.verify.files import WRONG, families
from tests.longtier import turn

ARCHS = [("gfx942", "gfx1151"), ("gfx950", "gfx1201")]
CASES, EACH = 10, 2
"""Cases of a top family on an architecture, others each round; mutants of each, spread over what it executes."""
SHARES = 2
"""Shares of a pair of architectures, so that one test ends within a part of the long tier."""


def chosen(arch):
    """Cases of every top family that this round has, and how many mutants of each."""
    for root in dict.fromkeys(name.partition("/")[0] for name in families() if name not in WRONG):
        pairs = [pair for _, cases in find(root) for pair in select(cases, arch)]
        # As many of a family of hundreds of cases as of one of ten.
        for case, _ in turn(pairs, -(-len(pairs) // CASES) or 1):
            yield root, case, max(EACH, EACH * CASES // len(pairs))


@pytest.mark.long
@pytest.mark.parametrize("share", range(SHARES))
@pytest.mark.parametrize("archs", ARCHS, ids="-".join)
def test_the_checks_catch_99_of_100_mutants_of_all_families(archs, share):
    """Each share has the floor of all, so that all have it together.

    A share is every other case, of all families on two architectures: neighbours, whose mutants are alike, are in
    different shares, where two of them would not decide about the rate.
    """
    killers, kinds, others, survivors = Counter(), Counter(), Counter(), []
    for arch in archs:
        for root, case, each in islice(chosen(arch), share, None, SHARES):
            for outcome in run_binary(case, arch, each):
                if outcome.caught:
                    kinds[arch, root] += 1
                    killers.update(outcome.caught)
                elif not outcome.survived:  # no part of the rate: how many, and why, has to be seen beside it
                    others["equivalent: " + outcome.equivalent if outcome.equivalent else outcome.same] += 1
                else:
                    what = outcome.mutant
                    survivors.append(f"{outcome.case} on {arch}, {what.place}: {what.kind}: {what.change}: {outcome}")
    caught = sum(kinds.values())
    print(f"{caught} caught, {len(survivors)} survived; {dict(kinds)}; by check {dict(killers)}")
    print(f"{sum(others.values())} that nothing can or did tell: {dict(others)}")
    print("\n".join(survivors))
    assert caught >= 175
    assert caught >= 0.99 * (caught + len(survivors)), survivors
