"""Run buttons, in a browser with Pyodide itself.

`MFMASIM_PYODIDE` names a full distribution; the pages' own snippets then run. Without it npm's package is taken, which
has the interpreter without NumPy: the snippets here import of mfmasim what needs none.
"""

import json
import os
import shutil
from pathlib import Path

import pytest

from docs.website import runtime
from docs.website.build import build
from mfmasim import __version__
from tests.npm import npm_package
from tests.website.conftest import served

FULL = os.environ.get("MFMASIM_PYODIDE")
WAIT = 120_000
"""Milliseconds that loading and a snippet may take."""

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def distribution(tmp_path_factory):
    """A folder with Pyodide's files."""
    if FULL:
        return Path(FULL)
    return npm_package("pyodide@314", tmp_path_factory.mktemp("pyodide"))


@pytest.fixture(scope="module")
def running(site, distribution, tmp_path_factory):
    """The address of a copy of the site with a runtime."""
    out = tmp_path_factory.mktemp("running")
    if FULL:
        folder = build(out / "website", pyodide=FULL)
    else:
        folder = out / "site"
        shutil.copytree(site, folder)
        shutil.copytree(distribution, folder / "assets" / "pyodide")
        wheels = runtime._wheels(folder / "assets" / "wheels")
        setting = {"index": "pyodide/", "packages": [], "wheels": wheels}
        (folder / "assets" / "runtime.js").write_text(f"window.mfmasimRuntime = {json.dumps(setting)};\n")
    server, url = served(folder)
    yield url
    server.shutdown()


@pytest.fixture
def page(browser, running):
    """A page of the site with Run buttons."""
    page = browser.new_page()
    page.set_default_timeout(WAIT)
    page.goto(f"{running}start.html")
    page.locator(".run-button").first.wait_for()
    yield page
    page.close()


def put(page, number, text):
    """Give a block of the page another text."""
    page.evaluate("([n, text]) => document.querySelectorAll('div.run code')[n].textContent = text", [number, text])


def answer(page, number):
    """Press a button: the class and the text of what it shows."""
    page.locator(".run-button").nth(number).click()
    output = page.locator(".run-output").nth(number)
    page.wait_for_function(
        "n => /run-(passed|differs|failed)/.test(document.querySelectorAll('.run-output')[n].className)", arg=number
    )
    return output.get_attribute("class").split()[1], output.inner_text()


def test_a_button_runs_python_with_the_wheels_of_the_site(page):
    put(page, 0, ">>> import mfmasim, elftools\n>>> mfmasim.__version__\n'" + __version__ + "'\n")
    assert answer(page, 0) == ("run-passed", f"'{__version__}'\n")
    put(page, 0, ">>> 6 * 7\n41\n")
    assert answer(page, 0) == ("run-differs", "42\n")
    put(page, 0, ">>> mfmasim.nothing\n")
    kind, text = answer(page, 0)
    assert (kind, text) == ("run-differs", "AttributeError: module 'mfmasim' has no attribute 'nothing'\n")


def test_a_button_runs_commands(page):
    (number,) = [
        n for n, block in enumerate(page.locator("div.run").all()) if "commands" in block.get_attribute("class")
    ]
    put(page, number, "mfmasim formt e4m3fn  # a typing error\n")
    kind, text = answer(page, number)
    assert kind == "run-passed"
    assert text.startswith("$ mfmasim formt e4m3fn\nmfmasim: unknown verb 'formt'")


def test_blocks_above_run_first_and_once(page, running):
    page.goto(f"{running}layouts.html")
    page.locator(".run-button").first.wait_for()
    put(page, 0, ">>> seen = []\n")
    put(page, 1, ">>> seen.append(1)\n")
    put(page, 2, ">>> seen\n[1]\n")
    assert answer(page, 2) == ("run-passed", "[1]\n")
    assert answer(page, 2) == ("run-passed", "[1]\n")


def test_a_runtime_that_is_gone_leaves_no_button(browser, running):
    page = browser.new_page()
    page.route("**/pyodide.mjs", lambda route: route.fulfill(status=404))
    with page.expect_response("**/pyodide.mjs"):
        page.goto(f"{running}start.html")
    page.wait_for_timeout(200)
    assert page.locator(".run-button").count() == 0
    page.close()


@pytest.mark.skipif(not FULL, reason="needs MFMASIM_PYODIDE, a distribution with NumPy")
@pytest.mark.parametrize("name", ["start", "layouts", "formats", "lds"])
def test_the_snippets_of_pages_give_what_stands_there(page, running, name):
    page.goto(f"{running}{name}.html")
    page.locator(".run-button").first.wait_for()
    assert page.locator("div.run").count()
    results = [answer(page, number)[0] for number in range(page.locator("div.run").count())]
    assert set(results) == {"run-passed"}
