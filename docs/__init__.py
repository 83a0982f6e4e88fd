"""The pages, and what generates parts of them from the checkout's code: ``python -m docs.make_findings``."""

from pathlib import Path

DOCS = Path(__file__).resolve().parent
"""The folder of the pages; a generator that imports it does not run where another mfmasim would answer."""
