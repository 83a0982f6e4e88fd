"""The table of equivalent mutants follows the code."""

from tests.mutation import ROOT
from tests.mutation.equivalents import EQUIVALENTS, reason


def joined(path):
    """A file's lines without indentation, one space between them, as changes are shown."""
    return " ".join(line.strip() for line in (ROOT / "mfmasim" / path).read_text().splitlines())


def test_rows_are_of_lines_that_exist():
    gone = [row for row in EQUIVALENTS if row.before not in joined(row.path)]
    assert not gone, "rows of lines that have changed: take them out, or judge them again"
    assert all(row.before != row.after and row.reason.endswith(".") for row in EQUIVALENTS)


def test_a_row_is_for_one_change_only():
    assert EQUIVALENTS
    row = EQUIVALENTS[0]
    assert reason(f"mfmasim/{row.path}", row.before, row.after) == row.reason
    assert reason(f"mfmasim/{row.path}", row.before, row.before) is None
