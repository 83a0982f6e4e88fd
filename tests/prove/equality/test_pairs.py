"""Pairs of small kernels: what is equal is proved, what is not is never proved."""

import re
from functools import cache
from pathlib import Path

import pytest

import mfmasim
from mfmasim.prove.equality import Side, equal
from mfmasim.toolchain import find_compiler
from mfmasim.verify.files import load_file
from tests.oracles import require
from tests.tiers import tiers

HERE = Path(__file__).parent


def names(file):
    return list(
        dict.fromkeys(re.findall(r"^(?:KERNEL |PAIR\()(\w+?)(?:_a\(|,)", (HERE / file).read_text(), re.MULTILINE))
    )


@cache
def code(file, arch):
    require("a HIP compiler", find_compiler() is not None, "pip install -e '.[test]'")
    return mfmasim.compile(HERE / file, arch, flags=("-ffp-contract=off",))


def verdict(file, name, arch):
    (found,) = (one for one in load_file(HERE / "cases.py") if one.source.name == file)
    ends = [f"{name}_{end}" for end in "ab"]
    return equal(*(Side(found, code(file, arch)[end], end) for end in ends))


SUMS = ("dot", "reduce", "shuffle")
"""Pairs whose additions have another order, or whose operands are exchanged: the payload of a NaN may differ."""


@pytest.mark.parametrize("arch", tiers(["gfx942", "gfx1201"], ["gfx942"]))
@pytest.mark.parametrize("name", names("pairs.hip"))
def test_what_is_equal_is_proved(name, arch):
    found = verdict("pairs.hip", name, arch)
    assert found.level == ("sums" if name in SUMS else "bits"), (found.reason, found.expressions)


@pytest.mark.parametrize("arch", tiers(["gfx942", "gfx950", "gfx1201"], ["gfx1201"]))
@pytest.mark.parametrize("name", names("unequal.hip"))
def test_what_differs_for_some_contents_is_not_equal_in_every_bit(name, arch):
    found = verdict("unequal.hip", name, arch)
    assert found.level in ("different", "unknown", "sums"), name
    real = {"sum_order", "fused", "distributed", "zero_sign", "quiet", "negated"}
    assert found.level != "sums" or name in real  # as real numbers these are equal


def hostile():
    """Pairs of hostile.hip with their architectures."""
    for part in (HERE / "hostile.hip").read_text().split("#if defined(__")[1:]:
        arch = part.partition("__)")[0]
        yield from ((name, arch) for name in re.findall(r"^PAIR\((\w+),", part, re.MULTILINE))


@pytest.mark.parametrize(("name", "arch"), list(hostile()))
def test_what_was_called_equal_wrongly_is_not(name, arch):
    assert verdict("hostile.hip", name, arch).level in ("different", "unknown")
