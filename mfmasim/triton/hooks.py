"""Begin a session when a program imports PyTorch or Triton, so that other programs start as fast as before."""

from __future__ import annotations

import os
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

WATCHED = ("torch", "triton")


class Watcher(MetaPathFinder):
    """Finds the two packages as Python does, and begins the session once the first one is imported."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The package's own spec, its loader followed by the session's begin.

        Args:
            name: of a module.
            path: where its parent looks.
            target: of a reload.
        """
        if name not in WATCHED:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            return None
        loader: Any = spec.loader
        execute = loader.exec_module

        def then_begin(module: ModuleType) -> None:
            execute(module)
            self.begin()

        loader.exec_module = then_begin
        return spec

    def begin(self) -> None:
        """Begin the session, once."""
        if self not in sys.meta_path:
            return
        sys.meta_path.remove(self)
        from mfmasim.triton.installation import install
        from mfmasim.triton.records import Recorder
        from mfmasim.triton.settings import RECORDS, Settings

        folder = os.environ.get(RECORDS)
        settings = Settings.read()
        install(**settings.options, recorder=Recorder(Path(folder)) if folder else None)


def watch() -> None:
    """Begin a session, with the settings of the environment, at the first import of PyTorch or Triton."""
    sys.meta_path.insert(0, Watcher())
