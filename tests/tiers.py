"""Which parameters of a test belong to the quick tier, and which to the long one."""

import pytest


def tiers(names, quick):
    """Names as parameters of a test; those that are not in `quick` belong to the long tier."""
    return [pytest.param(name, marks=() if name in quick else pytest.mark.long) for name in names]
