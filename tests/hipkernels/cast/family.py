"""Cases and wrong kernels of hipkernels/cast by source file, and what tests do with each."""

import re
from functools import cache

import pytest

from mfmasim.verify import find, select
from tests.hipkernels import family
from tests.tiers import tiers

FOLLOWED = re.compile(r"\w+_moves|cast_amax_of")
"""Cases that prove sources: a launch for each label, so that they have a test of their own."""


@cache
def runs(start, followed=False):
    """Cases with their architectures, of sources whose names begin so."""
    ((_, cases),) = find("cast")
    some = [c for c in cases if c.source.name.startswith(start) and bool(FOLLOWED.match(c.title)) == followed]
    return select(some, None)


@cache
def mutants(start):
    """Wrong kernels by name: what is wrong, and the case."""
    return {name: (m, case) for name, (m, case) in family.mutants("cast").items() if case.source.name.startswith(start)}


def right(start, quick, followed=False):
    """Parameters of a test of right kernels; `quick` of number, case and architecture says what the quick tier has."""
    return [
        pytest.param(case, arch, id=f"{case.title}-{arch}", marks=() if quick(i, case, arch) else pytest.mark.long)
        for i, (case, arch) in enumerate(runs(start, followed))
    ]


def wrong(start, quick, followed=False):
    """Names of wrong kernels. Compiling takes most of their time: those in `quick` show that each check can go red."""
    names = [name for name, (_, case) in mutants(start).items() if bool(FOLLOWED.match(case.title)) == followed]
    return tiers(names, quick)


def passes(case, arch):
    """The case passes, and whatever is found is for information."""
    assert all(f.severity == "info" for f in family.passes(case, arch).findings)


def caught(start, name):
    """Exactly the checks that it names catch a wrong kernel."""
    family.caught(*mutants(start)[name])
