"""Families of kernels by the names of the command line."""

import pytest

from mfmasim.errors import MfmasimError
from mfmasim.lab.mutation.mutants import edited, mutants_of
from mfmasim.resources import folder
from mfmasim.verify import families, find

ROOT = folder("hipkernels")


def test_no_two_families_have_one_name():
    assert sorted(families().values()) == sorted(ROOT.rglob("cases.py"))
    assert all(name and not name.startswith((".", "conformance")) for name in families())


@pytest.mark.parametrize("name", families())
def test_a_name_is_the_folder_with_or_without_conformance(name):
    assert families()[name] in (ROOT / name / "cases.py", ROOT / "conformance" / name / "cases.py")
    assert {group.partition("/")[0] for group, _ in find(name)} == {name.partition("/")[0]}


def test_every_mutant_fits_the_source_that_it_changes():
    """Most of them are compiled in the long tier alone; sources change under them."""
    wrong, fitting = [], 0
    for name in families():
        if not (families()[name].parent / "mutants.py").exists():
            continue
        for mutant, case in mutants_of(name):
            try:
                edited(mutant, case.source)
                fitting += 1
            except MfmasimError as error:
                wrong.append(str(error))
    assert wrong == []
    assert fitting >= 550
