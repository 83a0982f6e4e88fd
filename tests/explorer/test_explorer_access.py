"""Accessibility of the page by axe-core (npm), and that printing through the browser is readable."""

import pytest

from mfmasim.explorer.page import VIEWS
from tests.npm import npm_package

SCRIPT = """() => axe.run().then(({ violations, passes }) => [
    passes.length, violations.map(({ id, impact, nodes }) => [id, impact, nodes[0].html.slice(0, 200)])])"""


@pytest.fixture(scope="module")
def axe(tmp_path_factory):
    return (npm_package("axe-core@4", tmp_path_factory.mktemp("axe")) / "axe.min.js").read_text()


@pytest.mark.oracle
@pytest.mark.parametrize(("scheme", "width"), [("light", 1440), ("dark", 1440), ("light", 390), ("dark", 390)])
def test_no_view_violates_a_rule(show, axe, scheme, width):
    found = {}
    page = show(state="", viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.evaluate(axe)
    for view in VIEWS:
        page.click(f"nav a[data-view={view}]")
        passes, violations = page.evaluate(SCRIPT)
        assert passes > 10, view
        found[view] = violations
    assert found == {view: [] for view in VIEWS}


@pytest.mark.oracle
def test_a_violation_is_found(show, axe):
    page = show(state="")
    page.evaluate(axe)
    page.evaluate("document.querySelector('.facts').style.color = '#ddd'")
    assert "color-contrast" in [name for name, *_ in page.evaluate(SCRIPT)[1]]
