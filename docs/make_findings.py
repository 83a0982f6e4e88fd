"""Make docs/findings.md from the kinds of findings: ``python -m docs.make_findings``."""

from docs import DOCS
from mfmasim.observe.registry import CHECKS
from mfmasim.verify.kinds import KINDS

PAGE = DOCS / "findings.md"
HEAD = """\
# Findings

What does a finding mean, and how is it fixed?

Every finding carries an id. It is the same on every architecture and stays so; JSON and SARIF have it, and
`mfmasim explain ID` prints its entry on this page. Only errors make a case fail. `docs/make_findings.py` makes this
page from the kinds that each check declares.

A finding that is known and accepted is suppressed in the case file, by its id or its check, with a reason:
`case(..., suppress={"alignment-lds": "rows of 12 bytes are meant"})`. It is kept, with the reason, in JSON
(`suppressed`), SARIF and HTML, it does not fail the case, and the case's line counts it. A suppression that matches
nothing is itself reported.
"""


def page():
    """The page."""
    parts, check = [HEAD], ""
    for row in KINDS.values():
        if row.check != check:
            check = row.check
            parts.append(f"## {check}\n")
            if check in CHECKS:
                parts.append(f"{CHECKS[check].about.capitalize()}.\n")
        parts.append(
            f"### {row.id}\n\n{row.title} ({row.severity}). {row.about}\n\n"
            f"```\n{row.example}\n```\n\n**Fix:** {row.fix}\n"
        )
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page())
