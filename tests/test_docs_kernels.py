"""The table of docs/gemm-kernels.md by docs/make_kernels.py: shares that it repeats stand in the section it names."""

import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"


def sections(page):
    """Text of each heading and all below it, by the anchor that Markdown makes of it."""
    found, open_ = {}, []
    for line in (DOCS / page).read_text().splitlines():
        if heading := re.match(r"(#+) (.*)", line):
            level, anchor = len(heading[1]), re.sub(r"[^a-z0-9 -]", "", heading[2].lower()).replace(" ", "-")
            open_ = [(depth, name) for depth, name in open_ if depth < level] + [(level, anchor)]
        for _, name in open_:
            found[name] = found.get(name, "") + line + "\n"
    return found


def test_shares_are_those_of_the_sections():
    table = (
        (DOCS / "gemm-kernels.md")
        .read_text()
        .split("<!-- table: python -m docs.make_kernels -->")[1]
        .split("<!-- end")[0]
    )
    links = re.findall(r"\[([^\]]*)\]\(([a-z0-9.]*)#([^)]*)\)", table)
    assert len(links) >= 8
    shares = 0
    for text, page, anchor in links:
        section = sections(page or "gemm-kernels.md")[anchor].split("<!-- table: python -m docs.make_kernels")[0]
        for number in re.findall(r"[\d.]+(?= %| and [\d.]+ %| to [\d.]+ %)", text):
            assert re.search(rf"(?<![\d.]){re.escape(number)}( %|,)", section), (anchor, number)
            shares += 1
    assert shares >= 9
