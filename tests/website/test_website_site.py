"""The built site: strict, complete, in a browser, without a request to another server."""

import json
import re

import pytest

from docs.website.python_api import PACKAGES, public_names


def test_the_site_is_built_without_a_warning_and_has_every_public_name(site):
    anchors = {
        package: set(re.findall(r'id="([\w.]+)"', (site / "api" / f"{package.rpartition('.')[2]}.html").read_text()))
        for package in PACKAGES
    }
    missing = [
        f"{package}.{name}"
        for package in PACKAGES
        for name in public_names(package)
        if not any(f".{anchor}".endswith(f".{name}") for anchor in anchors[package])
    ]
    assert missing == []
    assert (site / "explorer-page" / "index.html").stat().st_size > 100_000
    assert not re.search(r'<(?:script|link)[^>]+(?:src|href)="https?:', (site / "index.html").read_text())


@pytest.fixture
def page(browser, address):
    """A page of the browser that notes warnings, errors and requests to others."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.said = []
    # Chromium itself remarks on an autofocus it left out, at level "info", depending on when the search box was ready.
    page.on("console", lambda said: said.type in ("warning", "error") and page.said.append(said.text))
    page.on("pageerror", lambda error: page.said.append(str(error)))
    page.on(
        "request", lambda request: request.url.startswith((address, "data:", "blob:")) or page.said.append(request.url)
    )
    yield page
    assert page.said == []
    page.close()


@pytest.mark.commit  # the fixture builds the site
def test_the_search_has_pages_and_names_but_no_members(site):
    locations = [item["location"] for item in json.loads((site / "search.json").read_text())["items"]]
    assert "lds.html" in locations
    assert "api/lds.html#mfmasim.lds.conflicts" in locations
    assert not [one for one in locations if one.startswith("api/lds.html#mfmasim.lds.Conflicts.")]
    assert len(locations) > 600


def test_the_explorer_works_on_the_first_page(page, address):
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(address)
    frame = page.frame_locator("iframe.explorer")
    frame.locator("html[data-ready]").wait_for()
    assert frame.locator(".info h2").inner_text() == "D[5, 6]: lane 22, v1"
    assert page.locator("iframe.explorer").bounding_box()["y"] < 450
    frame.get_by_label("element").fill("D[2, 3]")
    frame.get_by_label("element").press("Enter")
    assert frame.locator(".info h2").inner_text().startswith("D[2, 3]: lane 3")


@pytest.mark.commit  # the fixture builds the site
def test_search_navigation_and_a_narrow_window(page, address):
    page.goto(address)
    assert page.locator("h1").inner_text().startswith("mfmasim")
    assert page.locator(".md-tabs__link").all_inner_texts() == [
        "Start",
        "Learn",
        "How-to",
        "Case studies",
        "Reference",
        "How we know",
        "Inside",
    ]
    page.get_by_role("link", name="Which command?").first.click()
    page.wait_for_url("**/questions.html")
    assert page.locator(".run-button").count() == 0  # the site was built without a runtime

    page.get_by_role("button", name="Search").first.click()
    page.get_by_role("combobox").or_(page.get_by_role("textbox")).first.fill("waits-read-in-flight")
    found = page.locator("a[href*='findings.html?h=']").first
    found.wait_for()
    assert found.get_attribute("href").endswith("#waits-read-in-flight")
    found.click()
    page.wait_for_url("**/findings.html*#waits-read-in-flight")

    page.set_viewport_size({"width": 400, "height": 800})
    for name in ("index", "instructions", "api/verify", "cli/verify", "architectures"):
        page.goto(f"{address}{name}.html")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
