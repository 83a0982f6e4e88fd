"""What a tool answers: a verdict, one sentence, the finding that matters, what to change, and few lines.

An answer is small, so that an agent can read it whole; what is left out waits under the answer's id.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mfmasim.visible import visible

SCHEMA_VERSION = 1
"""Of `Answer.record`; its JSON Schema is mfmasim/schemas/answer.json."""
VERDICTS = ("pass", "fail", "error", "unknown", "answer")
"""`error`: the question itself is wrong; `unknown`: it was not decided; `answer`: there is nothing to judge."""
MOST_LINES = 40
"""Lines of an answer."""
MOST_TEXT = 60
"""Lines of an answer as text, all parts together."""
WIDEST = 400
"""Characters of a line."""


@dataclass
class Answer:
    """An answer of a tool."""

    tool: str
    verdict: str
    summary: str
    finding: Mapping[str, Any] | None = None
    """The finding that matters: the deepest cause."""
    advice: list[dict[str, Any]] = field(default_factory=list)
    """What to change, the likeliest first; see `mfmasim.agents.advice`."""
    lines: list[str] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    """Numbers by name."""

    def record(self) -> dict[str, Any]:
        """As JSON can hold it; what is beyond the limits is in ``rest``."""
        lines = [_cut(line) for line in self.lines]
        return {
            "schema_version": SCHEMA_VERSION,
            "tool": self.tool,
            "verdict": self.verdict,
            "summary": _cut(self.summary),
            "finding": None if self.finding is None else dict(self.finding),
            "advice": self.advice,
            "lines": lines[:MOST_LINES],
            "facts": self.facts,
            "rest": lines[MOST_LINES:],
        }


def refused(tool: str, text: str) -> Answer:
    """The answer to a question that cannot be answered as it is.

    Args:
        tool: the tool.
        text: what is wrong, in one line.
    """
    return Answer(tool, "error", text)


def text_of(record: Mapping[str, Any]) -> str:
    """An answer for a reader of text, in at most `MOST_TEXT` lines.

    Args:
        record: what the server answers: a record without ``rest``, with ``id`` and ``more``.
    """
    parts = [f"{record['verdict'].upper()}: {record['summary']}"]
    if found := record["finding"]:
        parts.append(f"{found['id']}  {found['source']}: {found['message']}".replace("\n", " "))
        parts += [f"  {name}: {found[name]}" for name in ("line", "needs", "holds", "fix") if found.get(name)]
    for one in record["advice"]:
        parts.append(f"change {one['file']}:{one['line']}: {one['why']}")
        parts += [f"  - {one['old']}", f"  + {one['new']}"]
    parts += [f"{name}: {value}" for name, value in record["facts"].items()]
    parts = [_cut(part) for part in parts]
    if record["lines"]:
        parts += record["lines"][: max(0, MOST_TEXT - len(parts) - 1)]
    parts = parts[: MOST_TEXT - 1]
    left = record["more"] + len(record["lines"]) - sum(line in parts for line in record["lines"])
    return "\n".join([*parts, f"more: {left} lines, rest(id={record['id']!r})"] if left > 0 else parts)


def _cut(text: str) -> str:
    shown = visible(text.replace("\n", " "))
    return shown if len(shown) <= WIDEST else f"{shown[: WIDEST - 20]}...{shown[-15:]}"


def flat(parts: Iterable[str]) -> list[str]:
    """Lines of texts that may have several.

    Args:
        parts: texts.
    """
    return [line.rstrip() for part in parts for line in part.splitlines() if line.strip()]
