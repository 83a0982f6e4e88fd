"""Generate docs/texts and docs/statements.md: ``python -m docs.make_texts [--speed] [NUMBER ...]``; commands are run.

Each page follows one published text, by its headings, and judges every statement of a family's ``statements.py``; tests
compare. Tables of times, which take minutes, are made anew with ``--speed`` and else kept.
"""

import contextlib
import io
import re
import shlex
import sys
from collections.abc import Iterable

from docs import DOCS
from docs.companions import casts, interleave, ladder, matrix_cores, wmma
from docs.companions.page import Companion, Part
from docs.companions.wmma import LONG
from mfmasim.cli import main
from mfmasim.lab.reports.statements import VERDICTS, Weighed, counted, text_of, weigh
from mfmasim.verify.texts import Source, sources

FOLDER, INDEX = DOCS / "texts", DOCS / "statements.md"
COMPANIONS = {one.number: one for one in (ladder.PAGE, interleave.PAGE, wmma.PAGE, casts.PAGE, matrix_cores.PAGE)}
ORDER = ("004", "000", "001", "002", "003")
"""Of the index and the navigation: the introduction comes first."""
COLUMNS = ("words of the text", "claim", "text", "found", "verdict", "")
SPEED = "\n## Speed\n"
HEAD = """\
# {title}

{about}

| text | [{title}]({address}) |
|---|---|
| authors | {authors} |
| published | {date} |
| licence | {licence} |
| kernels here | {families} ({kernels}) |
| statements | {count} ([what a verdict means](../statements.md)) |

```
{commands}
```

![{alt}](../pictures/{picture})

`mfmasim verify text:{number}` runs every kernel of this page, `mfmasim report text:{number} --claims` judges every
statement, `--section` those below one heading. In the output of commands `...` marks omitted lines.
"""
INDEX_HEAD = """\
# Published statements

Is what published texts say about their kernels true?

Five texts have a page each, which follows them heading by heading: their words, what is claimed, what was found, the
verdict, and the command that shows it. The kernels here were written from the texts' descriptions; none of the texts
is in the repository. `python -m docs.make_texts` generates the pages and runs their commands, and tests compare them.
Another test finds the quoted words below their headings, and asserts that every number and every listing of a text is
judged or is named as what is not a claim (`tests/seeds/numbers`).

{table}

What a verdict means:

{verdicts}

Times and rates that only a GPU gives are undecided, and so is what the texts' own compilers and binaries did; what
was found here stands beside them. Where a text has times, its page ends with a table of them beside the bound and the
timeline of `mfmasim cost`.
"""


def run(command: str, keep: str, old: str) -> list[str]:
    """A command with the selected lines of its output; a slow command is copied from the old page."""
    if command.startswith(LONG):
        command = command.removeprefix(LONG)
        if f"$ mfmasim {command}\n" in old:
            lines = old[old.index(f"$ mfmasim {command}\n") :].splitlines()
            end = next(i for i, line in enumerate(lines) if i and line.startswith(("$", "```")))
            return lines[:end]
    with contextlib.redirect_stdout(io.StringIO()) as out:
        code = main(shlex.split(command))
    assert code in {0, 1}, command
    lines, cut = [], False
    for line in out.getvalue().splitlines():
        kept = re.search(keep, line.rstrip()) is not None
        if kept:
            lines += ["..."] * cut + [line.rstrip()]
        cut = not kept
    assert lines != [], command
    return [f"$ mfmasim {command}", *lines, *["..."] * cut]


def escaped(words: str) -> str:
    """Words of a text as they stand there: nothing in them is Markdown."""
    return re.sub(r"([\\`*_\[\]|#])", r"\\\1", words).replace("<", "&lt;").replace(">", "&gt;")


def plain(text: str) -> str:
    """What is ours in a cell: code between backticks stays, brackets are no links."""
    parts = text.split("`")
    parts[::2] = [re.sub(r"([|*\[\]])", r"\\\1", part) for part in parts[::2]]
    parts[1::2] = [part.replace("|", "\\|") for part in parts[1::2]]
    return "`".join(parts)


def table(lines: Iterable[Weighed]) -> list[str]:
    """Statements as a table."""
    rows = [f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|"]
    for line in lines:
        _, _, *rest = map(plain, line.row)
        words = f"“{escaped(line.statement.words)}”" if line.statement.words else ""
        rows.append(f"| {words} | {' | '.join(rest)} |")
    return [*rows, ""]


def wrapped(text: str) -> list[str]:
    """Lines of at most 120 characters."""
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) >= 120:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return lines


