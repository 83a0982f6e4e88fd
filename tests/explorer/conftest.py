"""The explorer in a real browser: Debian's chromium, driven by playwright."""

import shutil

import pytest

from mfmasim.explorer import explorer_page
from tests.oracles import require

CHROMIUM = shutil.which("chromium")


@pytest.fixture(scope="session")
def browser():
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        sync_playwright = None
    require(
        "chromium with playwright", CHROMIUM and sync_playwright, "apt-get install chromium; pip install playwright"
    )
    with sync_playwright() as driver:
        made = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield made
        made.close()


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
