"""The notebooks: stored without outputs; they run, and show rich representations."""

from pathlib import Path

import pytest

from tests.tiers import tiers

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "notebooks"
RICH = {"1_layouts_and_formats": 5, "2_a_kernel_under_the_microscope": 6, "3_lds": 4}
"""Cells of each notebook that end in a picture or a table, at least."""
SAID = {
    "1_layouts_and_formats": ("lane=37", "exact: True  registers agree: True", "['0x7f', '0x80', '0xff'] differ"),
    "2_a_kernel_under_the_microscope": ("needs A[0, 1], holds A[16, 0]", "solved on gfx942", "permuted identically"),
    "3_lds": ("33 [1, 1] 0 extra passes", "[8, 0]", "unsolved not yet", "solution solved"),
}
"""What the cells show, in part."""


def test_notebooks_are_stored_without_outputs():
    nbformat = pytest.importorskip("nbformat")
    paths = sorted(FOLDER.glob("*.ipynb"))
    assert [path.stem for path in paths] == list(RICH)
    for path in paths:
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
        code = [cell for cell in notebook.cells if cell.cell_type == "code"]
        assert len(code) >= 8
        assert not any(cell.outputs or cell.execution_count for cell in code)


@pytest.mark.parametrize("name", tiers(RICH, {"1_layouts_and_formats"}))
def test_notebooks_run(name, tmp_path):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    # On a busy machine one print may come in several messages.
    nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", coalesce_streams=True,
        resources={"metadata": {"path": str(tmp_path)}},
    ).execute()  # fmt: skip
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.outputs for cell in code)
    rich = [
        cell
        for cell in code
        if any({"text/html", "image/svg+xml"} & set(output.get("data", ())) for output in cell.outputs)
    ]
    assert len(rich) >= RICH[name]
    shown = "\n".join(output.get("text", "") + str(output.get("data", "")) for cell in code for output in cell.outputs)
    assert all(text in shown for text in SAID[name]), [text for text in SAID[name] if text not in shown]
