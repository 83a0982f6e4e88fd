"""What a reader of the explorer sees first, what stays when the view changes, and whether it can be read."""

import re
from importlib.resources import files

import numpy as np
import pytest

from mfmasim.architectures import ARCHITECTURES
from mfmasim.explorer import view_state
from mfmasim.matrix import instruction, instructions
from tests.explorer.test_explorer_page import state_of

SCALED = view_state("fragment", arch="gfx950", op="v_mfma_scale_f32_32x32x64_f8f6f4")


@pytest.mark.oracle
class TestFirstContact:
    """What a reader sees first, and what stays when the view changes."""

    def test_opens_with_a_selected_element(self, show):
        page = show(viewport={"width": 1440, "height": 900})
        assert page.input_value("select[name=op]") == "v_mfma_f32_16x16x16_f16"
        assert page.input_value("input[name=element]") == "D[5, 6]"
        assert page.inner_text(".info h2") == "D[5, 6]: lane 22, v1"
        for part in (".at-A", ".at-B", ".at-D", ".registers", ".corner"):
            box = page.locator(part).bounding_box()
            assert box["y"] >= 0, part
            assert box["y"] + box["height"] <= 900, part

    @pytest.mark.parametrize("arch", [name for name in ARCHITECTURES if instructions(name)])
    def test_all_of_the_product_is_on_the_first_screen(self, show, arch):
        """Each shape and set of formats and modifiers; controls of the same instructions differ in nothing else."""
        page = show(viewport={"width": 1440, "height": 900})
        kinds = {}
        for name in instructions(arch):
            op = instruction(arch, name)
            kinds[op.m, op.n, op.k, op.blocks, op.row.modifiers, tuple(op.operands), op.row.a, op.row.d] = name
        script = """async ([arch, names]) => {
            const found = [];
            for (const op of names) {
                location.hash = `#fragment?arch=${arch}&op=${op}`;
                await new Promise((done) => addEventListener("hashchange", () => setTimeout(done, 0), { once: true }));
                const panel = document.querySelector(".at-D");
                const [box, around] = [panel, panel.closest(".scroll")].map((one) => one.getBoundingClientRect());
                const across = box.left >= around.left - 1 && box.right <= around.right + 1;
                const inside = across && box.top >= 0 && box.bottom <= innerHeight;
                found.push([document.querySelector(".facts strong").textContent, inside]);
            }
            return found;
        }"""
        found = page.evaluate(script, [arch, list(kinds.values())])
        assert [name for name, _ in found] == list(kinds.values())
        assert len(found) >= 3
        assert [name for name, inside in found if not inside] == []

    @pytest.mark.parametrize("width", [1440, 800, 768, 390])
    def test_registers_have_the_room_that_the_product_leaves(self, show, width):
        """Their captions begin within the window; where the rest of it is too narrow, they stand below."""
        for state in ("", SCALED):
            page = show(state=state, viewport={"width": width, "height": 900})
            left, whole, seen = page.evaluate(
                """() => {
                    const box = document.querySelector(".registers").parentElement;
                    return [box.scrollLeft, box.scrollWidth, box.clientWidth];
                }"""
            )
            assert (left, whole) == (0, seen)

    def test_a_phone_shows_the_product(self, show):
        page = show(viewport={"width": 390, "height": 800})
        box = page.locator(".at-D canvas").bounding_box()
        assert (box["y"] + box["height"] <= 800, box["x"] + box["width"] <= 390) == (True, True)
        wide = show(state=SCALED, viewport={"width": 390, "height": 800})
        assert wide.locator(".at-D canvas").bounding_box()["x"] < 390

    def test_views_keep_their_state(self, show):
        page = show(state=view_state("fragment", arch="gfx942", op="v_mfma_f32_32x32x8_f16", sel="D:7,9,0"))
        page.click("nav a[data-view=lds]")
        assert page.input_value("select[name=arch]") == "gfx942"  # the architecture comes along
        page.fill("input[name=address]", "lane * 64")
        page.press("input[name=address]", "Enter")
        page.click("nav a[data-view=fragment]")
        assert state_of(page) == "#fragment?arch=gfx942&op=v_mfma_f32_32x32x8_f16&sel=D:7,9,0"
        page.reload()
        page.wait_for_selector("html[data-ready]")
        page.click("nav a[data-view=lds]")
        assert page.input_value("input[name=address]") == "lane * 64"
        page.select_option("select[name=arch]", "gfx1250")
        page.click("nav a[data-view=fragment]")
        assert page.input_value("select[name=arch]") == "gfx1250"  # which does not have the instruction
        assert page.locator(".problem").count() == 0

    def test_back_and_forward(self, show):
        page = show(state=view_state("fragment", arch="gfx942", op="v_mfma_f32_32x32x8_f16", sel="D:1,2,0"))
        page.fill("input[name=element]", "D[3, 4]")
        page.press("input[name=element]", "Enter")
        page.click("nav a[data-view=formats]")
        page.go_back()
        assert page.inner_text(".info h2").startswith("D[3, 4]")
        page.go_back()
        assert page.inner_text(".info h2").startswith("D[1, 2]")
        page.go_forward()
        assert page.inner_text(".info h2").startswith("D[3, 4]")

    def test_prints_in_light_colours(self, show):
        page = show(color_scheme="dark")
        page.click("#theme")  # dark, whatever the system prefers
        corner = """() => { const canvas = document.querySelector(".at-D canvas");
            return [...canvas.getContext("2d").getImageData(2, 2, 1, 1).data].slice(0, 3); }"""
        colours = """() => [document.body, ...document.querySelectorAll(".facts strong, .digit, .info")].map(
            (one) => getComputedStyle(one).color)"""
        assert page.evaluate(corner) == [13, 17, 23]
        page.emulate_media(media="print")
        page.wait_for_timeout(100)
        assert page.evaluate(corner) == [255, 255, 255]
        assert set(page.evaluate(colours)) == {"rgb(22, 25, 29)"}
        page.emulate_media(media="screen")
        page.wait_for_timeout(100)
        assert page.evaluate(corner) == [13, 17, 23]


def luminance(colour):
    levels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [level / 12.92 if level <= 0.03928 else ((level + 0.055) / 1.055) ** 2.4 for level in levels]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


def contrast(one, other):
    """Contrast of two colours (WCAG 2)."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_neighbouring_groups_differ_in_lightness():
    text = files("mfmasim.explorer").joinpath("static", "colours.js").read_text()
    for name, paper in (("LIGHT", "#ffffff"), ("DARK", "#0d1117")):
        fills = re.findall("#[0-9a-f]{6}", re.search(rf"const {name} = (.*);", text)[1])
        assert len(fills) == 8
        for one, other in zip([paper, *fills], fills, strict=False):
            assert contrast(one, other) >= 1.5
        assert all(max(contrast(fill, "#000000"), contrast(fill, "#ffffff")) >= 4.5 for fill in fills)
