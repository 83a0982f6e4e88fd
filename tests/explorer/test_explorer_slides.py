"""Slides: each draws its view, keys turn them, and what is pointed at stays on the slide."""

import tomllib
from importlib.resources import files

import pytest

from mfmasim.cli import main
from mfmasim.explorer import view_state
from tests.explorer.test_explorer_page import state_of

SLIDES = tomllib.loads(files("mfmasim.explorer").joinpath("slides.toml").read_text())["slide"]


def test_the_verb_opens_with_slides(tmp_path, capsys):
    assert main(["explorer", "--slides", "--out", str(tmp_path / "slides.html")]) == 0
    assert 'data-start="#slides"' in (tmp_path / "slides.html").read_text()
    assert main(["explorer", "gfx950", "--slides", "--out", str(tmp_path / "slides.html")]) == 2
    assert "--slides opens with the slides, gfx950 with an architecture" in capsys.readouterr().err


@pytest.mark.oracle
class TestSlides:
    def test_each_draws_its_view(self, show):
        page = show(state=view_state("slides"))
        assert len(SLIDES) >= 15
        drawn = []
        for number, slide in enumerate(SLIDES, 1):
            assert page.inner_text(".slide h2") == slide["title"]
            assert f"{number} of {len(SLIDES)}" in page.inner_text(".pager")
            assert page.locator(".slide-figure .problem").count() == 0
            assert page.locator(".slide-figure canvas, .slide-figure .listing, .slide-figure .bits").count() > 0
            drawn.append(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))
            page.keyboard.press("PageDown")
        assert drawn == [True] * len(SLIDES)
        page.keyboard.press("Home")
        assert "slide=1" in state_of(page)
        page.keyboard.press("ArrowRight")
        assert state_of(page) == "#slides?slide=2"

    def test_pointing_stays_on_the_slide(self, show):
        page = show(state=view_state("slides", slide=2))
        assert page.inner_text(".info h2") == "lane 40 holds"
        page.locator(".at-D canvas").focus()
        page.keyboard.press("ArrowRight")  # belongs to the figure
        page.keyboard.press("Enter")
        assert state_of(page) == "#slides?slide=2&sel=D:0,1,0"
        page.keyboard.press("PageDown")
        assert state_of(page) == "#slides?slide=3"
        assert page.inner_text(".info h2") == "lane 0 holds"
        page.click(".slide a")
        assert state_of(page).startswith("#fragment?arch=gfx942&op=v_mfma_f32_32x32x2_f32")
