"""Mutants of every family's compiled code: the checks catch 99 of 100, and what they do not catch is listed."""

from collections import Counter

import pytest

from mfmasim.verify import find, select
from mfmasim.verify.files import families
from mfmasim.verify.mutation.binary import run_binary

ARCHS = ["gfx942", "gfx950", "gfx1151", "gfx1201"]
PER_FAMILY = 90
"""Mutants of a top family on an architecture, about; spread over its cases and over what each executes."""


@pytest.mark.long
@pytest.mark.parametrize("arch", ARCHS)
def test_the_checks_catch_99_of_100_mutants_of_all_families(arch):
    killers, kinds, others, survivors = Counter(), Counter(), Counter(), []
    for root in dict.fromkeys(name.partition("/")[0] for name in families()):
        chosen = [pair for _, cases in find(root) for pair in select(cases, arch)]
        # Every so many, so that a family of hundreds of cases takes no longer than one of three.
        step = max(1, len(chosen) // PER_FAMILY)
        chosen = chosen[::step]
        for number, (case, _) in enumerate(chosen):
            share = PER_FAMILY * (number + 1) // len(chosen) - PER_FAMILY * number // len(chosen)
            for outcome in run_binary(case, arch, max(1, share)):
                if outcome.caught:
                    kinds[root] += 1
                    killers.update(outcome.caught)
                elif not outcome.survived:  # no part of the rate: how many, and why, has to be seen beside it
                    others["equivalent: " + outcome.equivalent if outcome.equivalent else outcome.same] += 1
                else:
                    what = outcome.mutant
                    survivors.append(f"{outcome.case}, {what.place}: {what.kind}: {what.change}: {outcome}")
    caught = sum(kinds.values())
    print(f"{arch}: {caught} caught, {len(survivors)} survived; {dict(kinds)}; by check {dict(killers)}")
    print(f"{sum(others.values())} that nothing can or did tell: {dict(others)}")
    print("\n".join(survivors))
    assert caught >= 200
    assert caught >= 0.99 * (caught + len(survivors)), survivors
