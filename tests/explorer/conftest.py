"""The explorer in a real browser: Debian's chromium, driven by playwright."""

import pytest

from mfmasim.explorer import explorer_page


@pytest.fixture(scope="session")
def show(browser, tmp_path_factory):
    """Open a page's text at a state; what the page prints or requests is a failure."""
    folder = tmp_path_factory.mktemp("explorer")
    pages = []

    def opened(text=None, state="", *, strict=True, **options):
        path = folder / f"page{len(pages)}.html"
        path.write_text(explorer_page() if text is None else text)
        page = browser.new_page(**{"viewport": {"width": 1280, "height": 900}, **options})
        page.said = []
        page.on("console", lambda message: page.said.append(message.text))
        page.on("pageerror", lambda error: page.said.append(str(error)))
        page.on("request", lambda request: request.url.startswith("file:") or page.said.append(request.url))
        page.goto(path.as_uri() + state)
        page.wait_for_selector("html[data-ready]")
        pages.append((page, strict))
        return page

    yield opened
    for page, strict in pages:
        assert not strict or page.said == []
        page.close()


@pytest.fixture(scope="session")
def plain(show):
    """The page as it is shipped."""
    return show()
