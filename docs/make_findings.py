"""Make docs/findings.md from the table of kinds: ``python docs/make_findings.py``."""

from pathlib import Path

from mfmasim.observe.kinds import KINDS

PAGE = Path(__file__).resolve().parent / "findings.md"
HEAD = """\
# Findings

Every finding carries an id. It is the same on every architecture and stays so; JSON and SARIF have it, and
`mfmasim explain ID` prints what stands here. Only errors make a case fail. Made by `docs/make_findings.py` from
`mfmasim/observe/kinds.py`.

A finding that is known and accepted is suppressed in the case file, by its id or its check, with a reason:
`case(..., suppress={"alignment-lds": "rows of 12 bytes are meant"})`. It is kept, with the reason, in JSON
(`suppressed`), SARIF and HTML, it does not fail the case, and the case's line counts it. A suppression that matches
nothing is told itself.
"""


def page():
    """The page."""
    parts, check = [HEAD], ""
    for row in KINDS.values():
        if row.check != check:
            check = row.check
            parts.append(f"## {check}\n")
        parts.append(
            f"### {row.id}\n\n{row.title} ({row.severity}). {row.about}\n\n"
            f"```\n{row.example}\n```\n\n**Fix:** {row.fix}\n"
        )
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page())
