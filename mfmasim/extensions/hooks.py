"""What happens when a program imports PyTorch, or its module for C++ extensions; other programs start as before."""

from __future__ import annotations

import os
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING, Any

from mfmasim.extensions.environment import WANTED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

TORCH, EXTENSIONS = "torch", "torch.utils.cpp_extension"


class Watcher(MetaPathFinder):
    """Finds the two modules as Python does, and changes them once they are imported."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module's own spec, its loader followed by what changes the module.

        Args:
            name: of a module.
            path: where its parent looks.
            target: of a reload.
        """
        if name == TORCH:
            from mfmasim.extensions import activation

            activation.before()
            # A Triton session has a watcher of its own for PyTorch.
            return self._followed(name, path, target, activation.prepare) if os.environ[WANTED] == "hiprt" else None
        if name == EXTENSIONS:
            from mfmasim.extensions.loader import prepare

            return self._followed(name, path, target, prepare)
        return None

    def _followed(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None, change: Callable[[Any], None]
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            return None
        loader: Any = spec.loader
        execute = loader.exec_module

        def then_change(module: ModuleType) -> None:
            execute(module)
            change(module)

        loader.exec_module = then_change
        return spec


def watch() -> None:
    """Watch for imports from now on."""
    sys.meta_path.insert(0, Watcher())
