"""The built site: strict, complete, in a browser, without a request to another server."""

import json
import re

import pytest

from docs.website.moved import MOVED
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
    # A page names its own address and that of its neighbours; nothing is fetched from there.
    assert not re.search(
        r'<(?:script|link(?! rel="(?:canonical|prev|next)"))[^>]+(?:src|href)="https?:',
        (site / "index.html").read_text(),
    )


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
    assert page.locator("img[src$='cast.svg']").bounding_box()["y"] < 450
    assert page.locator(".doors li").count() == 3
    page.locator("iframe.explorer").scroll_into_view_if_needed()
    frame = page.frame_locator("iframe.explorer")
    frame.locator("html[data-ready]").wait_for()
    assert frame.locator(".info h2").inner_text() == "D[5, 6]: lane 22, v1"
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


QUESTIONS = {
    "bank conflict swizzle": "lds",
    "fnuz": "formats",
    "install": "start",
    "random seed": "explore",
    "vscode": "debugger",
    "tolerance atol rtol": "case-reference",
    "which lane holds element": "layouts explorer",
    "occupancy": "cost code-objects",
    "jupyter": "learn",
    "how do I find a missing __syncthreads race?": "findings checks",
    "how accurate is gfx950": "fidelity",
    "github actions": "ci",
    "vmcnt": "findings hazards",
    "paged attention": "attention",
    "windows": "start",
}
"""What readers ask, and the pages of which one is to be among the first three answers."""


def test_questions_are_answered_in_the_first_three_hits_and_the_index_waits_for_them(page, address):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{address}start.html", wait_until="networkidle")
    assert not [url for url in asked if url.endswith("search.json")]
    page.get_by_role("button", name="Search").first.click()
    box = page.get_by_role("combobox").or_(page.get_by_role("textbox")).first
    answers = "all => all.map(a => a.getAttribute('href'))"
    missed = {}
    for question, pages in QUESTIONS.items():
        box.fill("")
        page.wait_for_function("() => true")
        box.fill(question)
        for _ in range(40):
            page.wait_for_timeout(50)
            hits = page.locator("a[href*='?h=']").evaluate_all(answers)
            first = [re.sub(r"\.html.*", "", hit.rpartition("/")[2]) for hit in hits[:3]]
            if {*first} & {*pages.split()}:
                break
        else:
            missed[question] = hits[:3]
    assert missed == {}
    assert [url for url in asked if url.endswith("search.json")]


def test_addresses_of_moved_sections_lead_to_them(site, page, address):
    anchors = {name: set(re.findall(r'id="([^"]+)"', (site / name).read_text())) for name in MOVED}
    for name, moved in MOVED.items():
        assert not moved.keys() & anchors[name]
        for place in moved.values():
            target, anchor = place.split("#")
            assert f'id="{anchor}"' in (site / target).read_text(), place
    page.goto(f"{address}cases.html#arguments")
    page.wait_for_url("**/case-reference.html#matrices")
    page.goto(f"{address}cases.html#plain-arrays")
    assert page.url.endswith("cases.html#plain-arrays")


@pytest.mark.parametrize("width", [1440, 1280, 390])
def test_no_table_is_cut_off(page, address, width):
    page.set_viewport_size({"width": width, "height": 900})
    cut = """() => [...document.querySelectorAll(".md-content table")].filter(table => {
        const wrap = table.closest(".md-typeset__scrollwrap"), at = table.getBoundingClientRect();
        return at.right > innerWidth + 1 || (wrap && wrap.scrollWidth > wrap.clientWidth + 2);
    }).map(table => table.innerText.slice(0, 60))"""
    for name in ("zoo", "instructions", "hazards", "prove"):
        page.goto(f"{address}{name}.html")
        assert page.evaluate(cut) == [], name
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
    if width == 390:
        assert page.locator("td[data-column]").first.evaluate("cell => getComputedStyle(cell).display") == "block"
    else:
        head = page.locator(".md-content table thead th").first
        assert head.evaluate("cell => getComputedStyle(cell).position") == "sticky"
