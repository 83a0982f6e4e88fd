"""Families of kernels by the names of the command line."""

import pytest

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
