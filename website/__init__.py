"""The documentation site: pages of `docs/`, references made from the code, and what runs them in a browser.

`python -m website` builds it into `build/website/site`; `python -m website --serve` also shows it.
"""
