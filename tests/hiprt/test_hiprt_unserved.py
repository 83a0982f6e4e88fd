"""Calls that the library exports and does not serve: each has one reason, and docs/programs.md counts them."""

import re
from pathlib import Path

from mfmasim.hiprt import calls
from mfmasim.hiprt.registry import CALLS
from mfmasim.hiprt.tables.unserved import REASONS, unserved

PAGE = Path(__file__).parents[2] / "docs" / "programs.md"


def rows():
    """Lines of the page's table."""
    calls.load()
    found = unserved(CALLS)
    return [f"| {why} | {len(found[why])} | `{found[why][0]}` |" for why in REASONS]


def test_every_call_without_an_implementation_has_a_reason():
    calls.load()
    found = unserved(CALLS)
    assert set(found) == set(REASONS)
    assert sum(map(len, found.values())) < 280


def test_no_reason_covers_a_call_that_is_served():
    calls.load()
    wrong = {name for name in CALLS for pattern in REASONS.values() if re.fullmatch(pattern, name)}
    kept = {"hipGraph", "hipDrvGraph", "hipCtx", "hipStreamBeginCapture", "hipOccupancy", "hipMemcpyPeer"}
    assert {name for name in wrong if not name.startswith(tuple(kept))} == set()


def test_the_page_counts_them():
    text = PAGE.read_text()
    assert [line for line in rows() if line not in text] == []
