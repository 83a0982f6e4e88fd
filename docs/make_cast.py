"""Make docs/pictures/cast.svg from a real run in a terminal: ``python -m docs.make_cast``.

The kernel is that of docs/first-kernel.md, first with its mistake. Lines appear one after the other; where a system
asks for less motion, or does not animate, all stand there from the beginning.
"""

import os
import re
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path

from docs import DOCS

PICTURE = DOCS / "pictures" / "cast.svg"
RIGHT, WRONG = "b[k * 16 + row]", "b[row * 16 + k]"
FIX = r"sed -i 's/b\[row \* 16 + k\]/b[k * 16 + row]/' tile.hip   # B is stored by rows"
VERIFY = "mfmasim verify tile_case.py --arch gfx942"
COMMANDS = (VERIFY, FIX, "grep -n 'fragment_b.n. =' tile.hip", VERIFY)
TITLE = (
    "mfmasim verify: a wrong fragment is named with its line, its lane and its register; after the fix the case passes"
)
SECONDS = re.compile(r"; [\d.]+ s, cases [\d.]+ s|   [\d.]+ s(?=\x1b|$)")
"""What differs from run to run."""
COLUMNS, CHARACTER, LINE, MARGIN, HEAD = 120, 7.23, 18, 16, 34
COLOURS = {"31": "#ff7b72", "32": "#56d364", "33": "#e3b341", "36": "#76e3ea"}
TYPED, SHOWN = 0.8, 0.1
"""Seconds before what a command prints, and between its lines."""
STYLE = (
    "text{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#e6edf3;"
    "white-space:pre}.b{font-weight:600}.d{fill:#9198a1}.p{fill:#76e3ea}"
    "@keyframes s{from{opacity:0}to{opacity:1}}.l{animation:s .05s both}"
    "@media (prefers-reduced-motion:reduce){.l{animation:none}}"
)


def write_kernel(folder):
    """Write kernel and case of docs/first-kernel.md, with the page's mistake."""
    page = (DOCS / "first-kernel.md").read_text()
    for language, name in (("cpp", "// tile.hip"), ("python", "# tile_case.py")):
        found = re.search(rf"```{language}\n({name}\n.*?)```", page, re.DOTALL)[1]
        (folder / name.split()[1]).write_text(found.replace(RIGHT, WRONG))


def run(command, folder):
    """Lines that a command prints in a terminal with colours, without what differs from run to run."""
    line = command.replace("mfmasim", f"{sys.executable} -m mfmasim")
    variables = {"FORCE_COLOR": "1", "COLUMNS": str(COLUMNS), "PYTHONPATH": str(DOCS.parent)}
    env = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | variables
    done = subprocess.run(["bash", "-c", line], cwd=folder, env=env, capture_output=True, text=True, check=False)
    return [SECONDS.sub("", text) for text in done.stdout.splitlines()]


def session(commands=COMMANDS):
    """Each command with what it prints."""
    with tempfile.TemporaryDirectory() as name:
        write_kernel(Path(name))
        return [(command, run(command, Path(name))) for command in commands]


def spans(text):
    """A line with the escapes of a terminal as parts of SVG text."""
    out, kinds, fill = [], set(), ""
    for part in re.split(r"(\x1b\[[\d;]*m)", text):
        if part.startswith("\x1b"):
            for code in part[2:-1].split(";"):
                if code in ("0", ""):
                    kinds, fill = set(), ""
                kinds |= {{"1": "b", "2": "d"}.get(code, "")} - {""}
                fill = COLOURS.get(code, fill)
        elif part:
            style = f' class="{" ".join(sorted(kinds))}"' * bool(kinds) + f' fill="{fill}" style="fill:{fill}"' * bool(
                fill
            )
            out.append(f"<tspan{style}>{escape(part)}</tspan>")
    return "".join(out)


def drawn(steps):
    """The picture."""
    body, number, after = [], 0, 0.3

    def line(content):
        nonlocal number
        y = HEAD + MARGIN + LINE * number
        body.append(f'<text class="l" x="{MARGIN}" y="{y}" style="animation-delay:{after:.2f}s">{content}</text>')
        number += 1

    for command, printed in steps:
        line(f'<tspan class="p">$ </tspan><tspan class="b">{escape(command)}</tspan>')
        after += TYPED
        for text in printed:
            line(spans(text))
            after += SHOWN
        number += 1
        after += TYPED
    width, height = round(2 * MARGIN + COLUMNS * CHARACTER), HEAD + MARGIN + LINE * (number - 1)
    dots = "".join(
        f'<circle cx="{MARGIN + 6 + 18 * n}" cy="17" r="5.5" fill="{colour}"/>'
        for n, colour in enumerate(("#ff5f57", "#febc2e", "#28c840"))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img"><title>{escape(TITLE)}</title><style>{STYLE}</style>'
        f'<rect width="100%" height="100%" rx="8" fill="#0d1117"/>{dots}{"".join(body)}</svg>\n'
    )


if __name__ == "__main__":
    PICTURE.write_text(drawn(session()))
