"""Imported by Python at its start, as `mfmasim hiprt` puts this folder into PYTHONPATH; then the module it hides."""

import importlib
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120  (pathlib would slow down every start)


def begin() -> None:
    """Watch for PyTorch, in processes of the command only: pytest and others import all that they find."""
    if "MFMASIM_EXTENSIONS" not in os.environ:
        return
    try:
        from mfmasim.extensions.hooks import watch
    except ImportError:
        return  # a Python of the program's own: without mfmasim it has no tensors of a simulated device
    watch()


def follow() -> None:
    """Import the sitecustomize that Python would have found without this one."""
    own = sys.modules.pop("sitecustomize", None)
    path = sys.path
    sys.path = [entry for entry in path if os.path.abspath(entry or ".") != HERE]  # noqa: PTH100
    try:
        importlib.import_module("sitecustomize")
    except ImportError:
        if own is not None:
            sys.modules["sitecustomize"] = own
    finally:
        sys.path = path


begin()
follow()
