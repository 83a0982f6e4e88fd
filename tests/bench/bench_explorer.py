"""The explorer in Debian's chromium: milliseconds to its first drawing, and of a pick, for the largest instructions."""

import shutil
import tempfile
from pathlib import Path
from statistics import median

from mfmasim.explorer import explorer_page, view_state

PLACES = [
    ("gfx950", "v_mfma_scale_f32_32x32x64_f8f6f4"),
    ("gfx942", "v_mfma_f32_4x4x4_16b_f16"),
    ("gfx1100", "v_wmma_f32_16x16x16_f16"),
]
WATCH = """
new MutationObserver((changes, observer) => {
  if (document.documentElement.dataset.ready === undefined) return;
  observer.disconnect();
  requestAnimationFrame(() => setTimeout(() => { window.drawn = performance.now(); }));
}).observe(document, { attributes: true, subtree: true, attributeFilter: ["data-ready"] });
"""
"""The time is taken in the page, behind the frame that follows `data-ready`: the driver's own time is not in it."""
PICK = """async ([x, y]) => {
  const canvas = document.querySelector(".at-D canvas"), box = canvas.getBoundingClientRect();
  const start = performance.now();
  canvas.dispatchEvent(new PointerEvent("pointermove", { clientX: box.x + x, clientY: box.y + y, bubbles: true }));
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  return [performance.now() - start, document.querySelector(".info h3").textContent];
}"""


def main():
    from playwright.sync_api import sync_playwright  # of the group oracles

    path = Path(tempfile.mkdtemp()) / "page.html"
    path.write_text(explorer_page())
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for arch, op in PLACES:
            opened = []
            for _ in range(7):
                page = browser.new_page(viewport={"width": 1280, "height": 900})
                page.add_init_script(WATCH)
                page.goto(path.as_uri() + view_state("fragment", arch=arch, op=op))
                opened.append(page.wait_for_function("() => window.drawn").json_value())
                if len(opened) < 7:
                    page.close()
            picks = [page.evaluate(PICK, [30 + 9 * n, 20 + 7 * n]) for n in range(20)]
            assert len({text for _, text in picks}) > 5, "the pointer picks elements"
            times = sorted(time for time, _ in picks)
            print(
                f"{arch} {op}: first drawing {median(opened):.0f} ms (least {min(opened):.0f}), "
                f"pick {median(times):.1f} ms (most {times[-1]:.1f})"
            )
        browser.close()


if __name__ == "__main__":
    main()
