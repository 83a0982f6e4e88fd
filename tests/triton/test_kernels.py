"""Kernels of our own, compiled by Triton and run on the simulator, against NumPy."""

import numpy as np
import pytest

from tests.triton.needs import errors_of, mt, needed  # noqa: F401  (a fixture)

if mt is not None:
    from tests.triton import cases
    from tests.triton.cases import ARCHS, CASES, QUICK, exact, supported

    EVERY = [
        pytest.param(
            make,
            kind,
            arch,
            id=f"{make.__name__}-{kind}-{arch}",
            marks=() if (make, kind) in QUICK and arch in ("gfx950", "gfx1201") else pytest.mark.long,
        )
        for make, kind in CASES
        for arch in ARCHS
        if supported(make, kind, arch)
    ]
else:
    EVERY = []


@pytest.mark.oracle
@pytest.mark.parametrize(("make", "kind", "arch"), EVERY)
def test_outputs_are_numpys_and_nothing_is_found(make, kind, arch):
    with mt.session(arch=arch, checks="all") as session:
        case = make(np.random.default_rng(3), kind)
        case.run()
        if not exact(make, kind, arch):
            case.expected = [(tensor, values, 1e-2) for tensor, values, _ in case.expected]
        assert case.wrong() == 0
    assert len(session.reports) == 1
    errors = errors_of(session, arch)
    assert not errors, errors[0].lines()


@pytest.mark.oracle
@pytest.mark.parametrize("memory", ["copy", "process"])
def test_both_memories_give_the_same(memory):
    makes = [cases.add, cases.through_table, cases.described]
    for make in makes:
        with mt.session(arch="gfx950", checks="bounds" if memory == "copy" else "none", memory=memory):
            case = make(np.random.default_rng(5))
            case.run()
            assert case.wrong() == 0
