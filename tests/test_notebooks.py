"""The notebooks: stored without outputs; they run, and show rich representations."""

import json
from pathlib import Path

import pytest

from tests.tiers import tiers

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "notebooks"
RICH = {
    "1_layouts_and_formats": 5,
    "2_a_kernel_under_the_microscope": 6,
    "3_lds": 4,
    "4_introduction_to_matrix_cores": 3,
    "5_the_gemm_ladder": 5,
}
"""Cells of each notebook that end in a picture or a table, at least."""
SAID = {
    "1_layouts_and_formats": ("not yet: 64 lanes", "not yet: register 0 of lane 0", "0 of 16 right", "exact: True"),
    "2_a_kernel_under_the_microscope": ("needs A[0, 1], holds A[16, 0]", "not yet: on gfx942", "permuted identically"),
    "3_lds": ("32 [32, 32] 62 extra passes", "gfx950: [56, 28]", "not yet: on gfx942"),
    "4_introduction_to_matrix_cores": (
        "1307.4 TFLOP/s",
        "not yet: ['gfx942']",
        "not yet: another lane",
        "129.0 = 2 * 64",
    ),
    "5_the_gemm_ladder": ("4 / 32 = 0.125", "not yet: 12 extra passes", "F4 R8 lgkmcnt(0) M4 vmcnt(0) B"),
}
"""What the cells show, in part, while nothing is answered."""
ANSWERS = {
    "1_layouts_and_formats": {
        "guess = ...": "guess = 37",
        "return ...": "return 8 * (r // 4) + 4 * (lane // 32) + r % 4",
        "[...] * 16": "[3 + 16 * (k // 4) for k in range(16)]",
    },
    "2_a_kernel_under_the_microscope": {'index = "threadIdx.x"': 'index = "2 * line + half"'},
    "3_lds": {"width = 32": "width = 33", "return 0 * row": "return row // 2 % 8", "WIDTH = 32\n": "WIDTH = 33\n"},
    "4_introduction_to_matrix_cores": {'{"gfx942": 64,': '{"gfx942": 32,', "lane = 5": "lane = 37"},
    "5_the_gemm_ladder": {"return 0 * pair << 4": "return (pair ^ ((pair >> 1 ^ pair >> 2) & 1)) << 4"},
}
"""What a learner writes, by what stands there."""
ANSWERED = {
    "1_layouts_and_formats": ("right", "16 of 16 right", "['0x7f', '0x80', '0xff'] differ"),
    "2_a_kernel_under_the_microscope": ("solved on gfx942",),
    "3_lds": ("33 [1, 1] 0 extra passes", "gfx950: [8, 0]", "solved on gfx942"),
    "4_introduction_to_matrix_cores": ("right", "pass scaled_fp4_32x32x64", "129.0 = 2 * 64"),
    "5_the_gemm_ladder": ("right", "vmcnt(6)"),
}
"""What the cells show then."""


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


def test_no_notebook_has_its_answers():
    for name, answers in ANSWERS.items():
        text = (FOLDER / f"{name}.ipynb").read_text()
        assert [answer for answer in answers.values() if json.dumps(answer)[1:-1] in text] == []


@pytest.mark.parametrize("answered", [False, True])
@pytest.mark.parametrize("name", tiers(RICH, {"1_layouts_and_formats"}))
def test_notebooks_run(name, answered, tmp_path):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    for old, new in ANSWERS[name].items() if answered else ():
        (cell,) = [cell for cell in notebook.cells if cell.cell_type == "code" and old in cell.source]
        cell.source = cell.source.replace(old, new)
    # On a busy machine one print may come in several messages.
    nbclient.NotebookClient(
        notebook,
        timeout=300,
        kernel_name="python3",
        coalesce_streams=True,
        resources={"metadata": {"path": str(tmp_path)}},
    ).execute()
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.outputs for cell in code)
    rich = [
        cell
        for cell in code
        if any({"text/html", "image/svg+xml"} & set(output.get("data", ())) for output in cell.outputs)
    ]
    assert len(rich) >= RICH[name]
    shown = "\n".join(output.get("text", "") + str(output.get("data", "")) for cell in code for output in cell.outputs)
    assert [text for text in (ANSWERED if answered else SAID)[name] if text not in shown] == []
