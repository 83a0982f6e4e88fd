"""A real browser for tests of pages: Debian's chromium, driven by playwright; one for all tests of a process."""

import shutil

import pytest

from tests.oracles import require

CHROMIUM = shutil.which("chromium")


@pytest.fixture(scope="session")
def browser():
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        sync_playwright = None
    require(
        "chromium with playwright", CHROMIUM and sync_playwright, "apt install chromium; pip install --group oracles"
    )
    with sync_playwright() as driver:
        made = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield made
        made.close()
