"""Every finding that a check makes in these tests has a place, as exact as its kind says."""

import re

import pytest

from mfmasim.observe.check import Check

SCALAR = re.compile(r"(?![va](\d|\[)).")
"""A register that all lanes of a wave share: s4, vcc_lo, m0."""


@pytest.fixture(autouse=True)
def placed(monkeypatch):
    """Look at each finding when it is made."""
    make = Check.finding

    def finding(self, kind, *args, **more):
        found = make(self, kind, *args, **more)
        assert found.pc is not None, found
        assert found.instruction, found
        assert found.text, found
        if kind.place in ("wave", "lane"):
            assert found.workgroup is not None, found
            assert found.wave is not None, found
        if kind.place == "lane" and not SCALAR.match(found.register):
            assert found.lane is not None, found
        return found

    monkeypatch.setattr(Check, "finding", finding)
