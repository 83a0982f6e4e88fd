"""A reader for the YAML subset that LLVM prints: maps, lists and scalars by indentation. Tests only."""

from __future__ import annotations

import re


def parse(text: str):
    """The value of a document."""
    lines = [(len(line) - len(line.lstrip()), line.strip()) for line in text.splitlines() if line.strip()]
    value, rest = _block(lines, lines[0][0])
    assert not rest, rest[0]
    return value


def _block(lines, indent):
    if lines[0][1].startswith("- "):
        items = []
        while lines and lines[0][0] == indent and lines[0][1].startswith("- "):
            inner = lines[0][1][2:]
            if re.match(r"\.?[\w.]+:(\s|$)", inner):
                # The first key stands behind the dash: read the item as a map two columns further in.
                value, lines = _block([(indent + 2, inner), *lines[1:]], indent + 2)
            else:
                value, lines = _scalar(inner), lines[1:]
            items.append(value)
        return items, lines
    found = {}
    while lines and lines[0][0] == indent and not lines[0][1].startswith("- "):
        key, _, rest = lines[0][1].partition(":")
        if rest.strip():
            found[key], lines = _scalar(rest.strip()), lines[1:]
        else:
            found[key], lines = _block(lines[1:], lines[1][0])
    return found, lines


def _scalar(text: str):
    if text == "[]":
        return []
    if text in {"true", "false"}:
        return text == "true"
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    return text.strip("'\"")
