"""What the cases here share: architectures (every kernel compiles for all four main ones), and the usual launches."""

from collections.abc import Callable
from typing import Any

from mfmasim.verify import LaunchDict

ARCHS = ["gfx942", "gfx950", "gfx1030", "gfx1151", "gfx1201"]


def per_element(block: int) -> Callable[..., LaunchDict]:
    """Launches with a work-item for each of n elements; n follows the arrays among the arguments."""

    def launch(n: int, args: list[Any], expect: Callable[..., Any], *more: int) -> LaunchDict:
        return {"grid": -(-n // block), "block": block, "args": [*args, n, *more], "expect": expect}

    return launch


def on_grid(grid: int, block: int) -> Callable[..., LaunchDict]:
    """Launches on one grid, whatever the arguments are."""

    def launch(args: list[Any], expect: Any) -> LaunchDict:
        return {"grid": grid, "block": block, "args": args, "expect": expect}

    return launch
