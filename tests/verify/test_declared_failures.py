"""Cases that declare what their wrong kernel has to be found with; integers and floats that differ."""

import numpy as np
import pytest

from mfmasim.errors import MfmasimError
from mfmasim.formats import format as number_format
from mfmasim.observe import Finding
from mfmasim.verify import case
from mfmasim.verify.compare import Comparison, bit_exact
from mfmasim.verify.result import Result
from mfmasim.verify.suppress import demand


def demanded(findings, fails):
    result = Result("group", "case", "k", "gfx942", "sim")
    result.findings += findings
    demand(result, fails)
    result.settle()
    return result


def test_a_declared_warning_fails():
    warning = Finding("barrier", "warning", "uneven", "barrier-uneven")
    assert demanded([warning], ()).status == "pass"
    for name in ("barrier", "barrier-uneven"):
        result = demanded([warning], (name,))
        assert result.status == "fail"
        assert [f.severity for f in result.findings] == ["error"]


def test_a_declared_failure_that_does_not_occur_fails():
    result = demanded([], ("races",))
    assert result.status == "fail"
    assert [(f.id, f.message) for f in result.findings] == [
        ("fails-missing", "the case is declared to fail with races, which was not found")
    ]


def test_an_unknown_declaration_is_refused():
    with pytest.raises(MfmasimError, match="unknown finding id or check 'barier' in fails= of case k; did you mean"):
        case("k.hip", kernel="k", arch="gfx942", fails="barier")(k)


def k():
    """A case's function."""
    return {}


def test_integers_differ_by_numbers_and_floats_by_errors():
    have, want = np.array([11, 3], np.int32), np.array([6, 3], np.int32)
    assert Comparison(have != want, 5).worst(have, want) == "the worst by 5"
    have, want = (np.array(values, np.float32).view(np.uint32) for values in ([8.0000009536743, 1], [8, 1]))
    found = bit_exact(have, want, number_format("f32"))
    assert found.worst(have, want) == "the worst by 1 ulp, error at most absolute 9.54e-07, relative 1.19e-07"
