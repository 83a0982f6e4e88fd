"""Every module can be imported by itself: what a version of Python or of a library lacks at import shows here."""

import importlib
import pkgutil

import mfmasim
from tests.triton.needs import HAVE


def test_every_module_can_be_imported():
    names = [found.name for found in pkgutil.walk_packages(mfmasim.__path__, "mfmasim.")]
    names = [name for name in names if not name.endswith("__main__") and "._bundled" not in name]
    assert len(names) >= 300
    for name in names:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:  # the driver for Triton is a class of Triton's, its tensors are PyTorch's
            if HAVE or not name.startswith("mfmasim.triton.") or error.name not in ("triton", "torch"):
                raise
