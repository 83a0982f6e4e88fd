"""The target triple that clang takes for a processor, by its version.

Source: LLVM pull requests 206480 and 206482 (architecture ``amdgpu`` with a subarch, such as ``amdgpu9.50``; before,
``amdgcn``), 209485 (code generation for a triple without a subarch will be an error), 218543 (``amdgpu12.50s``).
"""

from __future__ import annotations

import re

FIRST_WITH_SUBARCH = 23
"""Version of clang."""


def triple(processor: str, version: str) -> str:
    """Target triple.

    Args:
        processor: LLVM's name of a processor or generic target, with or without target features.
        version: of clang, such as ``22.1.8``.

    >>> triple("gfx950", "22.1.8"), triple("gfx950", "23.1.0"), triple("gfx12-5-generic", "23.1.0")
    ('amdgcn-amd-amdhsa', 'amdgpu9.50-amd-amdhsa', 'amdgpu12.5-amd-amdhsa')
    """
    major = int(re.match(r"\d*", version)[0] or 0)  # type: ignore[index]
    name = subarch(processor) if major >= FIRST_WITH_SUBARCH else ""
    return f"amdgpu{name}-amd-amdhsa" if name else "amdgcn-amd-amdhsa"


def subarch(processor: str) -> str:
    """Subarch of a processor: major version, then one digit each of minor version and stepping; empty for no GFX name.

    >>> [subarch(name) for name in ("gfx90a", "gfx1100:xnack-", "gfx1250-strict", "gfx9-4-generic", "gfx11-generic")]
    ['9.0a', '11.00', '12.50s', '9.4', '11']
    """
    name = processor.partition(":")[0]
    if found := re.fullmatch(r"gfx(\d+)(-(\d))?-generic", name):
        return found[1] + (f".{found[3]}" if found[3] else "")
    found = re.fullmatch(r"gfx(\d+)([0-9a-f]{2})(-strict)?", name)
    return f"{found[1]}.{found[2]}{'s' * bool(found[3])}" if found else ""
