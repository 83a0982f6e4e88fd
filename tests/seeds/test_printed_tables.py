"""Numbers of the texts that the statements compute with are those that the texts print."""

import inspect
import re

import pytest

from hipkernels.gemm_fp8 import statements as gemm
from hipkernels.wmma import ops
from hipkernels.wmma.rates import FINAL, JOURNEY, VARIANTS
from tests.seeds.printed import text_of

pytestmark = pytest.mark.oracle


def words(number):
    """A text with single blanks."""
    return " ".join(text_of(number).split())


def test_the_tables_of_wmma_ops():
    text = words("002")
    rows = [f"matmul_{name} {ms:.2f} {rate:.2f} {share:.1f}%" for name, ms, rate, share in VARIANTS]
    rows = [row.replace("matmul_matmul", "matmul") for row in rows]
    rows += [f"{n}×{n}×{n} {rate} {share}% {library} {part}%" for n, rate, share, library, part in FINAL]
    assert [row for row in rows if row not in text] == []
    assert len(rows) == 17
    steps = [f" {rate} +{more}% " for _, rate, more, *_ in JOURNEY]
    assert [text.index(step) for step in steps] == sorted(text.index(step) for step in steps)


def test_the_rates_and_counters_of_the_fp8_gemm():
    text = words("000")
    assert [row for _, _, _, ms, rate, _ in gemm.RATES for row in (f"{ms}", f"{rate:.2f}") if row not in text] == []
    for value in (gemm.FMA_RATE, gemm.MFMA_RATE, gemm.REST_RATE):
        assert f" {value:.9f} " in text
    for lanes in gemm.PHASES:
        assert ", ".join(f"T{first}-T{first + 3}" for first in lanes) in text


def test_the_functions_of_wmma_ops_take_the_printed_arguments():
    """Names, order and defaults, of `matmul` and its variants A and B."""
    printed = set(re.findall(r"wmma_ops\.(\w+)\(((?:[A-Z], )+[^)]*)\)", words("002")))
    assert len({name for name, _ in printed}) == 18
    for name, arguments in printed:
        function = getattr(ops, name)
        given = [part.split("=") for part in arguments.split(", ")]
        taken = [one for one in inspect.signature(function).parameters.values() if one.kind != one.KEYWORD_ONLY]
        assert len(given) <= len(taken), name
        for value, parameter in zip([part for part in given if len(part) == 1], taken, strict=False):
            assert parameter.name.lower() == value[0].lower() or value[0] == "1", (name, arguments)
        named = {parameter.name: parameter.default for parameter in taken}
        assert {part[0] for part in given if len(part) == 2} <= set(named), (name, arguments)
        if "=None" in arguments or "=False" in arguments:  # the row of a table, which gives defaults
            assert all(named[part[0]] == eval(part[1]) for part in given if len(part) == 2), (name, arguments)
