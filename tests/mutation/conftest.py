"""The driver needs the group `mutation`, which the quick suite does without: its files hold no doctests to collect."""

from pathlib import Path

collect_ignore = [path.name for path in Path(__file__).parent.glob("*.py") if not path.name.startswith("test_")]
