"""An agent without a model: it asks `check`, applies the first edit of the advice, and tries the next where that does
not help."""

from tests.agents.planted import PROBLEMS, source

MOST = 8
"""Questions that it asks."""


def applied(text, edit):
    """A source with an edit; the line is what the server says that it is."""
    lines = text.split("\n")
    assert lines[edit["line"] - 1] == edit["old"]
    lines[edit["line"] - 1] = edit["new"]
    return "\n".join(lines)


async def repaired(client, fault, kernel, problem=None):
    """Repair a planted fault through a client of the server.

    Returns the text that passes, and the number of questions; None where the advice leads nowhere.
    """
    asked, open_ = 0, [source(kernel, fault)]
    seen = set()
    while open_ and asked < MOST:
        text = open_.pop(0)
        if text in seen:
            continue
        seen.add(text)
        asked += 1
        answer = (await client.call_tool("check", {**(problem or PROBLEMS[kernel]), "source": text})).structured_content
        if answer["verdict"] == "pass":
            return text, asked
        open_ += [applied(text, edit) for edit in answer["advice"]]
    return None, asked
