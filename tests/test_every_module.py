"""Every module can be imported by itself: what a version of Python or of a library lacks at import shows here."""

import importlib
import pkgutil

import mfmasim
from tests.triton.needs import HAVE


def test_every_module_can_be_imported():
    names = [found.name for found in pkgutil.walk_packages(mfmasim.__path__, "mfmasim.")]
    names = [name for name in names if not name.endswith("__main__") and "._bundled" not in name]
    if not HAVE:
        names = [name for name in names if name not in ("mfmasim.triton.driver", "mfmasim.triton.tensors")]
    assert len(names) >= 300
    for name in names:
        importlib.import_module(name)
