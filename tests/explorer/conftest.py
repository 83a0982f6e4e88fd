"""The explorer in a real browser: Debian's chromium, driven by playwright."""

from contextlib import contextmanager

import pytest

from mfmasim.explorer import explorer_page


@contextmanager
def opening(browser, folder):
    """Open pages by text and state, and close them; what a page prints or requests is a failure."""
    pages = []

    def opened(text=None, state="", *, strict=True, **options):
        path = folder / f"page{len(pages)}.html"
        path.write_text(explorer_page() if text is None else text)
        page = browser.new_page(**{"viewport": {"width": 1280, "height": 900}, **options})
        page.said = []
        page.on("console", lambda message: page.said.append(message.text))
        page.on("pageerror", lambda error: page.said.append(str(error)))
        page.on("request", lambda request: request.url.startswith("file:") or page.said.append(request.url))
        pages.append((page, strict))
        page.goto(path.as_uri() + state)
        page.wait_for_selector("html[data-ready]")
        return page

    yield opened
    said = [page.said for page, strict in pages if strict]
    for page, _strict in pages:
        page.close()
    assert not any(said), said


@pytest.fixture
def show(browser, tmp_path):
    """Open pages, closed at the end of the test."""
    with opening(browser, tmp_path) as opened:
        yield opened


@pytest.fixture(scope="module")
def plain(browser, tmp_path_factory):
    """The page as it is shipped."""
    with opening(browser, tmp_path_factory.mktemp("explorer")) as opened:
        yield opened()
