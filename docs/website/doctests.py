"""A griffe extension: doctests and literal blocks within docstrings become blocks of code."""

from __future__ import annotations

from typing import Any

import griffe

from docs.website.markdown import docstring


class Doctests(griffe.Extension):
    """Changes every docstring that is read."""

    def on_instance(self, *, obj: griffe.Object, **_kwargs: Any) -> None:
        """Change the docstring of an object."""
        if obj.docstring:
            obj.docstring.value = docstring(obj.docstring.value)
