"""Pictures of the pages: ``python -m docs.website.pictures`` draws them anew into docs/pictures.

Figures are what a command prints, or what a program draws from an executed launch; the explorer is photographed in a
browser (Debian's chromium, with playwright).
"""

from __future__ import annotations

import contextlib
import io
import shlex
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from docs.companions import waves
from mfmasim.cli import main as mfmasim
from mfmasim.errors import MfmasimError
from mfmasim.explorer import explorer_page, view_state

if TYPE_CHECKING:
    from playwright.sync_api import FloatRect, ViewportSize

__all__ = ["DRAWN", "FIGURES", "FOLDER", "draw", "main", "photograph"]

FOLDER = Path(__file__).resolve().parents[1] / "pictures"

FIGURES = {
    "layout.svg": "show gfx942 v_mfma_f32_32x32x2_f32 --operand A --format svg",
    "conflicts.svg": "lds gfx950 ds_read_b128 --address 'lane % 16 * 128 + lane // 16 * 16' --format svg",
    "columns.svg": "lds gfx942 ds_read_b128 --address"
    " 'lane % 32 // 2 * 128 + (lane // 32 ^ lane % 2 * 4 ^ lane % 32 & 2 ^ lane % 32 // 4) * 16' --format svg",
    "first_kernel.svg": "show gfx942 v_mfma_f32_16x16x16_f16 --operand B --view matrix --format svg",
    "debugger.svg": "show gfx942 v_mfma_f32_32x32x8_f16 --operand B --format svg",
    "formats.svg": "format e2m1fn --format svg",
    "transposed_read.svg": "lds gfx950 ds_read_b64_tr_b8 --address '"
    "(lane // 2 % 4 + lane // 32 * 4 + lane // 8 % 2 * 8) * 128 + ((lane // 16 % 2) ^ (lane // 32 + lane // 4 % 2 * "
    "2 + lane // 8 % 2 * 4)) * 16 + lane % 2 * 8' --format svg",
    "tensor_tile.svg": "lds gfx1250 ds_load_tr8_b64 --address '"
    "(lane // 16 * 8 + lane % 4 + lane // 8 % 2 * 4) * 144 + lane // 4 % 2 * 8' --format svg",
    "scales.svg": "show gfx950 v_mfma_scale_f32_16x16x128_f8f6f4 --a e2m1fn --b e2m1fn --operand scale_A --format svg",
    "epilogue.svg": "show gfx950 v_mfma_scale_f32_16x16x128_f8f6f4 --a e2m1fn --b e2m1fn --operand D --format svg",
    "rdna4.svg": "lds gfx1201 ds_load_b128 --address "
    "'lane % 16 * 64 + (lane // 16 * 16 ^ lane % 16 // 2 % 4 * 16)' --format svg",
    "streams.svg": "lds grid --rows 2 --cols 2 --depth 5 --workgroups 6 --format svg",
    "orders.svg": "lds grid --search attention --set queries=1024 --set keys=1024 --set heads=12 --set kv_heads=4"
    " --xcds 4 --units 8 --format svg",
    "conflicts_swizzled.svg": "lds gfx950 ds_read_b128 --address 'lane % 16 * 128 + lane // 16 * 16' --swizzle "
    "cdna4_gemm --format svg",
    "intro_fp8.svg": "show gfx950 v_mfma_f32_32x32x16_fp8_fp8 --operand A --format svg",
    "intro_scaled.svg": "show gfx950 v_mfma_scale_f32_32x32x64_f8f6f4 --operand A --format svg",
    "intro_fp4.svg": "show gfx950 v_mfma_scale_f32_32x32x64_f8f6f4 --a e2m1fn --b e2m1fn --operand A --format svg",
    "wmma_fragment.svg": "show gfx1151 v_wmma_f32_16x16x16_f16 --operand A --format svg",
    "wmma_padding.svg": "lds gfx1151 ds_load_b128 --address 'lane % 16 * 48' --format svg",
    "grid_naive.svg": "lds grid row --rows 4 --cols 6 --xcds 3 --format svg",
    "grid.svg": "grid xcd_grouped --rows 4 --cols 6 --xcds 3 --window 2 --chunk 4 --format svg",
}
"""The command that prints each figure."""
DRAWN = {"waves.svg": waves.figure}
"""Figures that a program draws from executed launches."""

WINDOW: ViewportSize = {"width": 1160, "height": 800}
PHOTOGRAPHS: dict[str, tuple[str, FloatRect]] = {
    "explorer.png": (
        view_state("fragment", arch="gfx942", op="v_mfma_f32_16x16x16_f16", sel="D:5,6,0"),
        {"x": 0, "y": 152, "width": 1160, "height": 640},
    ),
    "puzzles.png": (view_state("puzzles", id="k_of_a"), {"x": 0, "y": 40, "width": 1160, "height": 520}),
}
"""Of each photograph: what the explorer shows, and the part of the window that is kept, without the controls."""
TYPED = "lane % 2"
"""A wrong answer to the puzzle: the slots show what is right of it."""


def draw(name: str) -> str:
    """The text of a figure."""
    if name in DRAWN:
        return DRAWN[name]()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        status = mfmasim(shlex.split(FIGURES[name]))
    if status:
        raise MfmasimError(f"{name}: mfmasim {FIGURES[name]} exits with {status}")
    return printed.getvalue()


def photograph(folder: Path) -> None:
    """Photograph the explorer at a selected element, and at a puzzle with an answer that is half right."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as place, sync_playwright() as driver:
        page_file = Path(place) / "page.html"
        page_file.write_text(explorer_page(), encoding="utf-8")
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, (state, clip) in PHOTOGRAPHS.items():
            page = browser.new_page(viewport=WINDOW)
            page.goto(page_file.as_uri() + state)
            page.wait_for_selector("html[data-ready]")
            if page.locator(".puzzle .answer input").count():
                page.locator(".puzzle .answer input").fill(TYPED)
            page.screenshot(path=folder / name, clip=clip)
            page.close()
        browser.close()


def main() -> int:
    """Draw every picture."""
    FOLDER.mkdir(exist_ok=True)
    for name in (*FIGURES, *DRAWN):
        (FOLDER / name).write_text(draw(name), encoding="utf-8")
    photograph(FOLDER)
    return 0


if __name__ == "__main__":
    sys.exit(main())
