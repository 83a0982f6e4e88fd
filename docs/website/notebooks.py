"""Pages of the notebooks: their texts and cells, and where the file is."""

from __future__ import annotations

import json
from pathlib import Path

__all__ = ["notebook_pages"]

FOLDER = Path(__file__).resolve().parent.parent / "notebooks"


def _page(path: Path) -> str:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    texts = [
        "".join(cell["source"]) if cell["cell_type"] == "markdown" else f"```python\n{''.join(cell['source'])}\n```"
        for cell in cells
    ]
    about = f"A notebook for Jupyter: `docs/notebooks/{path.name}`. Cells wait for your answer; run them there."
    return "\n\n".join([texts[0].split("\n", 1)[0], about, texts[0].partition("\n")[2].strip(), *texts[1:]]) + "\n"


def notebook_pages() -> dict[str, str]:
    """Pages by path, in the order of the course."""
    return {f"notebooks/{path.stem}.md": _page(path) for path in sorted(FOLDER.glob("*.ipynb"))}
