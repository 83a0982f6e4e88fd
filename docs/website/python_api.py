"""Reference of the Python interface: one page for each public package, made from docstrings and types."""

from __future__ import annotations

import importlib
import inspect
from types import ModuleType

from docs.website.markdown import docstring, table

__all__ = ["INTERNAL", "PACKAGES", "api_pages", "public_names"]

PACKAGES = {
    "mfmasim": "load, compile and launch kernels; look up architectures, instructions, formats",
    "mfmasim.verify": "declare cases, verify and mutate them",
    "mfmasim.devices": "devices and reports of launches",
    "mfmasim.matrix": "matrix instructions, fragments, places of elements",
    "mfmasim.lds": "banks, phases, conflicts, swizzles",
    "mfmasim.formats": "number formats, conversion, packing",
    "mfmasim.grids": "maps from workgroups to tiles and XCDs",
    "mfmasim.observe": "findings",
    "mfmasim.schemas": "JSON Schemas of what verbs write",
    "mfmasim.cost": "bounds of a kernel's time from the rates of its pipes",
    "mfmasim.triton": "Triton programs on the simulator",
    "mfmasim.hiprt": "the simulated HIP runtime",
    "mfmasim.explorer": "the explorer's page",
    "mfmasim.testing": "hypothesis strategies and comparison of bits",
}
"""Public packages, and what they are for. Their `__all__` is what they promise."""
INTERNAL = {
    "architectures", "cli", "clusters", "codeobject", "debug", "extensions", "figures", "isa", "learn", "machine",
    "prove", "toolchain",
}  # fmt: skip
"""Packages of `mfmasim` whose exports are for its other packages."""
FIRST = {"mfmasim": "compile", "mfmasim.lds": "conflicts", "mfmasim.verify": "case", "mfmasim.formats": "format"}
"""The name that everyone needs, where it would not be the first function by its name."""
LONG = 400
"""Characters of a constant's value from which the page leaves it out."""


def public_names(package: str) -> list[str]:
    """The names that a package promises, in its order."""
    return list(importlib.import_module(package).__all__)


def reading_order(package: str) -> list[str]:
    """The names of a package: the one that everyone needs, functions, types, then constants and packages."""

    def place(name: str) -> tuple[bool, int]:
        value = getattr(importlib.import_module(package), name)
        return name != FIRST.get(package), 0 if inspect.isroutine(value) else 1 if inspect.isclass(value) else 2

    return sorted(public_names(package), key=place)


def _file(package: str) -> str:
    return f"api/{package.rpartition('.')[2]}.md"


def _entry(package: str, name: str) -> str:
    """A name's place on its page; a package has its own page, and a long table is described, not printed."""
    value = getattr(importlib.import_module(package), name)
    if isinstance(value, ModuleType):
        return (
            f"## {name}\n\n{PACKAGES[value.__name__].capitalize()}: [{value.__name__}]({_file(value.__name__)[4:]}).\n"
        )
    long = isinstance(value, dict | list | tuple) and len(repr(value)) > LONG
    return f"::: {package}.{name}\n" + ("    options:\n      show_attribute_values: false\n" if long else "")


def _page(package: str) -> str:
    about = docstring((importlib.import_module(package).__doc__ or "").strip())
    entries = "\n".join(_entry(package, name) for name in reading_order(package))
    return f"# {package}\n\n{about}\n\n{entries}"


def api_pages() -> dict[str, str]:
    """Pages by path: the list of packages, and each package."""
    rows = ([f"[{package}]({_file(package)[4:]})", about] for package, about in PACKAGES.items())
    index = (
        "# The Python interface\n\nFunctions take and return raw bits as unsigned integer arrays unless their entry "
        "says floats. What these packages export is kept; modules below them may change.\n\n"
        + table(["package", "for"], rows)
    )
    return {"api/index.md": index} | {_file(package): _page(package) for package in PACKAGES}
