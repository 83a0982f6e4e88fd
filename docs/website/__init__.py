"""The documentation site: pages of `docs/`, references made from the code, and what runs them in a browser.

`python -m docs.website` builds it into `build/website/site`; `python -m docs.website --serve` also shows it.
"""
