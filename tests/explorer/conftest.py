"""The explorer in a real browser: Debian's chromium, driven by playwright."""

from contextlib import contextmanager

import pytest

from mfmasim.explorer import explorer_page


@pytest.fixture(scope="session")
def free():
    """Pages that no test uses, by their options: a new one takes four times the CPU time of loading the explorer."""
    return {}


def new_page(browser, options):
    """A page that notes what it prints or requests."""
    page = browser.new_page(**options)
    page.on("console", lambda message: page.said.append(message.text))
    page.on("pageerror", lambda error: page.said.append(str(error)))
    page.on("request", lambda request: request.url.startswith("file:") or page.said.append(request.url))
    return page


@contextmanager
def opening(browser, free, folder):
    """Open pages by text and state, and free them; what a page prints or requests is a failure."""
    used = []

    def opened(text=None, state="", *, strict=True, **options):
        options = {"viewport": {"width": 1280, "height": 900}, **options}
        kept = free.setdefault(str(sorted(options.items())), [])
        page = kept.pop() if kept else new_page(browser, options)
        page.said = []
        used.append((page, kept, strict))
        path = folder / f"page{len(used)}.html"
        path.write_text(explorer_page() if text is None else text)
        page.goto(path.as_uri() + state)
        page.wait_for_selector("html[data-ready]")
        return page

    yield opened
    said = [page.said for page, _kept, strict in used if strict]
    for page, kept, _strict in used:
        page.evaluate("localStorage.clear()")
        page.goto("about:blank")
        kept.append(page)
    assert not any(said), said


@pytest.fixture
def show(browser, free, tmp_path):
    """Open pages for one test."""
    with opening(browser, free, tmp_path) as opened:
        yield opened


@pytest.fixture(scope="module")
def plain(browser, free, tmp_path_factory):
    """The page as it is shipped."""
    with opening(browser, free, tmp_path_factory.mktemp("explorer")) as opened:
        yield opened()
