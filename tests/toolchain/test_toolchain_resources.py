"""Folders that travel with the package: found in a checkout and in an installed wheel."""

import pytest

from mfmasim import resources
from mfmasim.errors import MfmasimError


def installed(folder, names=()):
    """A package folder as an installer leaves it."""
    module = folder / "mfmasim" / "resources.py"
    module.parent.mkdir()
    module.touch()
    for name in names:
        (folder / name).mkdir(parents=True)
    return str(module)


def test_a_checkout_has_them_beside_the_package():
    assert (resources.HEADERS / "hip" / "hip_runtime.h").is_file()
    assert resources.folder("golden").is_dir()


def test_a_wheel_has_them_inside_and_neighbours_do_not_count(tmp_path, monkeypatch):
    names = ("mfmasim/_bundled/golden", "golden", "hipkernels")
    monkeypatch.setattr(resources, "__file__", installed(tmp_path, names))
    assert resources.folder("golden") == tmp_path / "mfmasim" / "_bundled" / "golden"
    with pytest.raises(MfmasimError, match="the folder 'hipkernels' is missing from this installation"):
        resources.folder("hipkernels")


def test_an_unknown_folder_names_the_nearest():
    with pytest.raises(MfmasimError, match="unknown folder 'hipkernel'; did you mean 'hipkernels'"):
        resources.folder("hipkernel")