def section(number: str, heading: str, part: Part, weighed: list[Weighed], old: str) -> list[str]:
    """What stands below one heading."""
    out = [f"## {escaped(heading)}\n"]
    if part.about:
        out += [*wrapped(part.about), ""]
    if part.picture:
        out += [f"![{part.picture[0]}](../pictures/{part.picture[1]})", ""]
    printed = [line for command in part.commands for line in run(*command, old)]
    if any(line.verdict in {"confirmed", "consistent", "refuted"} for line in weighed):
        command = f"report text:{number} --claims --section {shlex.quote(heading)}"
        printed += [f"$ mfmasim {command}", "...", counted(weighed)]
    if printed:
        out += ["```", *printed, "```", ""]
    return [*out, *(table(weighed) if weighed else [])]


def page(source: Source, companion: Companion, weighed: list[Weighed], old: str = "", *, timed: bool = False) -> str:
    """A page.

    Args:
        source: the text.
        companion: what the page says beside the statements.
        weighed: the judged statements.
        old: the current page, from which the output of slow commands and tables of times are copied.
        timed: whether those tables are made anew.
    """
    families = ", ".join(f"`hipkernels/{name}`" for name in source.families)
    commands = [line for command in companion.commands for line in run(*command, old)]
    parts = [
        HEAD.format(
            title=source.title,
            about="\n".join(wrapped(companion.about)),
            address=source.address,
            authors=source.authors,
            date=source.date,
            licence=source.licence,
            families=families,
            kernels=companion.kernels,
            count=counted(weighed),
            commands="\n".join(commands),
            alt=companion.picture[0],
            picture=companion.picture[1],
            number=source.number,
        )
    ]
    text = text_of(source.families[0])
    assert set(companion.parts) <= set(text.sections), set(companion.parts) - set(text.sections)
    for heading in text.sections:
        mine = [line for line in weighed if line.statement.place == heading]
        part = companion.parts.get(heading, Part())
        if mine or part != Part():
            parts += section(source.number, heading, part, mine, old)
    if companion.tables is not None:
        before = old.partition(SPEED)[2]
        kept = [line for line in before.splitlines() if line.startswith("|")]
        lines = companion.tables() if timed or not kept else before.partition("\n\n")[2].splitlines()
        parts += [SPEED, *wrapped(companion.speed), "", *lines]
    return "\n".join(parts).rstrip() + "\n"


def index(counts: dict[str, str]) -> str:
    """The index, from what each text's statements amount to.

    Args:
        counts: by number.
    """
    rows = ["| text | authors | statements |", "|---|---|---|"]
    known = {one.number: one for one in sources()}
    for number in ORDER:
        one = known[number]
        rows.append(f"| [{one.title}](texts/{one.page}.md), {one.date} | {one.authors} | {counts[number]} |")
    meanings = "\n".join(f"* **{name}**: {meaning}." for name, meaning in VERDICTS.items())
    wrapped_meanings = "\n".join("\n  ".join(wrapped(line)) for line in meanings.splitlines())
    return INDEX_HEAD.format(table="\n".join(rows), verdicts=wrapped_meanings)


def counts_of_pages() -> dict[str, str]:
    """What the stored pages count."""
    found = {}
    for one in sources():
        text = (FOLDER / f"{one.page}.md").read_text(encoding="utf-8")
        found[one.number] = re.search(r"^\| statements \| (.*) \(\[what", text, re.MULTILINE)[1]
    return found


def write(chosen: list[str], *, timed: bool) -> None:
    """Write pages and the index.

    Args:
        chosen: numbers of texts; none stands for all.
        timed: whether tables of times are made anew.
    """
    FOLDER.mkdir(exist_ok=True)
    for one in sources():
        if not chosen or one.number in chosen:
            path = FOLDER / f"{one.page}.md"
            old = path.read_text(encoding="utf-8") if path.is_file() else ""
            text = page(one, COMPANIONS[one.number], weigh(text_of(one.families[0])), old, timed=timed)
            path.write_text(text, encoding="utf-8")
    if all((FOLDER / f"{one.page}.md").is_file() for one in sources()):
        INDEX.write_text(index(counts_of_pages()), encoding="utf-8")


if __name__ == "__main__":
    words = sys.argv[1:]
    write([word for word in words if word != "--speed"], timed="--speed" in words)
