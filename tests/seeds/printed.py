"""Listings of the published texts, cut out of the texts when a test runs: the repository does not hold them."""

import re

from tests.oracles import SHARED, SHARED_HOW, require


def text_of(number):
    """A published text, by the number its file's name begins with."""
    found = list((SHARED / "seeds").glob(f"{number}_*.txt"))
    require("the published texts", found, SHARED_HOW)
    return found[0].read_text(encoding="utf-8")


def between(number, first, last, *, starts=False):
    """The lines of a text from one that begins with `first` to the next one that is `last`, both included.

    With `starts` the last one begins with `last`. A brace is one without blanks before it.
    """
    lines = text_of(number).splitlines()
    start = next(i for i, line in enumerate(lines) if line.strip().startswith(first))
    after = ((i, line.rstrip() if last == "}" else line.strip()) for i, line in enumerate(lines[start:], start))
    end = next(i for i, line in after if (line.startswith(last) if starts else line == last))
    return "\n".join(lines[start : end + 1])


def blocks(number):
    """The code blocks of a text in Markdown."""
    return re.findall(r"^```cpp\n(.*?)^```", text_of(number), re.MULTILINE | re.DOTALL)
