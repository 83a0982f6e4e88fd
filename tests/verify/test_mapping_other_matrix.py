"""A matrix instruction whose two operands hold elements of one argument, where two are declared."""

from types import SimpleNamespace

import pytest

from mfmasim.observe.fragments import factors
from mfmasim.verify import find, select, verify_case

RIGHT = ("(A + 16 * line", "B[16 *")


def outcome(tmp_path, texts):
    ((_, cases),) = find("intro")
    ((case, arch),) = select(cases, "gfx942", ["16x16x16"])
    source = case.source.read_text()
    for right, wrong in zip(RIGHT, texts, strict=True):
        assert source.count(right) == 1
        source = source.replace(right, wrong)
    path = tmp_path / case.source.name
    path.write_text(source)
    return verify_case(case.with_source(path), arch)


@pytest.mark.parametrize(
    ("texts", "needs", "holds"),
    [(("(A + 16 * line", "A[16 *"), "B[0, 0]", "A[0, 0]"), (("(B + 16 * line", "B[16 *"), "A[0, 0]", "B[0, 0]")],
)
def test_an_operand_that_holds_the_other_matrix_is_found(tmp_path, texts, needs, holds):
    """Not only by the outputs: rows of A are no columns of B, however right their places are."""
    result = outcome(tmp_path, texts)
    (found,) = {(one.expected, one.actual) for one in result.findings if one.check == "mapping"}
    assert found == (needs, holds)
    assert result.mapping["mismatches"] >= 256


def test_the_kernel_that_is_changed_is_right(tmp_path):
    assert outcome(tmp_path, RIGHT).status == "pass"


class Counted(dict):
    """Arguments by role, which know how many elements of each an operand holds."""

    def count(self, labels, role):
        return labels[role]


@pytest.mark.parametrize(
    ("a", "b", "roles"),
    [
        # Elements of the arguments A and B in each operand.
        ((16, 0), (0, 16), "AB"),
        ((0, 16), (16, 0), "BA"),
        # Behind the end of a matrix: the operand that holds elements decides.
        ((0, 16), (0, 0), "BA"),
        ((0, 0), (16, 0), "BA"),
        ((0, 0), (0, 16), "AB"),
        ((0, 0), (0, 0), "AB"),
        # Both of one argument.
        ((16, 0), (16, 0), "AB"),
        ((0, 16), (0, 16), "AB"),
    ],
)
def test_which_argument_an_operand_holds(a, b, roles):
    tile = SimpleNamespace(labels={name: dict(zip("AB", held, strict=True)) for name, held in (("A", a), ("B", b))})
    assert factors.roles_of(tile, Counted(A=0, B=0)) == list(roles)


def test_one_argument_for_both_operands():
    tile = SimpleNamespace(labels={"A": {"A": 16, "B": 0}, "B": {"A": 16, "B": 0}})
    assert factors.roles_of(tile, Counted(A=0)) == ["A", "A"]
